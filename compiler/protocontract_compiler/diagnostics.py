"""Mistakes in a contract: their ids, their places, and how they are shown.

One line a mistake, all mistakes at once, sorted by place::

    a.proto:9:25: error[money-currency-field]: `curency` is not a field of Transaction; did you mean `currency`?
    1 error; nothing was written

The style of a message (a test keeps it): lower case at the start, no full stop at the end, what is wrong first, then
"expected X, got Y" where that helps. Names of the contract stand in back quotes.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from protocontract_compiler.ir import Place

# Every id with its meaning. docs/diagnostics.md holds the same table; each id has a case below tests/compiler/cases.
IDS: dict[str, str] = {
    # Before the contract is read
    "proto": "protoc itself refuses the source",
    "descriptor": "descriptors that do not build: a file is missing, or two files contradict each other",
    "edition": "an edition that this compiler does not know",
    "validate-proto": "buf/validate/validate.proto differs from the one of the installed protovalidate",
    "vocabulary": "protocontract/v1/contract.proto differs from the one of the installed protocontract",
    "parameter": "a parameter of the plugin that does not exist or has no such value",
    "partial-request": "a request for some of the contracts, where a target makes one output of all",
    "records": "a file of versions, modules or locks that cannot be read",
    # buf.validate
    "cel": "a CEL expression with a syntax or type error",
    "cel-untranslatable": "under `strict`: CEL that cannot be compiled exactly",
    "pattern": "a regular expression that RE2 refuses",
    "rule-type": "buf.validate rules of another type than the field's",
    "rule-oneof": "a oneof rule that names a missing field, a field twice, or none",
    "rule-id": "a rule id of the contract that belongs to protocontract or buf.validate, or that two rules share",
    "rule-contradiction": "rules, or a rule and a normalizer, that no value can keep together",
    "rule-dead": "a rule that can never apply",
    # The vocabulary
    "option-value": "a number where the vocabulary has a name for each value",
    # The contract option
    "contract-version": "a version that is no semantic version",
    "contract-topic": "a topic name that Kafka refuses, or one topic for good and bad records",
    "contract-key-field": "key_field names no field, or one that cannot be a record key",
    "contract-event-time": "event_time names no field, or one that is no moment",
    "contract-level": "a level outside of its range, or one that cannot be measured",
    # Normalizers
    "normalizer-type": "a normalizer on a field of the wrong type",
    "normalizer-option": "an option of a normalizer that cannot be kept: an unknown currency, zone, locale or unit",
    "money-currency-field": "currency_field names no field, or one that cannot hold the code",
    "instant-field": "instant_field names no field, or one that is no Timestamp",
    "quantity-value-field": "value_field names no field, or one that is no number",
    "normalizer-clash": "two normalizers that write the same field, or one that writes a normalised field",
    "enum-value": "codes, aliases or class indexes of an enum that are not unique",
    # Relations
    "relation-type": "a relation on a field of the wrong type",
    "relation-option": "an option of a relation that cannot be kept",
    "spans-field": "spans names a missing field, or one of the wrong type",
    "sequence-field": "same_length_as names no field, or one that is not repeated",
    "graph-field": "graph names a missing field, or one of the wrong type",
    "tensor-type": "a tensor whose field cannot hold its dtype",
    "tensor-dims": "dims or their bounds that describe no shape",
    "tensor-shape-field": "shape_field is missing, names no field, or one of the wrong type",
    # Governance
    "severity-rule": "severities names a rule that the field does not have",
    "error-code-rule": "error_codes names a rule that the field does not have",
    "error-code-clash": "two rules of one contract with the same error code",
    "context-rule": "contexts names a rule that there is not, or one of a normalizer",
    "context-name": "contexts without names, or with names that are no names",
    "error-class": "an error_class without its source or its remedy",
    "since": "a since that is no semantic version, or later than the contract's",
    "sunset": "a sunset that is no date",
    "renamed-from": "a renamed_from that is no former name",
    "unit": "a unit on a field that is no number",
    "currency": "a currency or minor_digits on a field that is no plain number, or an unknown code",
    # Targets
    "typescript-inexact": "what TypeScript cannot do exactly as every other language does",
    # Services
    "service-level": "a service level outside of its range",
    "service-batch": "a batch without its size or its longest wait",
    "service-field": "model_version_field names no string field of the request",
    "service-retry": "a retry that gRPC or the contract forbids",
    "service-fallback": "a fallback without what runs instead",
}


class Stopped(Exception):
    """Nothing more can be found out: the diagnostics say why."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake. ``hint`` follows the message after a semicolon."""

    id: str
    place: Place
    message: str
    hint: str | None = None

    def __str__(self) -> str:
        where = self.place.file
        if self.place.line:
            where += f":{self.place.line}:{self.place.column}"
        inside = f"{self.place.inside}: " if self.place.inside else ""
        hint = f"; {self.hint}" if self.hint else ""
        head = f"{where}: " if where else ""
        return f"{head}error[{self.id}]: {inside}{self.message}{hint}"


class Diagnostics:
    """Collects the mistakes of one compilation."""

    def __init__(self) -> None:
        self._found: dict[Diagnostic, None] = {}

    def error(self, id: str, place: Place, message: str, hint: str | None = None) -> None:  # noqa: A002
        """Notes a mistake. The same one twice is one. Raises KeyError for an id that is not in ``IDS``."""
        if id not in IDS:
            raise KeyError(id)
        self._found[Diagnostic(id, place, message, hint)] = None

    @property
    def failed(self) -> bool:
        """Whether there is any mistake."""
        return bool(self._found)

    def sorted(self) -> list[Diagnostic]:
        """All mistakes by place."""
        return sorted(
            self._found, key=lambda d: (d.place.file, d.place.line, d.place.column, d.id, d.message, d.hint or "")
        )

    def render(self) -> str:
        """All mistakes, one a line, and their count. No line break at the end; empty where there is none."""
        found = self.sorted()
        if not found:
            return ""
        count = "1 error" if len(found) == 1 else f"{len(found)} errors"
        return "\n".join([*map(str, found), f"{count}; nothing was written"])

    def to_json(self) -> str:
        """The mistakes as a JSON object ``{"errors": [...]}`` for tools."""
        errors = [
            {
                "id": found.id,
                "file": found.place.file,
                "line": found.place.line,
                "column": found.place.column,
                "inside": found.place.inside,
                "message": found.message,
                "hint": found.hint,
            }
            for found in self.sorted()
        ]
        return json.dumps({"errors": errors}, indent=2, ensure_ascii=False)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """The hint that names the closest of ``known``, or None where nothing is close."""
    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.7)
    return f"did you mean `{close[0]}`?" if close else None


def one_of(name: str, known: Sequence[str]) -> str:
    """The hint for a name that is not one of ``known``: the closest, or all of a few, or how many there are."""
    close = did_you_mean(name, known)
    if close is not None:
        return close
    if not known:
        return "expected none, as there is none"
    if len(known) > 8:
        return f"expected one of {len(known)} others"
    return f"expected {' or '.join(f'`{candidate}`' for candidate in known)}"
