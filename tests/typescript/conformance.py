"""The messages of protovalidate's official conformance suite through Python and TypeScript."""

from __future__ import annotations

import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from protocontract_compiler import pipeline
from protocontract_compiler.conformance import _harness, _Suite
from protocontract_compiler.descriptors import load
from protocontract_compiler.diagnostics import Diagnostics
from protocontract_compiler.dynamic import contracts_of
from tests.conformance.__main__ import build
from tests.typescript.fuzz import Report, Table
from tests.typescript.support import Case, answers, exact_messages, write


def requests() -> list[Any]:
    """What the harness asks of an executor: files and messages, a request for each of its suites."""
    request_type, _, _ = _harness()
    with tempfile.TemporaryDirectory() as folder:
        executor = Path(folder) / "executor"
        executor.write_text(
            f'#!/bin/sh\ntee "{folder}/$$.request" | "{sys.executable}" -m protocontract_compiler.conformance\n'
        )
        executor.chmod(executor.stat().st_mode | stat.S_IXUSR)
        subprocess.run([str(build()), "--timeout", "120s", str(executor)], check=True, stdout=subprocess.DEVNULL)
        return [request_type.FromString(path.read_bytes()) for path in sorted(Path(folder).glob("*.request"))]


def run(folder: Path) -> Report:
    """Compares both languages on every message of the suite whose contract TypeScript has."""
    report = Report()
    tables = [
        table for number, request in enumerate(requests()) for table in _table(request, folder, str(number), report)
    ]
    every = [case for _, _, listed in tables for case in listed]
    for case, answer in zip(every, answers(folder, tables), strict=True):
        report.count(case, answer)
    return report


def _table(request: Any, folder: Path, below: str, report: Report) -> Iterator[Table]:
    files = FileDescriptorSet.FromString(request.fdset)
    asked = {case.type_url.rpartition("/")[2] for case in request.cases.values()}
    loaded = load(files, [file.name for file in files.file], Diagnostics())
    suite = _Suite.__new__(_Suite)
    suite._mistakes = {}
    schema = suite._lowered(loaded)
    wanted = sorted(asked - set(suite._mistakes))
    exact, reasons = exact_messages(schema, wanted)
    report.schemas += 1
    report.contracts += len(exact)
    report.inexact += len(wanted) - len(exact)
    report.reasons.update(reasons)
    if not exact:
        return
    write(schema, exact, folder / below)
    contracts = contracts_of(loaded, schema, pipeline.CompileOptions())
    cases: list[Case] = []
    for name in sorted(request.cases):
        case = request.cases[name]
        full_name = case.type_url.rpartition("/")[2]
        if full_name in exact:
            type_ = message_factory.GetMessageClass(loaded.pool.FindMessageTypeByName(full_name))
            cases.append(Case(contracts[full_name], type_.FromString(case.value), below=below))
    yield files, schema, cases


def main() -> int:
    """Prints what was compared; 1 where there is a difference."""
    with tempfile.TemporaryDirectory(prefix="protocontract-parity-") as made:
        report = run(Path(made))
    print(f"official suite in TypeScript: {report}")
    for text in report.differences[:10]:
        print(f"\n{text}", file=sys.stderr)
    return 1 if report.differences else 0


if __name__ == "__main__":
    sys.exit(main())
