"""``Collate`` for training: the arrays of ``protocontract.tensors`` as torch tensors, without another copy."""

# pyright: reportMissingImports=false
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from protocontract import tensors


class Batch(tensors.Batch[torch.Tensor]):
    """A ``protocontract.tensors.Batch`` of torch tensors, each of the declared dtype (bfloat16 too).

    A DataLoader pins it and moves it through shared memory; ``to`` puts it on a device. The tensors own their memory:
    changing one in place changes no message.
    """

    __slots__ = ()

    def pin_memory(self) -> Batch:
        """The same batch in pinned memory. Called by a DataLoader with ``pin_memory=True``."""
        pinned: Batch = self._as(Batch, lambda tensor, _: tensor.pin_memory())
        return pinned

    def to(self, device: torch.device | str | int, *, non_blocking: bool = False) -> Batch:
        """The same batch on a device; masks too, ``fields`` stay as they are."""
        moved: Batch = self._as(Batch, lambda tensor, _: tensor.to(device, non_blocking=non_blocking))
        return moved

    def arrays(self) -> tensors.Batch[Any]:
        """The same as NumPy arrays (those of CPU tensors share their memory): what ``tensors.digest`` reads."""
        arrays: tensors.Batch[Any] = self._as(tensors.Batch, _array)
        return arrays


class Collate(tensors.Collate):
    """As ``protocontract.tensors.Collate``, with torch tensors: the ``collate_fn`` of a DataLoader.

    What it does, and its arguments, are the same, so that a service that builds its inputs with NumPy has the features
    that the model was trained on: ``tensors.digest`` of both is equal.
    """

    def __call__(self, messages: Iterable[Any], records: Sequence[object] | None = None) -> Batch:
        """The batch of these messages. As ``protocontract.tensors.Collate.__call__``."""
        batch: Batch = super().__call__(messages, records)._as(Batch, _tensor)
        return batch


def _tensor(array: Any, dtype: str) -> torch.Tensor:
    # The batch's arrays are made for it and writable, so torch may take their memory. bfloat16 comes as its bits.
    tensor = torch.from_numpy(array)
    return tensor.view(torch.bfloat16) if dtype == "bfloat16" else tensor


def _array(tensor: torch.Tensor, dtype: str) -> Any:
    tensor = tensor.detach().cpu().contiguous()
    return (tensor.view(torch.uint16) if dtype == "bfloat16" else tensor).numpy()
