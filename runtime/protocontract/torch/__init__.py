"""Training data that keeps a contract: datasets and a loader for PyTorch (extra ``torch``). docs/training.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from protocontract.extras import missing_extra

if TYPE_CHECKING:
    from protocontract.records.policy import RecordViolation
    from protocontract.torch.collate import Batch, Collate
    from protocontract.torch.dataset import ContractDataset, ContractStream
    from protocontract.torch.loader import ContractLoader
    from protocontract.torch.order import UnevenError

_HOMES = {
    "Batch": "protocontract.torch.collate",
    "Collate": "protocontract.torch.collate",
    "ContractDataset": "protocontract.torch.dataset",
    "ContractLoader": "protocontract.torch.loader",
    "ContractStream": "protocontract.torch.dataset",
    "RecordViolation": "protocontract.records.policy",
    "UnevenError": "protocontract.torch.order",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    try:
        return getattr(import_module(_HOMES[name]), name)
    except ImportError as error:
        raise missing_extra("protocontract.torch", error) or error from error


__all__ = ["Batch", "Collate", "ContractDataset", "ContractLoader", "ContractStream", "RecordViolation", "UnevenError"]
