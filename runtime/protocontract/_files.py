"""What several parts do with whole files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def file_sha256(path: str | Path) -> str:
    """SHA-256 of a file's content, in hex. Raises OSError."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Write a file so that a reader finds the old content or the new one, never a part. Raises OSError.

    It is written beside and renamed at the end; where the block raises, the old file stays and nothing is left behind.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(beside, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
