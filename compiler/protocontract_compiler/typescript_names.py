"""The names that protobuf-es v2 gives to what a contract declares: the gate reads them, the target writes them.

Source: https://github.com/bufbuild/protobuf-es/blob/main/MANUAL.md, and what protoc-gen-es 2 writes (tests compare).
"""

from __future__ import annotations

from typing import Final, Literal

#: Where the types of messages come from: protoc-gen-es, or plain interfaces that are written too.
Types = Literal["protobuf-es", "plain"]
#: Properties that every object of JavaScript has.
_OBJECT: Final = frozenset({"constructor", "toString", "toJSON", "valueOf"})
#: Words that no type or constant may be called.
RESERVED: Final = frozenset(
    (
        "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else", "export",
        "extends", "false", "finally", "for", "function", "if", "import", "in", "instanceof", "new", "null", "return",
        "super", "switch", "this", "throw", "true", "try", "typeof", "var", "void", "while", "with", "yield", "enum",
        "implements", "interface", "let", "package", "private", "protected", "public", "static", "Object", "bigint",
        "number", "boolean", "string", "object", "globalThis", "Uint8Array", "Partial",
    )
)  # fmt: skip


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
    return safe("".join(out))


def type_name(full_name: str, package: str, suffix: str = "") -> str:
    """The exported name of a message, enum or service: ``Order_Item`` for one declared inside another one.

    ``suffix`` is what is exported beside it: ``Schema``, ``Json``.
    """
    name = full_name.removeprefix(f"{package}.") if package else full_name
    name = name.replace(".", "_") + suffix
    return f"{name}$" if name in RESERVED else name


def safe(name: str) -> str:
    """A property's name, kept apart from what every object has."""
    return f"{name}$" if name in _OBJECT else name
