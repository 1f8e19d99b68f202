"""The features of recorded messages, by digest: what tests run in processes of other versions of Python and protobuf.

``python recorded.py RECORDS`` reads length-delimited messages of each kind from ``RECORDS/<Message>.binpb``, by the
generated contracts on PYTHONPATH, and prints the digest of each batch. It needs nothing of the tests but these files.
"""

from __future__ import annotations

import platform
import random
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BATCH = 4
#: By message: with what arguments it is collated.
ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    "Sentence": [{}, {"sizes": {"tokens": (4, 8)}}, {"tensors": ["input_ids", "sentiment"], "ignore_index": -9}],
    "Types": [{}],
    "Image": [{}, {"sizes": {"batch": 32, "tokens": range(1, 9)}, "tensors": ["rows.x", "y"]}],
}


def digests(contract: Any, raws: list[bytes]) -> Iterator[str]:
    """The digests of all batches of these records."""
    from protocontract.tensors import Collate, digest

    for arguments in ARGUMENTS[contract.full_name.rpartition(".")[2]]:
        collate = Collate(contract, **arguments)
        for start in range(0, len(raws), BATCH):
            yield digest(collate([contract.parse(raw) for raw in raws[start : start + BATCH]]))


def records(contracts: dict[str, Any], name: str, count: int = 40) -> list[bytes]:
    """Valid records, the same in every run."""
    chance = random.Random(name)
    make = {"Sentence": _sentence, "Types": _types, "Image": _image}[name]
    kind = contracts[name].message_type
    return [make(kind, chance).SerializeToString(deterministic=True) for _ in range(count)]


def _sentence(kind: Any, chance: random.Random) -> Any:
    length = chance.randint(1, 12)
    return kind(
        id=str(length),
        input_ids=[chance.randrange(2**40) for _ in range(length)],
        attention_mask=[chance.random() < 0.9 for _ in range(length)],
        position_ids=range(length),
        token_labels=[chance.choice([-100, *range(7)]) for _ in range(length)],
        sentiment=chance.choice([1, 2, 3]),
        **({"topic": chance.randrange(3)} if chance.random() < 0.5 else {}),
    )


def _types(kind: Any, chance: random.Random) -> Any:
    """Each batch has lists of one size."""
    message = kind()
    for field in kind.DESCRIPTOR.fields:
        if field.name == "bool":
            message.bool = bytes(chance.randrange(2) for _ in range(3))
        elif field.message_type is None and field.cpp_type == field.CPPTYPE_STRING:
            size = {"8": 1, "16": 2, "32": 4, "64": 8}[field.name.lstrip("abcdefghijklmnopqrstuvwxyz")]
            setattr(message, field.name, chance.randbytes(3 * size))
    message.rounded16.extend(chance.uniform(-1e30, 1e30) for _ in range(3))
    message.rounded16_of_singles.extend(chance.uniform(-1, 1) for _ in range(3))
    message.rounded32.extend(chance.gauss(0, 1e-3) for _ in range(3))
    message.half.extend(chance.uniform(-60000, 60000) for _ in range(3))
    message.narrow.extend(chance.randint(-128, 127) for _ in range(3))
    message.wide.extend(chance.randrange(2**64) for _ in range(3))
    message.flags.extend(chance.randrange(2) for _ in range(3))
    return message


def _image(kind: Any, chance: random.Random) -> Any:
    height, width, count = chance.randint(1, 4), chance.randint(1, 4), chance.randint(1, 8)
    message = kind(pixels=chance.randbytes(3 * height * width), shape=[3, height, width])
    for region in [message.regions.add() for _ in range(chance.randrange(3))] + [message.named[key] for key in "ba"]:
        region.box.extend(chance.random() for _ in range(4))
        region.mood = chance.choice([1, 2, 3])
    message.rows.x = struct.pack(f"<{count * width}f", *(chance.gauss(0, 1) for _ in range(count * width)))
    message.rows.shape.extend([count, width])
    message.rows.y.extend(chance.choice([-100, 0, 4]) for _ in range(count))
    return message


def write(folder: Path, raws: list[bytes], name: str) -> None:
    """Records of a message as a file, each with its length before it (4 bytes, little endian)."""
    (folder / f"{name}.binpb").write_bytes(b"".join(struct.pack("<I", len(raw)) + raw for raw in raws))


def _read(file: Path) -> list[bytes]:
    found: list[bytes] = []
    rest = file.read_bytes()
    while rest:
        (length,) = struct.unpack_from("<I", rest)
        found.append(rest[4 : 4 + length])
        rest = rest[4 + length :]
    return found


def main() -> None:
    """Prints the versions, then the digests."""
    import google.protobuf

    from protocontract import load

    print(platform.python_version(), google.protobuf.__version__)
    for name in ARGUMENTS:
        raws = _read(Path(sys.argv[1]) / f"{name}.binpb")
        print(*digests(load(f"features.v1.{name}"), raws), sep="\n")


if __name__ == "__main__":
    main()
