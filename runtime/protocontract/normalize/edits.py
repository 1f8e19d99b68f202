"""What a normalization did to a text, exactly: a list of replaced stretches for each step, and how offsets follow them.

Offsets count code points and stand between characters. An offset that falls inside a replaced stretch has no image of
its own; the stretch's kind says where it goes, or that it is lost.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from enum import IntEnum
from typing import Final, NamedTuple


class Kind(IntEnum):
    """Where an offset goes that falls inside a replaced stretch."""

    UNIT = 0
    """Nowhere: the stretch became something else as a whole (a composed letter, a character reference)."""
    EACH = 1
    """Along: the stretch was replaced character by character."""
    RUN = 2
    """To the outer end: what is left of a run of white space belongs to the span that reaches into the run."""
    BREAK = 3
    """To the inner end: a block tag left a separator, which belongs to no span that begins or ends in the tag."""


class Edit(NamedTuple):
    """The characters ``start`` to ``end`` of a text, which became ``text``. Edits of one step do not overlap."""

    start: int
    end: int
    text: str
    kind: Kind = Kind.UNIT


def splice(text: str, edits: Sequence[Edit]) -> str:
    """The text after the edits, which must be in order."""
    parts: list[str] = []
    done = 0
    for start, end, replacement, _ in edits:
        parts.append(text[done:start])
        parts.append(replacement)
        done = end
    parts.append(text[done:])
    return "".join(parts)


class _StepMap:
    """How one step moved offsets. Building it is linear in the edits; one look-up is logarithmic."""

    __slots__ = ("_ends", "_kinds", "_new_ends", "_new_starts", "_starts")

    def __init__(self, edits: Sequence[Edit]) -> None:
        self._starts: Final[list[int]] = []
        self._ends: Final[list[int]] = []
        self._new_starts: Final[list[int]] = []
        self._new_ends: Final[list[int]] = []
        self._kinds: Final[list[Kind]] = []
        shift = 0
        for start, end, text, kind in edits:
            size = len(text)
            # One for one moves nothing and has no inside.
            if kind is Kind.EACH or (size == 1 and end - start == 1):
                continue
            self._starts.append(start)
            self._ends.append(end)
            self._new_starts.append(start + shift)
            self._new_ends.append(start + shift + size)
            self._kinds.append(kind)
            shift += size - (end - start)

    def __bool__(self) -> bool:
        return bool(self._starts)

    def move(self, offset: int, *, is_end: bool) -> int | None:
        """Where the start (or end) of a span goes; None where it has no image."""
        place = bisect_right(self._starts, offset) - 1
        if place < 0:
            return offset
        over = offset - self._ends[place]
        if over >= 0:
            return self._new_ends[place] + over
        start, end = self._new_starts[place], self._new_ends[place]
        if offset == self._starts[place] or start == end:
            return start
        kind = self._kinds[place]
        if kind is Kind.UNIT:
            return None
        return end if is_end == (kind is Kind.RUN) else start


class EditMap:
    """How offsets into a text follow its normalization; ``text`` is the normalised text."""

    __slots__ = ("_steps", "text")

    def __init__(self, text: str, steps: Sequence[Sequence[Edit]] = ()) -> None:
        """``steps`` holds the edits of each step, in the order in which the steps ran, each on the text before it."""
        self.text: Final = text
        maps = (_StepMap(edits) for edits in steps)
        self._steps: Final = tuple(step for step in maps if step)

    @property
    def is_identity(self) -> bool:
        """Whether every offset stays where it is."""
        return not self._steps

    def map_span(self, start: int, end: int) -> tuple[int, int] | None:
        """The image of ``text[start:end]``, in code points; None where it has no exact image.

        A span has none where it begins or ends inside a stretch that was replaced as a whole, and where nothing of
        it is left. An empty span stays empty. The offsets must lie within the text.
        """
        new_start = self._move(start, is_end=False)
        if new_start is None:
            return None
        if start == end:
            return new_start, new_start
        new_end = self._move(end, is_end=True)
        return None if new_end is None or new_start >= new_end else (new_start, new_end)

    def _move(self, offset: int, *, is_end: bool) -> int | None:
        for step in self._steps:
            moved = step.move(offset, is_end=is_end)
            if moved is None:
                return None
            offset = moved
        return offset
