"""What each question is about that the gate leaves to a repository: `[gate.decisions]`, `protocontract explain D1`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: The keys of ``modules.DECISIONS``. docs/gate-modules.md says the same with what each may be.
MEANINGS: Final[Mapping[str, str]] = {
    "D1": "use of a field or value that was removed and reserved",
    "D2": "another type or name on the same wire",
    "D3": "a field whose presence changes",
    "D4": "a field that joins a oneof which was there",
    "D5": "a value, a case or a demanded field that is added",
    "D6": "rules that are tighter or looser, stored data",
    "D7": "uses that cannot be resolved",
    "D8": "options of other languages",
    "D9": "uses in tests",
    "D10": "constants (Python)",
    "D11": "a number that was reserved",
    "D12": "rules of which neither demands the other, or nobody can tell",
    "D13": "unit and currency",
    "D14": "service levels",
    "D15": "copies of generated code that are out of date",
    "D16": "a module in a language that is not read and without `uses`",
    "D17": "use of what is deprecated now",
}
