"""Samples of acme.text.v1.TextSample, good and bad, and files of them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path

from google.protobuf.json_format import MessageToJson

from acme.text.v1.text_contract import TEXT_SAMPLE
from acme.text.v1.text_pb2 import TextSample
from protocontract.wire_stream import write_delimited

__all__ = ["BAD", "TEXT_SAMPLE", "is_bad", "text_sample", "text_samples", "write_jsonl", "write_samples"]

#: Of how many samples one is bad: 5 %.
BAD = 20


def text_sample(number: int, *, bad: bool = False) -> TextSample:
    """The sample of a number: its id says which. A bad one breaks spans.bounds or the set of labels, in turns."""
    text = f"text {number}  of Oxford"
    start = text.index("Oxford")
    sample = TextSample(id=str(uuid.UUID(int=number)), raw_text=text)
    sample.created_at.seconds = 1_700_000_000 + number
    entity = sample.entities.add(text="Oxford", label="LOCATION", start_offset=start, end_offset=start + 6)
    if bad and number % (2 * BAD) < BAD:
        entity.end_offset = 1_000
    elif bad:
        entity.label = "PLANET"
    return sample


def is_bad(number: int) -> bool:
    """Whether ``text_samples`` makes the sample of this number bad."""
    return number % BAD == BAD - 1


def text_samples(count: int, start: int = 0) -> list[TextSample]:
    """Samples, one in ``BAD`` of them bad."""
    return [text_sample(number, bad=is_bad(number)) for number in range(start, start + count)]


def number_of(sample: TextSample) -> int:
    """The number that a sample was made of."""
    return uuid.UUID(sample.id).int


def write_samples(path: Path, samples: Sequence[TextSample | bytes]) -> Path:
    """A file of length-delimited messages."""
    with open(path, "wb") as stream:
        for sample in samples:
            write_delimited(stream, sample)
    return path


def write_jsonl(path: Path, samples: Sequence[TextSample]) -> Path:
    """A file of JSON lines, with a blank one now and then."""
    lines = [
        MessageToJson(sample, indent=None) + ("\n \n" if at % 7 == 3 else "\n") for at, sample in enumerate(samples)
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return path
