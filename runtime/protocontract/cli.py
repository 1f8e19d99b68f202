"""The command ``protocontract``: finds its commands by entry points and turns their endings into exit codes.

A command is an entry point of the group ``protocontract.commands``: a callable that takes its arguments (without its
own name) and returns an exit code; the first line of its docstring is what ``protocontract --help`` says of it. It may
raise ContractError, MissingExtra, UsageError or OSError: all are told in one line and end in 2.

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
from typing import Final, TypeAlias, cast

from protocontract.extras import missing_extra
from protocontract.terminal import tell_error, write_anywhere
from protocontract.violations import ContractError, MissingExtra

KEPT: Final = 0
BROKEN: Final = 1
COULD_NOT_CHECK: Final = 2
INTERRUPTED: Final = 130

GROUP: Final = "protocontract.commands"

Command: TypeAlias = Callable[[list[str]], int]

# The order in which a user meets them; commands of other packages follow by name.
_ORDER: Final = (
    "init", "compile", "includes", "verify", "card", "calibrate", "model", "guard", "dead-letter", "replay", "sample",
    "lint", "diff", "gate", "adapt", "serve", "evidence", "explain",
)  # fmt: skip

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
    found = commands()
    if name not in found:
        raise UsageError(_unknown(name, list(found)))
    command = load_command(found[name])
    try:
        code = command(rest)
        sys.stdout.flush()
    except ImportError as error:
        raise missing_extra(_part(found[name]), error) or error from error
    except SystemExit as error:
        # argparse ends this way: 0 after --help, 2 after a usage error.
        return error.code if isinstance(error.code, int) else KEPT if error.code is None else _fail(str(error.code))
    return code


def commands() -> dict[str, EntryPoint]:
    """The installed commands by name, in the order of the help page."""
    found = {point.name: point for point in entry_points(group=GROUP)}
    known = [name for name in _ORDER if name in found]
    return {name: found[name] for name in [*known, *sorted(found.keys() - set(known))]}


def load_command(point: EntryPoint) -> Command:
    """The command behind an entry point. Raises MissingExtra where an optional package is not installed."""
    try:
        return cast(Command, point.load())
    except ImportError as error:
        raise missing_extra(_part(point), error) or error from error


def _part(point: EntryPoint) -> str:
    return point.module.rpartition(".")[0] or point.module


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
