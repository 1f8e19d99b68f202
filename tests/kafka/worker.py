"""A guard in a process of its own, to be killed: notes each delivered position in a file, one line at a time."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path


def main(servers: str, topic: str, dead: str, group: str, notes: str, slow_from: str = "", go: str = "") -> None:
    """Guard ``topic`` until its end.

    After ``slow_from`` records each takes 5 ms until the file ``go`` is there: whoever is to stop this process, or to
    join it, comes before the end, however busy the machine is.
    """
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
        left = int(slow_from) if slow_from else sys.maxsize
        for record in guard:
            os.write(out, b"%d %d\n" % (record.partition, record.offset))
            left -= 1
            if left < 0 and not Path(go).exists():
                time.sleep(0.005)
    os.close(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
