"""``make fuzz``: a longer run. ``python -m tests.fuzz [SCHEMAS] [MESSAGES EACH] [FIRST SEED] [PROCESSES]``."""

from __future__ import annotations

import os
import sys
import time

from tests.fuzz.run import run_in_processes


def main() -> int:
    """1 where anything differs."""
    given = [int(argument) for argument in sys.argv[1:]]
    schemas, messages_each, first, processes = (*given, *(20_000, 100, 1, os.cpu_count() or 1)[len(given) :])
    started = time.monotonic()
    report = run_in_processes(range(first, first + schemas), messages_each, processes)
    print("\n".join(report.differences))
    print(f"{report} in {time.monotonic() - started:,.0f} s")
    return bool(report.differences)


if __name__ == "__main__":
    sys.exit(main())
