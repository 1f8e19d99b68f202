"""``make chaos``: both kinds of guard through every fault; a table, and exit code 1 where a guarantee was broken."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.chaos.faults import FAULTS
from tests.chaos.report import report
from tests.chaos.run import Run


def main() -> int:
    """Run it. 1 where anything was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--records", type=int, default=200_000, help="records of each run")
    parser.add_argument("--seed", type=int, default=1, help="decides records, order of faults, and whom they strike")
    parser.add_argument("--mode", choices=("both", "at-least-once", "exactly-once"), default="both")
    parser.add_argument("--fault", action="append", choices=list(FAULTS), help="only these; may be repeated")
    parser.add_argument("--logs", type=Path, help="keep what the guards said in this folder")
    options = parser.parse_args()
    passed = True
    for mode in ("at-least-once", "exactly-once"):
        if options.mode not in ("both", mode):
            continue
        print(f"== {mode}, seed {options.seed}", flush=True)
        outcome = Run(
            options.records,
            options.seed,
            exactly_once=mode == "exactly-once",
            only=options.fault,
            say=lambda line: print(line, flush=True),
        ).go()
        if options.logs is not None:
            options.logs.mkdir(parents=True, exist_ok=True)
            for name, text in outcome.logs.items():
                (options.logs / f"{mode}.{name}.log").write_text(text, encoding="utf-8")
        print(report(outcome), flush=True)
        passed = passed and outcome.passed
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
