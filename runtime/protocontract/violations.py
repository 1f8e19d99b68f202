"""What breaks a contract, as data: rules, violations, refusals, changes, and the exceptions that carry them.

A value never appears in a message, in ``str()`` or in an exception: only its kind and length. ``Violation.value``
alone gives it, and not for fields that the contract marks ``sensitive``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeAlias, TypeVar

if TYPE_CHECKING:
    import gettext

    from protovalidate import FieldPathPb, ViolationPb

T = TypeVar("T")

SeverityName: TypeAlias = Literal["ERROR", "WARNING"]
Subscript: TypeAlias = int | bool | str


# ----------------------------------------------------------------------------------------------------------------------
# Refusals: what a normalizer or a relation says about a value, before anyone knows which field it stands in


class Refusal:
    """A normalizer's or relation's "no": what the non-raising twins return."""

    __slots__ = ("index", "message", "rule_id")

    def __init__(self, rule_id: str, message: str, index: int | None = None) -> None:
        self.rule_id: Final = rule_id
        self.message: Final = message
        self.index: Final = index

    def __repr__(self) -> str:
        where = "" if self.index is None else f", index={self.index}"
        return f"Refusal({self.rule_id!r}, {self.message!r}{where})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Refusal):
            return NotImplemented
        return (self.rule_id, self.message, self.index) == (other.rule_id, other.message, other.index)

    def __hash__(self) -> int:
        return hash((self.rule_id, self.message, self.index))


class Refused(ValueError):
    """Raised by the public ``normalize`` and ``check`` functions when a value is refused.

    ``rule_id`` is stable (``money.ambiguous``), ``message`` is prose without the value, ``index`` is the place of the
    offending element where the value has several (spans, sequences).
    """

    def __init__(self, rule_id: str, message: str, index: int | None = None) -> None:
        super().__init__(rule_id, message, index)
        self.rule_id = rule_id
        self.message = message
        self.index = index

    @classmethod
    def of(cls, refusal: Refusal) -> Refused:
        """The exception for a refusal that a non-raising twin returned."""
        return cls(refusal.rule_id, refusal.message, refusal.index)

    def __str__(self) -> str:
        where = "" if self.index is None else f" at index {self.index}"
        return f"{self.message}{where} ({self.rule_id})"


class OptionError(ValueError):
    """An option of a normalizer or relation that cannot be kept: an unknown zone, a locale that does not exist."""

    def __init__(self, option: str, message: str) -> None:
        super().__init__(option, message)
        self.option = option
        self.message = message

    def __str__(self) -> str:
        return f"{self.option}: {self.message}"


@dataclass(frozen=True, slots=True)
class Change:
    """One value that a normalizer replaced. ``before`` and ``after`` are None where the field is sensitive."""

    path: str
    rule_id: str
    before: Any
    after: Any

    @property
    def declared_path(self) -> str:
        """The path as a promise has it, without positions and the keys of maps: ``entities[].label``."""
        return _SUBSCRIPT.sub("[]", self.path)


_SUBSCRIPT: Final = re.compile(r'\[(?:"(?:[^"\\]|\\.)*"|[^\]"]*)\]')


@dataclass(frozen=True, slots=True)
class Normalized(Generic[T]):
    """A normalised value and what was changed to get it."""

    value: T
    changes: tuple[Change, ...] = ()


def describe(value: object) -> str:
    """The kind and size of a value, never the value: ``a 5-character text``, ``a 12-byte value``, ``a list of 3``."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "a bool"
    if isinstance(value, str):
        return f"{numbered(len(value))}-character text"
    if isinstance(value, bytes | bytearray | memoryview):
        return f"{numbered(len(value))}-byte value"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, Mapping):
        return f"a map of {len(value)}"
    if isinstance(value, Sequence):
        return f"a list of {len(value)}"
    return "a message"


def numbered(count: int) -> str:
    """A count from 0 with the article that it has when it is spoken: ``a 5``, ``an 8``, ``an 11``, ``an 8000``."""
    digits = str(count)
    first = digits[: (len(digits) - 1) % 3 + 1]  # the first word is said of the leading group of thousands
    return f"{'an' if first[0] == '8' or first in ('11', '18') else 'a'} {digits}"


# ----------------------------------------------------------------------------------------------------------------------
# Rules: the constant half of a violation. Generated modules build them once, at import.


class FieldElement:
    """One step of a field path: a field's number, name and type as ``FieldDescriptorProto.Type`` counts them.

    ``key_type`` and ``value_type`` are set on map fields only. Whatever is in a ``sensitive`` field is never shown.
    """

    __slots__ = ("key_type", "name", "number", "sensitive", "type", "value_type")

    def __init__(
        self,
        number: int,
        name: str,
        type: int,  # noqa: A002
        key_type: int = 0,
        value_type: int = 0,
        *,
        sensitive: bool = False,
    ) -> None:
        self.number: Final = number
        self.name: Final = name
        self.type: Final = type
        self.key_type: Final = key_type
        self.value_type: Final = value_type
        self.sensitive: Final = sensitive

    def __repr__(self) -> str:
        return f"FieldElement({self.number}, {self.name!r}, {self.type})"


class _Each:
    """In a rule's path, after a repeated or map field: the subscript that a violation fills in."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "EACH"


EACH: Final = _Each()
PathTemplate: TypeAlias = tuple["FieldElement | _Each", ...]


def is_sensitive(path: PathTemplate) -> bool:
    """Whether a path leads into a field whose values are never shown."""
    return any(isinstance(step, FieldElement) and step.sensitive for step in path)


@dataclass(frozen=True, slots=True)
class ErrorClass:
    """Where a violation comes from and what ends it (``ErrorClass`` in contract.proto)."""

    source: Literal["INPUT", "MODEL", "INFRASTRUCTURE", "DATA"] = "INPUT"
    remedy: Literal["IMMEDIATE", "CONFIGURATION", "CODE", "RETRAINING"] = "IMMEDIATE"


INPUT_IMMEDIATE: Final = ErrorClass()


class Rule:
    """A rule of one field of one contract: everything about a violation that is known when code is generated.

    ``path`` leads from the contract's message to the field. ``rule_path`` is the rule's place in buf.validate's
    ``FieldRules`` (``string.min_len``), or empty for rules that are not buf.validate's. An element that no name in
    buf.validate stands for (an extension) is given as a FieldElement.
    """

    __slots__ = (
        "contexts",
        "contract",
        "error_class",
        "error_code",
        "for_key",
        "message",
        "needs",
        "path",
        "reads",
        "rule_id",
        "rule_path",
        "rule_text",
        "sensitive",
        "severity",
        "spoils",
    )

    def __init__(
        self,
        contract: str,
        path: PathTemplate,
        rule_id: str,
        message: str,
        rule_path: str | tuple[str | FieldElement, ...] = "",
        *,
        severity: SeverityName = "ERROR",
        error_class: ErrorClass = INPUT_IMMEDIATE,
        error_code: int | None = None,
        sensitive: bool = False,
        for_key: bool = False,
        rule_text: str = "",
        needs: tuple[str, ...] = (),
        spoils: tuple[str, ...] = (),
        contexts: tuple[str, ...] = (),
        reads: tuple[str, ...] | None = None,
    ) -> None:
        self.contract: Final = contract
        self.path: Final = path
        self.rule_id: Final = rule_id
        self.message: Final = message
        self.rule_path: Final = rule_path
        self.severity: Final[SeverityName] = severity
        self.error_class: Final = error_class
        self.error_code: Final = error_code
        self.sensitive: Final = sensitive
        self.for_key: Final = for_key
        #: The CEL text of a rule without an id.
        self.rule_text: Final = rule_text
        #: Siblings that the rule reads: where one of them was refused, the rule does not run.
        self.needs: Final = needs
        #: Siblings that the rule's normalizer would have written: where it refuses, their rules do not run either.
        self.spoils: Final = spoils
        #: The contexts in which the rule applies (``contexts`` in contract.proto); empty: in all.
        self.contexts: Final = contexts
        #: Fields that a rule of a whole message reads, all there are; None where the rule is of its field alone.
        self.reads: Final = reads


@lru_cache(maxsize=65536)
def error_code(contract: str, field_path: str, rule_id: str) -> int:
    """The 32-bit code of a rule: the first four bytes of SHA-256 of ``<contract>.<field path>:<rule id>``.

    ``field_path`` has no subscripts; entries of maps end in ``.key`` or ``.value``. A rule of the message itself has
    the empty path, and its code is that of ``<contract>:<rule id>``.
    """
    place = f"{contract}.{field_path}" if field_path else contract
    return int.from_bytes(hashlib.sha256(f"{place}:{rule_id}".encode()).digest()[:4], "big")


# ----------------------------------------------------------------------------------------------------------------------
# Violations


class Violation:
    """One rule that a message broke, and where.

    Built by generated code; read by users. ``message`` is the rule's own text, or the text that its CEL expression
    returned.
    """

    __slots__ = ("_message", "_value", "prefix", "rule", "subscripts")

    def __init__(
        self,
        rule: Rule,
        value: object = None,
        subscripts: tuple[Subscript, ...] = (),
        message: str | None = None,
        prefix: tuple[tuple[PathTemplate, tuple[Subscript, ...], str], ...] = (),
    ) -> None:
        self.rule: Final = rule
        self.subscripts: Final = subscripts
        self._value = value
        self._message = message
        # Where the rule was reached through messages that contain each other: the paths from the outermost message
        # inwards, each with its subscripts and the contract that it starts from.
        self.prefix: Final = prefix

    # -- what was broken

    @property
    def contract(self) -> str:
        """Full name of the message that the contract is about."""
        return self.prefix[0][2] if self.prefix else self.rule.contract

    @property
    def rule_id(self) -> str:
        """Stable id: buf.validate's own (``string.min_len``), the contract's (CEL), or ours (``money.ambiguous``)."""
        return self.rule.rule_id

    @property
    def code(self) -> int:
        """The 32-bit error code, constant across releases (see ``error_code``)."""
        if self.rule.error_code is not None:
            return self.rule.error_code
        return error_code(self.contract, self._code_path(), self.rule.rule_id or self.rule.rule_text)

    @property
    def message(self) -> str:
        """What was expected, in prose. Never the offending value."""
        return self.rule.message if self._message is None else self._message

    def localized(self, language: str | gettext.NullTranslations) -> str:
        """The message in a language (``"zh"``), or by a gettext catalogue of your own whose msgids are rule ids.

        English where nobody has a translation. A message that the contract itself gives to a rule stands, unless your
        catalogue has the rule's id.
        """
        from protocontract import translations

        return translations.localized(self, language)

    @property
    def severity(self) -> SeverityName:
        """ERROR rejects the record; a WARNING is reported only."""
        return self.rule.severity

    @property
    def error_class(self) -> ErrorClass:
        """Where the violation comes from and what ends it."""
        return self.rule.error_class

    @property
    def value(self) -> Any:
        """The offending value, or None where the field is sensitive."""
        return None if self.sensitive else self._value

    @property
    def sensitive(self) -> bool:
        """Whether the contract hides this field's values, or those of a message that it is in."""
        return self.rule.sensitive or any(is_sensitive(path) for path, _, _ in self.prefix)

    @property
    def for_key(self) -> bool:
        """Whether the key of a map entry broke the rule, not its value."""
        return self.rule.for_key

    # -- where

    def elements(self) -> list[tuple[FieldElement, Subscript | None]]:
        """The field path, outermost first: each field with its subscript (index or map key), or None without one."""
        found: list[tuple[FieldElement, Subscript | None]] = []
        for template, subscripts, _ in (*self.prefix, (self.rule.path, self.subscripts, "")):
            given = iter(subscripts)
            for step in template:
                if isinstance(step, FieldElement):
                    found.append((step, None))
                else:
                    found[-1] = (found[-1][0], next(given))
        return found

    @property
    def field_path(self) -> str:
        """The field path as protovalidate writes it: ``entities[2].label``, ``prices["EUR"].amount``."""
        return self._path_text(redacted=False)

    @property
    def redacted_path(self) -> str:
        """The field path with ``[*]`` for map keys, which are data: for logs, headers and metrics."""
        return self._path_text(redacted=True)

    def _path_text(self, *, redacted: bool) -> str:
        parts: list[str] = []
        for element, subscript in self.elements():
            text = element.name
            if subscript is not None:
                text += "[*]" if redacted and element.key_type else f"[{_subscript_text(subscript)}]"
            parts.append(text)
        return ".".join(parts)

    def _code_path(self) -> str:
        steps = self.elements()
        parts: list[str] = []
        for place, (element, subscript) in enumerate(steps):
            parts.append(element.name)
            if element.key_type and subscript is not None:
                last = place == len(steps) - 1
                parts.append("key" if last and self.rule.for_key else "value")
        return ".".join(parts)

    def within(self, path: PathTemplate, subscripts: tuple[Subscript, ...], contract: str) -> Violation:
        """This violation seen from a message of ``contract`` that holds the broken one at ``path``."""
        message = self._message
        if message is not None and is_sensitive(path):
            # An expression can put what it reads into the text that it returns.
            message = self.rule.rule_id or self.rule.rule_text
        return Violation(self.rule, self._value, self.subscripts, message, ((path, subscripts, contract), *self.prefix))

    def without_value(self) -> Violation:
        """This violation without the offending value."""
        return Violation(self.rule, None, self.subscripts, self._message, self.prefix)

    # -- as others know it

    def to_proto(self) -> ViolationPb:
        """This violation as ``buf.validate.Violation``, equal to what protovalidate reports for the same rule."""
        from protocontract import _violation_proto

        return _violation_proto.violation(self)

    def field_path_proto(self) -> FieldPathPb | None:
        """The field path as ``buf.validate.FieldPath``; None for a rule of the whole message."""
        from protocontract import _violation_proto

        return _violation_proto.field_path(self)

    def __str__(self) -> str:
        where = f"{self.contract} {self.redacted_path}".rstrip()
        got = "" if self._value is None or not self.rule.rule_path else f", got {describe(self._value)}"
        return (
            f"{where}: {self.message or self.rule_id}{got} ({self.rule_id or self.rule.rule_text}, {self.code:#010x})"
        )

    def __repr__(self) -> str:
        return f"<Violation {self}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Violation):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[str, str, str, str, bool]:
        return (self.contract, self.field_path, self.rule_id, self.message, self.for_key)


def rule_label(violation: Violation) -> str:
    """A rule's id for headers, metrics, tables: as it is; ``cel:<8 hex digits>`` for an expression or a long text."""
    rule_id = violation.rule_id
    if rule_id and len(rule_id) <= 100 and rule_id.isascii() and not any(mark in rule_id for mark in " ,\n\t"):
        return rule_id
    return f"cel:{violation.code:08x}"


def _subscript_text(subscript: Subscript) -> str:
    if isinstance(subscript, bool):
        return "true" if subscript else "false"
    if isinstance(subscript, int):
        return str(subscript)
    escaped = subscript.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# ----------------------------------------------------------------------------------------------------------------------
# Exceptions


class ContractError(Exception):
    """The contract itself is wrong or cannot be found: not a fault of the data."""


class ContractViolation(ValueError):
    """A record broke its contract. ``violations`` holds all of them, in order."""

    def __init__(self, violations: Iterable[Violation]) -> None:
        self.violations: tuple[Violation, ...] = tuple(violations)
        super().__init__(self.violations)

    def __str__(self) -> str:
        count = len(self.violations)
        head = "1 violation" if count == 1 else f"{count} violations"
        return "\n".join([f"{head} of the contract", *(f"  {violation}" for violation in self.violations)])


class RuleEvaluationError(Exception):
    """A CEL rule could not be evaluated on this message: division by zero, overflow, an index out of range."""


class MissingExtra(ImportError):
    """An optional part was used without its packages. The message says what to install."""

    def __init__(self, part: str, package: str, extra: str) -> None:
        super().__init__(f'{part} needs {package}: pip install "protocontract[{extra}]"')
        self.extra = extra
