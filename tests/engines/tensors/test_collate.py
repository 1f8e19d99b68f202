"""Batches of torch tensors: dtypes, memory, DataLoader's workers, and the features of other processes."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

from acme.pipeline.v1.pipeline_contract import TOKENIZER_OUTPUT
from acme.pipeline.v1.pipeline_pb2 import TokenizerOutput
from protocontract import tensors
from protocontract.torch import Batch, Collate
from tests.tensors import recorded
from tests.tensors.support import PROTOS, contracts, sentence, sentences

ROOT = Path(__file__).parents[3]
SENTENCE, TYPES, IMAGE = (contracts()[name] for name in ("Sentence", "Types", "Image"))


def tokens(count: int, length: int = 6) -> list[TokenizerOutput]:
    return [
        TokenizerOutput(
            document_id=f"d{at}",
            input_ids=range(at, at + length),
            attention_mask=[1] * length,
            position_ids=range(length),
        )
        for at in range(count)
    ]


def test_every_dtype_is_torchs_own() -> None:
    kinds = [field.path for field in TYPES.tensors if field.dims[0].name == "n"]
    message = TYPES.message_type(**{name: bytes(size_of(name) * 3) for name in kinds})
    batch = Collate(TYPES)([message, message])
    for name in kinds:
        assert batch[name].dtype is getattr(torch, name)
        assert batch[name].shape == (2, 3)


def size_of(dtype: str) -> int:
    return torch.empty(0, dtype=getattr(torch, dtype)).element_size()


def test_bfloat16_is_rounded_as_torch_does() -> None:
    values = torch.randn(1000, generator=torch.Generator().manual_seed(1)).tolist()
    batch = Collate(TYPES, tensors=["rounded16_of_singles"])([TYPES.message_type(rounded16_of_singles=values)])
    assert torch.equal(batch["rounded16_of_singles"][0], torch.tensor(values).to(torch.bfloat16))


def test_a_batch_holds_what_the_numpy_one_does() -> None:
    messages = sentences([3, 5, 1])
    batch, arrays = Collate(SENTENCE)(messages), tensors.Collate(SENTENCE)(messages)
    assert isinstance(batch, Batch)
    assert list(batch) == list(arrays)
    for key, value in batch.items():
        assert isinstance(value, torch.Tensor)
        assert value.numpy().tolist() == arrays[key].tolist()
    assert all(mask.dtype is torch.bool for mask in batch.masks.values())
    assert batch.masks["input_ids"].tolist() == arrays.masks["input_ids"].tolist()
    assert batch.fields == arrays.fields
    assert repr(batch) == repr(arrays)


def test_changing_a_tensor_in_place_changes_no_message() -> None:
    """torch.from_numpy over protobuf's bytes would warn, and write into immutable bytes."""
    raw = np.arange(3, dtype="<f4").tobytes()
    message = TYPES.message_type(float32=raw)
    batch = Collate(TYPES, tensors=["float32"])([message])
    batch["float32"].mul_(0)
    assert message.float32 == raw
    assert batch["float32"].tolist() == [[0, 0, 0]]


def test_to_moves_tensors_and_masks_and_keeps_the_rest() -> None:
    batch = Collate(SENTENCE)(sentences([3, 2]))
    moved = batch.to("meta")
    assert {value.device.type for value in (*moved.values(), *moved.masks.values())} == {"meta"}
    assert moved.fields == batch.fields
    assert batch["input_ids"].device.type == "cpu"
    assert tensors.digest(batch.to("cpu", non_blocking=True)) == tensors.digest(batch)


def test_a_data_loader_pins_the_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    """As its thread for pinned memory does; without an accelerator there is no such memory, so a copy stands for it."""
    from torch.utils.data._utils.pin_memory import pin_memory

    batch = Collate(SENTENCE)(sentences([3, 2]))
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: self.clone())
    pinned = pin_memory(batch)
    assert isinstance(pinned, Batch)
    assert tensors.digest(pinned) == tensors.digest(batch)
    for one, other in zip(
        (*pinned.values(), *pinned.masks.values()), (*batch.values(), *batch.masks.values()), strict=True
    ):
        assert one.data_ptr() != other.data_ptr()


@pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")  # torchdata calls it
@pytest.mark.parametrize(
    ("kind", "start"),
    [(DataLoader, "fork"), (DataLoader, "spawn"), (DataLoader, "forkserver"), (StatefulDataLoader, "spawn")],
)
def test_batches_come_from_workers_through_shared_memory(kind: Any, start: str) -> None:
    messages = tokens(10)
    collate = Collate(TOKENIZER_OUTPUT)
    loader = kind(messages, batch_size=4, num_workers=2, collate_fn=collate, multiprocessing_context=start)
    batches = list(loader)
    assert [batch.size for batch in batches] == [4, 4, 2]
    assert all(value.is_shared() for batch in batches for value in batch.values())
    for start_at, batch in zip((0, 4, 8), batches, strict=True):
        assert isinstance(batch, Batch)
        alone = collate(messages[start_at : start_at + 4])
        assert tensors.digest(batch) == tensors.digest(alone)
        assert batch.fields == alone.fields


class Sentences:
    """Made in the worker: messages of a contract that was compiled at run time."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, at: int) -> Any:
        return sentence(at + 1, written_at={"seconds": at})


def test_messages_of_a_contract_compiled_at_run_time_come_from_workers_too() -> None:
    loader = DataLoader(
        Sentences(), batch_size=4, num_workers=1, collate_fn=Collate(SENTENCE), multiprocessing_context="fork"
    )  # type: ignore[arg-type]
    (batch,) = list(loader)
    assert [each.seconds for each in batch.fields["written_at"]] == [0, 1, 2, 3]
    assert batch["input_ids"].shape == (4, 4)


def test_an_error_of_a_worker_names_record_and_field() -> None:
    messages = [*tokens(3), *tokens(1, length=5)]
    loader = DataLoader(messages, batch_size=4, num_workers=1, collate_fn=Collate(TOKENIZER_OUTPUT))  # type: ignore[arg-type]
    with pytest.raises(
        tensors.CollateError, match=r"TokenizerOutput input_ids: dim tokens .* expected 6, got 5; .* \(record 3"
    ):
        list(loader)


def test_a_batch_pickles() -> None:
    batch = Collate(TOKENIZER_OUTPUT)(tokens(2))
    again = pickle.loads(pickle.dumps(batch))
    assert isinstance(again, Batch)
    assert tensors.digest(again) == tensors.digest(batch)


#: The environment of `make test`: no torch, and the other major version of protobuf. It is there where make made it.
PLAIN = [python for python in [ROOT / ".venv" / "bin" / "python"] if python.exists()]


@pytest.mark.parametrize("python", PLAIN)
def test_a_service_without_torch_has_the_features_of_training(python: Path, tmp_path: Path) -> None:
    command = [python, "-m", "protocontract.cli", "compile", PROTOS, "-I", PROTOS, "--out", tmp_path]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected: list[str] = []
    for name, arguments in recorded.ARGUMENTS.items():
        raws = recorded.records(dict(contracts()), name)
        recorded.write(tmp_path, raws, name)
        for given in arguments:
            collate = Collate(contracts()[name], **given)
            for start in range(0, len(raws), recorded.BATCH):
                batch = collate([contracts()[name].parse(raw) for raw in raws[start : start + recorded.BATCH]])
                expected.append(tensors.digest(batch))
    path = os.pathsep.join([str(tmp_path), str(ROOT / "runtime")])
    done = subprocess.run(
        [python, recorded.__file__, tmp_path], check=False, capture_output=True, text=True, env={"PYTHONPATH": path}
    )
    assert done.returncode == 0, done.stderr
    versions, *found = done.stdout.splitlines()
    assert found == expected, (versions, sys.version)
