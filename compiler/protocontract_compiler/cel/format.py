"""``format()`` translated clause by clause: a constant text, or a concatenation of what each clause displays.

protovalidate evaluates its own rules natively, not by their CEL, and writes some constants differently there (a double
in full, ``100000000000000000000``, where CEL's ``%s`` writes ``1e+20``); ``standard`` chooses that.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from protocontract._cel_time import cel_display_timestamp
from protocontract_compiler.cel.errors import Untranslatable
from protocontract_compiler.cel.fold import fold
from protocontract_compiler.ir_cel import INT, STRING, Call, Cond, Expr, ListExpr, Literal, Type, list_of, walk

_TAKES: Final = {
    "d": {"int", "uint", "double"},
    "f": {"double", "string"},
    "e": {"double", "string"},
    "b": {"int", "uint", "bool"},
    "x": {"int", "uint", "string", "bytes"},
    "X": {"int", "uint", "string", "bytes"},
    "o": {"int", "uint"},
}
_DISPLAYED: Final = frozenset(
    {"bool", "bytes", "double", "duration", "int", "null", "string", "timestamp", "type", "uint"}
)
_DEFAULT_PRECISION: Final = 6
_MAX_PRECISION: Final = 1000


def format_call(template: Expr, arguments: Expr, *, standard: bool = False) -> Expr:
    """The text that ``template.format(arguments)`` makes; ``standard`` as protovalidate's own rules write it.

    Raises ``Untranslatable`` where the template is not constant, where the arguments are not a list display, or where
    protovalidate would end in an error whatever the message holds.
    """
    if not isinstance(template, Literal) or not isinstance(template.value, str):
        raise Untranslatable("format() of a text that is not constant")
    items = _items(arguments)
    pieces: list[Expr] = []
    text = template.value
    position = used = 0
    while position < len(text):
        if text[position] != "%":
            end = text.find("%", position)
            end = len(text) if end < 0 else end
            pieces.append(Literal(STRING, text[position:end]))
            position = end
            continue
        position += 1
        if text[position : position + 1] == "%":
            pieces.append(Literal(STRING, "%"))
            position += 1
            continue
        verb, precision, position = _clause(text, position)
        if used >= len(items):
            raise Untranslatable("format() with too few arguments")
        item = _standard(items[used]) if standard and verb == "s" else items[used]
        pieces.append(_display(item, verb, precision))
        used += 1
    if any(not isinstance(item, Literal) for item in items[used:]):
        raise Untranslatable("format() with too many arguments")
    return concat(pieces)


def _standard(expr: Expr) -> Expr:
    """Constant doubles and times replaced by their texts in native messages."""
    if not isinstance(expr, Literal):
        return expr
    write = _NATIVE.get(expr.type.kind)
    if write is not None:
        return Literal(STRING, write(expr.value))
    if expr.type.kind == "list" and isinstance(expr.value, tuple):
        write = _NATIVE.get(expr.type.element.kind)
        if write is not None:
            return Literal(list_of(STRING), tuple(write(item) for item in expr.value))
    return expr


def _in_full(value: float) -> str:
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return format(Decimal(repr(value)), "f").removesuffix(".0")


def _seconds(duration: int) -> str:
    seconds, nanos = divmod(abs(duration), 1_000_000_000)
    fraction = f".{nanos:09}".rstrip("0") if nanos else ""
    return f"{'-' if duration < 0 else ''}{seconds}{fraction}s"


def _rfc_3339(instant: int) -> str:
    """Before 1970 the native text goes back by the nanoseconds instead of forward; the comparison does not."""
    seconds, nanos = divmod(instant, 1_000_000_000)
    if seconds < 0:
        instant = seconds * 1_000_000_000 - nanos
    text = cel_display_timestamp(instant)
    year, _, rest = text.partition("-")
    return f"{int(year):04}-{rest}"


_NATIVE: Final[dict[str, Callable[[Any], str]]] = {
    "bytes": lambda value: value.decode("utf-8", "replace"),
    "double": _in_full,
    "duration": _seconds,
    "timestamp": _rfc_3339,
}


def _items(arguments: Expr) -> list[Expr]:
    if isinstance(arguments, ListExpr):
        return list(arguments.items)
    if isinstance(arguments, Literal) and isinstance(arguments.value, tuple):
        return [Literal(arguments.type.element, value) for value in arguments.value]
    raise Untranslatable("format() with arguments that are not written as a list")


def _clause(text: str, position: int) -> tuple[str, int, int]:
    precision = _DEFAULT_PRECISION
    if text[position : position + 1] == ".":
        end = position + 1
        while text[end : end + 1].isascii() and text[end : end + 1].isdigit():
            end += 1
        digits = text[position + 1 : end]
        if not digits or int(digits) > _MAX_PRECISION:
            raise Untranslatable("format() with a precision that is no number up to 1000")
        precision, position = int(digits), end
    verb = text[position : position + 1]
    if verb not in _TAKES and verb != "s":
        raise Untranslatable("format() with an unknown clause")
    return verb, precision, position + 1


def concat(pieces: list[Expr]) -> Expr:
    """The concatenation of texts, with neighbouring constants joined."""
    joined: list[Expr] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if isinstance(piece, Literal) and isinstance(last, Literal):
            joined[-1] = Literal(STRING, str(last.value) + str(piece.value))
        elif piece != Literal(STRING, ""):
            joined.append(piece)
    if not joined:
        return Literal(STRING, "")
    return joined[0] if len(joined) == 1 else Call(STRING, "concat_texts", tuple(joined))


def _display(expr: Expr, verb: str, precision: int) -> Expr:
    if verb == "s":
        return _display_string(expr)
    if expr.type.kind not in _TAKES[verb] or expr.type.nullable:
        raise Untranslatable(f"format() of {expr.type} with %{verb}")
    kind = expr.type.kind
    if verb in "fe":
        return fold(Call(STRING, f"format_{verb}", (expr, Literal(INT, precision)), raises=kind == "string"))
    if verb in "xX":
        return fold(Call(STRING, "format_hex" if verb == "x" else "format_hex_upper", (expr,)))
    if verb == "d":
        if kind == "double":
            return fold(Call(STRING, "format_f", (expr, Literal(INT, _DEFAULT_PRECISION))))
        return fold(Call(STRING, "string_of_int", (expr,)))
    return fold(Call(STRING, "format_binary" if verb == "b" else "format_octal", (expr,)))


def _display_string(expr: Expr) -> Expr:
    kind = expr.type.kind
    if isinstance(expr, ListExpr):
        pieces: list[Expr] = [Literal(STRING, "[")]
        for number, item in enumerate(expr.items):
            pieces.extend([Literal(STRING, ", ")] if number else [])
            pieces.append(_display_string(item))
        return concat([*pieces, Literal(STRING, "]")])
    if kind in ("list", "map"):
        _require_displayed(expr.type)
        shown = Call(STRING, "format_value", (expr, Literal(STRING, str(expr.type))))
        return shown if "bytes" in str(expr.type) else fold(shown)
    if kind not in _DISPLAYED or expr.type.nullable:
        raise Untranslatable(f"format() of {expr.type}")
    if kind == "string":
        return expr
    if kind in ("int", "uint"):
        return fold(Call(STRING, "string_of_int", (expr,)))
    if kind in ("bool", "type", "null") and not isinstance(expr, Literal) and kind != "bool":
        raise Untranslatable(f"format() of {expr.type}")
    shown = Call(STRING, "format_value", (expr, Literal(STRING, kind)))
    return _display_bytes(shown, expr) if kind == "bytes" else fold(shown)


def _display_bytes(shown: Call, expr: Expr) -> Expr:
    """Bytes that are no UTF-8 stay as they are in the engine's texts and are replaced in a finished message only."""
    if not isinstance(expr, Literal) or not isinstance(expr.value, bytes):
        return shown
    try:
        expr.value.decode()
    except UnicodeDecodeError:
        return shown
    return fold(shown)


def shows_bytes(expr: Expr) -> bool:
    """Whether a node displays bytes that may be no UTF-8."""
    match expr:
        case Call(op="format_value", args=(_, Literal(value=str(type_name)))):
            return "bytes" in type_name
        case _:
            return False


def require_finished(expr: Expr) -> None:
    """Raises ``Untranslatable`` if displayed bytes are used for anything but the message that a rule ends in."""
    match expr:
        case Cond():
            _refuse_bytes(expr.condition)
            require_finished(expr.then)
            require_finished(expr.otherwise)
        case Call(op="concat_texts"):
            for piece, following in zip(expr.args, [*expr.args[1:], None], strict=True):
                if following is not None and shows_bytes(piece) and shows_bytes(following):
                    _refuse_bytes(piece)  # the halves of one character may meet
                require_finished(piece)
        case Call() if shows_bytes(expr):
            _refuse_bytes(expr.args[0])
        case _:
            _refuse_bytes(expr)


def _refuse_bytes(expr: Expr) -> None:
    if any(map(shows_bytes, walk(expr))):
        raise Untranslatable("format() of bytes that may be no UTF-8, in a text that is used further")


def _require_displayed(type_: Type) -> None:
    for arg in type_.args:
        if arg.kind == "list":
            _require_displayed(arg)
        elif arg.kind not in _DISPLAYED:
            raise Untranslatable(f"format() of {type_}")
