"""``Contract``: what a generated module offers for each message, and ``Outcome``: what became of one record."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeAlias, TypeVar, cast

from google.protobuf.message import DecodeError, Message

from protocontract.violations import (
    Change,
    ContractViolation,
    ErrorClass,
    Refusal,
    Rule,
    RuleEvaluationError,
    Violation,
)

if TYPE_CHECKING:
    from datetime import datetime

    from protocontract._partial import Fields, Rules
    from protocontract.evidence import Evidence
    from protocontract.tensors.fields import LabelField, TensorField

M = TypeVar("M", bound=Message)

Encoding: TypeAlias = Literal["protobuf", "confluent", "json"]
Validate: TypeAlias = Callable[[Any], "list[Violation] | None"]
Relate: TypeAlias = Callable[[Any, "list[Violation] | None"], "list[Violation] | None"]
Normalize: TypeAlias = Callable[[Any, "list[Change]"], "list[Violation] | None"]


@dataclass(frozen=True, slots=True)
class Promise:
    """One line of what a contract guarantees: a field (or the message, with an empty path) and its rules in prose.

    ``path`` is a field path with ``[]`` for each repeated field or map on the way: ``entities[].label``.
    """

    path: str
    text: str
    rule_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StreamLevel:
    """What a stream promises (``StreamLevel`` in contract.proto). Durations in seconds; None: not promised."""

    compliance: float | None = None
    latency: float | None = None
    frequency: float | None = None
    throughput: float | None = None
    error_rate: float | None = None
    window: float | None = None
    minimum_records: int | None = None


class Outcome(Generic[M]):
    """What became of one record: the message if it keeps the contract, else why not. Built by ``Contract.process``."""

    __slots__ = ("changes", "contract", "decoded", "message", "raw", "violations")

    def __init__(
        self,
        contract: Contract[M],
        raw: bytes | None,
        message: M | None,
        violations: tuple[Violation, ...],
        changes: tuple[Change, ...],
        decoded: M | None,
    ) -> None:
        self.contract: Final = contract
        self.raw: Final = raw
        #: The normalised, valid message; None unless ``ok``.
        self.message: Final = message
        #: All violations, in order: refusals, buf.validate's, relations. An ``ok`` outcome may hold warnings.
        self.violations: Final = violations
        #: What normalizers replaced, in order.
        self.changes: Final = changes
        #: The message as far as it was read, also where it breaks the contract; None where the bytes are no message.
        #: For reports and measurements: handlers take ``message``.
        self.decoded: Final = decoded

    @property
    def ok(self) -> bool:
        """Whether the record keeps the contract (warnings do not break it)."""
        return self.message is not None

    @property
    def unknown_fields(self) -> bool:
        """Whether the record holds fields that the contract does not know: another version's, or another type's."""
        if self.decoded is None:
            return False
        from protocontract import wire

        return wire.unknown_fields(self.decoded)

    def evidence(self) -> Evidence:
        """The evidence item of this record: contract, verdict, SHA-256 of input and output. Computed when asked for."""
        from protocontract.evidence import Evidence

        return Evidence.of(self)

    def __repr__(self) -> str:
        verdict = "ok" if self.ok else f"{len(self.violations)} violations"
        return f"<Outcome {self.contract.full_name} {verdict}, {len(self.changes)} changes>"


class _Clean(Outcome[M]):
    """The outcome of a record with nothing to tell, the common one: it stores half as much."""

    __slots__ = ()

    violations: tuple[Violation, ...] = ()  # type: ignore[misc]  # constants in place of the base's slots
    changes: tuple[Change, ...] = ()  # type: ignore[misc]

    def __init__(self, contract: Contract[M], raw: bytes | None, message: M) -> None:
        self.contract = contract  # type: ignore[misc]  # set here instead of in the base
        self.raw = raw  # type: ignore[misc]
        self.message = message  # type: ignore[misc]

    @property  # type: ignore[misc]
    def decoded(self) -> M | None:
        """The message itself."""
        return self.message


class Contract(Generic[M]):
    """A message type with its rules, compiled. Generated modules hold one for each message.

    Thread safe: nothing in it changes after import.
    """

    def __init__(
        self,
        message_type: type[M],
        *,
        full_name: str,
        fingerprint: str,
        version: str = "",
        owner: str = "",
        topic: str = "",
        dead_letter_topic: str = "",
        key_field: str = "",
        event_time: str = "",
        level: StreamLevel | None = None,
        on_breach: Literal["ALERT", "HALT"] = "ALERT",
        validate: Validate | None = None,
        normalize: Normalize | None = None,
        relate: Relate | None = None,
        promises: tuple[Promise, ...] = (),
        tensors: tuple[TensorField, ...] = (),
        labels: tuple[LabelField, ...] = (),
        scalars: Mapping[str, Mapping[str, Any]] | None = None,
        sensitive: frozenset[str] = frozenset(),
        contexts: frozenset[str] = frozenset(),
        source: str = "",
    ) -> None:
        self.message_type: Final = message_type
        self.full_name: Final = full_name
        #: SHA-256 (hex) of the canonical text of the contract and all that it reaches.
        self.fingerprint: Final = fingerprint
        self.version: Final = version
        self.owner: Final = owner
        self.topic: Final = topic
        self.dead_letter_topic: Final = dead_letter_topic
        self.key_field: Final = key_field
        self.event_time: Final = event_time
        self.level: Final = level
        self.on_breach: Final = on_breach
        self.promises: Final = promises
        #: The fields that are tensors, and those that name classes, of the message and of the messages in it.
        self.tensors: Final = tensors
        self.labels: Final = labels
        #: What a lenient source may write for numbers and bools, by field path (``Scalar`` in contract.proto).
        self.scalars: Final = scalars
        #: Paths (without subscripts) of the fields whose values are never shown.
        self.sensitive: Final = sensitive
        #: The contexts that rules of the contract name (``contexts`` in contract.proto).
        self.contexts: Final = contexts
        #: The .proto file that it was compiled from.
        self.source: Final = source
        self._validate: Final = _in_sequence(validate, relate)
        self._normalize: Final = normalize
        # How bytes become a message where nothing is wrong with them; None until the first record comes.
        self._from_string: Callable[[bytes], M] | None = None

    # -- records

    def parse(
        self,
        raw: bytes,
        *,
        encoding: Encoding = "protobuf",
        context: str | None = None,
        now: datetime | int | None = None,
    ) -> M:
        """The normalised and valid message in ``raw``. Raises ContractViolation with all violations.

        ``context`` and ``now`` are those of ``validate``.
        """
        if encoding == "protobuf" and isinstance(raw, bytes) and context is None and now is None:
            # No Outcome is needed here. Where a value is refused or has no verdict, `process` says why.
            normalize, validate = self._normalize, self._validate
            try:
                message = (self._from_string or self._find_parser())(raw)
            except _UNREADABLE:
                raise ContractViolation(self._undecodable(raw, encoding).violations) from None
            try:
                if normalize is None or normalize(message, []) is None:
                    found = None if validate is None else validate(message)
                    if found is None or not _rejects(found):
                        return message
                    raise ContractViolation(found)
            except RuleEvaluationError:
                pass
        outcome = self.process(raw, encoding=encoding, context=context, now=now)
        if outcome.message is None:
            raise ContractViolation(outcome.violations)
        return outcome.message

    def process(
        self,
        raw: bytes | None,
        *,
        encoding: Encoding = "protobuf",
        normalized: bool = False,
        context: str | None = None,
        now: datetime | int | None = None,
        timed: list[int] | None = None,
    ) -> Outcome[M]:
        """Parse, normalise and validate one record. Never raises for bad data.

        ``normalized`` says that a guard of this fingerprint has normalised the record before: then it is only
        validated, because not every normalizer is idempotent. ``context`` and ``now`` are those of ``validate``.
        ``timed`` gets the nanoseconds that the rules took; the rest of a call is reading and normalising.
        Raises ValueError for an unknown encoding or context, and a ``now`` without a zone.
        """
        if encoding == "protobuf" and isinstance(raw, bytes):
            try:
                message = (self._from_string or self._find_parser())(raw)
            except _UNREADABLE:
                return self._undecodable(raw, encoding)
        else:
            decoded = self._decode(raw, encoding)
            if isinstance(decoded, Refusal):
                return self._refused(raw, decoded)
            message = decoded
        validate = self._validate
        if context is not None or now is not None:
            validate = self._partially(context=context, now=now)
        if timed is not None and validate is not None:
            validate = _timed(validate, timed)
        if self._normalize is None or normalized:
            try:
                found = None if validate is None else validate(message)
            except RuleEvaluationError as error:
                return self._unevaluable(raw, message, error)
            if found is None:
                return _Clean(self, raw, message)
            return self._judge(raw, message, found, [])
        changes: list[Change] = []
        try:
            refusals = self._normalize(message, changes)
            found = None if validate is None else validate(message)
        except RuleEvaluationError as error:
            return self._unevaluable(raw, message, error)
        if refusals is not None:
            found = [*refusals, *_outside(found or [], refusals)]
        if found is None:
            return Outcome(self, raw, message, (), tuple(changes), message)
        return self._judge(raw, message, found, changes)

    # -- messages

    def validate(
        self,
        message: M,
        *,
        fields: Fields | None = None,
        rules: Rules | None = None,
        context: str | None = None,
        now: datetime | int | None = None,
    ) -> tuple[Violation, ...]:
        """All violations of a message as it stands: nothing is normalised. Empty where it keeps the contract.

        The buf.validate part equals protovalidate's: rule ids, paths, messages and order. Raises RuleEvaluationError
        where a CEL rule has no result on this message.

        Each of these narrows what counts; a rule that does not count cannot raise either:

        ``fields``: a FieldMask or paths (``user.name``; ``*`` is all). Violations at or below one of them count, those
        of a whole message where all fields that its rule reads do, those of a relation where all related fields do.
        ``rules``: ids of rules, or a test of violations.
        ``context``: rules that the contract limits to other contexts do not count. Without one, every rule does.
        ``now``: the moment that rules take for the present, a datetime with a zone or nanoseconds since the epoch.

        Raises ValueError for a path or context that the contract does not know and a ``now`` without a zone,
        ContractError for a ``now`` where a message whose rules read the clock is left to protovalidate.
        """
        validate = self._validate
        if fields is not None or rules is not None or context is not None or now is not None:
            validate = self._partially(fields=fields, rules=rules, context=context, now=now)
        found = None if validate is None else validate(message)
        return () if found is None else tuple(found)

    def is_valid(self, message: M) -> bool:
        """Whether a message keeps the contract as it stands. Raises RuleEvaluationError as ``validate`` does."""
        found = None if self._validate is None else self._validate(message)
        return found is None or not _rejects(found)

    def normalize(self, message: M) -> M:
        """A normalised copy. Raises ContractViolation where a value is refused."""
        copy = self.message_type()
        copy.CopyFrom(message)
        if self._normalize is not None:
            refusals = self._normalize(copy, [])
            if refusals is not None and _rejects(refusals):
                raise ContractViolation(refusals)
        return copy

    def warm_up(self) -> None:
        """Load what a normalizer loads for the first value that needs it, so that no record waits for it.

        Units are Pint's, which takes about a second. A service does this before it is ready.
        """
        if any(rule_id.startswith("quantity.") for promise in self.promises for rule_id in promise.rule_ids):
            from protocontract.normalize.quantity_units import load_units

            load_units()

    # -- verdicts off the fast path

    def _partially(self, **asked: Any) -> Validate | None:
        from protocontract._partial import partially

        return partially(self, self._validate, **asked)

    def _judge(self, raw: bytes | None, message: M, found: list[Violation], changes: list[Change]) -> Outcome[M]:
        kept = None if _rejects(found) else message
        return Outcome(self, raw, kept, tuple(found), tuple(changes), message)

    def _decode(self, raw: bytes | None, encoding: Encoding) -> M | Refusal:
        from protocontract import wire

        if encoding == "protobuf":
            return wire.decode_protobuf(self.message_type, raw)
        if encoding == "confluent":
            return wire.decode_confluent(self.message_type, raw)
        if encoding == "json":
            return wire.decode_json(self.message_type, raw, self.scalars)
        raise ValueError(f"unknown encoding {encoding!r}; expected protobuf, confluent or json")

    def _find_parser(self) -> Callable[[bytes], M]:
        """protobuf's own parser, unless the message's syntax lets pass what ``wire`` refuses (proto2)."""
        from protocontract import wire

        descriptor: Any = self.message_type.DESCRIPTOR
        parser = cast("Callable[[bytes], M]", self.message_type.FromString)
        if not wire.parser_suffices(descriptor):
            parser = self._parse_strictly
        self._from_string = parser
        return parser

    def _parse_strictly(self, raw: bytes, /) -> M:
        from protocontract import wire

        decoded = wire.decode_protobuf(self.message_type, raw)
        if isinstance(decoded, Refusal):
            raise DecodeError
        return decoded

    def _undecodable(self, raw: bytes | None, encoding: Encoding) -> Outcome[M]:
        decoded = self._decode(raw, encoding)
        if not isinstance(decoded, Refusal):
            decoded = Refusal("wire.malformed", "not a protobuf message of this type")
        return self._refused(raw, decoded)

    def _refused(self, raw: bytes | None, refusal: Refusal) -> Outcome[M]:
        rule = Rule(self.full_name, (), refusal.rule_id, refusal.message, error_class=_WIRE)
        return Outcome(self, raw, None, (Violation(rule),), (), None)

    def _unevaluable(self, raw: bytes | None, message: M, error: RuleEvaluationError) -> Outcome[M]:
        rule = Rule(self.full_name, (), "rule.evaluation", f"a rule has no result on this message: {error}")
        return Outcome(self, raw, None, (Violation(rule),), (), message)

    # -- identity

    def __repr__(self) -> str:
        return f"<Contract {self.full_name} {self.version or 'unversioned'} {self.fingerprint[:12]}>"

    def __reduce__(self) -> tuple[Callable[..., Contract[Any]], tuple[object, ...]]:
        from protocontract.loading import travel

        return travel(self)


def _in_sequence(validate: Validate | None, relate: Relate | None) -> Validate | None:
    """Both checks as one. Relations come after the buf.validate rules of the whole record."""
    if relate is None:
        return validate
    if validate is None:
        return lambda message: relate(message, None)
    return lambda message: relate(message, validate(message))


def _timed(validate: Validate, timed: list[int]) -> Validate:
    """``validate``, which adds the nanoseconds of each call to ``timed``."""

    def run(message: Any) -> list[Violation] | None:
        began = time.perf_counter_ns()
        try:
            return validate(message)
        finally:
            timed.append(time.perf_counter_ns() - began)

    return run


_WIRE: Final = ErrorClass("INPUT", "CODE")

# What parsers say to bytes that are no message; `wire` finds the words. The pure-Python back end of protobuf recurses,
# and lets the errors of text (UnicodeDecodeError) and of numbers pass.
_UNREADABLE: Final = (DecodeError, RecursionError, ValueError, struct.error)


def _rejects(found: list[Violation]) -> bool:
    return any(violation.rule.severity == "ERROR" for violation in found)


def _outside(found: list[Violation], refusals: list[Violation]) -> list[Violation]:
    """The violations that no refused field has a part in: a refused field's other rules do not run."""
    refused: set[str] = set()
    # Lists of spans that did not move with their text: none of them is judged by the text that it does not belong to.
    unmoved: set[str] = set()
    for refusal in refusals:
        if refusal.rule.severity == "ERROR":
            path = refusal.field_path
            refused.add(path)
            if refusal.rule_id.startswith("spans."):
                unmoved.add(path.rpartition("[")[0])
            refused.update(_parent(path) + name for name in refusal.rule.spoils)
    kept: list[Violation] = []
    for violation in found:
        path = violation.field_path
        if path in refused or any(path.startswith((f"{prefix}.", f"{prefix}[")) for prefix in refused):
            continue
        if any(f"{_parent(path)}{need}" in refused for need in violation.rule.needs):
            continue
        if violation.rule_id.startswith("spans.") and path.rpartition("[")[0] in unmoved:
            continue
        kept.append(violation)
    return kept


def _parent(path: str) -> str:
    """The path of the message that holds the field, with its final full stop; empty for the record itself."""
    head, dot, _ = path.rpartition(".")
    return head + dot
