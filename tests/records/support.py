"""What the tests of records share."""

from __future__ import annotations

from pathlib import Path

from protocontract.records.corpus import Corpus
from protocontract.records.index import VerdictIndex, open_index
from protocontract.records.judge import Judge
from protocontract.records.sources import FileSource
from tests.support.samples import TEXT_SAMPLE

JUDGE = Judge(TEXT_SAMPLE)


def indexed(path: Path, cache: Path) -> VerdictIndex:
    return open_index(FileSource(path), JUDGE, cache)


def corpus(cache: Path, *paths: Path) -> Corpus:
    return Corpus([indexed(path, cache) for path in paths])
