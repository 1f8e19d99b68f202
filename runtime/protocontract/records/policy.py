"""What is done with a bad record: it is raised, passed over, or written to a quarantine file with its provenance."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias

from protocontract.contract import Contract, Encoding
from protocontract.records.sources import Place
from protocontract.violations import ContractViolation, Violation, rule_label

OnViolation: TypeAlias = Literal["raise", "skip", "quarantine"]
POLICIES: Final[tuple[OnViolation, ...]] = ("raise", "skip", "quarantine")

#: How many violations of a record its quarantine line lists.
MAX_LISTED: Final = 50


class RecordViolation(ContractViolation):
    """A record of a source broke its contract. ``place`` says which one."""

    def __init__(self, place: Place, violations: Iterable[Violation]) -> None:
        super().__init__(violations)
        self.place: Final = place

    def __str__(self) -> str:
        return f"{self.place}: {super().__str__()}"

    def __reduce__(self) -> tuple[Any, ...]:
        return RecordViolation, (self.place, self.violations)


def travelling(violations: Iterable[Violation]) -> tuple[Violation, ...]:
    """The same violations for another process: without values that are sensitive or more than a number or a text."""
    return tuple(
        each.without_value() if each.sensitive or not isinstance(each.value, str | bytes | int | float) else each
        for each in violations
    )


def quarantine_line(
    contract: Contract[Any],
    place: Place,
    encoding: Encoding,
    raw: bytes | None,
    violations: tuple[Violation, ...],
    **position: int,
) -> dict[str, Any]:
    """What a quarantine file says of a bad record: where it stood, what was wrong, and its bytes.

    The words are those of a dead letter's headers. ``raw`` is None where the record could not even be read;
    ``position`` says when it was met (epoch, batch). Values are in ``value`` alone.
    """
    rejecting = [each for each in violations if each.severity == "ERROR"]
    listed = rejecting[:MAX_LISTED]
    return {
        **position,
        "source": place.source,
        place.unit: place.number,
        "offset": place.offset,
        "contract": contract.full_name,
        "version": contract.version,
        "fingerprint": contract.fingerprint,
        "rule_ids": [rule_label(each) for each in listed],
        "error_codes": [f"{each.code:#010x}" for each in listed],
        "field_paths": [each.redacted_path for each in listed],
        "error_class": list(
            dict.fromkeys(f"{each.error_class.source}/{each.error_class.remedy}" for each in rejecting)
        ),
        "violations": len(rejecting),
        "first_failed_at": datetime.fromtimestamp(time.time(), UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z"),
        "encoding": encoding,
        "sha256": None if raw is None else hashlib.sha256(raw).hexdigest(),
        "value": None if raw is None else base64.b64encode(raw).decode("ascii"),
    }


def line_bytes(line: dict[str, Any]) -> bytes:
    """A quarantine line as it stands in the file."""
    return json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"
