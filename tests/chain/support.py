"""What the tests of evidence share: a small log."""

from __future__ import annotations

from pathlib import Path

from protocontract.chain import STAGES, EvidenceLog, Key, Level, Recorder

KEY = Key(b"a key of the tests, and only of them")
HASH = "ab" * 32


def stage(recorder: Recorder, name: str, **facts: object) -> None:
    """Record one stage with made-up values."""
    recorder.step(
        name, module=f"service:{name}", version="1", nanoseconds=1_000, digest_in=HASH, digest_out=HASH, facts=facts  # type: ignore[arg-type]
    )  # fmt: skip


def request(log: EvidenceLog, name: str, level: Level = Level.REQUIRED) -> None:
    """Record a request with its five stages."""
    with log.record(name, level) as recorder:
        for each in STAGES:
            stage(recorder, each, batch_size=4, provider="CPUExecutionProvider")


def chain_of_20(path: Path, key: Key | None = None) -> list[bytes]:
    """A log of 20 entries: begin, three requests of six, end. Its lines."""
    with EvidenceLog(path, key=key) as log:
        for number in range(3):
            request(log, f"request-{number}")
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 20
    return lines
