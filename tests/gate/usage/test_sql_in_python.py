"""SQL in texts of Python and in cells of notebooks: each row a file with its verdict and lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from protocontract_ci.model import ModuleVerdict
from protocontract_ci.sources import read
from protocontract_ci.usage.python.overlay import Source
from protocontract_ci.usage.sql_in_python import find_sql
from protocontract_ci.verdicts.folder import Folder
from tests.gate.usage.test_sql import AFTER, BEFORE

#: Python, verdict, lines.
ROWS: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "spark over several lines": (
        'def f(spark):\n    return spark.sql("""\n        -- contract: shop.v1.Order\n        SELECT id,\n'
        '               coupon\n        FROM orders\n    """)\n',
        "not_adapted",
        (5,),
    ),
    "pandas on one line": (
        "import pandas as pd\n\n\ndef f(con):\n"
        "    return pd.read_sql(\"SELECT payload->'buyer'->>'mail' FROM events\", con)\n",
        "not_adapted",
        (5,),
    ),
    "a cursor with pieces and parameters": (
        "def f(cursor, day):\n    cursor.execute(\n        \"SELECT payload->'buyer'->>'city', \"\n"
        "        \"payload->'buyer'->>'mail' \"\n        \"FROM events WHERE day = %s\",\n        (day,),\n    )\n",
        "not_adapted",
        (4,),
    ),
    "a constant, dedented": (
        'from textwrap import dedent\n\nORDERS = dedent("""\n    -- contract: shop.v1.Order\n'
        '    SELECT coupon FROM orders\n""")\n\n\ndef f(con):\n    return con.execute(ORDERS).fetchall()\n',
        "not_adapted",
        (5,),
    ),
    "an f-string": (
        'def f(con, table):\n    return con.sql(f"""\n        -- contract: shop.v1.Order for orders\n'
        '        SELECT o.coupon, {table}.x FROM orders AS o, {table}\n    """)\n',
        "not_adapted",
        (4,),
    ),
    "format": (
        'Q = """\n-- contract: shop.v1.Order\nSELECT coupon FROM orders WHERE {where}\n"""\n\n\n'
        'def f(con, where):\n    return con.query(Q.format(where=where))\n',
        "not_adapted",
        (3,),
    ),
    "pieces that are added": (
        'def f(con, where):\n    sql = "SELECT coupon FROM orders -- contract: shop.v1.Order\\n" + where\n'
        "    return con.execute(sql)\n",
        "not_adapted",
        (2,),
    ),
    "a refused literal": (
        'def f(con):\n    con.execute("""\n        -- contract: shop.v1.Order\n'
        "        INSERT INTO orders (code) VALUES ('much too long')\n    \"\"\")\n",
        "not_adapted",
        (4,),
    ),
    "another table of the same words": (
        'def f(con):\n    return con.execute("SELECT coupon FROM tickets")\n', "unaffected", (),
    ),
    "prose": ('def f(log):\n    log.text("select the buyer and the mail from the list")\n', "unaffected", ()),
    "a docstring": (
        'def f():\n    """SELECT payload->\'buyer\'->>\'mail\' FROM events -- contract: shop.v1.Order"""\n',
        "unaffected",
        (),
    ),
    "acknowledged": (
        "# contract-ack: shop.v1.Order.coupon removed (the column stays empty)\n"
        'def f(con):\n    return con.execute("SELECT coupon FROM orders -- contract: shop.v1.Order")\n',
        "adapted",
        (),
    ),
    "no such message": (
        'def f(con):\n    return con.execute("""\n        -- contract: shop.v1.Orders\n        SELECT 1 FROM o\n""")\n',
        "unverified",
        (),
    ),
    "beside Python": (
        'from shop_pb2 import Order\n\n\ndef f(con, order: Order):\n    con.execute("SELECT coupon FROM orders '
        '-- contract: shop.v1.Order")\n    return order.coupon\n',
        "not_adapted",
        (5, 6),
    ),
}  # fmt: skip


def judged(root: Path, files: dict[str, str]) -> dict[str, ModuleVerdict]:
    for side, text in (("before", BEFORE), ("after", AFTER)):
        (root / side).mkdir()
        (root / side / "shop.proto").write_text(text)
    (root / "modules").mkdir()
    for name, text in files.items():
        (root / "modules" / name).write_text(text)
    folder = Folder(root / "modules", sorted(files), read(str(root / "before")), read(str(root / "after")))
    return {each.file: each for each in folder.verdicts()}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ModuleVerdict]:
    """All rows, judged at once."""
    files = {f"row{at}.py": text for at, (text, _, _) in enumerate(ROWS.values())}
    return judged(tmp_path_factory.mktemp("rows"), files)


@pytest.mark.parametrize("name", ROWS)
def test_verdict(name: str, verdicts: dict[str, ModuleVerdict]) -> None:
    _, verdict, lines = ROWS[name]
    found = verdicts[f"row{list(ROWS).index(name)}.py"]
    assert (found.verdict, found.lines) == (verdict, lines), found


def test_a_text_that_cannot_be_read_names_the_line_of_the_file(verdicts: dict[str, ModuleVerdict]) -> None:
    found = verdicts[f"row{list(ROWS).index('no such message')}.py"]
    assert found.because == "cannot be read: SQL in it: line 3: no message shop.v1.Orders"


def test_cells_of_sql_in_a_notebook(tmp_path: Path) -> None:
    cells = [
        ["%load_ext sql\n", "x = 1"],
        ["%%sql orders <<\n", "-- contract: shop.v1.Order\n", "SELECT id,\n", "  coupon\n", "FROM orders"],
        ["y = %sql SELECT payload->'buyer'->>'mail' FROM events"],
        ["%%bash\n", "echo SELECT payload->'buyer'->>'mail' FROM events"],
    ]
    notebook = {"cells": [{"cell_type": "code", "source": each} for each in cells], "nbformat": 4, "metadata": {}}
    text = json.dumps(notebook, indent=1)
    found = judged(tmp_path, {"a.ipynb": text})["a.ipynb"]
    at = [line for line, each in enumerate(text.split("\n"), 1) if "coupon" in each or "y = %sql" in each]
    assert (found.verdict, found.lines) == ("not_adapted", tuple(at))
    assert "cell 2 line 4" in found.because


def test_each_line_of_sql_knows_its_line_in_the_file() -> None:
    source = Source.parse(
        "a.py", 'def f(c):\n    c.execute(\n        "SELECT a,"\n        "b FROM t\\nWHERE c"\n    )\n'
    )
    (found,) = find_sql(source)
    assert found.text == "SELECT a,\nb FROM t\nWHERE c"
    assert [found.line(line) for line in (1, 2, 3, 9, 0)] == [3, 4, 4, 4, 0]


@pytest.mark.parametrize(
    "text",
    ["x = 'SELECT a FROM t'", "f('SELECT a FROM t')", "c.execute(sql)", "c.execute('a')", "s = 'a'\ns = 'b'\nc.sql(s)"],
)
def test_what_is_no_sql_for_sure_is_left(text: str) -> None:
    assert list(find_sql(Source.parse("a.py", text))) == []
