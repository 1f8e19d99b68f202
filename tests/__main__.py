"""``python -m tests``: all tests but those of tests/engines and tests/whole, in processes side by side.

Tests that talk to servers mostly wait; all others compute. The parts are such that two cores are busy to the end. One
part prints as it goes; what the others print comes after it, and at the end what each took. Arguments go to all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
#: The parts, by the names of what is in them below ``tests``. The part REST has all others.
REST: Final = "all others"
PARTS: Final = {
    "clusters and processes": (
        *("chaos", "registry", "kafka/test_broker.py", "kafka/test_groups_broker.py", "kafka/test_own_brokers.py"),
        *("kafka/test_rights.py", "kafka/test_scaling.py"),
    ),
    "other tests with servers": ("kafka",),
    "the gate": ("gate", "modules", "test_readme.py"),
}
#: pytest's exit code where none of a part's tests is chosen (``-k``).
NONE_CHOSEN: Final = 5
#: They need an environment of their own, too (``make test-engines``, ``make test-whole``).
ELSEWHERE: Final = ("engines", "whole")


@dataclass
class Part:
    """A process of pytest. ``seconds`` are on the clock, ``processors`` those of its processors and its children's.

    ``output`` is the file that it prints to, and ``scenarios`` what came out of its scenarios.
    """

    name: str
    process: subprocess.Popen[bytes]
    output: Path
    scenarios: Path
    code: int = 0
    seconds: float = 0
    processors: float = 0


def parts() -> Iterator[tuple[str, list[str]]]:
    """What each part runs: paths, and what of them is another part's."""
    named = [name for names in PARTS.values() for name in names]
    for part, names in PARTS.items():
        others = [other for other in named if other not in names and other.startswith(tuple(f"{it}/" for it in names))]
        yield part, [*(str(HERE / name) for name in names), *(f"--ignore={HERE / other}" for other in others)]
    rest = [
        path
        for path in sorted(HERE.iterdir())
        if path.name not in {*ELSEWHERE, *(name.partition("/")[0] for name in named)}
        and ((path / "__init__.py").exists() or path.name.startswith("test_"))
    ]
    yield REST, [str(path) for path in rest]


def main() -> int:
    """Run all parts. Returns the exit code of the first that failed, 5 where no part has a chosen test, else 0."""
    started = time.monotonic()
    wanted = os.environ.get("PROTOCONTRACT_SCENARIOS")
    done = []
    with tempfile.TemporaryDirectory(prefix="protocontract-tests-") as folder:
        made = [_start(name, arguments, Path(folder, str(number))) for number, (name, arguments) in enumerate(parts())]
        running = {part.process.pid: part for part in made}
        try:
            while running:
                pid, status, usage = os.wait3(0)
                part = running.pop(pid)
                part.process.returncode = part.code = os.waitstatus_to_exitcode(status)
                part.seconds, part.processors = time.monotonic() - started, usage.ru_utime + usage.ru_stime
                done.append(part)
        finally:
            for part in running.values():
                part.process.terminate()
        for part in made:
            if part.output.exists():
                print(f"\n== {part.name}", flush=True)
                sys.stdout.buffer.write(part.output.read_bytes())
        if wanted:
            _show_scenarios([part.scenarios for part in made])
    failed = [part for part in done if part.code not in (0, NONE_CHOSEN)]
    print(f"\n{'seconds':>8} {'processors':>10}")
    for part in done:
        print(f"{part.seconds:8.0f} {part.processors:10.0f} {part.name}{' FAILED' if part in failed else ''}")
    return failed[0].code if failed else min(part.code for part in done)


def _start(name: str, arguments: list[str], base: Path) -> Part:
    scenarios, output = base.with_suffix(".json"), base.with_suffix(".txt")
    environment = dict(os.environ)
    if "PROTOCONTRACT_SCENARIOS" in environment:
        environment["PROTOCONTRACT_SCENARIOS"] = str(scenarios)  # one table of all parts comes at the end
    command = [sys.executable, "-m", "pytest", "-q", "--durations=10", *sys.argv[1:], *arguments]
    if name == REST:
        return Part(name, subprocess.Popen(command, env=environment), output, scenarios)
    command += ["-p", "no:cacheprovider"]  # there is one cache
    with output.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, env=environment)
    return Part(name, process, output, scenarios)


def _show_scenarios(files: list[Path]) -> None:
    from tests.support.scenario_report import merged, table

    print()
    print(*table(merged(json.loads(file.read_text()) for file in files if file.exists())), sep="\n")


if __name__ == "__main__":
    sys.exit(main())
