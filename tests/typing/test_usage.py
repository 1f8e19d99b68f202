"""The types that users see. mypy and pyright check this file in `make check`; pytest runs it like any other."""

from __future__ import annotations

from typing import Any, assert_type

import protocontract
from acme.finance.v1.transaction_contract import TRANSACTION
from acme.finance.v1.transaction_pb2 import Transaction
from protocontract import Change, Contract, Outcome, Violation


def payment() -> Transaction:
    """A valid payment."""
    return Transaction(
        id="123e4567-e89b-12d3-a456-426614174000",
        amount="1.00",
        currency="CURRENCY_CNY",
        booked_at="2026-01-01T00:00:00Z",
        account="6222021234567890123",
        kind=Transaction.KIND_PAYMENT,
    )


def test_a_contract_knows_its_message() -> None:
    assert_type(TRANSACTION, Contract[Transaction])
    raw = payment().SerializeToString()
    assert_type(TRANSACTION.parse(raw), Transaction)
    outcome = TRANSACTION.process(raw)
    assert_type(outcome, Outcome[Transaction])
    assert_type(outcome.violations, tuple[Violation, ...])
    assert_type(outcome.changes, tuple[Change, ...])
    assert_type(outcome.message, Transaction | None)
    if outcome.message is not None:
        assert_type(outcome.message.amount, str)
    assert_type(TRANSACTION.validate(payment()), tuple[Violation, ...])
    assert_type(TRANSACTION.is_valid(payment()), bool)
    assert_type(TRANSACTION.normalize(payment()), Transaction)


def test_a_contract_found_by_name_knows_no_message() -> None:
    assert_type(protocontract.load("acme.finance.v1.Transaction"), Contract[Any])
