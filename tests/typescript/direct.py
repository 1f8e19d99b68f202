"""The TypeScript runtime without contracts: normalizers and relations as the emitter binds them, run by Node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from protocontract.violations import Refusal
from protocontract_compiler import ir
from protocontract_compiler.emit.typescript import bound, data
from tests.typescript.support import RUNNER, packages
from tests.typescript.tables import RUNTIME

PLACE = ir.Place("a.proto", 1, 1)
CASES = Path(__file__).parents[1] / "cases" / "values"
#: Values for each set of options; PROTOCONTRACT_EXAMPLES multiplies them.
MANY = int(40 * float(os.environ.get("PROTOCONTRACT_EXAMPLES", "1")))


def compiled(folder: Path) -> Path:
    """The runtime as JavaScript, in ``folder``. test_types.py looks at its types, with contracts of every word."""
    node, installed = packages()
    made = shutil.copytree(RUNTIME, folder / "runtime")
    for path, source in data.SOURCES.items():
        (made / f"{path}.ts").write_text(source(), "utf-8")
    subprocess.run([node, str(RUNNER.with_name("transpile.mjs")), str(installed), str(made)], check=True)
    return made


@dataclass
class Job:
    """One bound normalizer or relation, and the calls of it."""

    code: str
    uses: list[tuple[str, str]]
    kind: Literal["text", "plain"] = "plain"
    calls: list[list[Any]] = field(default_factory=list)


def normalizer(word: str, options: dict[str, Any], field_type: int = ir.TYPE_STRING) -> Job:
    """A normalizer as the emitter binds it. Raises Inexact."""
    uses: list[tuple[str, str]] = []
    code = bound.normalizer(_use(uses), word, options, field_type, PLACE)
    return Job(code, list(dict.fromkeys(uses)), "text" if word == "text" else "plain")


def amount_warnings(options: dict[str, Any]) -> Job:
    """What tells why amounts in a text are left, as the emitter binds it."""
    uses: list[tuple[str, str]] = []
    code = bound.amount_warnings(_use(uses), options)
    return Job(code, list(dict.fromkeys(uses)))


def relation(word: str, options: dict[str, Any]) -> Job:
    """A relation as the emitter binds it. Raises Inexact."""
    uses: list[tuple[str, str]] = []
    code = bound.relation(_use(uses), word, options, PLACE)
    return Job(code, list(dict.fromkeys(uses)))


def _use(uses: list[tuple[str, str]]) -> bound.Use:
    def use(path: str, name: str) -> str:
        uses.append((path, name))
        return name

    return use


def run(dist: Path, jobs: list[Job]) -> list[list[Any]]:
    """The results of all calls, job by job."""
    given = [{"code": job.code, "uses": job.uses, "kind": job.kind, "calls": job.calls} for job in jobs]
    done = subprocess.run(
        [packages()[0], str(Path(__file__).with_name("direct.mjs")), str(dist)],
        input=json.dumps(given), capture_output=True, text=True, check=True, encoding="utf-8",
    )  # fmt: skip
    results: list[list[Any]] = json.loads(done.stdout)
    return results


def shown(result: Any) -> Any:
    """A result of Python's as direct.mjs prints one."""
    if isinstance(result, Refusal):
        return {"refused": [result.rule_id, result.message, result.index]}
    if isinstance(result, list):
        return [shown(each) for each in result]
    return result


def compare(dist: Path, jobs: list[tuple[Job, Callable[..., Any]]]) -> None:
    """Runs all calls in both languages; a difference names the binding and the arguments."""
    results = run(dist, [job for job, _ in jobs])
    different = [
        f"{job.code}({call!r})\n  Python:     {expected!r}\n  TypeScript: {got!r}"
        for (job, twin), row in zip(jobs, results, strict=True)
        for call, got in zip(job.calls, row, strict=True)
        if (expected := shown(twin(*call))) != got
    ]
    assert not different, f"{len(different)} differences, such as\n" + "\n".join(different[:5])
