"""``python -m tests.bench.tensors``: what it takes to read numbers out of messages and to make a batch of them.

Run it under both major versions of protobuf: they let repeated numbers out in different ways. Where torch is installed,
batches of torch tensors are measured too.
"""

from __future__ import annotations

import argparse
import importlib.util
import platform
import random

import google.protobuf
import numpy as np
from google.protobuf.internal import api_implementation

from acme.inference.v1.model_service_contract import ENTITY_MODEL_INPUT
from acme.inference.v1.model_service_pb2 import EncoderOutput, EntityModelInput
from acme.pipeline.v1.pipeline_contract import TOKENIZER_OUTPUT
from acme.pipeline.v1.pipeline_pb2 import TokenizerOutput
from protocontract.tensors import Collate
from protocontract.tensors.reading import of_bytes, of_numbers
from tests.bench.measure import Entry, paired
from tests.tensors.support import contracts, sentence

_BATCH, _TOKENS, _FLOATS = 32, 512, 2048
_SINGLE = np.dtype("float32")


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.tensors")
    parser.add_argument("--rounds", type=int, default=51, help="paired rounds")
    rounds = parser.parse_args().rounds
    version = f"protobuf {google.protobuf.__version__} ({api_implementation.Type()}), numpy {np.__version__}"
    print(f"{platform.python_implementation()} {platform.python_version()}, {version}, {rounds} paired rounds\n")
    chance = random.Random(1)
    floats = [chance.gauss(0, 1) for _ in range(_FLOATS)]
    field = EncoderOutput(vector=floats).vector
    raw = np.array(floats, dtype="<f4").tobytes()
    _table(
        f"{_FLOATS} floats as an array",
        [
            Entry("np.array(list(field))", lambda values: np.array(list(values), dtype="f4"), [field]),
            Entry("np.asarray(field)", lambda values: np.asarray(values, dtype="f4"), [field]),
            Entry("ours, repeated float", lambda values: of_numbers(values, _SINGLE, "float32"), [field]),
            Entry("ours, bytes (in place)", lambda value: of_bytes(value, "float32"), [raw]),
        ],
        rounds,
    )
    _table(f"{_BATCH} x {_TOKENS} int64 as a batch", _collates(chance), rounds)


def _collates(chance: random.Random) -> list[Entry]:
    ids = [[chance.randrange(250_000) for _ in range(_TOKENS)] for _ in range(_BATCH)]
    lists = [TokenizerOutput(input_ids=each) for each in ids]
    # Two rows of 256 in a message.
    raw = [np.array(each, dtype="<i8").tobytes() for each in ids]
    blobs = [EntityModelInput(shape=[2, _TOKENS // 2], input_ids=each) for each in raw]
    ragged = [sentence(_TOKENS - at) for at in range(_BATCH)]
    of_lists = Collate(TOKENIZER_OUTPUT, tensors=["input_ids"], fields=())
    of_blobs = Collate(ENTITY_MODEL_INPUT, tensors=["input_ids"], fields=())
    of_ragged = Collate(contracts()["Sentence"], tensors=["input_ids"], fields=())
    entries = [
        Entry("np.array of lists", lambda batch: np.array([list(each.input_ids) for each in batch]), [lists]),
        Entry("ours, repeated int64", of_lists, [lists]),
        Entry("ours, of 481 to 512 each, filled up, mask", of_ragged, [ragged]),
        Entry("ours, bytes", of_blobs, [blobs]),
    ]
    if importlib.util.find_spec("torch") is not None:
        import torch

        from protocontract.torch import Collate as TorchCollate

        of_torch = TorchCollate(TOKENIZER_OUTPUT, tensors=["input_ids"], fields=())
        entries += [
            Entry(
                "torch.tensor of lists", lambda batch: torch.tensor([list(each.input_ids) for each in batch]), [lists]
            ),
            Entry("ours, repeated int64, torch", of_torch, [lists]),
        ]
    return entries


def _table(title: str, entries: list[Entry], rounds: int) -> None:
    timings = paired(entries, entries[0].name, rounds=rounds, turn=0.02)
    print(title)
    for name, timing in timings.items():
        print(f"  {name:<44}{timing.microseconds:>10.1f} us{timing.ratio:>8.3f}x")
    print()


if __name__ == "__main__":
    main()
