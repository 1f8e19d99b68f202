"""Tensors and labels of messages: what a contract declares, and typed batches of them in NumPy.

``Contract.tensors`` and ``Contract.labels`` are the facts (``TensorField``, ``LabelField``). ``Collate`` turns messages
into a ``Batch`` of arrays: ``protocontract.torch`` makes the same of torch tensors, and ``digest`` says whether two are
equal. NumPy is imported with ``Collate``, not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from protocontract.tensors.fields import ClassLabel, Dim, DType, LabelField, Norm, Pad, TensorField

if TYPE_CHECKING:
    from protocontract.tensors.batch import Batch
    from protocontract.tensors.canonical import digest
    from protocontract.tensors.collate import Collate
    from protocontract.tensors.columns import CollateError

_LATER = {
    "Batch": "protocontract.tensors.batch",
    "Collate": "protocontract.tensors.collate",
    "CollateError": "protocontract.tensors.columns",
    "digest": "protocontract.tensors.canonical",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Batch",
    "ClassLabel",
    "Collate",
    "CollateError",
    "DType",
    "Dim",
    "LabelField",
    "Norm",
    "Pad",
    "TensorField",
    "digest",
]
