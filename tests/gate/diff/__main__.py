"""python -m tests.gate.diff [DIR]: runs scenarios and prints how many have the changes that are expected of them.

DIR is a folder of scenario folders (before, after, expect.json), by default tests/cases/gate. Exit code 1 where one
lacks a change, or has one more that it does not expect.
"""

from __future__ import annotations

import sys
from pathlib import Path

from protocontract_ci.diff.compare import compare
from protocontract_ci.diff.oracle import installed_oracle
from protocontract_ci.sources import read
from tests.gate.scenarios import CASES, Scenario


def main(root: Path) -> int:
    """Prints a line for each scenario that is not as expected, then the counts."""
    scenarios = [Scenario(folder) for folder in sorted(root.iterdir()) if (folder / "expect.json").is_file()]
    oracle = installed_oracle()
    right = exact = wanted = got = 0
    for scenario in scenarios:
        diff = compare(read(str(scenario.folder / "before")), read(str(scenario.folder / "after")), oracle)
        expected = {(change["path"], change["direction"]) for change in scenario.expect["changes"]}
        found = {(change.path, change.direction) for change in diff.changes}
        wanted += len(expected)
        got += len(expected & found)
        right += expected <= found
        exact += expected == found
        for mark, changes in (("lacks", expected - found), ("has also", found - expected)):
            for path, direction in sorted(changes):
                print(f"{scenario.name}: {mark} {path} {direction}")
    print(
        f"{len(scenarios)} scenarios: {right} with all expected changes, {exact} with no others; "
        f"{got} of {wanted} changes by path and direction"
    )
    return 0 if exact == len(scenarios) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else CASES))
