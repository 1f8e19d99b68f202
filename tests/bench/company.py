"""A synthetic company: 400 modules that use 120 contracts, in a git repository; how long the gate takes on it.

    python -m tests.bench.company [--modules 400] [--contracts 120] [--keep DIR]

Cold: one contract of every ten has changed, and there is no lock. Warm: the locks of all modules stand at the merge
base, and one contract has changed. Times are those of the whole command, without execution, as a user sees them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_RULES = {
    "string": "(buf.validate.field).string.max_len = 64",
    "int64": "(buf.validate.field).int64.gte = 0",
    "double": "(buf.validate.field).double.finite = true",
    "bool": "",
}


def contract(number: int) -> str:
    """A .proto file: an event with a dozen fields and rules, its items, and a status."""
    types = list(_RULES)
    fields = []
    for place in range(12):
        kind = types[(number + place) % len(types)]
        rule = f" [{_RULES[kind]}]" if _RULES[kind] and place % 2 else ""
        fields.append(f"  {kind} f{place} = {place + 1}{rule};")
    return f"""\
syntax = "proto3";
package acme.c{number}.v1;
import "buf/validate/validate.proto";
enum Status {{
  STATUS_UNSPECIFIED = 0;
  STATUS_OPEN = 1;
  STATUS_DONE = 2;
}}
message Item {{
  string sku = 1 [(buf.validate.field).string.min_len = 1];
  int32 count = 2;
}}
message Event {{
{chr(10).join(fields)}
  Status status = 20;
  repeated Item items = 21;
}}
"""


def module(number: int, contracts: int) -> Iterator[tuple[str, str]]:
    """The files of a module. Two of five have a package `app`, as everybody's; the others have one of their own."""
    first, second = number % contracts, (number * 7 + 3) % contracts
    shared = number % 5 < 2
    folder = f"services/s{number}"
    package = "app" if shared else f"s{number}_app"
    yield f"{folder}/pyproject.toml", f'[project]\nname = "s{number}"\n'
    yield f"{folder}/{package}/__init__.py", ""
    yield (
        f"{folder}/{package}/read.py",
        f"""\
from acme.c{first}.v1 import contract_pb2

from {package}.store import Store


def total(event: contract_pb2.Event) -> int:
    return sum(item.count for item in event.items)


def handle(data: bytes, store: Store) -> None:
    event = contract_pb2.Event.FromString(data)
    if event.status == contract_pb2.STATUS_OPEN:
        store.put(event.f0, event.f{number % 12})
    for item in event.items:
        store.count(item.sku, item.count)


def name(event):
    return f"{{event.f1}}:{{total(event)}}"


def first(data: bytes) -> str:
    return name(contract_pb2.Event.FromString(data))
""",
    )
    yield (
        f"{folder}/{package}/write.py",
        f"""\
from acme.c{second}.v1.contract_pb2 import STATUS_DONE, Event, Item


def made(sku: str, count: int) -> bytes:
    event = Event(status=STATUS_DONE, items=[Item(sku=sku, count=count)])
    event.f2 = event.f2
    return event.SerializeToString()
""",
    )
    yield (
        f"{folder}/{package}/store.py",
        """\
class Store:
    def __init__(self) -> None:
        self.rows: dict[str, object] = {}

    def put(self, key: object, value: object) -> None:
        self.rows[str(key)] = value

    def count(self, key: str, number: int) -> None:
        self.rows[key] = number
""",
    )
    yield f"{folder}/{package}/main.py", f"from {package}.read import first\n\n\nprint(first(b''))\n"


def build(root: Path, modules: int, contracts: int) -> None:
    """The repository with one commit on main."""
    for number in range(contracts):
        _write(root / f"contracts/acme/c{number}/v1/contract.proto", contract(number))
    for number in range(modules):
        for path, text in module(number, contracts):
            _write(root / path, text)
    _git(root, "init", "-q", "-b", "main")
    commit(root)


def commit(root: Path) -> None:
    """Everything that is there."""
    _git(root, "add", "-A")
    _git(root, "-c", "user.name=t", "-c", "user.email=t@example", "commit", "-q", "-m", "state")


def change(root: Path, contracts: int, every: int) -> None:
    """Every so many contracts lose a field that few read, get a tighter rule, a new field and a new value."""
    for number in range(0, contracts, every):
        path = root / f"contracts/acme/c{number}/v1/contract.proto"
        text = path.read_text()
        text = text.replace("min_len = 1]", "min_len = 2]").replace(
            "STATUS_DONE = 2;", "STATUS_DONE = 2;\n  STATUS_GONE = 3;"
        )
        lines = [line for line in text.splitlines() if " f11 = 12" not in line]
        lines.insert(lines.index("message Event {") + 1, "  reserved 12; reserved 'f11';\n  string extra = 30;")
        path.write_text("\n".join(lines) + "\n")


@dataclass(frozen=True)
class Timed:
    """Seconds on the clock, seconds of processors (which a busy machine does not stretch as much), exit code, and the
    most memory that one process held at a time, in MB.
    """

    clock: float
    processors: float
    code: int
    memory: float


def timed(root: Path, *arguments: str) -> Timed:
    """Runs a command with everything that it starts."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "protocontract.cli", *arguments]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    spent = used.ru_utime + used.ru_stime
    return Timed(time.perf_counter() - started, spent, process.returncode, used.ru_maxrss / 1024)


def show(name: str, result: Timed) -> None:
    """A line of the table."""
    print(
        f"{name:<22} {result.clock:6.1f} s   {result.processors:6.1f} s of processors   {result.memory:5.0f} MB   "
        f"exit code {result.code}",
        flush=True,
    )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)


def main() -> None:
    """Builds the company and measures."""
    parser = argparse.ArgumentParser(description="How long the gate takes on a synthetic company.")
    parser.add_argument("--modules", type=int, default=400)
    parser.add_argument("--contracts", type=int, default=120)
    parser.add_argument("--keep", type=Path, help="build it here, and leave it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="company-") as temporary:
        root = options.keep or Path(temporary)
        root.mkdir(parents=True, exist_ok=True)
        build(root, options.modules, options.contracts)
        print(f"{options.modules} modules, {options.contracts} contracts, {os.cpu_count()} cores")
        show("gate --init", timed(root, "gate", "--init", "--no-exec"))
        # Cold: no lock anywhere.
        locks = root / "contracts/locks"
        aside = root.with_name(root.name + "-locks")
        locks.rename(aside)
        commit(root)
        _git(root, "checkout", "-q", "-b", "cold")
        change(root, options.contracts, 10)
        show("cold", timed(root, "gate", "--no-exec"))
        _git(root, "checkout", "-q", "-f", "main")
        aside.rename(locks)
        commit(root)
        _git(root, "checkout", "-q", "-b", "warm")
        show("warm, no change", timed(root, "gate", "--no-exec"))
        show("warm, one module", timed(root, "gate", "--no-exec", "s5"))
        change(root, options.contracts, options.contracts)
        show("warm, one change", timed(root, "gate", "--no-exec"))
        show("the same, one module", timed(root, "gate", "--no-exec", "s0"))


if __name__ == "__main__":
    main()
