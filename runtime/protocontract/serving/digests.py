"""What a service's inputs look like as a whole, and whether that changed: lengths, kinds of characters, labels.

When answers become worse, either what is asked has changed (upstream) or what answers (a model, a provider, a machine).
The one shows in the inputs, the other only in labels and times. Both are counted over windows of requests, and each
window is compared with the first. Counts only: no value, and nothing of sensitive fields.
"""

from __future__ import annotations

import bisect
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Final, Literal

from protocontract._options import is_map, is_repeated
from protocontract.contract import Contract

#: Upper bounds of the buckets of a request's length, in bytes.
LENGTHS: Final = (64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304)
#: What a window counts: the first two are of inputs, the others of answers.
ASPECTS: Final = ("length", "characters", "labels", "inference")
#: Requests of a window.
WINDOW: Final = 1000
#: From which distance on (0 to 1) two windows are different: a thousand requests alike stay well below.
THRESHOLD: Final = 0.1

Change = Literal["", "steady", "upstream", "environment"]

#: Most characters of one request that are looked at.
_MOST_CHARACTERS: Final = 512
_DEEPEST: Final = 4
# First code points of ranges, with what is in them up to the next one.
_RANGES: Final = (
    (0x80, "control"), (0xA0, "symbol"), (0xC0, "latin"), (0x250, "other"), (0x300, "mark"), (0x370, "greek"),
    (0x400, "cyrillic"), (0x530, "other"), (0x590, "hebrew"), (0x600, "arabic"), (0x780, "other"),
    (0x900, "devanagari"), (0x980, "other"), (0xE00, "thai"), (0xE80, "other"), (0x1100, "hangul"), (0x1200, "other"),
    (0x1E00, "latin"), (0x1F00, "greek"), (0x2000, "symbol"), (0x2E80, "han"), (0x3040, "kana"), (0x3100, "han"),
    (0x3130, "hangul"), (0x3190, "han"), (0xA000, "other"), (0xAC00, "hangul"), (0xD7B0, "other"),
    (0xE000, "private"), (0xF900, "han"), (0xFB00, "other"), (0xFB50, "arabic"), (0xFE00, "mark"), (0xFE10, "other"),
    (0xFE70, "arabic"), (0xFEFF, "symbol"), (0xFF66, "kana"), (0xFFA0, "hangul"), (0xFFE0, "symbol"),
    (0xFFFD, "replacement"), (0xFFFE, "other"), (0x1F000, "emoji"), (0x1FB00, "other"), (0x20000, "han"),
    (0x33480, "other"), (0xF0000, "private"),
)  # fmt: skip
_STARTS: Final = [start for start, _ in _RANGES]


def length_bucket(size: int) -> str:
    """The upper bound of the bucket of a length in bytes, as a metric's label: ``1024``, ``+Inf``."""
    at = bisect.bisect_left(LENGTHS, size)
    return str(LENGTHS[at]) if at < len(LENGTHS) else "+Inf"


@lru_cache(4096)
def character_class(character: str) -> str:
    """What kind of character: of ASCII ``letter``, ``digit``, ``space``, ``punctuation``, ``control``; else a script,
    roughly, or ``symbol``, ``mark``, ``emoji``, ``private``, ``replacement``, ``other``."""
    point = ord(character)
    if point < 0x80:
        if character.isalpha():
            return "letter"
        if character.isdigit():
            return "digit"
        if character in " \t\r\n":
            return "space"
        return "punctuation" if character.isprintable() else "control"
    return _RANGES[bisect.bisect_right(_STARTS, point) - 1][1]


def characters_of(contract: Contract[Any], message: Any) -> Counter[str]:
    """How many characters of each kind the texts of a message have, sensitive ones left out; of long ones the first
    few hundred."""
    found: Counter[str] = Counter()
    left = _MOST_CHARACTERS
    for path in _text_paths(contract):
        for text in _texts(message, path):
            for character, count in Counter(text[:left]).items():
                found[character_class(character)] += count
            left -= len(text)
            if left <= 0:
                return found
    return found


@cache
def _text_paths(contract: Contract[Any]) -> tuple[tuple[str, ...], ...]:
    """The paths of texts in a contract's message that are not sensitive."""
    hidden = tuple(f"{path.replace('[]', '')}." for path in contract.sensitive)
    found: list[tuple[str, ...]] = []

    def walk(descriptor: Any, path: tuple[str, ...]) -> None:
        for each in descriptor.fields:
            here = (*path, each.name)
            if is_map(each) or f"{'.'.join(here)}.".startswith(hidden):
                continue
            if each.type == each.TYPE_STRING:
                found.append(here)
            elif each.message_type is not None and len(here) < _DEEPEST:
                walk(each.message_type, here)

    walk(contract.message_type.DESCRIPTOR, ())
    return tuple(found)


def _texts(message: Any, path: tuple[str, ...]) -> Iterator[str]:
    name, *rest = path
    known = message.DESCRIPTOR.fields_by_name[name]
    value = getattr(message, name)
    if not rest:
        yield from value if is_repeated(known) else (value,)
    elif is_repeated(known):
        for each in value:
            yield from _texts(each, tuple(rest))
    elif message.HasField(name):
        yield from _texts(value, tuple(rest))


@dataclass(slots=True)
class Window:
    """Counts of some requests, by aspect and bucket."""

    requests: int = 0
    counts: dict[str, Counter[str]] = field(default_factory=lambda: {aspect: Counter() for aspect in ASPECTS})

    def add(self, seen: Mapping[str, Mapping[str, int]]) -> None:
        """One more request."""
        self.requests += 1
        for aspect, counts in seen.items():
            own = self.counts[aspect]
            for bucket, count in counts.items():  # update() takes ten times as long for one or two
                own[bucket] += count

    def merge(self, other: Window) -> None:
        """All requests of another window."""
        self.requests += other.requests
        for aspect, counts in other.counts.items():
            self.counts[aspect].update(counts)


class Digest:
    """The windows of one method: all requests so far, the first window, the last one that is whole."""

    def __init__(self, window: int = WINDOW) -> None:
        """``window``: requests of each. Raises ValueError below 1."""
        if window < 1:
            raise ValueError(f"a window of {window} requests; expected 1 at least")
        self._whole: Final = Window()
        self.first: Window | None = None
        self.last: Window | None = None
        self._size: Final = window
        self._now = Window()

    def add(self, seen: Mapping[str, Mapping[str, int]]) -> None:
        """One more request: by aspect, how often each bucket."""
        self._now.add(seen)
        if self._now.requests >= self._size:
            self._whole.merge(self._now)
            if self.first is None:
                self.first = self._now
            self.last, self._now = self._now, Window()

    @property
    def total(self) -> Window:
        """All requests so far."""
        found = Window()
        found.merge(self._whole)
        found.merge(self._now)
        return found

    def shifts(self) -> dict[str, float]:
        """How far the last window is from the first, by aspect: 0 (alike) to 1 (nothing in common).

        Empty before there are two windows; without the aspects of which either window has nothing.
        """
        if self.first is None or self.last is None or self.last is self.first:
            return {}
        pairs = ((aspect, self.first.counts[aspect], self.last.counts[aspect]) for aspect in ASPECTS)
        return {aspect: divergence(one, other) for aspect, one, other in pairs if one and other}

    def change(self) -> Change:
        """Where to look: ``upstream`` where the inputs have changed, ``environment`` where only what comes of them has.

        Empty before there are two windows.
        """
        found = self.shifts()
        if not found:
            return ""
        if max(found.get("length", 0.0), found.get("characters", 0.0)) > THRESHOLD:
            return "upstream"
        if max(found.get("labels", 0.0), found.get("inference", 0.0)) > THRESHOLD:
            return "environment"
        return "steady"

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it: the counts of both windows, with what they are compared by."""
        windows = {"first": self.first, "last": self.last}
        return {
            "window": self._size,
            "requests": self.total.requests,
            "shifts": self.shifts(),
            "change": self.change(),
            **{
                name: None
                if window is None
                else {aspect: dict(sorted(counts.items())) for aspect, counts in window.counts.items()}
                for name, window in windows.items()
            },
        }


def divergence(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """The Jensen-Shannon divergence of two distributions, to the base 2: 0 where they are alike, 1 where no bucket is
    in both. Neither may be empty."""
    first, second = sum(one.values()), sum(other.values())
    found = 0.0
    for bucket in sorted({*one, *other}):
        p, q = one.get(bucket, 0) / first, other.get(bucket, 0) / second
        middle = (p + q) / 2
        found += sum(share * math.log2(share / middle) for share in (p, q) if share) / 2
    return min(max(found, 0.0), 1.0)
