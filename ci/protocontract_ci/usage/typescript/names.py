"""The names that protobuf-es v2 gives to what a contract declares.

Source: https://github.com/bufbuild/protobuf-es/blob/main/MANUAL.md, and what protoc-gen-es 2 writes (tests compare).
"""

from __future__ import annotations

import re
from typing import Final

from protocontract_compiler import ir
from protocontract_compiler.typescript_names import property_name as property_name
from protocontract_compiler.typescript_names import safe
from protocontract_compiler.typescript_names import type_name as type_name

_CAPITAL: Final = re.compile(r"[A-Z]")


def method_name(name: str) -> str:
    """The method of a service: ``GetOrder`` is ``getOrder``."""
    return safe(name[:1].lower() + name[1:])


def member_names(enum: ir.Enum) -> dict[str, str]:
    """The members of an enum by the names of its values: without the enum's own name where all of them begin so."""
    short = enum.full_name.rpartition(".")[2]
    # Every capital begins a word, so that HTTPCode has the prefix h_t_t_p_code_.
    prefix = (short[:1] + _CAPITAL.sub(r"_\g<0>", short[1:])).lower() + "_"
    rests = [value.name[len(prefix) :] for value in enum.values if value.name.lower().startswith(prefix)]
    shared = len(rests) == len(enum.values) and all(rest and not rest[0].isdigit() for rest in rests)
    return {value.name: safe(value.name[len(prefix) :] if shared else value.name) for value in enum.values}
