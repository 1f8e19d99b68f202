"""The contracts of tests/tensors/protos, and messages of theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from protocontract.contract import Contract
from protocontract.loading import compiler

PROTOS = Path(__file__).parent / "protos"


@lru_cache(maxsize=1)
def contracts() -> Mapping[str, Contract[Any]]:
    """The contracts by the message's name."""
    compiled: Mapping[str, Contract[Any]] = compiler("load_protos")([PROTOS], PROTOS)
    return {name.rpartition(".")[2]: contract for name, contract in compiled.items()}


def sentence(length: int, *, contract: Contract[Any] | None = None, first: int = 10, **given: Any) -> Any:
    """A sentence of so many tokens."""
    values: dict[str, Any] = {
        "id": f"s{length}",
        "input_ids": range(first, first + length),
        "attention_mask": [True] * length,
        "position_ids": range(length),
        "token_labels": [position % 7 for position in range(length)],
        "sentiment": 1,
        "topic": 2,
    }
    return (contract or contracts()["Sentence"]).message_type(**{**values, **given})


def sentences(lengths: Sequence[int], **given: Any) -> list[Any]:
    """Sentences of these lengths."""
    return [sentence(length, **given) for length in lengths]
