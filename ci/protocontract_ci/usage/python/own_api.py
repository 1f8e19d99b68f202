"""Stubs of protocontract itself and of the contracts that it generates, as far as they carry messages.

The product's own API is one more way to a message: ``TRANSACTION.parse(raw).amount``, ``for record in guard``. The
stubs say which message that is, whatever is installed where the gate runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from protocontract_ci.usage.vocabulary import Elements
from protocontract_compiler import ir
from protocontract_compiler.generated_names import contract_file_of, screaming

#: The name of an error code's constant.
ERROR_CODE: Final = "ERR_"
_CEL: Final = re.compile(r"cel\[(.*)\]")

_PACKAGE: Final = """
from collections.abc import Iterable, Mapping
from typing import Any, Generic, TypeVar
from {types} import Message
M = TypeVar("M", bound=Message)
class Outcome(Generic[M]):
    ok: bool
    message: M | None
    violations: tuple[Any, ...]
    changes: tuple[Any, ...]
class Contract(Generic[M]):
    message_type: type[M]
    full_name: str
    version: str
    fingerprint: str
    def parse(self, raw: bytes, *args: Any, **kwargs: Any) -> M: ...
    def process(self, raw: bytes, *args: Any, **kwargs: Any) -> Outcome[M]: ...
    def validate(self, message: M, *args: Any, **kwargs: Any) -> tuple[Any, ...]: ...
    def is_valid(self, message: M) -> bool: ...
    def normalize(self, message: M) -> M: ...
    def __getattr__(self, name: str) -> Any: ...
def __getattr__(name: str) -> Any: ...
"""
_KAFKA: Final = """
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Generic, Self, TypeVar
from {types} import Message
from protocontract import Contract
M = TypeVar("M", bound=Message)
class Record(Generic[M]):
    message: M
    contract: Contract[M]
    def __getattr__(self, name: str) -> Any: ...
class Guard(Generic[M]):
    def __init__(self, consumer: Any, contract: Contract[M], **options: Any) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: Any) -> None: ...
    def __iter__(self) -> Iterator[Record[M]]: ...
    def run(self, handler: Callable[[M], object], **options: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
class AsyncGuard(Generic[M]):
    def __init__(self, consumer: Any, contract: Contract[M], **options: Any) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *args: Any) -> None: ...
    def __aiter__(self) -> AsyncIterator[Record[M]]: ...
    async def run(self, handler: Callable[[M], Awaitable[object]], **options: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
def __getattr__(name: str) -> Any: ...
"""


def package_stubs(types: str) -> Iterator[tuple[str, str]]:
    """Stubs of the package by path. ``types`` is the module of all messages."""
    yield "protocontract/__init__.pyi", _PACKAGE.format(types=types)
    yield "protocontract/kafka/__init__.pyi", _KAFKA.format(types=types)


def contract_modules(elements: Elements) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The generated contract modules by path without suffix, with the constant of each message that they hold."""
    for name in elements.files:
        messages = [each for each in elements.in_file(name) if each in elements.messages]
        if messages:
            yield contract_file_of(name).removesuffix(".py"), [(constant_of(elements, each), each) for each in messages]


def constant_of(elements: Elements, message: str) -> str:
    """The constant of a message's contract: ``Order.Item`` -> ``ORDER_ITEM``."""
    return screaming(elements.messages[message][0].python_path)


def error_constant(schema: ir.Schema, message: str, field: str, rule: str) -> str:
    """The constant of a rule's error code, ``ERR_ORDER_CODE_STRING_MIN_LEN``; "" where there is no such message."""
    if message not in schema.messages:
        return ""
    inner = _CEL.fullmatch(rule)
    words = [schema.messages[message].python_path, field, inner[1] if inner else rule]
    return ERROR_CODE + "_".join(screaming(word) for word in words if word)
