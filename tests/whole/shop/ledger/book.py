"""Books payments: ``book.py SERVERS TOPIC OUT`` reads until it is told to stop, and writes a line a payment."""

import json
import signal
import sys

from accounts import account
from kafka import KafkaConsumer
from shop.v1.payment_contract import PAYMENT

from protocontract.chain import digest
from protocontract.kafka import Guard


def main(servers: str, topic: str, out: str) -> None:
    consumer = KafkaConsumer(
        topic,
        group_id=f"{topic}.ledger",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        bootstrap_servers=servers,
    )
    letters = {"bootstrap_servers": servers}
    with (
        open(out, "a", encoding="utf-8", buffering=1) as booked,
        Guard(consumer, PAYMENT, dead_letters=letters, dead_letter_topic=f"{topic}.dead") as guard,
    ):
        signal.signal(signal.SIGTERM, lambda *_: guard.stop())
        for record in guard:
            payment = record.message
            line = {"id": payment.id, "account": account(payment), "normalised": digest(payment)}
            booked.write(json.dumps({**line, "contract": PAYMENT.version}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
