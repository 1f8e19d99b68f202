"""Keeps the balances of accounts: a consumer of the topic ``payments``.

KAFKA_BOOTSTRAP_SERVERS=localhost:9092 python book.py
"""

from __future__ import annotations

import os
from decimal import Decimal
from typing import Final

from acme.finance.v1.transaction_contract import TRANSACTION
from acme.finance.v1.transaction_pb2 import Currency, Transaction
from protocontract.kafka import Guard

#: What a transaction does to a balance.
SIGNS: Final = {Transaction.KIND_PAYMENT: -1, Transaction.KIND_REFUND: 1}


class Ledger:
    """Balances by account and currency. A transaction that comes again is booked once."""

    def __init__(self) -> None:
        self.balances: dict[tuple[str, str], Decimal] = {}
        self._booked: set[str] = set()

    def book(self, payment: Transaction) -> None:
        """Book a payment or a refund."""
        if payment.id in self._booked:
            return
        self._booked.add(payment.id)
        account = payment.account, currency(payment)
        self.balances[account] = self.balances.get(account, Decimal()) + signed(payment)


def signed(payment: Transaction) -> Decimal:
    """The amount as the balance sees it."""
    return SIGNS[payment.kind] * Decimal(payment.amount)


def currency(payment: Transaction) -> str:
    """The code of the currency."""
    return Currency.Name(payment.currency).removeprefix("CURRENCY_")


def main() -> None:
    """Book what comes, for ever."""
    from kafka import KafkaConsumer

    servers = os.environ["KAFKA_BOOTSTRAP_SERVERS"]
    consumer = KafkaConsumer(
        "payments",
        group_id="ledger",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        bootstrap_servers=servers,
    )
    ledger = Ledger()
    with Guard(consumer, TRANSACTION, dead_letters={"bootstrap_servers": servers}) as guard:
        guard.run(ledger.book, retries=3)


if __name__ == "__main__":
    main()
