"""D6: who validates records that were written under the old rules is hit by tighter ones, though it writes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from protocontract_ci.locks import READS
from protocontract_ci.model import Change, Finding, Use


def stored_findings(
    module: str,
    file: str,
    uses: Sequence[Use],
    changes: Iterable[Change],
    validates: bool,
    *,
    red: bool,
    cleared: Collection[str] = (),
) -> list[Finding]:
    """Findings of tighter rules for a file that validates what it reads; notices where it declares no stored data.

    ``red``: the module declares ``stored_data``. ``cleared`` are messages of whose stored records a sample shows that
    no rule hits them.
    """
    if not validates:
        return []
    found = []
    for change in changes:
        if "@" not in change.path or change.direction not in ("tightened", "breaking") or change.relation is None:
            continue
        element = change.element
        messages = {element.message, element.new_message} - {""}
        messages |= {element.name, element.new_name} - {""} if element.kind == "message" else set()
        lines = sorted({use.line for use in uses if use.how in READS and use.path.rpartition(".")[0] in messages})
        if not lines or messages.intersection(cleared):
            continue
        because = "validates stored records, which the tighter rule may reject"
        if red:
            because += "; expected a sample that shows that nothing is hit"
        found.append(
            Finding(
                module, file, "not_adapted", because, change, "reader", tuple(lines), decision="D6", notice=not red,
                witness=change.witness,
            )
        )  # fmt: skip
    return found
