"""What importing costs: processor time in fresh processes, beyond what is imported before it."""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

_RUNS = 11
_PROGRAM = """
import sys, time
sys.path[:0] = {paths!r}
import {before}
start = time.process_time()
import {module}
print(time.process_time() - start)
"""
_PROTOBUF = (
    "google.protobuf.message, google.protobuf.descriptor_pool, google.protobuf.internal.builder, "
    "google.protobuf.symbol_database, google.protobuf.runtime_version"
)


def report(generated: Path) -> None:
    """Prints the times. ``generated`` holds the compiled shapes."""
    print("import, beyond what is imported before it (median of fresh processes, bytecode cached)")
    for title, module, before in (
        ("protocontract, after protobuf", "protocontract", _PROTOBUF),
        (
            "speed.v1.shapes_contract, after its pb2 and protocontract",
            "speed.v1.shapes_contract",
            "protocontract, speed.v1.shapes_pb2",
        ),
    ):
        print(f"  {title:<60}{_seconds(module, before, generated) * 1e3:>8.1f} ms")


def _seconds(module: str, before: str, generated: Path) -> float:
    program = _PROGRAM.format(paths=[str(generated)], before=before, module=module)
    times: list[float] = []
    for _ in range(_RUNS + 1):
        done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
        times.append(float(done.stdout))
    # The first run may have written the bytecode.
    return statistics.median(times[1:])
