"""From a model of z3 to a message: the witness that both validators are asked about."""

from __future__ import annotations

import re
import struct
from typing import Any, Final

from google.protobuf.message import Message

from protocontract_ci.meaning.smt import z3
from protocontract_ci.meaning.world import Node
from protocontract_compiler import ir

_ESCAPED: Final = re.compile(r"\\u\{([0-9a-fA-F]+)\}")
_SECOND: Final = 1_000_000_000
_WRAPPER_VALUE: Final = "value"


def fill(message: Message, node: Node, model: Any) -> None:
    """Sets the fields of ``message`` as the model has them. Fields of another kind than the message's are left out.

    Raises ValueError where a value does not fit the field.
    """
    by_number: dict[int, Any] = {field.number: field for field in message.DESCRIPTOR.fields}
    for child in node.children.values():
        field = by_number.get(child.number)
        if field is not None and _fits(child, field):
            _set(message, field, child, model)


def _fits(node: Node, field: Any) -> bool:
    message = field.message_type
    if message is not None and message.GetOptions().map_entry:
        return node.shape is ir.Shape.MAP
    if field.type != node.type:
        return False
    return field.is_repeated == (node.shape is ir.Shape.REPEATED) and node.message == (
        message.full_name if message is not None else ""
    )


def _set(message: Message, field: Any, node: Node, model: Any) -> None:
    if node.size is not None:
        _set_elements(message, field, node, model)
    elif node.present is not None and not _true(model, node.present):
        return
    elif field.message_type is not None:
        inside = getattr(message, field.name)
        inside.SetInParent()
        _fill_message(inside, node, model)
    else:
        setattr(message, field.name, _scalar(node, model))


def _set_elements(message: Any, field: Any, node: Node, model: Any) -> None:
    size = model.eval(node.size, model_completion=True).as_long()
    container = getattr(message, field.name)
    keys: list[Node | None] = [*node.keys[:size]]
    for item, key in zip(node.items[:size], keys or [None] * size, strict=True):
        if key is not None:
            if item.kind in ("message", "timestamp", "duration") or item.message:
                _fill_message(container[_scalar(key, model)], item, model)
            else:
                container[_scalar(key, model)] = _scalar(item, model)
        elif field.message_type is not None:
            _fill_message(container.add(), item, model)
        else:
            container.append(_scalar(item, model))


def _fill_message(message: Message, node: Node, model: Any) -> None:
    if node.kind == "message":
        fill(message, node, model)
    elif node.kind in ("timestamp", "duration"):
        nanos = _scalar(node, model)
        seconds, rest = divmod(nanos, _SECOND)
        if node.kind == "duration" and seconds < 0 and rest:
            # Both parts of a duration have one sign.
            seconds, rest = seconds + 1, rest - _SECOND
        setattr(message, "seconds", seconds)  # noqa: B010 - classes made at run time have no stubs
        setattr(message, "nanos", rest)  # noqa: B010
    else:
        setattr(message, _WRAPPER_VALUE, _scalar(node, model))


def _true(model: Any, formula: Any) -> bool:
    return bool(z3.is_true(model.eval(formula, model_completion=True)))


def _scalar(node: Node, model: Any) -> Any:
    found = model.eval(node.value, model_completion=True)
    match node.kind:
        case "bool":
            return z3.is_true(found)
        case "double" | "float":
            return _double(found)
        case "string":
            return _text(found)
        case "bytes":
            return _text(found).encode("latin-1")
        case _:
            return found.as_long()


def _double(found: Any) -> float:
    if z3.is_true(z3.simplify(z3.fpIsNaN(found))):
        return float("nan")
    bits = z3.simplify(z3.fpToIEEEBV(found)).as_long()
    value: float = struct.unpack(">d", bits.to_bytes(8, "big"))[0]
    return value


def _text(found: Any) -> str:
    text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), found.as_string())
    # A text with half a surrogate pair is none.
    text.encode()
    return text
