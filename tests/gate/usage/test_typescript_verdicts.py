"""Verdicts on TypeScript modules: one contract with many changes, and each row a module with its verdict and lines."""

from __future__ import annotations

import base64
import json
import os
import re
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from protocontract.cli import main
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
message Claim { string id = 1; }
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
message Claim { string id = 1; string policy = 2 [(buf.validate.field).required = true]; }
service Shop { rpc Get(Order) returns (stream Count); }
"""
NAMES = "OrderSchema PriceSchema ClaimSchema State Size Shop type:Order type:Count type:Pay type:Price type:Named"
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
    "a bigint in JSON.stringify": (
        "export const a = (c: Count) => JSON.stringify({ n: c.number });",
        "not_adapted",
        (3,),
    ),
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
    "a refused literal": (
        'export const a = create(PriceSchema, { code: "ab", currency: "GBP" });',
        "not_adapted",
        (3,),
    ),
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
    "an empty message, filled later": (
        "export function a(id: string) {\n  const made = create(ClaimSchema);\n  made.id = id;\n  return made;\n}",
        "not_adapted",
        (4,),
    ),
    "a required field that is set": (
        "export const a = (id: string, policy: string) => create(ClaimSchema, { id, policy });",
        "adapted",
        (),
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
        f'import {{ {", ".join(helpers)} }} from "@bufbuild/protobuf";\n'
        f'import {{ {", ".join(used)} }} from "./gen/shop_pb.js";\n'
    )


@needs_compiler
@pytest.mark.parametrize("name", ROWS)
def test_verdict(name: str, verdicts: dict[str, ModuleVerdict]) -> None:
    _, verdict, lines = ROWS[name]
    found = verdicts[name]
    assert (found.verdict, found.lines) == (verdict, lines), found


# -- what is around the modules


def folder_of(root: Path, files: dict[str, str]) -> Folder:
    """Both states of the contract, and modules below ``web``."""
    for side, text in (("before", BEFORE), ("after", AFTER)):
        (root / side).mkdir(parents=True)
        (root / side / "shop.proto").write_text(text)
    for name, text in files.items():
        (root / "web" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "web" / name).write_text(text)
    names = sorted(name for name in files if name.endswith(".ts"))
    return Folder(root / "web", names, read(str(root / "before")), read(str(root / "after")))


def verdicts_of(root: Path, files: dict[str, str]) -> dict[str, ModuleVerdict]:
    return {each.file: each for each in folder_of(root, files).verdicts()}


@needs_compiler
def test_the_modules_own_tsconfig_is_kept(tmp_path: Path) -> None:
    module = 'import type { Count } from "@pb/shop_pb";\nexport const a = (c: Count): string => c.plain;\n'
    config = '{"compilerOptions": {"strict": STRICT, "paths": {"@pb/*": ["./gen/*"]}}}'
    found = verdicts_of(
        tmp_path,
        {
            "strict/a.ts": module, "strict/tsconfig.json": config.replace("STRICT", "true"),
            "loose/a.ts": module, "loose/tsconfig.json": config.replace("STRICT", "false"),
        },
    )  # fmt: skip
    assert (found["strict/a.ts"].verdict, found["loose/a.ts"].verdict) == ("not_adapted", "adapted")


@needs_compiler
def test_an_error_that_comes_out_in_another_file(tmp_path: Path) -> None:
    found = verdicts_of(
        tmp_path,
        {
            "read.ts": 'import type { Count } from "./gen/shop_pb.js";\nexport const plain = (c: Count) => c.plain;\n',
            "use.ts": 'import { plain } from "./read.js";\nexport const a = (c: any): string => plain(c).trim();\n',
        },
    )
    assert (found["use.ts"].verdict, found["use.ts"].lines) == ("not_adapted", (2,))
    assert found["read.ts"].verdict == "adapted"


@needs_compiler
def test_generated_code_on_disk(tmp_path: Path) -> None:
    """What lies on disk is not believed: our declarations stand in its place, and an old copy is said."""
    proto = read_descriptor(tmp_path / "x")
    text = f'// @generated by protoc-gen-es v2.9.0\n\nexport const file_shop = fileDesc("{proto}");\n'
    module = 'import type { Order } from "./gen/shop_pb.js";\nexport const a = (o: Order) => o.id;\n'
    found = verdicts_of(tmp_path, {"gen/shop_pb.ts": text, "a.ts": module})
    assert (found["gen/shop_pb.ts"].verdict, found["gen/shop_pb.ts"].lines) == ("not_adapted", (3,))
    assert (found["a.ts"].verdict, found["a.ts"].lines) == ("not_adapted", (1,))
    again = verdicts_of(tmp_path / "y", {"gen/shop_pb.ts": text.replace(proto, read_descriptor(tmp_path / "z", AFTER))})
    assert again == {}


def read_descriptor(folder: Path, text: str = BEFORE) -> str:
    """The file, as generated code holds it."""
    folder.mkdir()
    (folder / "shop.proto").write_text(text)
    proto = FileDescriptorProto()
    read(str(folder)).loaded.pool.FindFileByName("shop.proto").CopyToProto(proto)
    return base64.b64encode(proto.SerializeToString()).decode()


@needs_compiler
@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("// @generated by protoc-gen-es v1.10.0\n// @generated from file shop.proto\n", "by protoc-gen-es 1"),
        ("// source: shop.proto\n", "not written by protoc-gen-es"),
    ],
)  # fmt: skip
def test_generated_code_of_another_style_is_not_judged(tmp_path: Path, head: str, reason: str) -> None:
    module = 'import { Order } from "./gen/shop_pb.js";\nexport const a = (o: Order) => o.id;\n'
    found = verdicts_of(tmp_path, {"gen/shop_pb.d.ts": head, "a.ts": module})
    assert found["a.ts"].verdict == "unverified"
    assert reason in found["a.ts"].because


@needs_compiler
def test_a_file_that_does_not_parse_is_not_judged(tmp_path: Path) -> None:
    found = verdicts_of(tmp_path, {"a.ts": "export const = ;\n"})
    assert found["a.ts"].verdict == "unverified"
    assert "line 1" in found["a.ts"].because


@needs_compiler
def test_nothing_is_the_same_twice(tmp_path: Path) -> None:
    (tmp_path / "order.ts").write_text('import type { Order } from "./gen/shop_pb.js";\n' + ROWS["a removed field"][0])
    folder = folder_of(tmp_path, {})
    names = ["order.ts"]
    once, again = (Folder(tmp_path, names, folder.before, folder.after).verdicts() for _ in range(2))
    assert once == again


# -- without the compiler


def test_without_node_nothing_is_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = verdicts_of(tmp_path, {"a.ts": "export const a = 1;\n"})
    assert found["a.ts"].verdict == "unverified"
    assert "protocontract gate --prepare" in found["a.ts"].because


def tools(folder: Path, npm: str) -> str:
    """A PATH with a node that does nothing and an npm that does this."""
    folder.mkdir()
    for name, text in (("node", "exit 0"), ("npm", npm)):
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return os.pathsep.join([str(folder), "/usr/bin", "/bin"])


def test_preparing_installs_the_lock_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = " ".join(f"node_modules/{name}" for name in ("typescript", "@bufbuild/protobuf"))
    install = (
        f'echo "$@" >> {tmp_path}/calls; test -f package-lock.json && mkdir -p {made} && '
        f"for each in {made}; do echo '{{}}' > $each/package.json; done"
    )
    monkeypatch.setenv("PATH", tools(tmp_path / "bin", install))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert not prepare.ready()
    where = prepare.prepare()
    assert prepare.ready()
    assert prepare.prepare() == where == prepare.folder()
    assert [path.name for path in where.parent.iterdir()] == [where.name]
    (call,) = (tmp_path / "calls").read_text().splitlines()
    assert call.split()[:2] == ["ci", "--ignore-scripts"]


def test_preparing_says_what_npm_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", tools(tmp_path / "bin", "echo 'npm error code E500' >&2; exit 1"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert main(["gate", "--prepare"]) == 2
    assert "npm ci failed: npm error code E500" in capsys.readouterr().err
    assert not prepare.ready()


def test_the_lock_file_is_of_the_package_and_names_no_registry() -> None:
    lock = json.loads((prepare.PROGRAM / "package-lock.json").read_text())
    wanted = json.loads((prepare.PROGRAM / "package.json").read_text())
    assert lock["packages"][""]["dependencies"] == wanted["dependencies"]
    for name, version in wanted["dependencies"].items():
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
    assert "resolved" not in json.dumps(lock)
