"""Odd structures: judged by protovalidate, and compiled in bounded time to modules of bounded size."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import protovalidate
import pytest

from protocontract import Contract
from protocontract_compiler import load_protos, plugin
from tests.compiler.odd_protos import contracts
from tests.compiler.sources import descriptors, request
from tests.examples import examples
from tests.fuzz.compare import equal, ours, theirs
from tests.fuzz.messages import random_message

_HEAD = """syntax = "proto3"; package made;
import "buf/validate/validate.proto";
import "protocontract/v1/contract.proto";
"""
_RULES = "[(buf.validate.field).string.min_len = 1, (protocontract.v1.field).text.trim = true]"


def _nested() -> str:
    """Types in types, 20 deep."""
    inner = ""
    for depth in reversed(range(20)):
        inner = f"message L{depth} {{ string x = 1 {_RULES}; {f'L{depth + 1} y = 2;' if inner else ''} {inner} }}\n"
    return inner


def _contained() -> str:
    """Messages in messages, 20 deep, on three ways at each step: 3 ** 20 paths."""
    links = "C{0} a = 2; repeated C{0} b = 3; map<int32, C{0}> c = 4;"
    return "".join(
        f"message C{depth} {{ string x = 1 {_RULES}; {links.format(depth + 1) if depth < 20 else ''} }}\n"
        for depth in range(21)
    )


def _clique(rules: str) -> str:
    """Twelve messages that each hold all twelve: 12! paths without a recurrence."""
    links = " ".join(f"Q{other} q{other} = {other + 2};" for other in range(12))
    return "".join(f"message Q{number} {{ string x = 1 {rules}; {links} }}\n" for number in range(12))


def _wide() -> str:
    """300 fields with rules, and 300 that hold one message of 60."""
    fields = "".join(f"string f{n} = {n + 1} {_RULES}; V v{n} = {n + 1001};\n" for n in range(300))
    return f"message W {{ {fields} }} message V {{ {''.join(f'string f{n} = {n + 1} {_RULES};' for n in range(60))} }}"


_MADE: dict[str, tuple[Callable[[], str], int]] = {
    "nested": (_nested, 6_000),
    "contained": (_contained, 40_000),
    "clique": (lambda: _clique(_RULES), 15_000),
    "private clique": (lambda: _clique(f"{_RULES[:-1]}, (protocontract.v1.field).sensitive = true]"), 30_000),
    "clique without rules": (lambda: _clique(""), 200),
    "wide": (_wide, 20_000),
}


def _judged(contract: Contract[Any], number: int) -> int:
    """Compares random messages; gives the number of violations."""
    validator = protovalidate.Validator()
    violations = 0
    for seed in range(number):
        message = random_message(random.Random(seed), contract.message_type)
        expected, found = theirs(validator, message), ours(contract, message)
        if isinstance(found, list):
            found = [raw for raw in found if not any(word in raw for word in (b"spans.", b"tensor."))]
            violations += len(found)
        assert equal(expected, found), (contract.full_name, seed)
        contract.process(message.SerializePartialToString())
    return violations


@pytest.mark.parametrize("package", ["keys", "older", "newer", "class.in", "FooBar"])
def test_protovalidate_agrees(package: str) -> None:
    chosen = [contract for name, contract in contracts().items() if name == package or name.startswith(f"{package}.")]
    assert sum(_judged(contract, examples(40)) for contract in chosen) > 20


@pytest.mark.parametrize("name", _MADE)
def test_time_and_size_are_bounded(name: str, tmp_path: Path) -> None:
    make, most_lines = _MADE[name]
    (tmp_path / "made.proto").write_text(_HEAD + make())
    asked = request(descriptors(["made.proto"], [tmp_path], tmp_path), ["made.proto"])
    started = time.process_time()
    response = plugin.respond(asked)
    assert time.process_time() - started < 60
    assert not response.error
    (file,) = response.file
    assert file.content.count("\n") < most_lines
    compile(file.content, "made_contract.py", "exec")


def test_made_structures_are_judged_alike(tmp_path: Path) -> None:
    (tmp_path / "made.proto").write_text(_HEAD + _contained() + _nested() + _clique(_RULES))
    made = load_protos([tmp_path])
    for name in ("C0", "C14", "C20", "L0", "L0.L1.L2", "Q0"):
        assert _judged(made[f"made.{name}"], examples(20)) > 0


def test_a_chain_of_twenty_is_normalised_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "made.proto").write_text(_HEAD + _contained())
    contract = load_protos([tmp_path])["made.C0"]
    message = contract.message_type(x="x")
    step = message
    for depth in range(20):
        step = step.a if depth % 3 == 0 else step.b.add() if depth % 3 == 1 else step.c[7]
        step.x = "x"
    step.x = " y "
    outcome = contract.process(message.SerializeToString())
    path = ".".join(("a", "b[0]", "c[7]")[depth % 3] for depth in range(20))
    assert [(change.path, change.after) for change in outcome.changes] == [(f"{path}.x", "y")]
    step.x = ""
    (violation,) = contract.process(message.SerializeToString()).violations
    assert (violation.field_path, violation.contract) == (f"{path}.x", "made.C0")


def test_codes_of_one_declaration_may_recur(tmp_path: Path) -> None:
    """error_codes of a message that a contract holds twice are no clash; those of two fields are."""
    inner = "message I { string x = 1 [(buf.validate.field).string.min_len = 1, %s]; } message O { I a = 1; I b = 2; }"
    code = '(protocontract.v1.field).error_codes = {key: "string.min_len", value: 9}'
    (tmp_path / "made.proto").write_text(_HEAD + inner % code)
    contract = load_protos([tmp_path])["made.O"]
    message = contract.message_type()
    message.a.SetInParent()
    message.b.SetInParent()
    assert [violation.code for violation in contract.validate(message)] == [9, 9]
    response = plugin.respond(request(descriptors(["made.proto"], [tmp_path], tmp_path), ["made.proto"]))
    assert "ERR_O_B_X_STRING_MIN_LEN: Final = 0x00000009" in response.file[0].content
