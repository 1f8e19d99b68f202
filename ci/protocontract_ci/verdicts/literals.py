"""What literals that are written into messages say: those of TypeScript and SQL, judged without running anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Final, Literal, Protocol

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from protocontract_ci.execution.entries import Entry
from protocontract_ci.execution.samples import SampleMaker
from protocontract_ci.model import Use, Witness
from protocontract_ci.usage.typescript.reader import Built, Written
from protocontract_ci.verdicts.evidence import UNKNOWN, Evidence, Subject

#: Most combinations of literals that are tried at one place.
_MOST: Final = 64


class Writing(Protocol):
    """A file with what it writes into fields, and the messages that it builds."""

    written: list[Written]
    built: list[Built]


@dataclass(frozen=True, slots=True)
class Literals:
    """The literals of one file, in messages that are valid otherwise."""

    found: Writing
    maker: SampleMaker

    def writers(self, subject: Subject, uses: Sequence[Use]) -> Evidence:
        """See Experiments."""
        results = [(site, *self._judged(subject, site)) for site in self._sites(subject, uses)]
        refused = [(site, data) for site, result, data in results if result == "fails"]
        if refused:
            lines = sorted({line for site, _ in refused for line in site.lines})
            entries = tuple(Entry("", (), (line, line)) for line in lines)
            witness = Witness(subject.old, refused[0][1], "before", confirmed=True)
            return Evidence("fails", entries=entries, witness=witness)
        return Evidence("passes") if results and all(each[1] == "passes" for each in results) else UNKNOWN

    def _sites(self, subject: Subject, uses: Sequence[Use]) -> Iterator[_Site]:
        paths = {f"{message}.{name}": name for message in (subject.old, subject.new) for name in subject.fields}
        written = [each for each in self.found.written if each.path in paths]
        used = {use.line for use in uses}
        taken: set[Written] = set()
        for built in self.found.built:
            if built.message not in (subject.old, subject.new):
                continue
            values: dict[str, Sequence[Mapping[str, Any]] | None] = {}
            lines = {built.line}
            for path, name in paths.items():
                inside = [each for each in written if path in built.fields and each.path == path and each not in taken]
                here = min(inside, key=lambda each: abs(each.line - built.line), default=None)
                if here is not None:
                    taken.add(here)
                    values[name] = here.literals
                    lines = {here.line} if built.line in lines and len(lines) == 1 else lines | {here.line}
                elif path in built.fields:
                    values[name] = None
                elif name not in values:
                    later = any(each.path == path for each in written)
                    values[name] = None if built.open or later else ({"unset": True},)
            if lines & used or built.line in used:
                yield _Site(tuple(sorted(lines)), values)
        for each in written:
            if each not in taken and each.line in used:
                rest: dict[str, Sequence[Mapping[str, Any]] | None] = dict.fromkeys(subject.fields)
                yield _Site((each.line,), {**rest, paths[each.path]: each.literals})

    def _judged(self, subject: Subject, site: _Site) -> tuple[Literal["fails", "passes", "unknown"], bytes]:
        """Whether what is written there is refused by the new state alone; the message that is."""
        if any(values is None for values in site.values.values()):
            return "unknown", b""
        kept = False
        names = list(site.values)
        choices = [site.values[name] or () for name in names]
        for values in islice(product(*choices), _MOST):
            for side in (1, 0):
                data = self._message(subject, side, dict(zip(names, values, strict=True)))
                if data is None or not self.maker.judges[0].accepts(subject.old, data):
                    # What was refused before is nothing new.
                    continue
                accepted = self.maker.judges[1].accepts(subject.new, data)
                if accepted is False:
                    return "fails", data
                kept = kept or accepted is True
                break
        return ("passes" if kept else "unknown"), b""

    def _message(self, subject: Subject, side: int, values: Mapping[str, Mapping[str, Any]]) -> bytes | None:
        name = (subject.old, subject.new)[side]
        try:
            message = self.maker.judges[side].new(name)
            message.ParseFromString(self.maker.base(subject.old, subject.new, side))
        except KeyError:
            # The message exists on one side only.
            return None
        for field, value in values.items():
            descriptor = message.DESCRIPTOR.fields_by_name.get(field)
            if descriptor is None:
                continue
            message.ClearField(field)
            if not _assign(message, descriptor, value):
                return None
        return message.SerializePartialToString(deterministic=True)


@dataclass(frozen=True, slots=True)
class _Site:
    """A place where fields are written: literals by field, None where they are not known."""

    lines: tuple[int, ...]
    values: Mapping[str, Sequence[Mapping[str, Any]] | None]


def _assign(message: Message, descriptor: Any, value: Mapping[str, Any]) -> bool:
    """Whether the literal is a value of the field, which then holds it."""
    if "unset" in value:
        return True
    try:
        if "list" in value:
            items = [_plain(descriptor, each) for each in value["list"]]
            getattr(message, descriptor.name).extend(items)
        else:
            setattr(message, descriptor.name, _plain(descriptor, value))
    except (TypeError, ValueError, AttributeError):
        # Out of the field's range, or a message.
        return False
    return True


def _plain(descriptor: Any, value: Mapping[str, Any]) -> object:
    if "integer" in value:
        return int(value["integer"])
    if "number" in value:
        number = value["number"]
        is_float = descriptor.cpp_type in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT)
        return float(number) if is_float else int(number)
    if "flag" in value:
        return value["flag"]
    return value["text"]
