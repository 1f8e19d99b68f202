"""Evidence: what was checked, by which contract, on which data, with which result."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from protocontract.contract import Outcome

#: The packages whose data decide what a normalizer does.
DATA_PACKAGES = ("unicodedata2", "tzdata", "Babel")


@lru_cache(maxsize=1)
def data_versions() -> tuple[tuple[str, str], ...]:
    """Name and version of each package whose data normalizers read. A missing one has version ``absent``."""
    from importlib.metadata import PackageNotFoundError, version

    found: list[tuple[str, str]] = []
    for name in DATA_PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            found.append((name, "absent"))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence item of one record. Hashes are SHA-256 in hex; ``output_sha256`` is None where it was rejected.

    The output is the normalised message, serialised deterministically. No value of the record is in it.
    """

    contract: str
    version: str
    fingerprint: str
    ok: bool
    rule_ids: tuple[str, ...]
    error_codes: tuple[int, ...]
    changed_paths: tuple[str, ...]
    input_sha256: str
    output_sha256: str | None
    data_versions: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, outcome: Outcome[Any]) -> Evidence:
        """The evidence of an outcome."""
        contract, message = outcome.contract, outcome.message
        output = None if message is None else message.SerializeToString(deterministic=True)
        return cls(
            contract=contract.full_name,
            version=contract.version,
            fingerprint=contract.fingerprint,
            ok=outcome.ok,
            rule_ids=tuple(violation.rule_id for violation in outcome.violations),
            error_codes=tuple(violation.code for violation in outcome.violations),
            changed_paths=tuple(change.path for change in outcome.changes),
            input_sha256=hashlib.sha256(outcome.raw or b"").hexdigest(),
            output_sha256=None if output is None else hashlib.sha256(output).hexdigest(),
            data_versions=data_versions(),
        )
