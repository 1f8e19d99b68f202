"""Counts records into a card: what was read, used and dropped, and what the used ones hold."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from google.protobuf.message import Message

from protocontract.card.card import SCHEMA, Card
from protocontract.card.plan import Field, Planner, shape_field
from protocontract.card.tallies import Numbers, Tally
from protocontract.evidence import data_versions
from protocontract.verify.counting import promise_path
from protocontract.violations import Violation, rule_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from protocontract.contract import Contract, Outcome

M = TypeVar("M", bound=Message)

#: Contract path, rule id, error code.
_Why = tuple[str, str, int]


class _FieldTally:
    """What is counted of one field at one path."""

    __slots__ = ("defaults", "keys", "lengths", "of", "present", "values")

    def __init__(self, field: Field) -> None:
        #: Messages that have the field at all, those that set it, those that set it to its default.
        self.of = self.present = self.defaults = 0
        self.values: Tally | None = None if field.how.make is None else field.how.make()
        counted = field.repeated and field.how.kind not in ("sensitive", "tensor")
        self.lengths: Numbers | None = Numbers(whole=True) if counted else None
        self.keys: Tally | None = None if not counted or field.keys is None else field.keys.make and field.keys.make()

    def merge(self, other: _FieldTally) -> None:
        self.of += other.of
        self.present += other.present
        self.defaults += other.defaults
        if self.values is not None:
            self.values.merge(other.values)
        if self.lengths is not None and other.lengths is not None:
            self.lengths.merge(other.lengths)
        if self.keys is not None:
            self.keys.merge(other.keys)


class CardBuilder(Generic[M]):
    """Takes the outcomes of records one by one. What it holds follows from the records alone, in whatever order.

    Workers have a builder each, which pickles; ``merge`` makes one of all. Memory does not grow with the number of
    records. Not safe for several threads at once.
    """

    def __init__(self, contract: Contract[M]) -> None:
        self.contract: Final = contract
        self._plan: Planner | None = None
        self._begin()

    def _begin(self) -> None:
        self._read = self._used = self._normalised = self._undecodable = 0
        self._dropped: Counter[_Why] = Counter()
        self._warned: Counter[_Why] = Counter()
        self._changed: Counter[tuple[str, str]] = Counter()
        self._left_out: Counter[str] = Counter()
        self._sources: dict[tuple[str, str], int] = {}
        self._fields: dict[str, _FieldTally] = {}

    # -- records

    def add(self, outcome: Outcome[M]) -> None:
        """Count one record. The fields of one that keeps the contract are counted too. Warnings do not break it."""
        message = outcome.message
        if message is None:
            self._read += 1
            self._undecodable += outcome.decoded is None
            self._dropped.update(_reasons(outcome.violations, "ERROR"))
            return
        if outcome.violations:
            self._warned.update(_reasons(outcome.violations, "WARNING"))
        if outcome.changes:
            self._normalised += 1
            self._changed.update({(change.declared_path, change.rule_id) for change in outcome.changes})
        self.add_message(message)

    def add_message(self, message: M) -> None:
        """Count one record that is used: a message that is normalised and keeps the contract already."""
        self._read += 1
        self._used += 1
        self._message(message, self._planned().root())

    def leave_out(self, reason: str, records: int = 1) -> None:
        """Count records that keep the contract and yet were not used: ``reason`` is a word such as ``uneven``."""
        self._read += records
        self._left_out[reason] += records

    def source(self, name: str, sha256: str | None, records: int | None) -> None:
        """Name where records came from: a file or what a user calls it, the SHA-256 (hex) of a file's content, and how
        many records it holds (None: nobody knows). Workers that share a source may each name it.

        Of a path only the name is kept, so that the same files have the same card on every machine.
        """
        self._name_source((PurePath(name).name, sha256 or ""), -1 if records is None else records)

    def _name_source(self, source: tuple[str, str], records: int) -> None:
        self._sources[source] = max(records, self._sources.get(source, -1))

    # -- workers

    def merge(self, other: CardBuilder[M]) -> None:
        """Count what another builder has counted. Raises ValueError where that is of another contract."""
        if other.contract.fingerprint != self.contract.fingerprint:
            raise ValueError(
                f"cards of two contracts; expected {self.contract.full_name} {self.contract.fingerprint[:12]},"
                f" got {other.contract.full_name} {other.contract.fingerprint[:12]}"
            )
        self._read += other._read
        self._used += other._used
        self._normalised += other._normalised
        self._undecodable += other._undecodable
        self._dropped.update(other._dropped)
        self._warned.update(other._warned)
        self._changed.update(other._changed)
        self._left_out.update(other._left_out)
        for source, records in other._sources.items():
            self._name_source(source, records)
        for path, tally in other._fields.items():
            own = self._fields.get(path)
            if own is None:
                self._fields[path] = deepcopy(tally)
            else:
                own.merge(tally)

    def take(self) -> CardBuilder[M]:
        """What was counted since the last ``take``, as a builder of its own; this one starts anew."""
        taken: CardBuilder[M] = CardBuilder(self.contract)
        taken.__dict__.update(self.__dict__)
        self._begin()
        return taken

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_plan": None}

    # -- the card

    def card(self) -> Card:
        """The card of all records so far."""
        contract = self.contract
        left_out = sum(self._left_out.values())
        return Card(
            {
                "schema": SCHEMA,
                "contract": {
                    "name": contract.full_name,
                    "version": contract.version,
                    "fingerprint": contract.fingerprint,
                },
                "data_versions": dict(data_versions()),
                "sources": [
                    {"name": name, "sha256": sha256 or None, "records": None if records < 0 else records}
                    for (name, sha256), records in sorted(self._sources.items())
                ],
                "records": {
                    "read": self._read,
                    "used": self._used,
                    "normalised": self._normalised,
                    "dropped": self._read - self._used - left_out,
                    "undecodable": self._undecodable,
                    "left_out": left_out,
                },
                "dropped": _why(self._dropped),
                "warnings": _why(self._warned),
                "normalised": [
                    {"path": path, "normalizer": name, "records": records}
                    for (path, name), records in sorted(self._changed.items(), key=lambda row: (-row[1], row[0]))
                ],
                "left_out": [
                    {"reason": reason, "records": records} for reason, records in sorted(self._left_out.items())
                ],
                "fields": list(self._report(self._planned().root())),
            }
        )

    def _planned(self) -> Planner:
        if self._plan is None:
            self._plan = Planner(self.contract.message_type.DESCRIPTOR)
        return self._plan

    def _report(self, fields: Sequence[Field]) -> Iterable[dict[str, Any]]:
        for field in fields:
            tally = self._fields.get(field.path) or _FieldTally(field)
            report: dict[str, Any] = {
                "path": field.path,
                "kind": field.how.kind,
                "of": tally.of,
                "present": tally.present,
                "absent": tally.of - tally.present,
            }
            if field.has_presence and field.how.kind not in ("message", "moment", "duration", "sensitive"):
                report["default"] = tally.defaults
            if tally.lengths is not None:
                report["map" if field.map else "list"] = tally.lengths.report()
            if tally.keys is not None and field.keys is not None:
                report["keys"] = {"kind": field.keys.kind, **tally.keys.report()}
            if tally.values is not None:
                report["values"] = tally.values.report()
            yield report
            if field.nested is not None and tally.present:
                yield from self._report(field.nested())

    # -- one message

    def _message(self, message: Any, fields: Sequence[Field]) -> None:
        for field in fields:
            tally = self._fields.get(field.path)
            if tally is None:
                tally = self._fields[field.path] = _FieldTally(field)
            tally.of += 1
            if field.how.kind == "tensor":
                self._tensor(message, field, tally)
            elif field.repeated:
                self._repeated(message, field, tally)
            else:
                self._single(message, field, tally)

    def _single(self, message: Any, field: Field, tally: _FieldTally) -> None:
        if field.has_presence:
            if not message.HasField(field.name):
                return
            tally.present += 1
            if field.how.kind == "sensitive":
                return
            value = getattr(message, field.name)
            if field.descriptor.message_type is None:
                tally.defaults += value == field.descriptor.default_value
        else:
            value = getattr(message, field.name)
            tally.present += value != field.descriptor.default_value
        self._value(value, field, tally)

    def _repeated(self, message: Any, field: Field, tally: _FieldTally) -> None:
        values = getattr(message, field.name)
        number = len(values)
        tally.present += number > 0
        if field.how.kind == "sensitive":
            return
        if tally.lengths is not None:
            tally.lengths.add(number)
        if tally.keys is not None and field.keys is not None:
            for key in values:
                tally.keys.add(key if field.keys.read is None else field.keys.read(key))
        for value in (values[key] for key in values) if field.map else values:
            self._value(value, field, tally)

    def _tensor(self, message: Any, field: Field, tally: _FieldTally) -> None:
        value = getattr(message, field.name)
        # An empty tensor of a field without presence is one that is not there.
        if not (message.HasField(field.name) if field.has_presence else len(value)):
            return
        tally.present += 1
        if tally.values is not None and field.how.read is not None:
            name = shape_field(field.descriptor, self._planned().options)
            tally.values.add(field.how.read((value, list(getattr(message, name)) if name else None)))

    def _value(self, value: Any, field: Field, tally: _FieldTally) -> None:
        if field.nested is not None:
            self._message(value, field.nested())
        elif tally.values is not None:
            if field.how.read is not None:
                value = field.how.read(value)
            # None: a text in which the normalizer left nothing to measure (an empty one).
            if value is not None:
                tally.values.add(value)


def _reasons(violations: Iterable[Violation], severity: str) -> set[_Why]:
    """What a record broke, each path and rule once."""
    return {
        (promise_path(violation), rule_label(violation), violation.code)
        for violation in violations
        if violation.severity == severity
    }


def _why(counted: Counter[_Why]) -> list[dict[str, Any]]:
    return [
        {"path": path, "rule": rule, "code": f"{code:#010x}", "records": records}
        for (path, rule, code), records in sorted(counted.items(), key=lambda row: (-row[1], row[0]))
    ]
