"""protoc-gen-validate: ``(validate.rules)`` to ``(buf.validate.field)``.

Both have nearly the same rules under the same names. What is different is in the tables here: where a rule has another
place, where the validators of the two disagree on values, and where the meaning depends on the field's presence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from protocontract_compiler.migrate.edits import Edits, replace_options, take_out_entries
from protocontract_compiler.migrate.report import Finding, Migrated
from protocontract_compiler.migrate.source import NUMBERS, Aggregate, Block, Entry, Field, Option, Source, Value

RULES: Final = "validate.rules"
EXTENSIONS: Final = frozenset({RULES, "validate.disabled", "validate.ignored", "validate.required"})

_ORDERED: Final = frozenset({"const", "lt", "lte", "gt", "gte", "in", "not_in"})
# Rules that have the same name and the same meaning in both, by type.
_SAME: Final = {
    **dict.fromkeys(NUMBERS, _ORDERED),
    "bool": frozenset({"const"}),
    "string": frozenset(
        [
            "const",
            "len",
            "min_len",
            "max_len",
            "len_bytes",
            "min_bytes",
            "max_bytes",
            "pattern",
            "prefix",
            "suffix",
            "contains",
            "not_contains",
            "in",
            "not_in",
            "uuid",
            "strict",
        ]
    ),
    "bytes": frozenset(
        ["const", "len", "min_len", "max_len", "prefix", "suffix", "contains", "in", "not_in", "ip", "ipv4", "ipv6"]
    ),
    "enum": frozenset({"const", "defined_only", "in", "not_in"}),
    "repeated": frozenset({"min_items", "max_items", "unique"}),
    "map": frozenset({"min_pairs", "max_pairs"}),
    "any": frozenset({"in", "not_in"}),
    "duration": _ORDERED,
    "timestamp": _ORDERED - {"in", "not_in"} | {"lt_now", "gt_now", "within"},
}

#: Rules of the same name that accept other values: turned only where somebody says that this is wanted.
INEXACT: Final = {
    "string.email": "buf.validate takes the addresses of the HTML standard, protoc-gen-validate those of RFC 5322",
    "string.hostname": "buf.validate refuses host names whose last label is all digits",
    "string.ip": "buf.validate accepts IPv6 zones, and no IPv4 address mapped into IPv6 as IPv4",
    "string.ipv4": "protoc-gen-validate accepts IPv4 addresses that are mapped into IPv6, too",
    "string.ipv6": "buf.validate accepts IPv6 zones",
    "string.uri": "buf.validate keeps to RFC 3986; protoc-gen-validate accepts what its language's parser does",
    "string.uri_ref": "buf.validate keeps to RFC 3986; protoc-gen-validate accepts what its language's parser does",
    "string.address": "host names and IP addresses are not the same in both",
    "bytes.pattern": "bytes that are no UTF-8 break the rule in buf.validate",
    "string.well_known_regex": "with `strict: false` buf.validate refuses an empty header name",
}
_REGEXES: Final = {
    "UNKNOWN": "KNOWN_REGEX_UNSPECIFIED",
    "HTTP_HEADER_NAME": "KNOWN_REGEX_HTTP_HEADER_NAME",
    "HTTP_HEADER_VALUE": "KNOWN_REGEX_HTTP_HEADER_VALUE",
}
_PRESENCE: Final = (
    "the field has presence: `ignore_empty` passes over it when it is set to its zero value, "
    "IGNORE_IF_ZERO_VALUE does not"
)
_NAN: Final = "buf.validate refuses NaN where there is a bound; protoc-gen-validate for Go and Java lets it pass"


# What becomes of one rule: another rule (its path and value), nothing, or it stays for a reason.
@dataclass(frozen=True, slots=True)
class _Same:
    pass


@dataclass(frozen=True, slots=True)
class _Other:
    path: tuple[str, ...]
    value: str


@dataclass(frozen=True, slots=True)
class _Gone:
    why: str


@dataclass(frozen=True, slots=True)
class _Left:
    why: str


_Fate: TypeAlias = "_Same | _Other | _Gone | _Left"


@dataclass(frozen=True, slots=True)
class _Leaf:
    """One rule: its path in FieldRules, its value, and the entries that lead to it inside of the option's value."""

    path: tuple[str, ...]
    value: Value
    chain: tuple[tuple[Aggregate, Entry], ...]

    @property
    def start(self) -> int:
        return self.chain[-1][1].start if self.chain else self.value.start


def migrate(source: Source, edits: Edits, told: Migrated, accepted: frozenset[str]) -> None:
    """Turns the annotations of a file. ``accepted`` are names of ``INEXACT`` that are turned all the same."""
    for block in source.every_block():
        if block.kind == "message":
            _Message(source, edits, told, accepted).turn(block)
        elif block.kind == "extend":
            told.findings += extensions(block, source, told.file, EXTENSIONS)


def extensions(block: Block, source: Source, file: str, theirs: frozenset[str]) -> Iterator[Finding]:
    """Annotations of fields of an `extend`: neither side validates those."""
    for field in block.fields:
        for option in field.options:
            if option.extension in theirs:
                what = f"({option.extension}) of {field.name}"
                yield Finding("left", file, source.line(option.start), what, "extensions are not validated")


class _Message:
    def __init__(self, source: Source, edits: Edits, told: Migrated, accepted: frozenset[str]) -> None:
        self._source = source
        self._edits = edits
        self._told = told
        self._accepted = accepted
        self._loose = False
        self._passed_over = False

    def turn(self, message: Block) -> None:
        """A message's own options, its oneofs and its fields; not the messages in it."""
        disabled = next(
            (
                each.option
                for each in message.statements
                if each.option.extension in {"validate.disabled", "validate.ignored"}
                and self._text(each.option.value) == "true"
            ),
            None,
        )
        oneofs = [block for block in message.blocks if block.kind == "oneof"]
        fields = [*message.fields, *(field for oneof in oneofs for field in oneof.fields)]
        if disabled is not None:
            name = disabled.extension.rpartition(".")[2]
            why = f"`{name}` switches off the rules of {message.name}; buf.validate has no word for that: remove both"
            self._left(disabled.start, f"({disabled.extension})", why)
            for field in fields:
                for option in field.options:
                    if option.extension == RULES:
                        self._left(option.start, f"({RULES}) of {field.name}", f"the rules of {message.name} never run")
            return
        for each in message.statements:
            if each.option.extension in {"validate.disabled", "validate.ignored"}:
                self._edits.remove_statement(each.start, each.end)
                self._told.turned += 1
        for oneof in oneofs:
            for each in oneof.statements:
                if each.option.extension == "validate.required":
                    self._edits.replace(each.option.start, each.option.named, "(buf.validate.oneof).required")
                    self._told.turned += 1
        for field in fields:
            self._field(field)

    def _field(self, field: Field) -> None:
        by: dict[Option, list[str]] = {}
        rules = [
            (leaf.path, self._text(leaf.value))
            for option in field.options
            if option.extension == RULES
            for leaf in _leaves(option.path, option.value, ())
        ]
        # These two say what becomes of the other rules of the field.
        self._loose = any(path[-2:] == ("string", "strict") and value == "false" for path, value in rules)
        self._passed_over = any(
            len(path) == 2 and path[1] == "ignore_empty" and value == "true" and self._has_presence(field, path[0])
            for path, value in rules
        )
        for option in field.options:
            if option.extension == RULES:
                turned = self._option(field, option)
                if turned is not None:
                    by[option] = turned
        if by:
            replace_options(self._edits, field, by)

    def _option(self, field: Field, option: Option) -> list[str] | None:
        """The options that come in the place of one; None where it is edited in its own place, or stays."""
        leaves = list(_leaves(option.path, option.value, ()))
        names = {".".join(leaf.path[-2:]) for leaf in leaves}
        fates = [(leaf, self._fate(leaf)) for leaf in leaves]
        for leaf, fate in fates:
            self._tell(field, leaf, fate)
        if any(
            name in {f"{kind}.{bound}" for kind in ("float", "double") for bound in ("lt", "lte", "gt", "gte")}
            for name in names
        ) and any(isinstance(fate, _Same) for _, fate in fates):
            self._note(option.start, f"{field.name}: bounds of a floating number", _NAN)
        kept = [leaf for leaf, fate in fates if isinstance(fate, _Same)]
        if not leaves or all(isinstance(fate, _Left) for _, fate in fates):
            return None
        others = [text for leaf, fate in fates for text in self._others(leaf, fate)]
        if not kept:
            return others
        self._edits.replace(option.start, option.named, "(buf.validate.field)")
        gone: dict[int, tuple[Aggregate, list[Entry]]] = {}
        for leaf, fate in fates:
            if not isinstance(fate, _Same):
                aggregate, entry = _outermost_alone(leaf, kept)
                gone.setdefault(id(aggregate), (aggregate, []))[1].append(entry)
        for aggregate, entries in gone.values():
            take_out_entries(self._edits, aggregate, list(dict.fromkeys(entries)))
        if others:
            several = field.bracket is not None and "\n" in self._edits.text[field.bracket[0] : field.bracket[1]]
            between = f",\n{self._edits.indent(option.start)}" if several else ", "
            self._edits.insert(option.end, "".join(f"{between}{other}" for other in others))
        return None

    def _others(self, leaf: _Leaf, fate: _Fate) -> Iterator[str]:
        if isinstance(fate, _Other):
            yield f"(buf.validate.field).{'.'.join(fate.path)} = {fate.value}"
        elif isinstance(fate, _Left):
            yield f"({RULES}).{'.'.join(leaf.path)} = {self._text(leaf.value)}"

    def _fate(self, leaf: _Leaf) -> _Fate:
        if len(leaf.path) < 2:
            return _Left("no rule of protoc-gen-validate")
        *outer, kind, rule = leaf.path
        value = self._text(leaf.value)
        is_element = bool(outer)
        name = f"{kind}.{rule}"
        if self._passed_over:
            return _Left(_PRESENCE)
        if rule == "required" and kind in {"message", "any", "duration", "timestamp"}:
            if is_element:
                return _Gone("an item of a parsed message is always there")
            return _Other(("required",), value)
        if name == "message.skip":
            return _Other((*outer, "ignore"), "IGNORE_ALWAYS") if value == "true" else _Gone("")
        if rule == "ignore_empty":
            if value != "true":
                return _Gone("")
            return _Other((*outer, "ignore"), "IGNORE_IF_ZERO_VALUE")
        if name == "map.no_sparse":
            return _Gone("a value of a parsed map is always there")
        if name == "string.well_known_regex" and not (self._loose and value == "HTTP_HEADER_NAME"):
            return _Other(leaf.path, _REGEXES.get(value, value))
        if name in INEXACT:
            if name not in self._accepted:
                return _Left(f"{INEXACT[name]} (--accept {name} turns it all the same)")
            if name == "string.well_known_regex":
                return _Other(leaf.path, _REGEXES.get(value, value))
            return _Same()
        if rule in _SAME.get(kind, ()):
            return _Same()
        return _Left("no rule of protoc-gen-validate")

    def _has_presence(self, field: Field, kind: str) -> bool:
        """Whether a field knows that it is set. Rules of a scalar on a message are those of a wrapper."""
        if kind in {"repeated", "map"}:
            return False
        if kind != "enum" and not field.is_scalar:
            return True
        return self._source.syntax != "proto3" or field.label == "optional" or field.in_oneof

    # -- what is told

    def _tell(self, field: Field, leaf: _Leaf, fate: _Fate) -> None:
        what = f"{field.name}: {'.'.join(leaf.path)}"
        if isinstance(fate, _Left):
            self._left(leaf.start, what, fate.why)
            return
        self._told.turned += 1
        if isinstance(fate, _Gone) and fate.why:
            self._note(leaf.start, what, f"left out: {fate.why}")
        elif isinstance(fate, _Same) and ".".join(leaf.path[-2:]) in INEXACT:
            self._note(leaf.start, what, INEXACT[".".join(leaf.path[-2:])])

    def _left(self, at: int, what: str, why: str) -> None:
        self._told.findings.append(Finding("left", self._told.file, self._source.line(at), what, why))

    def _note(self, at: int, what: str, why: str) -> None:
        self._told.findings.append(Finding("note", self._told.file, self._source.line(at), what, why))

    def _text(self, value: Value) -> str:
        return self._source.text[value.start : value.end]


def _leaves(path: tuple[str, ...], value: Value, chain: tuple[tuple[Aggregate, Entry], ...]) -> Iterator[_Leaf]:
    """The rules in an option: FieldRules hold rules of a type, and those of lists and maps hold FieldRules again."""
    if isinstance(value, Aggregate) and not _is_rule(path):
        for entry in value.entries:
            yield from _leaves((*path, entry.name), entry.value, (*chain, (value, entry)))
    else:
        yield _Leaf(path, value, chain)


def _is_rule(path: tuple[str, ...]) -> bool:
    """Whether a path leads to a rule, and not to FieldRules or the rules of a type."""
    inner = 0
    for name in path:
        inner = 0 if inner == 1 and name in {"items", "keys", "values"} else inner + 1
    return inner == 2


def _outermost_alone(leaf: _Leaf, kept: list[_Leaf]) -> tuple[Aggregate, Entry]:
    """The outermost entry around a rule in which no rule stays."""
    staying = {id(entry) for other in kept for _, entry in other.chain}
    return next((aggregate, entry) for aggregate, entry in leaf.chain if id(entry) not in staying)
