"""``digest``: whether two batches hold the same features, whoever made them.

The digest is SHA-256 over these bytes, so that another language can compute it too:

- the line ``protocontract tensors 1``, ended by LF;
- for each array, sorted by kind (``tensor`` before ``mask`` before ``rows``) and then by the UTF-8 bytes of its name:
  a line ``KIND DTYPE SIZES LENGTH NAME``, ended by LF, and then its elements, row major and little endian.

SIZES are the sizes of the axes with ``x`` between them (``-`` for none), LENGTH is the number of bytes of NAME. DTYPE
is the contract's (``bfloat16`` has 2 bytes an element, ``bool`` one, 0 or 1); masks are ``bool``; ``rows``, the numbers
of rows of each message, are ``int64``. Elements count bit for bit: -0.0 is not 0.0. ``fields`` are no part of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from protocontract.tensors.batch import Batch
from protocontract.tensors.reading import np

VERSION = 1


def digest(batch: Batch[Any]) -> str:
    """The SHA-256 (hex) of a batch's arrays, masks and rows in canonical form."""
    found = hashlib.sha256()
    feed(batch, found.update)
    return found.hexdigest()


def feed(batch: Batch[Any], update: Callable[[Any], object]) -> None:
    """Hand the bytes that ``digest`` hashes to ``update``, part by part."""
    batch = batch.arrays()
    update(f"protocontract tensors {VERSION}\n".encode())
    for key, value in _sorted(batch):
        _add(update, "tensor", batch.dtypes[key], key, value)
    for key, value in _sorted(batch.masks):
        _add(update, "mask", "bool", key, value)
    for key, counts in _sorted(batch.rows):
        _add(update, "rows", "int64", key, np.array(counts, dtype="int64"))


def _sorted(arrays: Any) -> list[tuple[str, Any]]:
    return sorted(arrays.items(), key=lambda pair: pair[0].encode())


def _add(update: Callable[[Any], object], kind: str, dtype: str, name: str, value: Any) -> None:
    sizes = "x".join(map(str, value.shape)) or "-"
    update(f"{kind} {dtype} {sizes} {len(name.encode())} {name}\n".encode())
    little = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
    update(little.reshape(-1).view("u1").data)
