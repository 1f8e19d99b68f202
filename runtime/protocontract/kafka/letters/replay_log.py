"""The log of a replay: what was to be replayed, and what is done. It makes a replay resumable.

One file a plan, ``STATE/<dead-letter topic>/<plan>.jsonl``, append-only: the plan on the first line, then one line for
each record that was replayed or parked. A line is written, and forced to the disk, after the broker's acknowledgement;
so a replay that dies between the two sends at most its last batch again, with the same original position. Records that
any plan of the topic replayed count as done for all of them, for as long as the files are kept; so do records that
somebody changed and sent again, which ``edits.jsonl`` tells. No line holds anything of a record but its position.

The file is local: whoever replays one topic from several machines gives them the same ``--state`` folder.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

from protocontract.cli import UsageError
from protocontract.kafka.letters.reading import DeadLetter, Failure, Selection, moment

try:
    import fcntl
except ImportError:  # Windows: nothing keeps two replays of a topic apart there.
    fcntl = None  # type: ignore[assignment]

_EDITS: Final = "edits.jsonl"
_PLAN: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be replayed, and where to. It stays the same when the replay is resumed."""

    id: str
    topic: str
    #: The target topic; None for the topics that the records came from.
    target: str | None
    selection: Selection
    max_replays: int
    #: The consumer group that the records are meant for; None: no header says so.
    target_group: str | None
    #: The end of each partition when the plan was made: what fails again later does not belong to it.
    ends: dict[int, int]

    def same_order(self, other: Plan) -> bool:
        """Whether another plan asks for the same."""
        return self.order() == other.order()

    def order(self) -> dict[str, Any]:
        """What the plan asks for, as plain values."""
        return {
            "topic": self.topic,
            "target": self.target,
            "max_replays": self.max_replays,
            "target_group": self.target_group,
            **json.loads(json.dumps(asdict(self.selection))),
        }


def new_plan_id() -> str:
    """An id that no other plan has: the time, and four random characters."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.urandom(2).hex()}"


def default_state() -> Path:
    """``$XDG_STATE_HOME/protocontract/replay``."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "protocontract" / "replay"


class ReplayLog:
    """The plans of one dead-letter topic in a folder."""

    def __init__(self, state: Path, topic: str) -> None:
        self._folder: Final = state / topic

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other replays of the topic away. Raises UsageError where one is running."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "lock").open("a") as lock:
            if fcntl is not None:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise UsageError(f"another replay of {self._folder.name} is running; wait for its end") from None
            yield

    def find(self, plan_id: str) -> Plan | None:
        """A plan that was begun before. Raises UsageError for what cannot be an id, or a file that is no plan."""
        path = self._path(plan_id)
        try:
            with path.open(encoding="utf-8") as lines:
                first = lines.readline()
        except FileNotFoundError:
            return None
        try:
            held = json.loads(first)
            chosen: dict[str, Any] = {
                name: tuple(value) if isinstance(value, list) else value for name, value in held["selection"].items()
            }
            return Plan(
                plan_id,
                held["topic"],
                held["target"],
                Selection(**chosen),
                held["max_replays"],
                held["target_group"],
                {int(number): end for number, end in held["ends"].items()},
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UsageError(f"{path} is no log of a replay; choose another --plan") from None

    def begin(self, plan: Plan) -> None:
        """Write a new plan down."""
        held = {
            "plan": plan.id,
            "topic": plan.topic,
            "target": plan.target,
            "selection": asdict(plan.selection),
            "max_replays": plan.max_replays,
            "target_group": plan.target_group,
            "ends": plan.ends,
            "at": moment(int(time.time() * 1000)),
        }
        self._write(self._path(plan.id), [held])

    def done(self, *, only: str | None = None) -> set[Failure]:
        """The failures that were replayed, by any plan of the topic or by one."""
        found: set[Failure] = set()
        for path in sorted(self._folder.glob("*.jsonl")) if self._folder.is_dir() else ():
            if only is None or path.stem == only:
                found.update(_replayed(path))
        return found

    def note(self, plan: Plan, outcomes: Iterable[tuple[DeadLetter, str, str]]) -> None:
        """Note what became of letters: ``replayed`` and where to, or ``parked`` and why. On disk on return."""
        now = moment(int(time.time() * 1000))
        self._write(
            self._path(plan.id),
            [
                {
                    "letter": letter.position,
                    "failure": list(letter.failure),
                    "outcome": outcome,
                    "detail": detail,
                    "at": now,
                }
                for letter, outcome, detail in outcomes
            ],
        )

    def note_edit(self, letter: DeadLetter, outcome: Literal["sending", "edited"], audit: dict[str, Any]) -> None:
        """Note that a letter's record is about to be sent in another form, or that it was. On disk on return.

        ``audit``: who, when, why, which fields; nothing of their values.
        """
        held = {"letter": letter.position, "failure": list(letter.failure), "outcome": outcome, **audit}
        self._write(self.edits, [held])

    @property
    def edits(self) -> Path:
        """Where the edits are noted."""
        return self._folder / _EDITS

    def _path(self, plan_id: str) -> Path:
        if not _PLAN.fullmatch(plan_id) or f"{plan_id}.jsonl" == _EDITS:
            raise UsageError(f"`{plan_id}` is no id of a plan; expected up to 64 letters, digits, `.`, `_` and `-`")
        return self._folder / f"{plan_id}.jsonl"

    def _write(self, path: Path, lines: list[dict[str, Any]]) -> None:
        if not lines:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            if file.tell() and not _ends_whole(path):
                # The last line of a process that was killed; it must not spoil the next one.
                file.write(b"\n")
            file.write("".join(json.dumps(line) + "\n" for line in lines).encode())
            file.flush()
            os.fsync(file.fileno())


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _replayed(path: Path) -> Iterator[Failure]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                held = json.loads(line)
                if held.get("outcome") in ("replayed", "edited"):
                    record, timestamp, group, attempt = held["failure"]
                    yield Failure(str(record), str(timestamp), str(group), int(attempt))
            except (ValueError, KeyError, TypeError, AttributeError):
                # Half a line, left by a process that was killed while it wrote: what it told is done again.
                continue
