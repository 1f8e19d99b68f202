"""The process that reads TypeScript is kept from request to request, and starts anew after one without an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocontract_ci.sources import read
from protocontract_ci.usage.python.checker import CheckerError
from protocontract_ci.usage.typescript import prepare
from protocontract_ci.usage.typescript.declarations import State
from protocontract_ci.usage.typescript.process import Reader
from protocontract_ci.usage.typescript.reader import absent_in

pytestmark = pytest.mark.skipif(
    not prepare.ready(), reason="Node.js or the packages of protocontract gate --prepare are missing"
)

#: A program that answers with its number and how often it was asked, and fails or waits when it is told to.
PROGRAM = """
import { createInterface } from "node:readline";
let asked = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const { what } = JSON.parse(line);
  if (what === "fail") throw new TypeError("of no use");
  if (what === "end") process.exit(0);
  if (what !== "wait") process.stdout.write(`${JSON.stringify([process.pid, ++asked])}\\n`);
}
"""


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    (tmp_path / "program.mjs").write_text(PROGRAM)
    node, packages = prepare.packages()
    return Reader(node, packages, tmp_path / "program.mjs")


def test_the_process_is_kept(reader: Reader) -> None:
    (first, one), (second, two) = (reader.ask({}) for _ in range(2))
    assert (first, one, two) == (second, 1, 2)
    assert reader.stop() == ""
    (third, one) = reader.ask({})
    assert (third != first, one) == (True, 1)
    reader.stop()


@pytest.mark.parametrize(
    ("what", "reason"),
    [("fail", r"failed: TypeError: of no use"), ("end", "failed: no message"), ("wait", r"did not end within 0\.5 s")],
)
def test_after_a_request_without_an_answer_it_starts_anew(reader: Reader, what: str, reason: str) -> None:
    first, _ = reader.ask({})
    with pytest.raises(CheckerError, match=f"the TypeScript reader {reason}"):
        reader.ask({"what": what}, seconds=0.5 if what == "wait" else 60)
    second, asked = reader.ask({})
    assert (second != first, asked) == (True, 1)
    reader.stop()


def test_what_is_read_does_not_depend_on_what_was_read_before(tmp_path: Path) -> None:
    (tmp_path / "order.proto").write_text('syntax = "proto3"; package shop.v1; message Order { string id = 1; }')
    (tmp_path / "a.ts").write_text(
        'import type { Order } from "./gen/order_pb.js";\nexport const a = (o: Order) => new Set([o.no]).has("");\n'
    )
    contracts = read(str(tmp_path / "order.proto"))
    found = [absent_in(tmp_path, ["a.ts"], State.of(contracts))]
    # Other options, with another library.
    (tmp_path / "tsconfig.json").write_text('{"compilerOptions": {"strict": false, "lib": ["es5"]}}')
    absent_in(tmp_path, ["a.ts"], State.of(contracts))
    (tmp_path / "tsconfig.json").unlink()
    found.append(absent_in(tmp_path, ["a.ts"], State.of(contracts)))
    assert found == [[("a.ts", 2, "shop.v1.Order", "no")]] * 2
