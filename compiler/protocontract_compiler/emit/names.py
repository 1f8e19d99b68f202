"""Names in emitted Python: identifiers from protobuf names, and the sets that keep them apart."""

from __future__ import annotations

import builtins
import keyword
import math

from protocontract_compiler.generated_names import NOT_A_NAME
from protocontract_compiler.generated_names import screaming as screaming
from protocontract_compiler.generated_names import snake as snake

_RESERVED = frozenset(keyword.kwlist) | frozenset(keyword.softkwlist) | frozenset(dir(builtins))


def is_plain(name: str) -> bool:
    """Whether Python can write ``message.<name>`` (no keyword)."""
    return name.isidentifier() and not keyword.iskeyword(name)


def attribute(base: str, name: str) -> str:
    """Code that reads an attribute, also where its name is a keyword of Python."""
    return f"{base}.{name}" if is_plain(name) else f"getattr({base}, {literal(name)})"


def assignment(base: str, name: str, value: str) -> str:
    """Code that sets an attribute, also where its name is a keyword of Python."""
    return f"{base}.{name} = {value}" if is_plain(name) else f"setattr({base}, {literal(name)}, {value})"


def class_of(base: str, python_path: str) -> str:
    """Code that reads the class of a message, ``Outer.Inner``, from the module ``base``."""
    for name in python_path.split("."):
        base = attribute(base, name)
    return base


def printable(text: str) -> str:
    """Text for a comment: what does not print is escaped, as it could end the line or hide what follows."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def literal(value: object) -> str:
    """Python code of a constant: as ``repr`` writes it, with double quotes, which generated code has throughout."""
    if isinstance(value, str):
        text = repr(value)
        inner = text[1:-1]
        return f'"{inner}"' if text[0] == "'" and '"' not in inner else text
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, tuple):
        inside = ", ".join(map(literal, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
    return repr(value)


class Names:
    """Hands out identifiers, each once. ``reserved`` are those that the language has for itself."""

    def __init__(self, taken: frozenset[str] = frozenset(), reserved: frozenset[str] = _RESERVED) -> None:
        self._taken = set(taken)
        self._reserved = reserved

    def fresh(self, hint: str) -> str:
        """An unused identifier like ``hint``: with an underscore where it is the language's own, then numbered."""
        base = NOT_A_NAME.sub("_", hint) or "x"
        if base[0].isdigit():
            base = f"_{base}"
        if base in self._reserved:
            base = f"{base}_"
        name, number = base, 2
        while not self.is_free(name):
            name = f"{base}_{number}"
            number += 1
        self._taken.add(name)
        return name

    def is_free(self, name: str) -> bool:
        """Whether nobody has the identifier yet."""
        return name not in self._taken
