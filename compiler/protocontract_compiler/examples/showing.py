"""Values and records as documents show them: JSON that is cut where it is long, without what is sensitive."""

from __future__ import annotations

import base64
import contextlib
import json
import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor as F

from protocontract._options import is_map, is_repeated
from protocontract.contract import Contract
from protocontract.violations import Violation
from protocontract_compiler.examples.searching import Refused

#: Characters of a text and items of a list that are shown; of messages on one line fewer.
_LONG: Final = 72
_ITEMS: Final = 6
_MESSAGES: Final = 3
#: Fields that are left out where they are empty and have no presence: only of numbers is zero a value.
_MAY_BE_EMPTY: Final = frozenset({F.TYPE_STRING, F.TYPE_BYTES, F.TYPE_ENUM})
_CUT: Final = "…"

_HIDDEN: Final = {"en": "(not shown)", "zh": "（不显示）"}
_COUNTS: Final = {
    "en": {"text": "{} characters", "list": "{} items"},
    "zh": {"text": "{} 个字符", "list": "{} 项"},
}
LANGUAGES: Final = tuple(_HIDDEN)


def record(contract: Contract[Any], message: Any, language: str) -> str:
    """A whole message, a field a line."""
    held = _plain(message)
    return _Writer(contract.sensitive, language).pretty(held, "", 0)


def value(contract: Contract[Any], path: str, held: Any, language: str) -> str:
    """One value. ``path`` is that of its field."""
    shown = [_scalar(each) for each in held] if isinstance(held, list) else _scalar(held)
    return _Writer(contract.sensitive, language).line(shown, path.replace("[]", ""))


def refused(contract: Contract[Any], found: Refused, language: str) -> str:
    """What one has to look at in a record that breaks a rule; empty where that is a field which is not set."""
    violation = found.violation
    writer = _Writer(contract.sensitive, language)
    holder, path, shown = found.message, "", _plain(found.message)
    elements = violation.elements()
    for element, subscript in elements:
        path = f"{path}.{element.name}".lstrip(".")
        field = holder.DESCRIPTOR.fields_by_name.get(element.name)
        if field is None or (field.has_presence and not holder.HasField(element.name)):
            return ""  # a oneof of which nothing is set, or the very field that is missing
        if element is elements[-1][0] and (siblings := _siblings(violation, holder, element.name)):
            return writer.line(_of_names(holder, siblings), path.rpartition(".")[0])
        held = getattr(holder, element.name)
        shown = _of_field(field, held)
        if subscript is None:
            holder = held
        elif violation.for_key and element is elements[-1][0]:
            shown = subscript
        elif is_repeated(field):
            shown = shown[_key(subscript)] if is_map(field) else shown[int(subscript)]
            holder = held[subscript]
        else:
            # An element of a tensor in bytes.
            shown = _scalar(violation.value) if isinstance(violation.value, int | float) else shown
    reads = violation.rule.reads
    if reads is not None and isinstance(shown, dict):
        names = [name for name in dict.fromkeys(read.split(".")[0].replace("[]", "") for read in reads) if name]
        shown = _of_names(holder, names) if names else shown
    return writer.line(shown, path)


def _siblings(violation: Violation, parent: Any, name: str) -> list[str]:
    """For a rule about several fields, or all items of one, their names; else nothing."""
    if violation.rule_id.startswith("graph."):
        return [name]
    if not violation.rule_id.startswith(("spans.", "sequence.length", "tensor.shape", "tensor.size")):
        return []
    needs = [each for each in violation.rule.needs if each in parent.DESCRIPTOR.fields_by_name]
    return [*(each for each in needs if each != name), name] if needs else []


def _of_names(message: Any, names: Collection[str]) -> dict[str, Any]:
    held = _plain(message)
    return {name: held.get(name, _Unset()) for name in names if name in message.DESCRIPTOR.fields_by_name}


class _Unset:
    """A field that is not set, in JSON where other fields are."""


def _plain(message: Any) -> Any:
    """A message as JSON: protobuf's own as the mapping has them, numbers as numbers, and no zero left out."""
    if message.DESCRIPTOR.full_name == "google.protobuf.Any":
        # What is in it may be of a type that nobody knows.
        return {"@type": message.type_url}
    if message.DESCRIPTOR.full_name.startswith("google.protobuf."):
        with contextlib.suppress(ValueError, TypeError):
            return json_format.MessageToDict(message, preserving_proto_field_name=True)
        # Out of its own range, JSON has no form for it.
    held: dict[str, Any] = {}
    there = {each.name for each, _ in message.ListFields()}
    for each in message.DESCRIPTOR.fields:
        if each.name in there or (not each.has_presence and not is_repeated(each) and each.type not in _MAY_BE_EMPTY):
            held[each.name] = _of_field(each, getattr(message, each.name))
    return held


def _of_field(each: Any, held: Any) -> Any:
    if is_map(each):
        value = each.message_type.fields_by_name["value"]
        return {_key(key): _single(value, held[key]) for key in sorted(held)}
    if is_repeated(each):
        return [_single(each, item) for item in held]
    return _single(each, held)


def _single(each: Any, held: Any) -> Any:
    if each.enum_type is not None:
        known = each.enum_type.values_by_number.get(held)
        return held if known is None else known.name
    return _scalar(held)


def _key(key: Any) -> str:
    """The key of a map as JSON writes it."""
    return str(key).lower() if isinstance(key, bool) else str(key)


def _scalar(held: Any) -> Any:
    """A value of a field as JSON has it."""
    if isinstance(held, bytes):
        return base64.b64encode(held).decode()
    if hasattr(held, "DESCRIPTOR"):
        return _plain(held)
    return _float(held) if isinstance(held, float) else held


def _float(number: float) -> Any:
    if number != number:
        return "NaN"
    if number in (float("inf"), float("-inf")):
        return "Infinity" if number > 0 else "-Infinity"
    # A float of four bytes shows as many digits as it has.
    return float(f"{number:.7g}")


class _Writer:
    def __init__(self, sensitive: Collection[str], language: str) -> None:
        self._sensitive = sensitive
        self._language = language

    def line(self, held: Any, path: str) -> str:
        """On one line."""
        if self._is_hidden(path):
            return _HIDDEN[self._language]
        if isinstance(held, _Unset):
            return "null"
        if isinstance(held, Mapping):
            inner = [
                f"{_text(str(name))}: {self.line(each, f'{path}.{name}'.lstrip('.'))}" for name, each in held.items()
            ]
            return f"{{{', '.join(inner)}}}"
        if isinstance(held, list):
            most = _MESSAGES if any(isinstance(each, Mapping) for each in held) else _ITEMS + 2
            cut = len(held) > most
            shown = [self.line(each, path) for each in held[: min(most, _ITEMS) if cut else None]]
            rest = f", {self._rest(held)}" if cut else ""
            return f"[{', '.join(shown)}{rest}]"
        return self._one(held)

    def pretty(self, held: Any, path: str, depth: int) -> str:
        """A field a line; short lists on one line."""
        if self._is_hidden(path):
            return _HIDDEN[self._language]
        pad = "  " * (depth + 1)
        if isinstance(held, Mapping) and held:
            inner = [
                f"{pad}{_text(str(name))}: {self.pretty(each, f'{path}.{name}'.lstrip('.'), depth + 1)}"
                for name, each in held.items()
            ]
            return "{\n" + ",\n".join(inner) + f"\n{pad[2:]}}}"
        if isinstance(held, list) and any(isinstance(each, Mapping) for each in held):
            shown = [f"{pad}{self.pretty(each, path, depth + 1)}" for each in held[:_ITEMS]]
            rest = f",\n{pad}{self._rest(held)}" if len(held) > _ITEMS else ""
            return "[\n" + ",\n".join(shown) + f"{rest}\n{pad[2:]}]"
        return self.line(held, path)

    def _rest(self, held: list[Any]) -> str:
        return f"{_CUT} ({self._counted('list', len(held))})"

    def _one(self, held: Any) -> str:
        if isinstance(held, str) and len(held) > _LONG:
            return f'{_text(held[: _LONG // 2])[:-1]}{_CUT}" ({self._counted("text", len(held))})'
        return _text(held) if isinstance(held, str) else json.dumps(held)

    def _counted(self, kind: str, number: int) -> str:
        return _COUNTS[self._language][kind].format(f"{number:,}")

    def _is_hidden(self, path: str) -> bool:
        return any(path == hidden or path.startswith(f"{hidden}.") for hidden in self._sensitive)


def _text(text: str) -> str:
    """A text as JSON, in which what cannot be seen is escaped."""
    return _UNSEEN.sub(_escaped, json.dumps(text, ensure_ascii=False))


#: Controls, formats, marks without a letter, private use, noncharacters, and every white space but U+0020.
_UNSEEN: Final = re.compile(
    "[\x00-\x1f\x7f-\xa0\xad\u0300-\u036f\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000"
    "\ud800-\uf8ff\ufdd0-\ufdef\ufeff\ufff0-\uffff\U000e0000-\U0010ffff]"
)


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
