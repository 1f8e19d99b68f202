"""The digest of a batch: its written form, what it tells apart, and that other processes and versions have the same."""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from protocontract.tensors import Collate, digest
from tests.tensors import recorded
from tests.tensors.support import PROTOS, contracts, sentence, sentences

ROOT = Path(__file__).parents[2]
#: Interpreters of other versions; .ci/run names what it has made.
OTHERS = [python for python in os.environ.get("PROTOCONTRACT_PYTHONS", "").split(os.pathsep) if python]


def test_the_written_form() -> None:
    """As docs/tensors.md has it, put together by hand."""
    batch = Collate(contracts()["Sentence"], tensors=["input_ids", "sentiment"])(sentences([2, 1]))
    written = b"".join(
        [
            b"protocontract tensors 1\n",
            b"tensor int64 2x2 9 input_ids\n" + struct.pack("<4q", 10, 11, 10, 1),
            b"tensor int64 2 9 sentiment\n" + struct.pack("<2q", 2, 2),
            b"mask bool 2x2 9 input_ids\n" + b"\1\1\1\0",
        ]
    )
    assert digest(batch) == hashlib.sha256(written).hexdigest()


def test_the_written_form_of_rows() -> None:
    image = contracts()["Image"]
    message = image.message_type(rows={"x": struct.pack("<2f", 1, 2), "shape": [2, 1], "y": [1, 1]})
    batch = Collate(image, tensors=["rows.x"])([message])
    written = b"".join(
        [
            b"protocontract tensors 1\n",
            b"tensor float32 2x1 6 rows.x\n" + struct.pack("<2f", 1, 2),
            b"mask bool 2x1 6 rows.x\n\1\1",
            b"rows int64 1 6 rows.x\n" + struct.pack("<q", 2),
        ]
    )
    assert digest(batch) == hashlib.sha256(written).hexdigest()


@pytest.mark.parametrize(
    "other",
    [{"input_ids": [10, 12]}, {"sentiment": 2}, {"attention_mask": [True, False]}, {"topic": 0}],
)
def test_another_value_is_another_digest(other: dict[str, Any]) -> None:
    collate = Collate(contracts()["Sentence"])
    assert digest(collate([sentence(2)])) == digest(collate([sentence(2, id="another name, no feature")]))
    assert digest(collate([sentence(2)])) != digest(collate([sentence(2, **other)]))


def test_a_value_filled_up_and_a_real_one_are_told_apart() -> None:
    collate = Collate(contracts()["Sentence"], tensors=["input_ids"])
    long = sentence(2, input_ids=[10, 11])
    assert digest(collate([long, sentence(1, input_ids=[10])])) != digest(
        collate([long, sentence(2, input_ids=[10, 1])])
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generated contracts, and records of each of them."""
    folder = tmp_path_factory.mktemp("features")
    command = [
        sys.executable,
        "-m",
        "protocontract.cli",
        "compile",
        str(PROTOS),
        "-I",
        str(PROTOS),
        "--out",
        str(folder),
    ]
    subprocess.run(command, check=True, capture_output=True)
    for name in recorded.ARGUMENTS:
        recorded.write(folder, recorded.records(dict(contracts()), name), name)
    return folder


@pytest.mark.parametrize("python", [sys.executable, *OTHERS])
def test_features_are_equal_in_every_process_and_version(python: str, folder: Path) -> None:
    """Python and protobuf of the other process are those of its own environment."""
    done = subprocess.run(
        [python, recorded.__file__, str(folder)],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT / "runtime")]), "PYTHONHASHSEED": "random"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    versions, *found = done.stdout.splitlines()
    expected = [
        each
        for name in recorded.ARGUMENTS
        for each in recorded.digests(contracts()[name], recorded.records(dict(contracts()), name))
    ]
    assert found == expected, versions
    assert len(found) == 60
