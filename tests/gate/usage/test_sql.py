"""SQL: each row a file with its verdict and lines, against one contract with many changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from protocontract.cli import main
from protocontract_ci.model import ModuleVerdict
from protocontract_ci.sources import read
from protocontract_ci.usage.sql import Word
from protocontract_ci.verdicts.folder import Folder
from tests.gate.company import company

BEFORE = """
syntax = "proto3";
package shop.v1;
import "buf/validate/validate.proto";
enum State { STATE_UNSPECIFIED = 0; STATE_OPEN = 1; STATE_LOST = 2; }
enum Size { SIZE_S = 0; SIZE_L = 1; }
message Buyer { string mail = 1; string name = 2; string city = 3; }
message Item { string sku = 1; int32 qty = 2; }
message Order {
  string id = 1; string coupon = 2; State state = 3; Buyer buyer = 4; repeated Item items = 5; int32 amount = 6;
  string first_name = 7; string note = 8; Size size = 9; int64 placed_at = 10; map<string, Buyer> others = 11;
  string code = 13 [(buf.validate.field).string.max_len = 20];
}
message Refund { string id = 1; string reason = 2; Buyer payer = 3; }
message Claim { string id = 1; Buyer payer = 2; }
"""
AFTER = """
syntax = "proto3";
package shop.v1;
import "buf/validate/validate.proto";
enum State { STATE_UNSPECIFIED = 0; STATE_OPEN = 1; reserved 2; reserved "STATE_LOST"; }
enum Size { SIZE_S = 0; SIZE_L = 1; SIZE_XL = 2; }
message Buyer { reserved 1; reserved "mail"; string name = 2; string city = 3; }
message Item { reserved 1; reserved "sku"; int32 qty = 2; }
message Order {
  string id = 1; reserved 2; reserved "coupon"; State state = 3; Buyer buyer = 4; repeated Item items = 5;
  string amount = 6; string given_name = 7; string note = 8 [json_name = "remark"]; Size size = 9;
  int64 placed_at = 12; reserved 10; map<string, Buyer> others = 11;
  string code = 13 [(buf.validate.field).string.max_len = 8];
}
message Refund { string id = 1; string reason = 2; Buyer payer = 3; }
message Claim { string id = 1; Buyer payer = 2; }
"""
BOUND = "-- contract: shop.v1.Order\n"
#: dialect, SQL, verdict, lines.
ROWS: dict[str, tuple[str, str, str, tuple[int, ...]]] = {
    # paths into JSON
    "arrows": ("postgres", "SELECT\n payload->'buyer'->>'mail'\nFROM events", "not_adapted", (2,)),
    "a path in an arrow": ("duckdb", "SELECT payload->>'$.buyer.mail' FROM events", "not_adapted", (1,)),
    "a path in braces": ("postgres", "SELECT 1,\n payload #>> '{buyer,mail}' FROM events", "not_adapted", (2,)),
    "extract_path": (
        "postgres", "SELECT jsonb_extract_path_text(payload, 'buyer',\n 'mail') FROM events", "not_adapted", (2,),
    ),
    "subscripts": ("postgres", "SELECT payload['buyer']['mail'] FROM events", "not_adapted", (1,)),
    "get_json_object": ("spark", "SELECT get_json_object(payload, '$.buyer.mail') FROM e", "not_adapted", (1,)),
    "json_extract": ("mysql", "SELECT json_extract(payload, '$.buyer.mail') FROM events", "not_adapted", (1,)),
    "JSON_VALUE": ("tsql", "SELECT JSON_VALUE(payload, '$.buyer.mail') FROM events", "not_adapted", (1,)),
    "JSON_VALUE of bigquery": ("bigquery", "SELECT JSON_VALUE(payload, '$.buyer.mail') FROM e", "not_adapted", (1,)),
    "a colon": ("snowflake", "SELECT payload:buyer.mail::string FROM events", "not_adapted", (1,)),
    "a colon without a hint": ("", "SELECT payload:buyer.mail FROM events", "not_adapted", (1,)),
    "items in a list": ("snowflake", "SELECT payload:items[0].sku FROM events", "not_adapted", (1,)),
    "an unfolded list": (
        "snowflake",
        "SELECT f.value:sku, payload:buyer.name\nFROM events, LATERAL FLATTEN(input => payload:items) f",
        "not_adapted", (1,),
    ),
    "a column that holds the message, one key": (
        "snowflake", "SELECT payload:buyer.name,\n payload:coupon FROM events", "not_adapted", (2,),
    ),
    "another path": ("postgres", "SELECT payload->'buyer'->>'name' FROM events", "unaffected", ()),
    "a map": ("postgres", "SELECT payload->'others'->'x'->>'mail' FROM events", "not_adapted", (1,)),
    # other tables
    "one key of anything": ("postgres", "SELECT payload->>'coupon' FROM events", "unaffected", ()),
    "columns of any table": ("", "SELECT coupon, amount FROM orders WHERE state = 'STATE_LOST'", "unaffected", ()),
    "a longer path": ("postgres", "SELECT p->'web'->'buyer'->>'mail' FROM visits", "unaffected", ()),
    "in comments and texts": (
        "", BOUND + "SELECT id, 'coupon' FROM orders -- coupon, payload->>'$.buyer.mail'", "unaffected", (),
    ),
    "the same words beside a bound table": (
        "", BOUND + "SELECT o.id, v.coupon FROM orders o JOIN vouchers v ON v.id = o.id", "unaffected", (),
    ),
    "an alias of that name": ("", BOUND + "SELECT id AS coupon FROM orders ORDER BY id", "unaffected", ()),
    "a column of a subquery that is made there": (
        "", BOUND + "SELECT coupon FROM (SELECT v.code AS coupon FROM vouchers v) t\nJOIN orders o ON o.id = t.coupon",
        "unaffected", (),
    ),
    "a contract of another company": ("", "-- contract: bank.v1.Order\nSELECT coupon FROM orders", "unaffected", ()),
    # bound by a comment
    "a column": ("", BOUND + "SELECT id,\n coupon\nFROM orders", "not_adapted", (3,)),
    "a column of an alias": ("", BOUND + "SELECT o.coupon FROM raw.orders AS o", "not_adapted", (2,)),
    "a column by its table": ("", BOUND + "SELECT raw.orders.coupon FROM raw.orders", "not_adapted", (2,)),
    "at the end of the line": (
        "", "SELECT v.coupon, o.coupon\nFROM vouchers v\nJOIN orders o -- contract: shop.v1.Order\nON v.id = o.id",
        "not_adapted", (1,),
    ),
    "by its name": (
        "",
        "-- contract: shop.v1.Order for raw.orders\nSELECT v.coupon FROM vouchers v;\nSELECT coupon FROM raw.orders",
        "not_adapted", (3,),
    ),
    "a column that is bound": (
        "postgres", "-- contract: shop.v1.Order for events.body\nSELECT meta->>'coupon',\n body->>'coupon' FROM events",
        "not_adapted", (3,),
    ),
    "through a common table expression": (
        "", BOUND + "WITH o AS (SELECT * FROM orders)\nSELECT o.coupon FROM o", "not_adapted", (3,),
    ),
    "through a subquery with another name": (
        "", BOUND + "SELECT t.who.mail FROM (\n SELECT buyer AS who FROM orders) t", "not_adapted", (2,),
    ),
    "by its quoted name": (
        "bigquery", "-- contract: shop.v1.Order for `raw.orders`\nSELECT coupon FROM `raw.orders`", "not_adapted", (2,),
    ),
    "a struct": ("bigquery", BOUND + "SELECT buyer.mail FROM `raw.orders`", "not_adapted", (2,)),
    "an exploded list": (
        "spark", BOUND + "SELECT item.sku FROM orders\nLATERAL VIEW explode(items) t AS item", "not_adapted", (2,),
    ),
    "an unnested list": ("bigquery", BOUND + "SELECT i.sku FROM orders, UNNEST(items) AS i", "not_adapted", (2,)),
    "a record in JSON": ("postgres", BOUND + "SELECT payload->>'coupon' FROM events", "not_adapted", (2,)),
    "which of two tables": (
        "", BOUND + "SELECT coupon FROM orders o JOIN vouchers v ON v.id = o.id", "not_adapted", (2,),
    ),
    "CREATE TABLE": (
        "spark", BOUND + "CREATE TABLE orders (id STRING,\n buyer STRUCT<name: STRING,\n mail: STRING>)",
        "not_adapted", (4,),
    ),
    "INSERT": ("", BOUND + "INSERT INTO orders (id, coupon) VALUES ('1', 'x')", "not_adapted", (2,)),
    "UPDATE": ("", BOUND + "UPDATE orders SET coupon = 'x' WHERE id = '1'", "not_adapted", (2,)),
    "MERGE": (
        "", BOUND + "MERGE INTO orders o USING s ON o.id = s.id\nWHEN MATCHED THEN UPDATE SET coupon = s.c",
        "not_adapted", (3,),
    ),
    "MERGE that inserts": (
        "",
        BOUND + "MERGE INTO orders o USING s ON o.id = s.id\nWHEN NOT MATCHED THEN INSERT (id,\n coupon) VALUES (a, b)",
        "not_adapted", (4,),
    ),
    "ON CONFLICT": (
        "postgres", BOUND + "INSERT INTO orders (id) VALUES ('1')\nON CONFLICT (id) DO UPDATE SET\n coupon = 'x'",
        "not_adapted", (4,),
    ),
    "USING": ("", BOUND + "SELECT 1 FROM orders JOIN vouchers\nUSING (coupon)", "not_adapted", (3,)),
    "a function of each item": (
        "spark", BOUND + "SELECT transform(items,\n i -> i.sku) FROM orders", "not_adapted", (3,),
    ),
    "ALTER TABLE": ("", BOUND + "ALTER TABLE orders DROP COLUMN\n coupon", "not_adapted", (3,)),
    "a statement that is left unread": (
        "postgres", BOUND + "SELECT id FROM orders;\nGRANT SELECT (coupon) ON orders TO PUBLIC", "not_adapted", (3,),
    ),
    "a statement of another kind": (
        "postgres", BOUND + "SELECT id FROM orders;\nCALL load(orders,\n coupon)", "not_adapted", (4,),
    ),
    "an alias that the order means": (
        "", BOUND + "SELECT id AS coupon, count(*) FROM orders GROUP BY coupon ORDER BY coupon", "unaffected", (),
    ),
    # schemas
    "from_json": (
        "spark", "SELECT from_json(payload,\n 'id STRING, buyer STRUCT<city: STRING, mail: STRING>') FROM events",
        "not_adapted", (2,),
    ),
    "from_protobuf": (
        "spark", "SELECT o.coupon\nFROM (SELECT from_protobuf(value, 'shop.v1.Order', 'f.desc') AS o FROM kafka)",
        "not_adapted", (1,),
    ),
    "a flat schema": (
        "spark", "SELECT from_json(body,\n 'id STRING, coupon STRING, amount INT') FROM events", "not_adapted", (2,),
    ),
    "a flat schema of anything": (
        "spark", "SELECT from_json(body, 'id STRING, coupon STRING, seats INT') FROM events", "unaffected", (),
    ),
    "a path of two messages that ends in one field": (
        "postgres", "SELECT body->'payer'->>'mail' FROM events", "not_adapted", (1,),
    ),
    # what changed
    "a renamed field": ("", BOUND + "SELECT first_name FROM orders", "not_adapted", (2,)),
    "the new name": ("", BOUND + "SELECT given_name FROM orders", "adapted", ()),
    "a renamed key of JSON": ("postgres", BOUND + "SELECT p->>'firstName' FROM events", "not_adapted", (2,)),
    "another name in JSON": ("postgres", BOUND + "SELECT p->>'note' FROM events", "not_adapted", (2,)),
    "the new name in JSON": ("postgres", BOUND + "SELECT p->>'remark' FROM events", "unaffected", ()),
    "a column whose JSON name is another": ("", BOUND + "SELECT note FROM orders", "unaffected", ()),
    "another type": ("", BOUND + "SELECT sum(amount) FROM orders", "not_adapted", (2,)),
    "a value that is gone": ("", BOUND + "SELECT id FROM orders WHERE\n state = 'STATE_LOST'", "not_adapted", (3,)),
    "a value that is gone, in a list": (
        "", BOUND + "SELECT id FROM orders WHERE state IN (\n'STATE_OPEN',\n'STATE_LOST')", "not_adapted", (4,),
    ),
    "a value that is gone, by number": ("", BOUND + "SELECT id FROM orders WHERE state = 2", "not_adapted", (2,)),
    "a value that stays": ("", BOUND + "SELECT id FROM orders WHERE state = 'STATE_OPEN'", "unaffected", ()),
    "a CASE without ELSE": (
        "", BOUND + "SELECT CASE size WHEN 'SIZE_S' THEN 1 WHEN 'SIZE_L' THEN 2 END FROM orders", "not_adapted", (2,),
    ),
    "a CASE with conditions": (
        "", BOUND + "SELECT CASE WHEN size = 'SIZE_S' THEN 1 WHEN size = 'SIZE_L' THEN 2 END FROM orders",
        "not_adapted", (2,),
    ),
    "a CASE that has the new value": (
        "", BOUND + "SELECT CASE size WHEN 'SIZE_S' THEN 1 WHEN 'SIZE_L' THEN 2 WHEN 'SIZE_XL' THEN 3 END FROM orders",
        "adapted", (),
    ),
    "a CASE that has its number": (
        "", BOUND + "SELECT CASE size WHEN 0 THEN 1 WHEN 1 THEN 2 WHEN 2 THEN 3 END FROM orders", "adapted", (),
    ),
    "a CASE with conditions that has the new value": (
        "", BOUND + "SELECT CASE WHEN size = 'SIZE_S' THEN 1 WHEN size IN ('SIZE_L', 'SIZE_XL') THEN 2 END FROM orders",
        "adapted", (),
    ),
    "two CASEs in a line, one of which has the new value": (
        "", BOUND + "SELECT CASE size WHEN 'SIZE_S' THEN 1 WHEN 'SIZE_XL' THEN 3 END, "
        "CASE size WHEN 'SIZE_S' THEN 1 WHEN 'SIZE_L' THEN 2 END FROM orders", "not_adapted", (2,),
    ),
    "a CASE with ELSE": ("", BOUND + "SELECT CASE size WHEN 'SIZE_S' THEN 1 ELSE 2 END FROM orders", "adapted", ()),
    "another number on the wire": ("", BOUND + "SELECT placed_at FROM orders", "unaffected", ()),
    "acknowledged": (
        "", "-- contract-ack: shop.v1.Order.coupon removed (old rows keep it)\n" + BOUND + "SELECT coupon FROM orders",
        "adapted", (),
    ),
    "acknowledged in a text": (
        "", BOUND + "SELECT coupon, '-- contract-ack: shop.v1.Order.coupon removed' FROM orders", "not_adapted", (2,),
    ),
    # what is written
    "a literal that a tighter rule refuses": (
        "", BOUND + "INSERT INTO orders (id, code)\nVALUES ('1', 'short'), ('2', 'much too long')", "not_adapted", (2,),
    ),
    "literals that keep a tighter rule": (
        "", BOUND + "INSERT INTO orders (id, code) VALUES ('1', 'ok')", "adapted", (),
    ),
    "a literal that is set": ("", BOUND + "UPDATE orders SET\n code = 'much too long'", "not_adapted", (3,)),
    "a literal that is set, and short": ("", BOUND + "UPDATE orders SET code = 'ok'", "adapted", ()),
    "what a query gives": ("", BOUND + "INSERT INTO orders (id, code) SELECT a, b FROM t", "not_adapted", (2,)),
    "a tighter rule that is read": ("", BOUND + "SELECT code FROM orders", "unaffected", ()),
    # what cannot be read
    "no message of that name": ("", "-- contract: shop.v1.Odrer\nSELECT coupon FROM orders", "unverified", ()),
    "no table after the comment": ("", "SELECT coupon FROM orders;\n" + BOUND, "unverified", ()),
    "a comment that says something else": (
        "", "-- contract: shop.v1.Order in orders\nSELECT coupon FROM orders", "unverified", (),
    ),
    "broken, and bound": ("", BOUND + "SELECT FROM WHERE (((", "unverified", ()),
    "broken, and of no contract": ("", "SELECT coupon FROM WHERE (((", "unaffected", ()),
    "a template": (
        "",
        BOUND + "{{ config(materialized='table') }}\nSELECT coupon FROM {{ ref('orders') }}\n{% if x %}\n{% endif %}",
        "not_adapted", (3,),
    ),
}  # fmt: skip


def contracts(root: Path) -> None:
    for side, text in (("before", BEFORE), ("after", AFTER)):
        (root / side).mkdir()
        (root / side / "shop.proto").write_text(text)


def judged(root: Path, files: dict[str, str], words: dict[str, Word] | None = None) -> dict[str, ModuleVerdict]:
    """The verdicts on files by name."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    if not (root / "before").exists():
        contracts(root)
    states = (read(str(root / "before")), read(str(root / "after")))
    found = Folder(root, sorted(files), *states, words=words or {}).verdicts()
    return {each.file: each for each in found}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ModuleVerdict]:
    """All rows, judged at once."""
    texts = {}
    for name, (dialect, text, _, _) in ROWS.items():
        # At the end, where it moves no line.
        texts[f"{name}.sql"] = text + (f"\n-- dialect: {dialect}" if dialect else "")
    return judged(tmp_path_factory.mktemp("sql"), texts)


@pytest.mark.parametrize("name", ROWS)
def test_verdicts(name: str, verdicts: dict[str, ModuleVerdict]) -> None:
    _, _, expected, lines = ROWS[name]
    found = verdicts[f"{name}.sql"]
    assert (found.verdict, found.lines) == (expected, lines), found.because


@pytest.mark.parametrize(
    ("name", "proof"),
    [
        ("a column", "static"), ("a colon", "static"), ("which of two tables", "unresolved"),
        ("a column that holds the message, one key", "unresolved"), ("what a query gives", "unresolved"),
        ("a literal that a tighter rule refuses", "witness"),
    ],
)  # fmt: skip
def test_what_a_finding_rests_on(name: str, proof: str, verdicts: dict[str, ModuleVerdict]) -> None:
    assert verdicts[f"{name}.sql"].proof == proof


@pytest.mark.parametrize(
    ("word", "text", "verdict", "proof"),
    [
        (Word("m", ("shop.v1.Order",)), "SELECT coupon FROM raw.orders", "not_adapted", "static"),
        (Word("m", ("shop.v1.Order",)), "SELECT payload->>'coupon' FROM events", "not_adapted", "static"),
        (Word("m", ("shop.v1.Order",)), "SELECT coupon FROM vouchers", "not_adapted", "unresolved"),
        (Word("m", ("shop.v1",)), "SELECT coupon FROM vouchers", "not_adapted", "unresolved"),
        (Word("m", ("shop.v1.Refund",)), "SELECT coupon FROM vouchers", "unaffected", "static"),
        (Word("m", ("shop.v1.Order",)), BOUND + "SELECT v.coupon FROM orders, vouchers v", "unaffected", "static"),
        (Word("m", (), required=True), "SELECT coupon FROM vouchers", "unverified", "unresolved"),
        (Word("m", (), required=True), "SELECT FROM WHERE (((", "unverified", "unresolved"),
        (Word("m", (), required=True), BOUND + "SELECT id FROM orders", "unaffected", "static"),
    ],
)
def test_what_the_module_declares(word: Word, text: str, verdict: str, proof: str, tmp_path: Path) -> None:
    found = judged(tmp_path, {"a.sql": text}, {"a.sql": word})["a.sql"]
    assert (found.verdict, found.proof) == (verdict, proof)


def test_one_bound_file_is_enough_for_a_module(tmp_path: Path) -> None:
    word = Word("m", (), required=True)
    files = {"a.sql": "SELECT coupon FROM vouchers", "b.sql": BOUND + "SELECT id FROM orders"}
    found = judged(tmp_path, files, dict.fromkeys(files, word))
    assert {each.verdict for each in found.values()} == {"unaffected"}


def test_what_dbt_made_of_a_template(tmp_path: Path) -> None:
    template = BOUND + "SELECT id,\n {{ all_columns('coupon') }}\nFROM {{ ref('orders') }}"
    made = BOUND + "SELECT id,\n coupon\nFROM db.orders"
    path = "warehouse/models/marts/orders.sql"
    (compiled := tmp_path / "warehouse/target/compiled/shop/models/marts/orders.sql").parent.mkdir(parents=True)
    compiled.write_text(made)
    found = judged(tmp_path, {path: template})[path]
    assert (found.verdict, found.lines) == ("not_adapted", (3,))


def test_a_template_that_nothing_binds_may_be_broken(tmp_path: Path) -> None:
    (made := tmp_path / "target/compiled/shop/a.sql").parent.mkdir(parents=True)
    made.write_text("SELECT FROM (((")
    assert judged(tmp_path, {"a.sql": "SELECT FROM {{ x }} ((("})["a.sql"].verdict == "unaffected"
    assert judged(tmp_path, {"a.sql": BOUND + "SELECT FROM {{ x }} ((("})["a.sql"].verdict == "unverified"


def test_the_command_reads_sql_below_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contracts(tmp_path)
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "report.sql").write_text(BOUND + "SELECT coupon FROM orders")
    (tmp_path / "modules" / "other.sql").write_text("SELECT coupon FROM vouchers")
    # Where nothing is declared, a table with the name of a message stands for the comment.
    (tmp_path / "modules" / "named.sql").write_text("SELECT coupon FROM orders")
    arguments = [f"--before={tmp_path}/before", f"--after={tmp_path}/after", f"--modules={tmp_path}/modules"]
    assert main(["gate", *arguments, "--format", "json"]) == 1
    modules = {Path(each["file"]).name: each["verdict"] for each in json.loads(capsys.readouterr().out)["modules"]}
    assert modules == {"report.sql": "not_adapted", "other.sql": "unaffected", "named.sql": "not_adapted"}


def test_in_a_repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    acme = company(tmp_path, capsys)
    table = acme.root / "contracts/modules.toml"
    module = '\n[[module]]\nname = "marts"\npaths = ["marts/**"]\nlanguages = ["sql"]\n'
    acme.write({"contracts/modules.toml": table.read_text() + module, "marts/a.sql": "SELECT label FROM entities\n"})
    acme.commit()
    acme.git("branch", "-f", "main", "change")
    acme.contract(("string label = 1", "string name = 1"))
    # Nothing says what it reads, and modules.toml says that it must be read.
    assert acme.verdicts()["marts"] == "unverified"
    acme.edit("contracts/modules.toml", ('["sql"]', '["sql"]\ncontracts = ["acme.text.v1.Note"]'))
    acme.write({"marts/a.sql": "-- contract: acme.text.v1.Note\nSELECT text FROM notes\n"})
    assert acme.verdicts()["marts"] == "unaffected"
    acme.write({"marts/a.sql": "-- contract: acme.text.v1.NamedEntity\nSELECT label FROM entities\n"})
    acme.edit("contracts/modules.toml", ('\ncontracts = ["acme.text.v1.Note"]', ""))
    _, answer = acme.gate()
    (finding,) = answer["modules"]["marts"]["findings"]
    assert (finding["path"], finding["lines"]) == ("acme.text.v1.NamedEntity.label", [2])
    # A query that is acknowledged, and a module that has nothing to do with it any more.
    known = "-- contract-ack: acme.text.v1.NamedEntity.label STEP (frozen table)\n"
    acme.write(
        {"marts/a.sql": known.replace("STEP", finding["id"].split()[-1]) + (acme.root / "marts/a.sql").read_text()}
    )
    assert acme.verdicts()["marts"] == "adapted"


@pytest.mark.parametrize(
    ("text", "verdict", "lines"),
    [
        (
            "-- dialect: postgres\nCREATE FUNCTION f() RETURNS text LANGUAGE sql AS $$\n-- contract: shop.v1.Order\n"
            "SELECT id,\n  coupon\nFROM orders;\n$$;\n", "not_adapted", (5,),
        ),
        (
            "-- contract: shop.v1.Order for raw.orders\nCREATE OR REPLACE PROCEDURE p() LANGUAGE plpgsql AS $body$\n"
            "DECLARE\n  found text;\nBEGIN\n  IF now() > then THEN\n    SELECT coupon INTO found FROM raw.orders;\n"
            "  END IF;\n  UPDATE raw.orders SET note = 'x';\nEND;\n$body$;\nSELECT id FROM raw.orders;\n",
            "not_adapted", (7,),
        ),
        (
            "-- dialect: bigquery\nCREATE PROCEDURE d.p()\nBEGIN\n"
            "  SELECT payload['buyer']['mail'] FROM events;\nEND;\n", "not_adapted", (4,),
        ),
        (
            "-- contract: shop.v1.Order for raw.orders\nCREATE FUNCTION f() RETURNS text LANGUAGE sql AS $$\n"
            "  SELECT coupon FROM tickets;\n$$;\nSELECT id FROM raw.orders;\n", "unaffected", (),
        ),
        ("CREATE FUNCTION f() AS $$\n  for select in coupon begin !! end\n$$;\n", "unaffected", ()),
    ],
)  # fmt: skip
def test_queries_in_bodies_of_routines(text: str, verdict: str, lines: tuple[int, ...], tmp_path: Path) -> None:
    found = judged(tmp_path, {"a.sql": text}, {})["a.sql"]
    assert (found.verdict, found.lines) == (verdict, lines), found
