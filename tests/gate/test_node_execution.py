"""Functions of TypeScript modules that are run: which may be, what is refused, what counts as an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocontract_ci.execution.entries import entry_points_of
from protocontract_ci.execution.node import NodeRunner
from protocontract_ci.execution.runner import Argument, Call, Outcome, Ran
from protocontract_ci.sources import Contracts, read
from protocontract_ci.usage.typescript import prepare
from protocontract_ci.usage.typescript.declarations import State
from protocontract_ci.usage.typescript.reader import Function, TypeScriptUses, read_typescript

pytestmark = pytest.mark.skipif(
    not prepare.ready(), reason="Node.js or the packages of protocontract gate --prepare are missing"
)

PROTO = """
syntax = "proto3";
package shop.v1;
enum State { STATE_UNSPECIFIED = 0; STATE_OPEN = 1; }
message Order { string id = 1; State state = 2; message Item { string name = 1; } repeated Item items = 3; }
"""
HEAD = 'import type { Order } from "./gen/order_pb.js";\n'


def contract(folder: Path) -> Contracts:
    (folder / "order.proto").write_text(PROTO)
    return read(str(folder / "order.proto"))


def found(folder: Path, files: dict[str, str], named: dict[str, list[str]] | None = None) -> TypeScriptUses:
    for name, text in files.items():
        (folder / name).write_text(text)
    state = State.of(contract(folder))
    return read_typescript(folder, list(files), state, state, named or {})


def ran(folder: Path, files: dict[str, str], *calls: Call) -> Ran:
    """What calls of functions of ``a.ts`` came to; all of them are named as entry points."""
    uses = found(folder, files, {"a.ts": [call.function for call in calls]})
    full = {"a.ts": frozenset(each.name for each in uses.files["a.ts"].functions if each.full)}
    return NodeRunner(contract(folder), uses.modules, full).run("a.ts", calls)


def outcome(folder: Path, body: str, *arguments: Argument) -> Outcome:
    given = ran(folder, {"a.ts": HEAD + "type _ = Order;\n" + body}, Call("f", arguments))
    assert not given.broken, given
    assert not given.import_error, given
    return given.outcomes[0]


ORDER = Argument("message", b"\n\x01x", "shop.v1.Order")


#: Files, and the functions of them that may be run without being named.
PURE = (
    ("export const f = (o: Order) => o.id;", ["f"]),
    ("function f(o: Order, n: number, b: bigint, s: string[]) { return [o.id, n, b, s]; }", ["f"]),
    ("export const f = (o: Order) => new Intl.NumberFormat().format(o.id.length) + JSON.stringify([1]);", ["f"]),
    ("export const f = (o: Order) => { console.log(o.id); };", ["f"]),
    ("export const f = (o: Order, other: Map<string, string>) => o.id;", []),
    ("export const f = async (o: Order) => o.id;", []),
    ("export function* f(o: Order) { yield o.id; }", []),
    ("export const f = (...o: Order[]) => o.length;", []),
    ("declare const process: any;\nexport const f = (o: Order) => { process.exit(); return o.id; };", []),
    ("export const f = (o: Order) => (globalThis as any).fetch(o.id);", []),
    ("export const f = (o: Order) => eval(o.id);", []),
    ("export const f = (o: Order) => (() => 1).constructor(o.id)();", []),
    ('export const f = (o: Order) => ((() => 1) as any)["constructor"](o.id)();', []),
    ('import { readFileSync } from "node:fs";\nexport const f = (o: Order) => readFileSync(o.id);', []),
    ('export const f = (o: Order) => { void import("node:fs"); return o.id; };', []),
    ('import { createClient as c } from "@connectrpc/connect";\nexport const f = (o: Order) => [c, o.id];', []),
    ("export class A { f(o: Order) { return o.id; } }", []),
)  # fmt: skip
#: Functions that reach for what is outside.
REACHING = (
    'export const f = () => fetch("http://localhost/");',
    "export const f = () => (globalThis as any).process.exit(3);",
    'export const f = () => (globalThis as any).require("node:fs");',
    'export const f = () => eval("1");',
    'export const f = () => (() => 1).constructor("return process")();',
    "export const f = () => setTimeout(() => 1, 1);",
    "export const f = () => new WebSocket('ws://localhost/');",
    "export const f = () => structuredClone(1) + (WebAssembly as any).Memory;",
)
#: Functions that find nothing where something should be, with what that counts as.
MISSING = (
    ("export const f = (o: Order): string => (({ y: '' }) as Record<string, string>)[o.id];", "undefined"),
    ("export const f = (o: Order): string | undefined => undefined;", ""),
    ("export const f = (o: Order): number => Number(o.id);", "NaN"),
    ("export const f = (o: Order) => `${o.items[0]?.name} is in`;", "NaN"),
    ("export const f = (o: Order) => ({ at: new Date(o.id) });", "NaN"),
    ("export const f = (o: Order) => `an undefinable ${o.id}`;", ""),
)


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TypeScriptUses]:
    """All of these files, read at once."""
    folder = tmp_path_factory.mktemp("functions")
    files = {f"pure{at}.ts": text for at, (text, _) in enumerate(PURE)}
    files.update({f"reaching{at}.ts": f"// @ts-nocheck\ntype _ = Order;\n{text}" for at, text in enumerate(REACHING)})
    files.update({f"missing{at}.ts": text for at, (text, _) in enumerate(MISSING)})
    named = {name: ["f"] for name in files if not name.startswith("pure")}
    return folder, found(folder, {name: f"{HEAD}{text}\n" for name, text in files.items()}, named)


def outcome_of(company: tuple[Path, TypeScriptUses], file: str, *arguments: Argument) -> Outcome:
    folder, uses = company
    full = {file: frozenset(each.name for each in uses.files[file].functions if each.full)}
    (only,) = NodeRunner(contract(folder), uses.modules, full).run(file, [Call("f", arguments)]).outcomes
    return only


# -- which may be run


@pytest.mark.parametrize("at", range(len(PURE)))
def test_only_what_computes_is_run_unasked(at: int, company: tuple[Path, TypeScriptUses]) -> None:
    assert [each.name for each in company[1].files[f"pure{at}.ts"].functions] == PURE[at][1]


def test_a_file_is_as_pure_as_what_it_imports(tmp_path: Path) -> None:
    body = 'import { g } from "./b.js";\nexport const f = (o: Order) => g(o.id);\n'
    pure = found(tmp_path, {"a.ts": HEAD + body, "b.ts": "export const g = (s: string) => s.trim();\n"})
    assert sorted(pure.modules) == ["a.ts", "b.ts"]
    reaching = found(tmp_path, {"b.ts": "export const g = (s: string) => fetch(s);\n", "a.ts": HEAD + body})
    assert reaching.modules == {}


def test_a_named_function_may_be_run_wherever_it_stands(tmp_path: Path) -> None:
    text = HEAD + "export const f = (o: Order) => o.id + performance.now();\nexport const g = (o: Order) => o.id;\n"
    assert not found(tmp_path, {"a.ts": text}).files["a.ts"].functions
    (named,) = found(tmp_path, {"a.ts": text}, {"a.ts": ["f"]}).files["a.ts"].functions
    assert named == Function("f", (("message", "shop.v1.Order"),), (2, 2), full=True)
    assert entry_points_of(["web.ledger:f", "app.web.ledger:g", "ledger:h"], "src/web/ledger.ts") == {"f", "h"}


# -- what is refused


@pytest.mark.parametrize("at", range(len(REACHING)))
def test_nothing_outside_is_reached(at: int, company: tuple[Path, TypeScriptUses]) -> None:
    assert outcome_of(company, f"reaching{at}.ts").error in ("ReferenceError", "TypeError", "EvalError")


def test_what_cannot_be_imported_is_said(tmp_path: Path) -> None:
    text = HEAD + 'import { readFileSync } from "node:fs";\nexport const f = (o: Order) => readFileSync(o.id);\n'
    assert ran(tmp_path, {"a.ts": text}, Call("f", (ORDER,))).import_error == "ReferenceError"
    text = (
        HEAD + 'export const f = (o: Order) => { void import("node:fs").then((fs) => fs.writeFileSync("x", "x")); };\n'
    )
    ran(tmp_path, {"a.ts": text}, Call("f", (ORDER,)))
    assert not (tmp_path / "x").exists()


def test_a_function_that_does_not_end_is_no_answer(tmp_path: Path) -> None:
    text = HEAD + "export const f = (o: Order) => { for (;;) o.id; };\nexport const g = (o: Order) => o.id;\n"
    calls = [Call("f", (ORDER,)), Call("f", (ORDER,)), Call("f", (ORDER,)), Call("g", (ORDER,))]
    assert [each.ran for each in ran(tmp_path, {"a.ts": text}, *calls).outcomes] == [False, False, False, True]


def test_memory_has_an_end(tmp_path: Path) -> None:
    text = HEAD + 'export const f = (o: Order) => { const a = [o.id]; for (;;) a.push("x".repeat(9) + a.length); };\n'
    given = ran(tmp_path, {"a.ts": text}, Call("f", (ORDER,)))
    assert given.broken or not given.outcomes[0].ran


# -- what is an answer


def test_errors_come_with_the_lines_of_the_module(tmp_path: Path) -> None:
    text = (
        HEAD + "interface Wide {\n  a: string;\n}\n\nfunction g(o: Order): string {\n  return o.items[0].name;\n}\n\n"
        "export function f(o: Order): string {\n  const wide: Wide = { a: g(o) };\n  return wide.a;\n}\n"
    )
    (found,) = ran(tmp_path, {"a.ts": text}, Call("f", (ORDER,))).outcomes
    assert (found.error, found.lines) == ("TypeError", (11, 7))


def test_messages_and_bytes_are_compared_as_such(tmp_path: Path) -> None:
    assert outcome(tmp_path, "export const f = (o: Order) => o;", ORDER).data == b"\n\x01x"
    changed = outcome(tmp_path, 'export const f = (o: Order) => { o.id = "y"; };', ORDER)
    assert (changed.message, changed.data) == ("shop.v1.Order", b"\n\x01y")
    assert outcome(tmp_path, "export const f = (o: Order) => new Uint8Array([7]);", ORDER).data == b"\x07"
    assert outcome(tmp_path, "export const f = (o: Order) => ({ a: [o.id, 1n] });", ORDER).text.startswith("object")


@pytest.mark.parametrize("at", range(len(MISSING)))
def test_a_missing_value_counts_as_a_failure(at: int, company: tuple[Path, TypeScriptUses]) -> None:
    assert outcome_of(company, f"missing{at}.ts", ORDER).error == MISSING[at][1]


def test_generated_modules_have_what_the_contract_has(tmp_path: Path) -> None:
    text = (
        'import { create } from "@bufbuild/protobuf";\n'
        'import { OrderSchema, Order_ItemSchema, State, StateSchema } from "./gen/order_pb.js";\n'
        "export const f = (s: string) => create(OrderSchema, {\n"
        "  id: `${s} ${State.OPEN} ${State[1]} ${StateSchema.typeName}`,\n"
        "  items: [create(Order_ItemSchema, { name: s })],\n});\n"
    )
    (found,) = ran(tmp_path, {"a.ts": text}, Call("f", (Argument("plain", "x"),))).outcomes
    assert found.message == "shop.v1.Order"
    assert b"x 1 OPEN shop.v1.State" in (found.data or b"")
