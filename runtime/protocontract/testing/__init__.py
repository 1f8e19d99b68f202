"""Messages for tests of code that lives by a contract, drawn by hypothesis; and marks for the gate.

``valid``, ``boundary``, ``invalid`` and ``messages`` are strategies of real messages of the contract's type (extra
``testing``). ``reader`` and ``writer`` mark functions that the gate may run; they need no extra. docs/testing.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from google.protobuf.message import Message

from protocontract.extras import missing_extra
from protocontract.testing.marks import reader, writer

if TYPE_CHECKING:
    from types import ModuleType

    from hypothesis.strategies import SearchStrategy

    from protocontract.contract import Contract

__all__ = ["boundary", "invalid", "messages", "reader", "valid", "writer"]

M = TypeVar("M", bound=Message)


def valid(contract: Contract[M]) -> SearchStrategy[M]:
    """Messages that the contract accepts, as its normalizers leave them: ``process`` changes nothing in them.

    Fields keep their own rules by construction, and related fields agree; what CEL demands is looked for. Where nothing
    valid is found, drawing raises ContractError with the rules that stayed broken. Raises MissingExtra without
    hypothesis.
    """
    found: SearchStrategy[M] = _strategies().strategy(contract)
    return found


def boundary(contract: Contract[M]) -> SearchStrategy[M]:
    """Messages with one field at or just beside a bound of its rules, or with a value on which code goes wrong.

    Both sides of every bound, sizes of texts and lists, members of sets and what is none, zero and unset, texts of odd
    characters; the other fields are valid. Some of the messages are valid, others are not: ``contract.is_valid`` tells.
    Raises as ``valid`` does.
    """
    found: SearchStrategy[M] = _strategies().at_edges(contract)
    return found


def invalid(contract: Contract[M], rule: str | None = None) -> SearchStrategy[M]:
    """Messages that the contract rejects; where possible one rule is broken and the others are kept.

    ``rule`` is the id of the rule to break, one of the contract's promises. Raises ValueError for any other; drawing
    raises ContractError where no message was found that breaks it. Raises MissingExtra without hypothesis.
    """
    found: SearchStrategy[M] = _strategies().broken(contract, rule)
    return found


def messages(contract: Contract[M]) -> SearchStrategy[M]:
    """Any messages of the contract's type, whatever its rules. Raises MissingExtra without hypothesis."""
    found: SearchStrategy[M] = _strategies().anything(contract)
    return found


def _strategies() -> Any:
    try:
        from protocontract.testing import _search as module
    except ImportError as error:
        missing = missing_extra("protocontract.testing", error)
        if missing is None:
            raise
        raise missing from error
    loaded: ModuleType = module
    return loaded
