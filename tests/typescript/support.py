"""Contracts through Python and TypeScript: the same messages, and whether both say the same of them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.message import Message

from protocontract import Contract, RuleEvaluationError, Violation
from protocontract_ci.usage.typescript.prepare import packages, ready
from protocontract_compiler import ir
from protocontract_compiler.emit import typescript
from protocontract_compiler.emit.typescript.module import module_of

needs_node = pytest.mark.skipif(
    not ready(), reason="Node.js or the packages of protocontract gate --prepare are missing"
)

RUNNER: Final = Path(__file__).with_name("runner.mjs")
#: The moment that all cases are judged at: 2026-06-01T12:00:00Z.
NOW: Final = 1_780_315_200_000_000_000
#: Everything that makes the TypeScript compiler stricter; ES2022 without anything of Node.js.
_STRICT: Final = {
    "strict": True, "noUncheckedIndexedAccess": True, "exactOptionalPropertyTypes": True, "noUnusedLocals": True,
    "noUnusedParameters": True, "noImplicitReturns": True, "noFallthroughCasesInSwitch": True,
    "noPropertyAccessFromIndexSignature": True, "verbatimModuleSyntax": True, "isolatedModules": True,
    "module": "nodenext", "target": "es2022", "lib": ["es2022", "dom"], "types": [], "noEmit": True,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """One message for one contract."""

    contract: Contract[Any]
    message: Message
    context: str | None = None
    #: The folder below the output folder that holds the contract and its helpers.
    below: str = "."

    @property
    def module(self) -> str:
        """The path of the contract's TypeScript module below the output folder."""
        return module_of(self.contract.source, "_contract")

    def asked(self, schema: ir.Schema) -> dict[str, Any]:
        """What the runner reads."""
        return {
            "root": self.below,
            "module": self.module,
            "name": typescript.contract_name(schema.messages[self.contract.full_name]),
            "raw": self.message.SerializeToString(deterministic=True).hex(),
            "now": str(NOW),
            "context": self.context,
        }


def exact_messages(schema: ir.Schema, wanted: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Full names of the messages that TypeScript has exactly, and why others are refused; of all that are requested."""
    wanted = wanted or [message.full_name for message in schema.requested_messages()]
    if not typescript.emit(schema, types="plain", messages=tuple(wanted)).inexact:
        return list(wanted), []
    if len(wanted) == 1:
        emitted = typescript.emit(schema, types="plain", messages=tuple(wanted))
        return [], [f"{wanted[0]}: {error.what}" for error in emitted.inexact]
    # Most are exact: halves in which all are need no closer look.
    middle = len(wanted) // 2
    parts = [exact_messages(schema, half) for half in (wanted[:middle], wanted[middle:])]
    return [name for names, _ in parts for name in names], [reason for _, reasons in parts for reason in reasons]


def write(schema: ir.Schema, messages: Sequence[str], folder: Path) -> None:
    """Writes the TypeScript of some messages, with plain types."""
    if not messages:
        return
    for file in typescript.emit(schema, types="plain", messages=tuple(messages)).files:
        path = folder / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, "utf-8")


def answers(
    folder: Path, tables: Iterable[tuple[FileDescriptorSet, ir.Schema, Sequence[Case]]]
) -> list[dict[str, Any]]:
    """What TypeScript says of all cases, in order. A table is descriptors, their schema, and cases."""
    node, installed = packages()
    lines: list[str] = []
    for descriptors, schema, cases in tables:
        lines.append(json.dumps({"descriptors": descriptors.SerializeToString().hex()}))
        lines += (json.dumps(case.asked(schema)) for case in cases)
    command = [node, str(RUNNER), str(installed), str(folder)]
    done = subprocess.run(command, input="\n".join(lines).encode(), stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def strictly(folder: Path, *patterns: str) -> str:
    """What the TypeScript compiler says, at its strictest, of the files of some patterns; empty where it is content."""
    node, installed = packages()
    config = {"compilerOptions": _STRICT, "include": list(patterns or ("**/*.ts",)), "exclude": ["node_modules"]}
    (folder / "tsconfig.json").write_text(json.dumps(config))
    (folder / "package.json").write_text('{"type": "module"}')
    if not (folder / "node_modules").exists():
        (folder / "node_modules").symlink_to(installed / "node_modules")
    command = [node, str(installed / "node_modules" / "typescript" / "bin" / "tsc"), "-p", str(folder)]
    return subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True).stdout


def evaluated(folder: Path, script: str) -> Any:
    """What a script prints as JSON, which imports from the JavaScript of ``folder``."""
    node, installed = packages()
    if any(not path.with_suffix(".js").exists() for path in folder.rglob("*.ts")):
        subprocess.run([node, str(RUNNER.with_name("transpile.mjs")), str(installed), str(folder)], check=True)
    (folder / "script.mjs").write_text(script, "utf-8")
    done = subprocess.run([node, "script.mjs"], cwd=folder, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def difference(case: Case, answer: dict[str, Any]) -> str | None:
    """What Python and TypeScript say differently of a case; None where they agree."""
    if "crash" in answer:
        return f"TypeScript crashed: {answer['crash']}"
    raw = case.message.SerializeToString(deterministic=True)
    outcome = case.contract.process(raw, context=case.context, now=NOW)
    expected = {
        "validated": _validated(case),
        "ok": outcome.ok,
        "violations": list(map(_shown, outcome.violations)),
        "changes": [[each.path, each.rule_id, _told(each.before), _told(each.after)] for each in outcome.changes],
        "kept": True,
    }
    for word, value in expected.items():
        if value != answer[word]:
            return f"{word}: {_contrast(value, answer[word])}"
    if outcome.decoded is not None and answer["decoded"] is not None:
        again = type(case.message)()
        again.ParseFromString(bytes.fromhex(answer["decoded"]))
        if again.SerializeToString(deterministic=True) != outcome.decoded.SerializeToString(deterministic=True):
            return f"normalised: Python has {outcome.decoded}, TypeScript {again}"
    return None


def _contrast(expected: Any, found: Any) -> str:
    """What differs, without what does not."""
    if isinstance(expected, list) and isinstance(found, list):
        for number, (one, two) in enumerate(zip_longest(expected, found)):
            if one != two:
                return f"item {number}: Python says {one}, TypeScript {two}"
    return f"Python says {expected}, TypeScript {found}"


def _validated(case: Case) -> list[list[Any]] | str:
    try:
        return list(map(_shown, case.contract.validate(case.message, context=case.context, now=NOW)))
    except RuleEvaluationError as error:
        return f"evaluation error: {error}"


def _shown(found: Violation) -> list[Any]:
    return [found.field_path, found.rule_id, found.code, found.message, found.severity, found.for_key, str(found)]


def _told(value: Any) -> Any:
    """A value of a change as the runner tells it."""
    match value:
        case bool() | str() | None:
            return value
        case int():
            return {"number": str(value)}
        case float():
            return {"number": repr(value).removesuffix(".0")}
        case bytes():
            return {"bytes": value.hex()}
    return "object"
