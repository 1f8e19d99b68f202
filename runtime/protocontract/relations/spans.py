"""The relation ``spans``: stretches of a text, given by offsets, and how they follow the text's normalization.

Spans are half open. Offsets count code points, bytes of UTF-8 or code units of UTF-16, as ``unit`` says, and must
stand on a boundary between code points; grapheme clusters may be cut. Everything is linear in the text and, for a
list of spans, linear but for the sorting of offsets.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast

from protocontract.normalize.edits import EditMap
from protocontract.normalize.text import normalizer
from protocontract.normalize.unicode_data import WHITE_SPACE
from protocontract.relations._overlap import conflicts
from protocontract.violations import OptionError, Refusal, Refused, describe

Unit: TypeAlias = Literal["code_point", "utf8_byte", "utf16"]

_UNITS: Final = ("code_point", "utf8_byte", "utf16")
_ORDERS: Final[Mapping[object, bool]] = {None: False, "any": False, "any_order": False, "by_start": True}


# ----------------------------------------------------------------------------------------------------------------------
# Offsets


class _Offsets:
    """A text measured in one unit."""

    __slots__ = ("_data", "_text", "_unit", "_width", "length")

    def __init__(self, text: str, unit: Unit) -> None:
        self._text: Final = text
        self._unit: Final = unit
        data: bytes | None = None
        width = 1
        length = len(text)
        if unit != "code_point" and not text.isascii():
            if unit == "utf8_byte":
                data = text.encode("utf-8", "surrogatepass")
            else:
                data = text.encode("utf-16-le", "surrogatepass")
                width = 2
            length = len(data) // width
            if length == len(text):  # UTF-16 without a character beyond U+FFFF.
                data = None
        self._data: Final = data
        self._width: Final = width
        self.length: Final = length
        """The length of the text in the unit."""

    def to_code_points(self, offsets: Iterable[int]) -> Mapping[int, int] | None:
        """Where these offsets stand in code points, without those that stand inside a character; None: unchanged."""
        data, width = self._data, self._width
        if data is None:
            return None
        encoding = "utf-8" if width == 1 else "utf-16-le"
        places: dict[int, int] = {}
        done = count = 0
        for offset in sorted(set(offsets)):
            at = offset * width
            if at < len(data) and (data[at] & 0xC0 == 0x80 if width == 1 else data[at + 1] & 0xFC == 0xDC):
                continue
            count += len(data[done:at].decode(encoding, "surrogatepass"))
            done = at
            places[offset] = count
        return places

    def from_code_points(self, offsets: Iterable[int]) -> Mapping[int, int] | None:
        """Where these offsets, given in code points, stand in the unit; None: unchanged."""
        if self._data is None:
            return None
        encoding = "utf-8" if self._width == 1 else "utf-16-le"
        places: dict[int, int] = {}
        done = count = 0
        for offset in sorted(set(offsets)):
            count += len(self._text[done:offset].encode(encoding, "surrogatepass"))
            done = offset
            places[offset] = count // self._width
        return places


# ----------------------------------------------------------------------------------------------------------------------
# Checking


class _Located(NamedTuple):
    """What is wrong with each span (None: nothing), and the sound ones in code points."""

    problems: list[Refusal | None]
    places: list[tuple[int, int] | None]


class SpansChecker:
    """The options of one ``spans`` relation, checked and bound: a callable that never raises for a value."""

    __slots__ = ("_allow_empty", "_allow_nesting", "_allow_overlap", "_by_start", "_no_edge_whitespace", "_unit")

    def __init__(
        self,
        *,
        unit: str = "code_point",
        allow_overlap: bool = False,
        allow_nesting: bool = False,
        allow_empty: bool = False,
        no_edge_whitespace: bool = False,
        order: str | None = None,
    ) -> None:
        self._unit: Final = _unit(unit)
        self._allow_overlap: Final = bool(allow_overlap)
        self._allow_nesting: Final = bool(allow_nesting)
        self._allow_empty: Final = bool(allow_empty)
        self._no_edge_whitespace: Final = bool(no_edge_whitespace)
        if not isinstance(order, str | None) or order not in _ORDERS:
            raise OptionError("order", 'no such order; expected "any" or "by_start"')
        self._by_start: Final = _ORDERS[order]

    def __call__(
        self, text: str, starts: Sequence[int], ends: Sequence[int], surfaces: Sequence[str | None] | None = None
    ) -> list[Refusal] | None:
        """All that is wrong with the spans, or None: the first problem of each span, then overlaps.

        ``surfaces`` holds for each span the text that it must cover. None and the empty string, which is what an
        unset field of a message reads as, say nothing.
        """
        if self._plainly_sound(text, starts, ends, surfaces):
            return None
        if surfaces is not None:
            surfaces = [surface or None for surface in surfaces]
        return self.problems(text, starts, ends, surfaces)

    def _plainly_sound(
        self, text: str, starts: Sequence[int], ends: Sequence[int], surfaces: Sequence[str | None] | None
    ) -> bool:
        """Whether the spans stand in order and apart and nothing is wrong: the common case, without a list of finds.

        False says nothing: then ``problems`` looks.
        """
        if self._unit != "code_point" and not text.isascii():
            return False
        length = len(text)
        edges = self._no_edge_whitespace
        before = 0
        for index, start in enumerate(starts):
            end = ends[index]
            if not before <= start < end <= length:
                return False
            if surfaces is not None:
                surface = surfaces[index]
                if surface and text[start:end] != surface:
                    return False
            if edges and (text[start] in WHITE_SPACE or text[end - 1] in WHITE_SPACE):
                return False
            before = end
        return True

    def problems(
        self, text: str, starts: Sequence[int], ends: Sequence[int], surfaces: Sequence[str | None] | None
    ) -> list[Refusal] | None:
        """As a call, but an empty surface is one that only an empty span has."""
        if not starts:
            return None
        located = locate(text, self._unit, starts, ends, surfaces, allow_empty=self._allow_empty)
        found: list[Refusal] = []
        before: int | None = None
        for index, problem in enumerate(located.problems):
            place = located.places[index]
            if problem is None and place is not None and self._no_edge_whitespace and _has_edge(text, place):
                problem = Refusal("spans.edge", "white space at the edge of the span; expected none", index)
            if problem is None and self._by_start and before is not None and starts[index] < before:
                problem = Refusal("spans.order", "the span starts before the one ahead of it; expected spans by start",
                                  index)  # fmt: skip
            before = starts[index]
            if problem is not None:
                found.append(problem)
        if not self._allow_overlap:
            what = "crosses" if self._allow_nesting else "overlaps"
            found += [
                Refusal("spans.overlap", f"the span {what} an earlier one of the list; expected spans apart", index)
                for index in conflicts(located.places, allow_nesting=self._allow_nesting)
            ]
        return found or None


def locate(
    text: str,
    unit: Unit,
    starts: Sequence[int],
    ends: Sequence[int],
    surfaces: Sequence[str | None] | None = None,
    *,
    allow_empty: bool = True,
) -> _Located:
    """Brings offsets into code points, or says what is wrong with a span: the first of order, bounds, boundary,
    empty and surface.
    """
    offsets = _Offsets(text, unit)
    length = offsets.length
    count = len(starts)
    problems: list[Refusal | None] = [None] * count
    inside: list[int] = []
    for index in range(count):
        start, end = starts[index], ends[index]
        if start > end:
            problems[index] = Refusal("spans.order", "the span starts behind its end; expected start <= end", index)
        elif start < 0 or end > length:
            problems[index] = Refusal(
                "spans.bounds", f"the span leaves the text; expected offsets from 0 to {length} ({unit})", index
            )
        else:
            inside += (start, end)
    moved = offsets.to_code_points(inside)
    places: list[tuple[int, int] | None] = [None] * count
    for index in range(count):
        if problems[index] is not None:
            continue
        start, end = starts[index], ends[index]
        if moved is not None:
            if start not in moved or end not in moved:
                problems[index] = Refusal(
                    "spans.boundary", f"the span cuts a character; expected offsets between characters ({unit})", index
                )
                continue
            start, end = moved[start], moved[end]
        surface = surfaces[index] if surfaces is not None else None
        if start == end and not allow_empty:
            problems[index] = Refusal("spans.empty", "the span is empty; expected start < end", index)
        elif surface is not None and (len(surface) != end - start or not text.startswith(surface, start)):
            problems[index] = Refusal(
                "spans.surface",
                f"the span covers another text; expected its surface, got {describe(text[start:end])} for "
                f"{describe(surface)}",
                index,
            )
        else:
            places[index] = (start, end)
    return _Located(problems, places)


def _has_edge(text: str, place: tuple[int, int]) -> bool:
    start, end = place
    return start < end and (text[start] in WHITE_SPACE or text[end - 1] in WHITE_SPACE)


def _unit(option: object) -> Unit:
    if option is None:
        return "code_point"
    if not isinstance(option, str) or option not in _UNITS:
        raise OptionError("unit", f"no such unit; expected one of {', '.join(_UNITS)}")
    return cast(Unit, option)


def checker(
    *,
    unit: str = "code_point",
    allow_overlap: bool = False,
    allow_nesting: bool = False,
    allow_empty: bool = False,
    no_edge_whitespace: bool = False,
    order: str | None = None,
) -> SpansChecker:
    """The non-raising twin of ``check`` with its options checked and bound; raises OptionError for wrong ones."""
    return SpansChecker(
        unit=unit,
        allow_overlap=allow_overlap,
        allow_nesting=allow_nesting,
        allow_empty=allow_empty,
        no_edge_whitespace=no_edge_whitespace,
        order=order,
    )


def check(
    text: str,
    spans: Iterable[Any],
    *,
    unit: str = "code_point",
    allow_overlap: bool = False,
    allow_nesting: bool = False,
    allow_empty: bool = False,
    no_edge_whitespace: bool = False,
    order: str | None = None,
) -> None:
    """Checks spans (mappings or objects with start, end, and surface where they have one) against their text.

    Raises Refused for the first problem, with the span's ``index``: of each span the first of spans.order, .bounds,
    .boundary, .empty, .surface, .edge; then spans.overlap, where the index is that of the later in the list. Raises
    OptionError for a wrong option.
    """
    bound = checker(
        unit=unit,
        allow_overlap=allow_overlap,
        allow_nesting=allow_nesting,
        allow_empty=allow_empty,
        no_edge_whitespace=no_edge_whitespace,
        order=order,
    )
    _check_text(text)
    columns = _read(spans)
    problems = bound.problems(text, columns.starts, columns.ends, columns.surfaces)
    if problems:
        raise Refused.of(problems[0])


# ----------------------------------------------------------------------------------------------------------------------
# Moving spans with their text


class SpansRemapper:
    """Moves spans through the normalization of their text; never raises for a value."""

    __slots__ = ("_unit",)

    def __init__(self, *, unit: str = "code_point") -> None:
        self._unit: Final = _unit(unit)

    def __call__(
        self, text: str, edit_map: EditMap, starts: Sequence[int], ends: Sequence[int]
    ) -> tuple[list[int], list[int]] | list[Refusal]:
        """The spans' offsets into the normalised text, or what is wrong: at most one refusal a span.

        ``text`` is the text before, ``edit_map`` what ``traced`` gave for it; offsets count the unit on both sides.
        """
        moved = self.move(text, edit_map, starts, ends, None)
        return moved if isinstance(moved, list) else (moved[0], moved[1])

    def with_surfaces(
        self,
        text: str,
        edit_map: EditMap,
        starts: Sequence[int],
        ends: Sequence[int],
        surfaces: Sequence[str | None] | None,
    ) -> tuple[list[int], list[int], list[str]] | list[Refusal]:
        """As a call; checks the surfaces against ``text`` first, and gives the normalised ones too.

        A surface that is None or empty says nothing, and is given back as empty.
        """
        if surfaces is not None:
            surfaces = [surface or None for surface in surfaces]
        moved = self.move(text, edit_map, starts, ends, surfaces)
        if isinstance(moved, list) or surfaces is None:
            return moved
        given = ["" if old is None else new for old, new in zip(surfaces, moved[2], strict=True)]
        return moved[0], moved[1], given

    def move(
        self,
        text: str,
        edit_map: EditMap,
        starts: Sequence[int],
        ends: Sequence[int],
        surfaces: Sequence[str | None] | None,
    ) -> tuple[list[int], list[int], list[str]] | list[Refusal]:
        """As ``with_surfaces``, but an empty surface is one that only an empty span has, and all are given back."""
        located = locate(text, self._unit, starts, ends, surfaces)
        problems: list[Refusal] = []
        images: list[tuple[int, int]] = []
        for index, problem in enumerate(located.problems):
            place = located.places[index]
            if problem is not None or place is None:
                if problem is not None:
                    problems.append(problem)
                continue
            image = edit_map.map_span(*place)
            if image is None:
                problems.append(
                    Refusal("spans.lost", "the span has no exact image in the normalised text; expected one whose "
                                          "edges and content are left", index)
                )  # fmt: skip
                continue
            images.append(image)
        if problems:
            return problems
        new = edit_map.text
        moved = _Offsets(new, self._unit).from_code_points(offset for image in images for offset in image)
        new_surfaces = [new[start:end] for start, end in images]
        if moved is None:
            return [start for start, _ in images], [end for _, end in images], new_surfaces
        return [moved[start] for start, _ in images], [moved[end] for _, end in images], new_surfaces


def remapper(*, unit: str = "code_point") -> SpansRemapper:
    """What generated code moves spans with; raises OptionError for a wrong unit."""
    return SpansRemapper(unit=unit)


def remap(text: str, spans: Iterable[Any], *, unit: str = "code_point", **text_options: Any) -> tuple[str, list[Any]]:
    """Normalises a text (options as in ``normalize.text.normalize``) and moves spans with it.

    Returns the normalised text and the spans, each of its own kind (a mapping as a dict), with new offsets and, where
    a span has a surface, the normalised one. Raises Refused for a text that is refused, and for the first span that
    is wrong (rules as in ``check``; empty spans are kept) or that has no exact image (spans.lost).
    """
    bound = remapper(unit=unit)
    traced = normalizer(**text_options).traced(text)
    if isinstance(traced, Refusal):
        raise Refused.of(traced)
    new_text, edit_map = traced
    columns = _read(spans)
    moved = bound.move(text, edit_map, columns.starts, columns.ends, columns.surfaces)
    if isinstance(moved, list):
        raise Refused.of(moved[0])
    return new_text, [
        _rewrite(span, start, end, surface if old is not None else None)
        for span, start, end, surface, old in zip(columns.spans, *moved, columns.surfaces, strict=True)
    ]


# ----------------------------------------------------------------------------------------------------------------------
# Spans as their owners have them


class _Columns(NamedTuple):
    spans: list[Any]
    starts: list[int]
    ends: list[int]
    surfaces: list[str | None]


_MISSING: Final = object()


def _get(span: object, name: str) -> object:
    if isinstance(span, Mapping):
        return span.get(name, _MISSING)
    return getattr(span, name, _MISSING)


def _read(spans: Iterable[Any]) -> _Columns:
    columns = _Columns([], [], [], [])
    if not isinstance(spans, Iterable):
        raise Refused("spans.bounds", f"no spans; expected a list, got {describe(spans)}")
    for index, span in enumerate(spans):
        start, end = _get(span, "start"), _get(span, "end")
        # bool is an int to Python and no offset to anyone else.
        if not isinstance(start, int) or not isinstance(end, int) or isinstance(start, bool) or isinstance(end, bool):
            raise Refused("spans.bounds", "the span has no whole offsets; expected integers start and end", index)
        surface = _get(span, "surface")
        if surface is _MISSING:
            surface = None
        if surface is not None and not isinstance(surface, str):
            raise Refused("spans.surface", f"the surface is no text; expected text, got {describe(surface)}", index)
        columns.spans.append(span)
        columns.starts.append(start)
        columns.ends.append(end)
        columns.surfaces.append(surface)
    return columns


def _rewrite(span: Any, start: int, end: int, surface: str | None) -> Any:
    new: dict[str, Any] = {"start": start, "end": end}
    if surface is not None:
        new["surface"] = surface
    if isinstance(span, Mapping):
        return {**span, **new}
    if isinstance(span, tuple) and hasattr(span, "_replace"):
        return cast(Any, span)._replace(**new)  # A named tuple.
    if dataclasses.is_dataclass(span) and not isinstance(span, type):
        return dataclasses.replace(span, **new)
    changed = copy.copy(span)
    for name, value in new.items():
        setattr(changed, name, value)
    return changed


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        raise Refused("text.type", f"no text; expected text, got {describe(text)}")
    refusal = normalizer()(text)
    if isinstance(refusal, Refusal):
        raise Refused.of(refusal)
