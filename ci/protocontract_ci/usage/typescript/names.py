"""The names that protobuf-es v2 gives to what a contract declares.

Source: https://github.com/bufbuild/protobuf-es/blob/main/MANUAL.md, and what protoc-gen-es 2 writes (tests compare).
"""

from __future__ import annotations

import re
from typing import Final

from protocontract_compiler import ir

#: Properties that every object of JavaScript has.
_OBJECT: Final = frozenset({"constructor", "toString", "toJSON", "valueOf"})
#: Words that no type or constant may be called.
_RESERVED: Final = frozenset(
    (
        "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else", "export",
        "extends", "false", "finally", "for", "function", "if", "import", "in", "instanceof", "new", "null", "return",
        "super", "switch", "this", "throw", "true", "try", "typeof", "var", "void", "while", "with", "yield", "enum",
        "implements", "interface", "let", "package", "private", "protected", "public", "static", "Object", "bigint",
        "number", "boolean", "string", "object", "globalThis", "Uint8Array", "Partial",
    )
)  # fmt: skip
_CAPITAL: Final = re.compile(r"[A-Z]")


def property_name(name: str) -> str:
    """The property of a field or oneof: ``coupon_code`` is ``couponCode``."""
    out: list[str] = []
    capital = False
    for letter in name:
        if letter == "_":
            capital = True
            continue
        out.append(letter.upper() if capital and not letter.isdigit() else letter)
        capital = False
    return _safe("".join(out))


def type_name(full_name: str, package: str, suffix: str = "") -> str:
    """The exported name of a message, enum or service: ``Order_Item`` for one declared inside another one.

    ``suffix`` is what is exported beside it: ``Schema``, ``Json``.
    """
    name = full_name.removeprefix(f"{package}.") if package else full_name
    name = name.replace(".", "_") + suffix
    return f"{name}$" if name in _RESERVED else name


def method_name(name: str) -> str:
    """The method of a service: ``GetOrder`` is ``getOrder``."""
    return _safe(name[:1].lower() + name[1:])


def member_names(enum: ir.Enum) -> dict[str, str]:
    """The members of an enum by the names of its values: without the enum's own name where all of them begin so."""
    short = enum.full_name.rpartition(".")[2]
    # Every capital begins a word, so that HTTPCode has the prefix h_t_t_p_code_.
    prefix = (short[:1] + _CAPITAL.sub(r"_\g<0>", short[1:])).lower() + "_"
    rests = [value.name[len(prefix) :] for value in enum.values if value.name.lower().startswith(prefix)]
    shared = len(rests) == len(enum.values) and all(rest and not rest[0].isdigit() for rest in rests)
    return {value.name: _safe(value.name[len(prefix) :] if shared else value.name) for value in enum.values}


def _safe(name: str) -> str:
    return f"{name}$" if name in _OBJECT else name
