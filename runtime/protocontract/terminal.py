"""What a person sees on a terminal: colour where it is wanted, aligned columns, a progress bar.

Results go to standard output and progress to standard error. Colour never carries meaning alone: every coloured
mark is also a word or one of ✓ ✗ ·. ``NO_COLOR`` (https://no-color.org) switches colour off.
"""

from __future__ import annotations

import codecs
import io
import os
import shutil
import sys
import time
import unicodedata
from collections.abc import Callable, Mapping
from typing import Final, Literal, TextIO

Style = Literal["good", "bad", "quiet", "strong"]

_CODES: Final[dict[Style, str]] = {"good": "32", "bad": "31", "quiet": "2", "strong": "1"}

KEPT: Final = "✓"
BROKEN: Final = "✗"
NEUTRAL: Final = "·"


def wants_colour(stream: TextIO, environment: Mapping[str, str] | None = None) -> bool:
    """Whether ``stream`` is a terminal that shows colour, and the user did not say no."""
    given = os.environ if environment is None else environment
    if given.get("NO_COLOR") or given.get("TERM") == "dumb":
        return False
    return stream.isatty()


# What stands for our marks where a stream's encoding has none (LC_ALL=C, an old Windows console).
_ASCII_MARKS: Final = {KEPT: "+", BROKEN: "x", NEUTRAL: "-", "…": "...", "→": "->", "█": "#", "░": "."}


def _spell_out(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    spelt = [_ASCII_MARKS.get(mark) or mark.encode("ascii", "backslashreplace").decode("ascii") for mark in lost]
    return "".join(spelt), error.end


def write_anywhere(*streams: object) -> None:
    """Let streams spell out what their encoding cannot write: a report must not fail for its check marks."""
    codecs.register_error("protocontract", _spell_out)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="protocontract")


_REFUSED: Final = "refused to start:"


def error_line(error: object) -> str:
    """What is said of why a command ends: ``error: ...``, unless it says already that it was refused to start."""
    text = str(error)
    return text if text.startswith(_REFUSED) else f"error: {text}"


def tell_error(error: object) -> None:
    """Say on standard error why a command ends, in the one form that all commands have."""
    print(error_line(error), file=sys.stderr, flush=True)


def tell_refused(error: object) -> None:
    """Say on standard error why a service does not start: ``refused to start: ...``."""
    text = str(error)
    tell_error(text if text.startswith(_REFUSED) else f"{_REFUSED} {text}")


class Paint:
    """Wraps text in colour, or leaves it alone."""

    def __init__(self, enabled: bool) -> None:
        self.enabled: Final = enabled

    def __call__(self, text: str, style: Style) -> str:
        if not self.enabled or not text:
            return text
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m"

    @classmethod
    def on(cls, stream: TextIO) -> Paint:
        """For text that goes to ``stream``."""
        return cls(wants_colour(stream))


def width(text: str) -> int:
    """Columns that ``text`` takes on a terminal: two for East Asian wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    total = 0
    for character in text:
        if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
            continue
        total += 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
    return total


def pad(text: str, columns: int) -> str:
    """``text`` filled up with spaces on the right to ``columns``."""
    return text + " " * max(0, columns - width(text))


def count(number: int) -> str:
    """A count with its thousands parted: ``20,000``."""
    return f"{number:,}"


def plural(number: int, noun: str) -> str:
    """``1 promise``, ``4 promises``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


class Progress:
    """One line on standard error that says how far a command is; nothing where that is no terminal.

    ``total`` is in the same unit as ``done`` (bytes of a file); None where the end is unknown.
    """

    def __init__(
        self,
        total: int | None,
        *,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        every: float = 0.1,
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._total = total
        self._clock = clock
        self._every = every
        self._enabled = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._started = clock()
        self._last = self._started
        self._shown = False

    @property
    def enabled(self) -> bool:
        """Whether anything is shown at all; a caller can spare itself the figures."""
        return self._enabled

    def update(self, done: int, records: int) -> None:
        """Show the state, at most every tenth of a second."""
        if not self._enabled:
            return
        now = self._clock()
        if now - self._last < self._every:
            return
        self._last = now
        self._shown = True
        rate = records / max(now - self._started, 1e-9)
        tail = f"{records:,} records  {rate:,.0f}/s"
        if self._total:
            share = min(1.0, done / self._total)
            cells = max(10, min(40, shutil.get_terminal_size().columns - len(tail) - 12))
            full = int(share * cells)
            line = f"{'█' * full}{'░' * (cells - full)} {share:4.0%}  {tail}"
        else:
            line = tail
        self._stream.write(f"\r\x1b[K{line}")
        self._stream.flush()

    def clear(self) -> None:
        """Take the line away, so that the report starts on an empty one."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._shown = False
