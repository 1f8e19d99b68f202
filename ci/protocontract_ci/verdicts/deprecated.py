"""D17: what a module uses is deprecated. A notice, or a finding that makes it red, as a team decides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from protocontract_ci.model import Change, Finding, Use


def deprecated_findings(
    module: str, file: str, uses: Sequence[Use], changes: Iterable[Change], *, red: bool
) -> list[Finding]:
    """A finding for each element that a change deprecates and that the file uses."""
    found = []
    for change in changes:
        if change.kind != "deprecated_added":
            continue
        element = change.element
        # A value goes by its path within its enum, a file by its name.
        in_enum_or_file = element.kind in ("enum_value", "file")
        names = {change.path} if in_enum_or_file else {element.name, element.new_name}
        lines = sorted({use.line for use in uses if use.path and use.path in names})
        if lines:
            because = f"uses {change.path.rpartition('.')[2]}, which is deprecated now"
            found.append(
                Finding(
                    module, file, "not_adapted", because, change, lines=tuple(lines), decision="D17", notice=not red
                )
            )
    return found
