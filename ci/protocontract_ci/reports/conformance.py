"""What both validators of both states say of messages that the gate makes up."""

from __future__ import annotations

from dataclasses import dataclass

from protocontract.terminal import plural


@dataclass(frozen=True, slots=True)
class Conformance:
    """Of one changed message: how many records were judged, and on how many the two states differ.

    ``unexplained`` are rules (``id at path``) by which they differ and of which no change tells; ``disagreements`` are
    those that protovalidate or the compiled contract found alone, with the state. Both are mistakes: of the comparison,
    of the compiler, or of a validator.
    """

    message: str
    records: int
    newly_rejected: int
    newly_accepted: int
    unexplained: tuple[str, ...] = ()
    disagreements: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether something is not as the changes say."""
        return bool(self.unexplained or self.disagreements)

    @property
    def text(self) -> str:
        """``shop.v1.Order: 212 records, 40 newly rejected, 3 newly accepted; as the changes say``."""
        told = f"{self.newly_rejected:,} newly rejected, {self.newly_accepted:,} newly accepted"
        parts = []
        if self.unexplained:
            parts.append(f"no change tells of {', '.join(self.unexplained)}")
        if self.disagreements:
            parts.append(f"protovalidate and the compiled contract differ in {', '.join(self.disagreements)}")
        return f"{self.message}: {plural(self.records, 'record')}, {told}; {'; '.join(parts) or 'as the changes say'}"
