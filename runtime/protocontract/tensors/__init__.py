"""Tensors and labels of messages: what a contract declares (``Contract.tensors``, ``Contract.labels``), as facts."""

from __future__ import annotations

from protocontract.tensors.fields import ClassLabel, Dim, DType, LabelField, Norm, Pad, TensorField

__all__ = ["ClassLabel", "DType", "Dim", "LabelField", "Norm", "Pad", "TensorField"]
