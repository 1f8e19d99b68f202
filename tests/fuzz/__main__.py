"""``make fuzz``: a longer differential run. ``python -m tests.fuzz [SCHEMAS] [MESSAGES EACH] [FIRST SEED]``."""

from __future__ import annotations

import sys

from tests.fuzz.run import run

schemas, messages_each, first = (*map(int, sys.argv[1:]), *(20_000, 100, 1)[len(sys.argv) - 1 :])
report = run(range(first, first + schemas), messages_each)
print("\n".join(report.differences))
print(report)
sys.exit(bool(report.differences))
