"""Verdicts on TypeScript modules: one contract with many changes, and each row a module with its verdict and lines."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from protocontract_ci.model import ModuleVerdict
from protocontract_ci.sources import read
from protocontract_ci.usage.typescript import prepare
from protocontract_ci.verdicts.folder import Folder

needs_compiler = pytest.mark.skipif(
    not prepare.ready(), reason="Node.js or the packages of protocontract gate --prepare are missing"
)

BEFORE = """
syntax = "proto3";
package shop.v1;
import "buf/validate/validate.proto";
enum State { STATE_UNSPECIFIED = 0; STATE_OPEN = 1; STATE_DONE = 2; }
enum Size { SIZE_S = 0; SIZE_L = 1; }
message Order { string id = 1; string coupon = 2; State state = 3; Size size = 4; }
message Count { int32 number = 1; string text = 2; string note = 3; optional string nick = 4; string plain = 5; }
message Pay { oneof how { string card = 1; string iban = 2; } }
message Price {
  string currency = 1 [(buf.validate.field).string = {in: ["EUR", "USD", "GBP"]}];
  string code = 2 [(buf.validate.field).string.max_len = 9];
  repeated string tags = 3 [(buf.validate.field).repeated.max_items = 9];
  int64 cents = 4 [(buf.validate.field).int64.gte = 0];
}
message Named { string first_name = 1; }
service Shop { rpc Get(Order) returns (Count); rpc Drop(Order) returns (Count); }
"""
AFTER = """
syntax = "proto3";
package shop.v1;
import "buf/validate/validate.proto";
enum State { STATE_UNSPECIFIED = 0; STATE_OPEN = 1; STATE_DONE = 2; STATE_LOST = 3; }
enum Size { SIZE_S = 0; SIZE_L = 1; OTHER = 2; }
message Order { string id = 1; reserved 2; reserved "coupon"; State state = 3; Size size = 4; }
message Count { int64 number = 1; bytes text = 2; string note = 3; string nick = 4; optional string plain = 5; }
message Pay { oneof how { string card = 1; string iban = 2; string wallet = 3; } }
message Price {
  string currency = 1 [(buf.validate.field).string = {in: ["EUR", "USD"]}];
  string code = 2 [(buf.validate.field).string = {min_len: 1, max_len: 3}];
  repeated string tags = 3 [(buf.validate.field).repeated.max_items = 1];
  int64 cents = 4 [(buf.validate.field).int64.gte = 100];
}
message Named { string firstName = 1 [json_name = "firstName"]; }
service Shop { rpc Get(Order) returns (stream Count); }
"""
NAMES = "OrderSchema PriceSchema State Size Shop type:Order type:Count type:Pay type:Price type:Named"
#: The two lines of imports come first.
ROWS: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "a removed field": ("export const a = (o: Order) => o.coupon;", "not_adapted", (3,)),
    "a removed field, destructured": ("export const a = ({ coupon }: Order) => coupon;", "not_adapted", (3,)),
    "a removed field, hidden by a cast": ("export const a = (o: Order) => (o as any).coupon;", "not_adapted", (3,)),
    "a removed field in an object made before": (
        'const init = { id: "1",\n  coupon: "c" };\nexport const a = create(OrderSchema, init);',
        "not_adapted",
        (4,),
    ),
    "a removed field, acknowledged": (
        "// contract-ack: shop.v1.Order.coupon removed (nobody reads the page)\n"
        "export const a = (o: Order) => (o as any).coupon;",
        "adapted",
        (),
    ),
    "another field": ("export const a = (o: Order) => o.id;", "unaffected", ()),
    "arithmetic on another number": ("export const a = (c: Count) => c.number + 1;", "not_adapted", (3,)),
    "an error two lines on": (
        "export function a(c: Count) {\n  const n = c.number;\n\n  return Math.floor(n);\n}",
        "not_adapted",
        (4,),
    ),
    "digits in a text": ("export const a = (c: Count) => `${c.number}`;", "adapted", ()),
    "a number made of either": ("export const a = (c: Count) => Number(c.number);", "adapted", ()),
    "a bigint in JSON.stringify": ("export const a = (c: Count) => JSON.stringify({ n: c.number });", "not_adapted", (3,)),
    "bytes in a text": ('export const a = (c: Count) => "x" + c.text;', "not_adapted", (3,)),
    "bytes that are decoded": (
        "export const a = (c: Count) => new TextDecoder().decode(c.text);",
        "adapted",
        (),
    ),
    "a key of JSON with another type": (
        "import { CountSchema } from './gen/shop_pb.js';\n"
        "export const a = (c: Count) => (toJson(CountSchema, c) as any).number / 2;",
        "not_adapted",
        (4,),
    ),
    "asked for presence": ('export const a = (c: Count) => c.nick ?? "none";', "not_adapted", (3,)),
    "empty as absent": ('export const a = (c: Count) => c.nick || "none";', "adapted", ()),
    "may be undefined now": ("export const a = (c: Count): string => c.plain;", "not_adapted", (3,)),
    "copes with undefined": ('export const a = (c: Count): string => c.plain ?? "";', "adapted", ()),
    "a table that must be complete": (
        "const T: Record<State, string> = {\n"
        '  [State.UNSPECIFIED]: "", [State.OPEN]: "o", [State.DONE]: "d",\n};\n'
        "export const a = (o: Order) => T[o.state];",
        "not_adapted",
        (3,),
    ),
    "a switch with a default": (
        'export function a(o: Order) {\n  switch (o.state) {\n    case State.OPEN: return "o";\n'
        '    default: return "x";\n  }\n}',
        "adapted",
        (),
    ),
    "a switch that returns in every case": (
        "export function a(p: Pay): string {\n  switch (p.how.case) {\n"
        '    case "card": return "c";\n    case "iban": return "i";\n    case undefined: return "";\n  }\n}',
        "not_adapted",
        (4,),
    ),
    "a oneof, never": (
        'export function a(p: Pay): string {\n  if (p.how.case === "card") return "c";\n'
        '  if (p.how.case === "iban") return "i";\n  if (p.how.case === undefined) return "";\n'
        "  const rest: never = p.how;\n  return rest;\n}",
        "not_adapted",
        (7,),
    ),
    "members that lost their short names": ("export const a = (o: Order) => o.size === Size.L;", "not_adapted", (3,)),
    "a refused literal": ('export const a = create(PriceSchema, { code: "ab", currency: "GBP" });', "not_adapted", (3,)),
    "a refused constant": (
        'const GBP = "GBP";\nexport function a(p: Price) {\n  p.currency = GBP;\n}',
        "not_adapted",
        (5,),
    ),
    "literals that are accepted": (
        "export const a = (yes: boolean) =>\n"
        '  create(PriceSchema, { currency: yes ? "EUR" : "USD", code: "ab", tags: ["a"], cents: 100n });',
        "adapted",
        (),
    ),
    "a list that is too long": (
        'export const a = create(PriceSchema, { code: "ab", currency: "EUR", cents: 100n, tags: ["a", "b"] });',
        "not_adapted",
        (3,),
    ),
    "a number that is too small": (
        'export const a = create(PriceSchema, { code: "ab", currency: "EUR", cents: 5n });',
        "not_adapted",
        (3,),
    ),
    "a field that is left out": (
        'export const a = create(PriceSchema, { currency: "EUR", cents: 100n });',
        "not_adapted",
        (3,),
    ),
    "a reader of what is tighter now": ("export const a = (p: Price) => p.code;", "unaffected", ()),
    "the same name in TypeScript": ("export const a = (n: Named) => n.firstName;", "unaffected", ()),
    "a call that streams now": (
        'import { createClient } from "@connectrpc/connect";\n'
        "export const a = async (t: any) => (await createClient(Shop, t).get({})).note;",
        "not_adapted",
        (4,),
    ),
    "a call that is gone": (
        'import { createClient } from "@connectrpc/connect";\n'
        "export const a = async (t: any) => createClient(Shop, t).drop({});",
        "not_adapted",
        (4,),
    ),
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ModuleVerdict]:
    """All rows, judged at once."""
    root = tmp_path_factory.mktemp("verdicts")
    return judged(root, {name: text for name, (text, _, _) in ROWS.items()})


def judged(root: Path, rows: dict[str, str]) -> dict[str, ModuleVerdict]:
    for side, text in (("before", BEFORE), ("after", AFTER)):
        (root / side).mkdir()
        (root / side / "shop.proto").write_text(text)
    files = {}
    for name, text in rows.items():
        # Only what it uses is imported: the import of a name counts as a use.
        file = f"{name.replace(' ', '_').replace(',', '').replace('()', '')}.ts"
        files[file] = name
        (root / file).write_text(imports_of(text) + text + "\n")
    folder = Folder(root, sorted(files), read(str(root / "before")), read(str(root / "after")))
    return {files[each.file]: each for each in folder.verdicts()}


def imports_of(text: str) -> str:
    """The two lines of imports, with those names only that a module uses."""
    names = (name.replace(":", " ") for name in NAMES.split())
    used = [name for name in names if re.search(rf"\b{name.split()[-1]}\b", text)]
    helpers = [name for name in ("create", "toJson") if f"{name}(" in text]
    return (
        f"import {{ {', '.join(helpers)} }} from \"@bufbuild/protobuf\";\n"
        f"import {{ {', '.join(used)} }} from \"./gen/shop_pb.js\";\n"
    )


@needs_compiler
@pytest.mark.parametrize("name", ROWS)
def test_verdict(name: str, verdicts: dict[str, ModuleVerdict]) -> None:
    _, verdict, lines = ROWS[name]
    found = verdicts[name]
    assert (found.verdict, found.lines) == (verdict, lines), found
