"""Records of the examples' contracts, good and bad, and what one process makes of them row by row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from acme.finance.v1.transaction_pb2 import Transaction
from protocontract.contract import Contract, Encoding
from protocontract.violations import rule_label
from tests.support.messages import UUID


def payment(**fields: Any) -> Transaction:
    """A transaction that its contract accepts, and normalises."""
    given = {
        "id": UUID, "amount": "1,000.00", "booked_at": "2026-01-01 08:00", "account": "6222021234567890123",
        "kind": Transaction.KIND_PAYMENT,
    }  # fmt: skip
    return Transaction(**{**given, **fields})


def verdict(contract: Contract[Any], raw: bytes | str | None, encoding: Encoding = "protobuf") -> dict[str, Any]:
    """What the verdict columns must say of a record, by ``Contract.process`` alone."""
    outcome = contract.process(raw, encoding=encoding)  # type: ignore[arg-type]  # JSON may be text
    return {
        "ok": outcome.ok,
        "rule_ids": [rule_label(violation) for violation in outcome.violations],
        "error_codes": [violation.code for violation in outcome.violations],
        "field_paths": [violation.redacted_path for violation in outcome.violations],
        "severities": [violation.severity for violation in outcome.violations],
        "changed_paths": list(dict.fromkeys(change.declared_path for change in outcome.changes)),
        "normalized": None if outcome.message is None else outcome.message.SerializeToString(deterministic=True),
    }


def verdicts(
    contract: Contract[Any], records: Iterable[bytes | str | None], encoding: Encoding = "protobuf"
) -> list[dict[str, Any]]:
    """``verdict`` of each."""
    return [verdict(contract, raw, encoding) for raw in records]
