"""How long generating code for all files of the conformance suite takes: ``python -m tests.conformance.generation``."""

from __future__ import annotations

import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from protocontract_compiler import pipeline
from protocontract_compiler.conformance import _harness, _Suite
from protocontract_compiler.descriptors import load
from protocontract_compiler.diagnostics import Diagnostics
from tests.conformance.__main__ import build


def files() -> FileDescriptorSet:
    """All files of all suites, imported ones first: what the harness sends to an executor that passes."""
    with tempfile.TemporaryDirectory() as folder:
        executor = Path(folder) / "executor"
        executor.write_text(
            f'#!/bin/sh\ntee "{folder}/$$.request" | "{sys.executable}" -m protocontract_compiler.conformance\n'
        )
        executor.chmod(executor.stat().st_mode | stat.S_IXUSR)
        subprocess.run([str(build()), "--timeout", "120s", str(executor)], check=True, stdout=subprocess.DEVNULL)
        request_type, _, _ = _harness()
        found: dict[str, FileDescriptorProto] = {}
        for path in sorted(Path(folder).glob("*.request")):
            request: Any = request_type.FromString(path.read_bytes())
            for file in FileDescriptorSet.FromString(request.fdset).file:
                found.setdefault(file.name, file)
    ordered: dict[str, FileDescriptorProto] = {}

    def add(name: str) -> None:
        for dependency in found[name].dependency:
            if dependency not in ordered:
                add(dependency)
        ordered.setdefault(name, found[name])

    for name in sorted(found):
        add(name)
    return FileDescriptorSet(file=ordered.values())


def main() -> None:
    """Prints the processor time of each part, the better of three runs."""
    file_set = files()
    best: tuple[float, ...] = ()
    for _ in range(3):
        started = time.process_time()
        suite = _Suite.__new__(_Suite)
        suite._mistakes = {}
        loaded = load(file_set, [file.name for file in file_set.file], Diagnostics())
        read = time.process_time()
        schema = suite._lowered(loaded)
        lowered = time.process_time()
        output = pipeline.emit(schema, pipeline.CompileOptions())
        emitted = time.process_time()
        times = (emitted - started, read - started, lowered - read, emitted - lowered)
        best = min(best, times) if best else times
    size = sum(len(file.text) for file in output)
    print(f"{len(file_set.file)} files, {len(schema.messages)} messages -> {size / 1e6:.2f} MB of Python")
    print("{:.2f} s: descriptors {:.2f}, rules {:.2f}, code {:.2f}".format(*best))


if __name__ == "__main__":
    main()
