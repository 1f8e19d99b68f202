"""``python -m tests.bench``: prints the table; exits with 1 where ours is not where it must be."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import google.protobuf
from google.protobuf.internal import api_implementation

from tests.bench import contestants as who
from tests.bench import imports, memory, normalizers, shapes, styles
from tests.bench.measure import Entry, Timing, paired

_ROUNDS, _TURN = 101, 0.004
_HELD = 200_000
_SECTIONS = ("shapes", "memory", "values", "imports")
# By contestant: how many times slower than ours it must be, and on which shapes.
_FLOORS = (
    (who.PROTOVALIDATE, 1.0, ("small", "medium", "large", "one field", "list of 100", "11 broken")),
    (who.PYDANTIC, 1.0, ("small", "medium", "large")),
    (who.PIPELINE, 4.0, ("small", "medium")),
    (who.PIPELINE_TWICE, 4.0, ("small", "medium", "large")),
)


def main() -> int:
    """Runs the benchmark. Returns 0, or 1 where a floor is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "--only",
        action="append",
        choices=(*_SECTIONS, "styles"),
        default=[],
        help="styles runs only if named",
    )
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help="paired rounds a shape")
    parser.add_argument("--held", type=int, default=_HELD, help="records held for the memory figures")
    arguments = parser.parse_args()
    wanted = arguments.only or _SECTIONS

    print(
        f"{platform.python_implementation()} {platform.python_version()}, protobuf {google.protobuf.__version__} "
        f"({api_implementation.Type()}), {os.cpu_count()} cores, {arguments.rounds} paired rounds"
    )
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        modules = shapes.compile_protos(Path(folder))
        if "shapes" in wanted:
            failures += _shapes(modules, arguments.rounds)
        if "styles" in wanted:
            styles.report([shapes.serialise(shape, *modules) for shape in shapes.SHAPES], modules[1], arguments.rounds)
        if "memory" in wanted:
            _memory(arguments.held)
        if "values" in wanted:
            normalizers.report(arguments.rounds)
        if "imports" in wanted:
            imports.report(Path(folder))
    print()
    for failure in failures:
        print(f"MISSED: {failure}")
    if "shapes" in wanted and not failures:
        for name, floor, on in _FLOORS:
            print(f"kept: {name} takes more than {floor}x of ours on {', '.join(on)}")
    return 1 if failures else 0


def _shapes(modules: tuple[ModuleType, ModuleType], rounds: int) -> list[str]:
    results: dict[str, dict[str, Timing]] = {}
    alone: dict[str, dict[str, Timing]] = {}
    agreed = 0
    for shape in shapes.SHAPES:
        data = shapes.serialise(shape, *modules)
        made = who.contestants(data)
        agreed += who.check(data, made)
        entries = [Entry(contestant.name, contestant.run, contestant.records) for contestant in made]
        results[shape.name] = paired(entries, who.OURS, rounds=rounds, turn=_TURN)
        alone[shape.name] = paired(who.validators(data), who.OURS_ALONE, rounds=rounds, turn=_TURN / 2)
    print(f"all contestants refuse alike: {agreed} records that break one rule each\n")
    _print_table("microseconds a record", results, lambda timing: f"{timing.microseconds:.2f}")
    title = f"as a ratio to '{who.OURS}'"
    _print_table(title, results, lambda timing: f"{timing.ratio:.2f}x")
    _print_table("validating a parsed message, microseconds", alone, lambda timing: f"{timing.microseconds:.2f}")
    _print_table("as a ratio", alone, lambda timing: f"{timing.ratio:.2f}x")
    print("'11 broken': msgspec and fastjsonschema stop at the first error; the others find all eleven\n")
    return _failures(results)


def _print_table(title: str, results: dict[str, dict[str, Timing]], text: Callable[[Timing], str]) -> None:
    print(f"{title:<42}" + "".join(f"{name:>13}" for name in results))
    for name in next(iter(results.values())):
        print(f"  {name:<40}" + "".join(f"{text(timings[name]):>13}" for timings in results.values()))
    print()


def _failures(results: dict[str, dict[str, Timing]]) -> list[str]:
    return [
        f"{shape}: {name} takes {results[shape][name].ratio:.2f}x of ours, not more than {floor}x"
        for name, floor, on in _FLOORS
        for shape in on
        if results[shape][name].ratio <= floor
    ]


def _memory(count: int) -> None:
    ours, pipeline = memory.held(memory.OURS, count), memory.held(memory.PIPELINE, count)
    print(f"memory of {count:,} validated medium records held (growth of a fresh process)")
    for name, size in (("messages: parse + ours", ours), (f"objects: {who.PIPELINE}", pipeline)):
        print(f"  {name:<44}{size:>8.1f} MB{size * 1e6 / count:>8.0f} bytes a record{size / ours:>8.2f}x")
    print()


if __name__ == "__main__":
    sys.exit(main())
