"""Unicode normalization and width folding as edits: which stretch of the text became what.

``unicodedata2.normalize`` gives the result; these functions say where it came from. A stretch is cut as finely as
the algorithm of UAX #15 allows: two neighbours are apart exactly where both sides normalise independently.
"""

from __future__ import annotations

import re
from functools import lru_cache

from protocontract.normalize.edits import Edit, Kind
from protocontract.normalize.unicode_data import Form, character_class, clusters, unicode_data, width_table


def normalization_edits(form: Form, text: str) -> list[Edit]:
    """The edits that turn a text into its normalization form."""
    data = unicode_data()
    if data.normalize(form, text) == text:
        return []
    found: list[Edit] = []
    for match in clusters(form).finditer(text):
        cluster = match.group()
        normal = data.normalize(form, cluster)
        if normal == cluster:
            continue
        if len(cluster) == 1:
            found.append(Edit(match.start(), match.end(), normal))
        else:
            found += _pieces(form, cluster, match.start())
    return found


def _pieces(form: Form, cluster: str, offset: int) -> list[Edit]:
    """Normalises one cluster by UAX #15's own steps, and keeps track of which characters each result came from."""
    data = unicode_data()
    decomposed = "NFD" if form == "NFC" else "NFKD"
    # Decompose: (combining class, character, place it came from); then canonical order, which is a stable sort by
    # class of each run of marks.
    ordered: list[tuple[int, str, int]] = []
    marks: list[tuple[int, str, int]] = []
    for place, source in enumerate(cluster):
        for character in data.normalize(decomposed, source):
            combining = data.combining(character)
            if combining:
                marks.append((combining, character, place))
                continue
            marks.sort(key=_class_of)
            ordered += marks
            marks.clear()
            ordered.append((0, character, place))
    marks.sort(key=_class_of)
    ordered += marks

    # Compose: each result with the first and last place it came from.
    results: list[tuple[str, int, int]] = []
    starter = -1
    last = -1  # Class of the last mark that stayed behind the starter; -1 where none did.
    for combining, character, place in ordered:
        if starter >= 0 and last < combining:
            whole, low, high = results[starter]
            pair = data.normalize("NFC", whole + character)
            if len(pair) == 1:
                results[starter] = (pair, min(low, place), max(high, place))
                continue
        results.append((character, place, place))
        if combining:
            last = combining
        else:
            starter, last = len(results) - 1, -1

    # Cut where everything before came from places before everything behind.
    cuts = [len(cluster)]
    for _, low, _ in reversed(results):
        cuts.append(min(cuts[-1], low))
    cuts.reverse()
    edits: list[Edit] = []
    start, reached, text = 0, 0, ""
    for number, (character, _, high) in enumerate(results):
        text += character
        reached = max(reached, high + 1)
        if reached <= cuts[number + 1]:
            if text != cluster[start:reached]:
                edits.append(Edit(offset + start, offset + reached, text))
            start, text = reached, ""
    return edits


def _class_of(item: tuple[int, str, int]) -> int:
    return item[0]


# Half-width voiced and semi-voiced sound marks: the only folded characters that join the one before.
_MARKS = "\uff9e\uff9f"


@lru_cache(maxsize=1)
def width_pattern() -> re.Pattern[str]:
    """Matches what fold_width changes: a mark with the character before it, or a run of other folded characters."""
    others = character_class(point for point in width_table() if chr(point) not in _MARKS)
    return re.compile(f"[^{_MARKS}]?[{_MARKS}]|[{others}]+(?![{_MARKS}])", re.DOTALL)


def width_edits(text: str) -> list[Edit]:
    """The edits of fold_width: characters with a <wide> or <narrow> decomposition become that.

    A folded sound mark composes with the kana before it, folded or not; nothing else is composed.
    """
    found: list[Edit] = []
    table = width_table()
    compose = unicode_data().normalize
    for match in width_pattern().finditer(text):
        source = match.group()
        folded = source.translate(table)
        if source[-1] in _MARKS and len(source) == 2:
            joined = compose("NFC", folded)
            if len(joined) == 1:
                found.append(Edit(match.start(), match.end(), joined))
                continue
        found.append(Edit(match.start(), match.end(), folded, Kind.EACH))
    return found
