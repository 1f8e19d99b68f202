"""Learns which words name what: a baseline tagger, trained on a file of samples.

    python train.py samples.jsonl model.json

Samples are proto JSON of acme.text.v1.TextSample, one a line. One that breaks its contract is left out and counted.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from acme.text.v1.text_contract import TEXT_SAMPLE
from acme.text.v1.text_pb2 import NamedEntity, TextSample

#: The classes of the model. Outside of every entity is the last one.
CLASSES: Final = {"PERSON": 0, "LOCATION": 1, "ORGANIZATION": 2}
OUTSIDE: Final = len(CLASSES)


def tagged(sample: TextSample) -> list[tuple[str, int]]:
    """The words of a sample with their classes: the innermost entity around a word decides."""
    found = []
    place = 0
    for word in sample.raw_text.split():
        start = sample.raw_text.index(word, place)
        place = start + len(word)
        around = [each for each in sample.entities if each.start_offset <= start and place <= each.end_offset]
        inner = min(around, key=lambda each: each.end_offset - each.start_offset, default=None)
        found.append((word, OUTSIDE if inner is None else class_of(inner)))
    return found


def class_of(entity: NamedEntity) -> int:
    """The class of an entity."""
    return CLASSES[entity.label]


def train(samples: Iterable[TextSample]) -> dict[str, int]:
    """The class that each word has most often."""
    seen: dict[str, Counter[int]] = {}
    for sample in samples:
        for word, number in tagged(sample):
            seen.setdefault(word, Counter())[number] += 1
    return {word: counts.most_common(1)[0][0] for word, counts in sorted(seen.items())}


def read(path: Path, rejected: Counter[str]) -> Iterator[TextSample]:
    """The samples of a file that keep their contract; the rules that the others break are counted."""
    with path.open("rb") as file:
        for line in file:
            outcome = TEXT_SAMPLE.process(line, encoding="json")
            if outcome.message is not None:
                yield outcome.message
            rejected.update(violation.rule_id for violation in outcome.violations)


def main(arguments: list[str]) -> int:
    """Train on a file, and write the model."""
    if len(arguments) != 2:
        print("expected two files: python train.py samples.jsonl model.json", file=sys.stderr)
        return 2
    samples, model = map(Path, arguments)
    rejected: Counter[str] = Counter()
    words = train(read(samples, rejected))
    model.write_text(json.dumps({"classes": CLASSES, "words": words}, ensure_ascii=False, indent=1) + "\n")
    print(f"{len(words)} words; broken rules: {dict(rejected) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
