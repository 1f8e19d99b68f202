"""A guard in a process of its own, to be killed: notes each delivered position in a file, one line at a time."""

from __future__ import annotations

import os
import sys


def main(servers: str, topic: str, dead: str, group: str, notes: str) -> None:
    """Guard ``topic`` until its end."""
    from protocontract.kafka import Guard, client
    from tests.kafka.transactions import transaction

    consumer = client.new_consumer(
        topic,
        {
            "group_id": group,
            "bootstrap_servers": servers,
            "enable_auto_commit": False,
            "auto_offset_reset": "earliest",
            "session_timeout_ms": 6_000,
            "heartbeat_interval_ms": 1_000,
        },
    )
    guard = Guard(consumer, transaction(), dead_letter_topic=dead, stop_at_end=True, commit_every=0.2)
    out = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    with guard:
        for record in guard:
            os.write(out, b"%d %d\n" % (record.partition, record.offset))
    os.close(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
