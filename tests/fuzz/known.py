"""Differences from protovalidate that are meant, each with its reason.

``test_known_differences_exist`` fails when one of them disappears, so that the list never says what is no longer true.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import protovalidate

from protocontract import ContractError
from protocontract_compiler import load_protos
from tests.cel.support import Field, schema
from tests.fuzz.compare import theirs


@dataclass(frozen=True, slots=True)
class Known:
    """A deliberate difference. ``exists`` makes the smallest schema that shows it and says whether it still does."""

    name: str
    reason: str
    exists: Callable[[], bool]


def _refused_here_fails_there(expression: str, reason: str) -> bool:
    """Whether the expression is a mistake of the contract here and an error of evaluation there."""
    source = (
        'syntax = "proto3"; package known; import "buf/validate/validate.proto"; message M { int32 a = 1;'
        f'option (buf.validate.message).cel = {{id: "c" expression: "{expression}"}}; }}'
    )
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "m.proto").write_text(source)
        try:
            load_protos([Path(folder) / "m.proto"], folder)
        except ContractError as error:
            refused_here = reason in str(error)
        else:
            refused_here = False
    message = schema([Field("a", "int32")], [expression])()
    return refused_here and theirs(protovalidate.Validator(), message) == "evaluation error"


KNOWN: Final[tuple[Known, ...]] = (
    Known(
        "undefined-field",
        "an expression that names a field which its message does not have is refused at generation, as protovalidate's "
        "conformance suite demands of compilers; protovalidate 2.1 itself fails when a message is validated",
        lambda: _refused_here_fails_there("this.nosuch == 1", "undefined field 'nosuch'"),
    ),
    Known(
        "type-mistake",
        "an operator between types that have none together is refused at generation, since no message can keep such a "
        "rule; protovalidate 2.1 checks no types and fails when a message is validated",
        lambda: _refused_here_fails_there("1 + 'a' == 2", "no matching overload"),
    ),
)
