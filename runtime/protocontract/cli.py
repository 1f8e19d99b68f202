"""The command ``protocontract``: finds its commands by entry points and turns their endings into exit codes.

A command is an entry point of the group ``protocontract.commands``: a callable that takes its arguments (without its
own name) and returns an exit code; the first line of its docstring is what ``protocontract --help`` says of it. It may
raise ContractError, MissingExtra, UsageError or OSError: all are told in one line and end in 2.

Importing all commands takes a second, so what the help page says of ours stands here as well; a test compares.

Exit codes, for all commands: 0 kept, 1 broken, 2 could not check, 130 interrupted.
"""

from __future__ import annotations

import inspect
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from typing import Final, TypeAlias, cast

from protocontract._entry_points import entry_point
from protocontract.extras import missing_extra
from protocontract.terminal import tell_error, write_anywhere
from protocontract.violations import ContractError, MissingExtra

KEPT: Final = 0
BROKEN: Final = 1
COULD_NOT_CHECK: Final = 2
INTERRUPTED: Final = 130

GROUP: Final = "protocontract.commands"

Command: TypeAlias = Callable[[list[str]], int]

# What the help page says of our commands without importing them, in the order in which a user meets them; and the
# module of an extra without which a command cannot be imported. Commands of other packages follow by name.
_OURS: Final[dict[str, tuple[str, str]]] = {
    "init": ("Start a folder: a first contract, what compiles it, and a consumer that runs", ""),
    "compile": ("Compile .proto files to *_pb2.py, *_pb2.pyi and *_contract.py", ""),
    "includes": (
        "Print the folder with validate.proto and contract.proto for protoc -I, or export the two files", ""
    ),
    "verify": ("Check a file of records against a contract", ""),
    "card": ("Make the data card of files: what was used and dropped, and what the fields look like", ""),
    "calibrate": ("Quantise a model to INT8 on recorded traffic, and hold it to its declared agreement", ""),
    "model": ("Compare a model with the contracts of a service; make the probes that a fallback is held to", ""),
    "guard": ("Guard a topic: Kafka in, contract, Kafka out", "kafka"),
    "dead-letter": ("Show what lies in a dead-letter topic, and why; fix a record and send it again", "kafka"),
    "replay": ("Send dead letters again", "kafka"),
    "sample": ("Write records of a topic to a file, for the gate to count what a change does to them", "kafka"),
    "lint": ("Check contracts: every mistake that compiling reports, and what they leave out, with places", ""),
    "diff": ("Compare two states of contracts: what changed, in which direction, and whom it breaks", ""),
    "gate": ("Check that every module has adapted to a change of the contracts: verdict, file and line, and why", ""),
    "adapt": (
        "Prove that modules have adapted to the contracts, and write their locks; or acknowledge a change", "tomlkit"
    ),
    "serve": ("Serve models behind contracts", "grpc"),
    "evidence": ("Verify the evidence of a service, show that of a request, or run its stages again", ""),
    "explain": ("Say what a rule id, an error code or a diagnostic means, and what helps", ""),
    "migrate": ("Turn annotations of protoc-gen-validate and Confluent into buf.validate and protocontract", ""),
    "record-deployment": (
        "Record which commit of a module runs in an environment: `protocontract gate --env` judges by it", ""
    ),
}  # fmt: skip
_PACKAGES: Final = frozenset({"protocontract", "protocontract_compiler", "protocontract_ci"})

# What runs until somebody stops it: to be stopped before it has begun is no failure either.
_SERVICES: Final = frozenset({"guard", "serve"})


class UsageError(Exception):
    """The command line asks for something that cannot be done; the message says what to type instead."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line (``sys.argv[1:]`` by default) and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        with _stoppable(arguments):
            return _run(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of standard output has gone (`| head`). Python would complain once more when it flushes at exit.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        return COULD_NOT_CHECK
    except (ContractError, MissingExtra, UsageError) as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(_os_error(error))


@contextmanager
def _stoppable(arguments: list[str]) -> Iterator[None]:
    """Let SIGTERM end a service well before it has handlers of its own: importing and connecting take seconds."""
    if not arguments or arguments[0] not in _SERVICES or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_number: int, _frame: object) -> None:
        raise SystemExit(KEPT)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(arguments: list[str]) -> int:
    write_anywhere(sys.stdout, sys.stderr)
    if not arguments:
        print(_help(), file=sys.stderr)
        return COULD_NOT_CHECK
    if arguments[0] in {"-h", "--help", "help"}:
        print(_help())
        return KEPT
    if arguments[0] in {"-V", "--version"}:
        print(f"protocontract {_version()}")
        return KEPT
    name, rest = arguments[0], arguments[1:]
    point = entry_point(GROUP, name)
    if point is None:
        raise UsageError(_unknown(name, list(commands())))
    command = load_command(point)
    try:
        code = command(rest)
        sys.stdout.flush()
    except ImportError as error:
        raise missing_extra(_part(point), error) or error from error
    except SystemExit as error:
        # argparse ends this way: 0 after --help, 2 after a usage error.
        return error.code if isinstance(error.code, int) else KEPT if error.code is None else _fail(str(error.code))
    return code


def commands() -> dict[str, EntryPoint]:
    """The installed commands by name, in the order of the help page. No package takes the name of one of ours."""
    found = {point.name: point for point in sorted(entry_points(group=GROUP), key=_is_ours)}
    known = [name for name in _OURS if name in found]
    return {name: found[name] for name in [*known, *sorted(found.keys() - set(known))]}


def load_command(point: EntryPoint) -> Command:
    """The command behind an entry point. Raises MissingExtra where an optional package is not installed."""
    try:
        return cast(Command, point.load())
    except ImportError as error:
        raise missing_extra(_part(point), error) or error from error


def _is_ours(point: EntryPoint) -> bool:
    return point.name in _OURS and point.module.partition(".")[0] in _PACKAGES


def _part(point: EntryPoint) -> str:
    """What a user knows the command's code by: ``protocontract.kafka``, wherever in it the command is."""
    return ".".join(point.module.split(".")[:-1][:2]) or point.module


def _version() -> str:
    try:
        return version("protocontract")
    except PackageNotFoundError:
        return "(not installed)"


def _help() -> str:
    lines = ["usage: protocontract COMMAND ...", "", "data contracts for protobuf, enforced where data enters", ""]
    found = commands()
    widest = max(map(len, found), default=0)
    lines += [f"  {name:<{widest}}  {_summary(point)}" for name, point in found.items()]
    lines += [
        "",
        "protocontract COMMAND --help says more; protocontract explain ID says what an id or an error code means",
        "exit codes: 0 kept, 1 broken, 2 could not check, 130 interrupted",
    ]
    return "\n".join(lines)


def _summary(point: EntryPoint) -> str:
    if _is_ours(point):
        summary, module = _OURS[point.name]
        missing = missing_extra(_part(point), ImportError(name=module)) if module and not find_spec(module) else None
        return summary if missing is None else f"({missing})"
    try:
        text = inspect.getdoc(load_command(point)) or ""
    except MissingExtra as error:
        return f"({error})"
    except (ImportError, AttributeError):
        # One broken plug-in must not take the help page of the others away.
        return f"(cannot be loaded from {point.value})"
    return text.partition("\n")[0].rstrip(".")


def _unknown(name: str, known: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"expected one of {', '.join(known)}"
    return f"`{name}` is not a command; {hint}"


def _os_error(error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    return f"{error.filename}: {reason}" if error.filename is not None else reason


def _fail(message: str) -> int:
    tell_error(message)
    return COULD_NOT_CHECK


if __name__ == "__main__":
    # By its own name: what the commands raise is that module's UsageError, not this one's.
    from protocontract.cli import main as main_by_name

    sys.exit(main_by_name())
