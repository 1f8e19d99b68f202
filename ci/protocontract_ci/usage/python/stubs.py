"""Stubs for the type checker: the generated modules of both states of the contracts in one, under names that identify.

Every message, enum, enum value and service is a class of its own whose name begins with a letter and a number
(``M3_Order``), so that a type that the checker reveals says which element it is, whatever a module calls it. A class of
a message has the fields of every state; a field whose type changed has both types.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from protocontract_ci.usage.python.own_api import contract_modules, package_stubs
from protocontract_ci.usage.vocabulary import Elements
from protocontract_compiler import ir
from protocontract_compiler.generated_names import module_of

#: The module of all classes.
TYPES: Final = "_contract_types"
#: What a revealed type names: a message, an enum, a value of one, a service, a oneof (the text of WhichOneof).
_IDENTITY: Final = re.compile(r"\b([MEVSO])(\d+)_\w+")
_JSON: Final = re.compile(r"\b(?:Json|Plain)(?:Dict|Text)\[")
_INSIDE: Final = re.compile(r"\[[^\[\]]*\]")

_SCALARS: Final[dict[int, str]] = {
    **dict.fromkeys((ir.TYPE_DOUBLE, ir.TYPE_FLOAT), "float"),
    ir.TYPE_BOOL: "bool",
    ir.TYPE_STRING: "str",
    ir.TYPE_BYTES: "bytes",
}

_PRELUDE: Final = """
from collections.abc import AsyncIterable, Iterable, Iterator, Mapping, MutableMapping, MutableSequence
from typing import Any, Generic, Literal, Self, TypeVar, overload
_T = TypeVar("_T")
_K = TypeVar("_K")
_V = TypeVar("_V")
class Message:
    DESCRIPTOR: Any
    @classmethod
    def FromString(cls, s: bytes) -> Self: ...
    def ParseFromString(self, serialized: bytes) -> int: ...
    def MergeFromString(self, serialized: bytes) -> int: ...
    def SerializeToString(self, *, deterministic: bool = ...) -> bytes: ...
    def SerializePartialToString(self, *, deterministic: bool = ...) -> bytes: ...
    def HasField(self, field_name: str) -> bool: ...
    def ClearField(self, field_name: str) -> None: ...
    def WhichOneof(self, oneof_group: str) -> str | None: ...
    def CopyFrom(self, other_msg: Self) -> None: ...
    def MergeFrom(self, other_msg: Self) -> None: ...
    def Clear(self) -> None: ...
    def IsInitialized(self) -> bool: ...
    def ByteSize(self) -> int: ...
    def ListFields(self) -> list[tuple[FieldOf[Self], Any]]: ...
    def SetInParent(self) -> None: ...
class Repeated(MutableSequence[_T]):
    def add(self, **kwargs: Any) -> _T: ...
    def MergeFrom(self, other: Any) -> None: ...
class ByKey(MutableMapping[_K, _V]):
    def get_or_create(self, key: _K) -> _V: ...
    def MergeFrom(self, other: Any) -> None: ...
class Number(int):
    @classmethod
    def Name(cls, number: int) -> NameOf[Self]: ...
    @classmethod
    def Value(cls, name: str) -> Self: ...
    @classmethod
    def keys(cls) -> list[NameOf[Self]]: ...
    @classmethod
    def values(cls) -> list[Self]: ...
    @classmethod
    def items(cls) -> list[tuple[NameOf[Self], Self]]: ...
class NameOf(str, Generic[_T]): ...
class FieldOf(Generic[_T]):
    name: NameOf[_T]
    json_name: str
    number: int
    def __getattr__(self, name: str) -> Any: ...
class DescriptorOf(Generic[_T]):
    name: str
    full_name: str
    fields: list[FieldOf[_T]]
    fields_by_name: FieldsByName[_T]
    fields_by_number: dict[int, FieldOf[_T]]
    def __getattr__(self, name: str) -> Any: ...
class FieldsByName(Mapping[str, FieldOf[_T]], Generic[_T]):
    def __iter__(self) -> Iterator[NameOf[_T]]: ...
    def keys(self) -> list[NameOf[_T]]: ...
    def items(self) -> list[tuple[NameOf[_T], FieldOf[_T]]]: ...
class JsonDict(dict[str, Any], Generic[_T]): ...
class PlainDict(JsonDict[_T]): ...
class JsonText(str, Generic[_T]): ...
class Grpc: ...
"""

_JSON_FORMAT: Final = f"""
from typing import Any, Literal, TypeVar, overload
from {TYPES} import JsonDict, JsonText, Message, PlainDict
_M = TypeVar("_M", bound=Message)
class Error(Exception): ...
class ParseError(Error): ...
class SerializeToJsonError(Error): ...
@overload
def MessageToDict(
    message: _M, *args: Any, preserving_proto_field_name: Literal[True], **kwargs: Any
) -> PlainDict[_M]: ...
@overload
def MessageToDict(message: _M, *args: Any, **kwargs: Any) -> JsonDict[_M]: ...
def MessageToJson(message: _M, *args: Any, **kwargs: Any) -> JsonText[_M]: ...
def Parse(text: Any, message: _M, *args: Any, **kwargs: Any) -> _M: ...
def ParseDict(js_dict: Any, message: _M, *args: Any, **kwargs: Any) -> _M: ...
"""


_MESSAGE_MODULE: Final = f"""
from {TYPES} import Message as Message
class Error(Exception): ...
class DecodeError(Error): ...
class EncodeError(Error): ...
"""


@dataclass(frozen=True, slots=True)
class Revealed:
    """What a type that the checker revealed says: full names, and whether it is the class or JSON of the message."""

    messages: tuple[str, ...] = ()
    enums: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    oneofs: tuple[str, ...] = ()
    is_class: bool = False
    is_json: bool = False
    #: The text as the checker gave it.
    text: str = ""
    #: The messages that the value itself may be, without those inside of lists and other generic types.
    itself: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether it names an element at all."""
        return bool(self.messages or self.enums or self.values or self.services or self.oneofs)


@dataclass
class Stubs:
    """The stub files by path, and what the names in revealed types mean."""

    files: dict[str, str] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _meanings: dict[str, str] = field(default_factory=dict)

    def read(self, text: str) -> Revealed:
        """What a revealed type says."""
        found: dict[str, list[str]] = {"M": [], "E": [], "V": [], "S": [], "O": []}
        for match in _IDENTITY.finditer(text):
            meaning = self._meanings.get(f"{match[1]}{match[2]}")
            if meaning is not None and meaning not in found[match[1]]:
                found[match[1]].append(meaning)
        head = text.lstrip("`\"'")
        outside = text
        while outside != (shorter := _INSIDE.sub("", outside)):
            outside = shorter
        direct = {f"{match[1]}{match[2]}" for match in _IDENTITY.finditer(outside)}
        return Revealed(
            tuple(found["M"]),
            tuple(found["E"]),
            tuple(found["V"]),
            tuple(found["S"]),
            tuple(found["O"]),
            is_class=head.startswith(("<class", "type[", "Type[", "def (", "Overload(")),
            is_json=_JSON.search(text) is not None,
            text=text,
            itself=tuple(name for name in found["M"] if any(self._meanings.get(each) == name for each in direct)),
        )

    def name(self, kind: str, full_name: str) -> str:
        """The identifying name of an element."""
        key = f"{kind} {full_name}"
        if key not in self._names:
            number = f"{kind}{len(self._names)}"
            self._names[key] = f"{number}_{re.sub(r'[^0-9A-Za-z]', '_', full_name.rpartition('.')[2])}"
            self._meanings[number] = full_name
        return self._names[key]


def write_stubs(elements: Elements, copies: Mapping[str, Iterable[str]] | None = None) -> Stubs:
    """Stubs for all files of the contracts. ``copies``: further modules that hold a file's elements (vendored copies),
    by path without suffix (``lib/vendor_order_pb2``), with the full names of what they hold.
    """
    stubs = Stubs()
    stubs.files[f"{TYPES}.pyi"] = _PRELUDE + "".join(
        [
            *(_enum(stubs, elements, name) for name in elements.enums),
            # What is declared inside comes first: a class is no alias of one that follows, even in a stub.
            *(_message(stubs, elements, name) for name in sorted(elements.messages, key=lambda name: -name.count("."))),
            *(_service(stubs, elements, name) for name in elements.services),
        ]
    )
    for name in elements.files:
        path = module_of(name).replace(".", "/")
        stubs.files[f"{path}.pyi"] = _module(stubs, elements, elements.in_file(name))
        services = [each for each, states in elements.services.items() if any(s.file == name for s in states)]
        if services:
            stubs.files[f"{path}_grpc.pyi"] = _grpc_module(stubs, services)
    for path, held in (copies or {}).items():
        stubs.files[f"{path}.pyi"] = _module(stubs, elements, held)
    for path, constants in contract_modules(elements):
        stubs.files[f"{path}.pyi"] = _contract_module(stubs, constants)
    stubs.files.update(package_stubs(TYPES))
    stubs.files["google/protobuf/json_format.pyi"] = _JSON_FORMAT
    stubs.files["google/protobuf/message.pyi"] = _MESSAGE_MODULE
    return stubs


def _enum(stubs: Stubs, elements: Elements, name: str) -> str:
    own = stubs.name("E", name)
    values = list(elements.members(name).values())
    lines = [f"class {own}(Number):"]
    lines += [f"    {value.name}: {stubs.name('V', value.path)}" for value in values if value.name.isidentifier()]
    lines += [] if len(lines) > 1 else ["    ..."]
    # Two numbers of one name are one class.
    classes = dict.fromkeys(stubs.name("V", value.path) for value in values)
    lines += [f"class {each}({own}): ..." for each in classes]
    return "\n".join(lines) + "\n"


def _message(stubs: Stubs, elements: Elements, name: str) -> str:
    own = stubs.name("M", name)
    lines = [f"class {own}(Message):", f"    DESCRIPTOR: DescriptorOf[{own}]"]
    keywords = []
    for field_name, states in elements.fields(name).items():
        types = dict.fromkeys(_type(stubs, state) for state in states)
        lines.append(f"    {field_name}: {' | '.join(types)}")
        keywords.append(f"{field_name}: Any = ...")
    oneofs = elements.oneofs(name)
    for oneof in oneofs:
        own = stubs.name("O", f"{name}.{oneof}")
        # One overload is none: an unknown name has the other one.
        lines.append("    @overload")
        lines.append(f"    def WhichOneof(self, oneof_group: Literal[{oneof!r}]) -> {own} | None: ...")
    if oneofs:
        lines += ["    @overload", "    def WhichOneof(self, oneof_group: str) -> str | None: ..."]
    # The last parts of what is declared inside.
    scope = f"{name}."
    for inner in elements.messages:
        if inner.startswith(scope) and "." not in inner.removeprefix(scope):
            lines.append(f"    {inner.removeprefix(scope)} = {stubs.name('M', inner)}")
    for inner in elements.enums:
        if inner.startswith(scope) and "." not in inner.removeprefix(scope):
            lines.append(f"    {inner.removeprefix(scope)} = {stubs.name('E', inner)}")
            lines += _values(stubs, elements, inner, "    ")
    star = "*, " if keywords else ""
    lines.append(f"    def __init__(self, {star}{', '.join(keywords)}) -> None: ...")
    if name.startswith("google.protobuf."):
        # The well-known types have methods of their own.
        lines.append("    def __getattr__(self, name: str) -> Any: ...")
    lines += [f"class {stubs.name('O', f'{name}.{oneof}')}(str): ..." for oneof in oneofs]
    return "\n".join(lines) + "\n"


def _values(stubs: Stubs, elements: Elements, enum: str, indent: str = "") -> Iterator[str]:
    for value in dict.fromkeys(each.path for each in elements.members(enum).values()):
        yield f"{indent}{value.rpartition('.')[2]}: {stubs.name('V', value)}"


def _type(stubs: Stubs, declared: ir.Field) -> str:
    if declared.key is not None and declared.value is not None:
        return f"ByKey[{_element(stubs, declared.key)}, {_element(stubs, declared.value)}]"
    element = _element(stubs, declared)
    return f"Repeated[{element}]" if declared.shape is ir.Shape.REPEATED else element


def _element(stubs: Stubs, declared: ir.Field) -> str:
    if declared.message is not None:
        return stubs.name("M", declared.message)
    if declared.enum is not None:
        return stubs.name("E", declared.enum)
    return _SCALARS.get(declared.type, "int")


def _service(stubs: Stubs, elements: Elements, name: str) -> str:
    own = stubs.name("S", name)
    stub = [f"class {own}(Grpc):", "    def __init__(self, channel: Any) -> None: ..."]
    servicer = [f"class {own}_Servicer(Grpc):"]
    seen: dict[str, list[ir.Method]] = {}
    for state in elements.services[name]:
        for method in state.methods:
            seen.setdefault(method.name, []).append(method)
    for method_name, states in seen.items():
        replies = dict.fromkeys(_reply(stubs, state) for state in states)
        requests = dict.fromkeys(_request(stubs, state) for state in states)
        stub.append(
            f"    def {method_name}(self, request: {' | '.join(requests)}, *args: Any, **kwargs: Any)"
            f" -> {' | '.join(replies)}: ..."
        )
        servicer.append(f"    def {method_name}(self, request: Any, context: Any) -> Any: ...")
    servicer += [] if len(servicer) > 1 else ["    ..."]
    return "\n".join([*stub, *servicer]) + "\n"


def _reply(stubs: Stubs, method: ir.Method) -> str:
    message = stubs.name("M", method.response)
    return f"Iterator[{message}]" if method.server_streaming else message


def _request(stubs: Stubs, method: ir.Method) -> str:
    message = stubs.name("M", method.request)
    return f"Iterable[{message}] | AsyncIterable[{message}]" if method.client_streaming else message


def _module(stubs: Stubs, elements: Elements, held: Iterable[str]) -> str:
    held = list(held)
    lines = ["from typing import Any", f"import {TYPES}", "DESCRIPTOR: Any"]
    inside = set(elements.messages)
    for name in held:
        scope, _, short = name.rpartition(".")
        if scope in inside:
            # Declared inside a message, and reached through it.
            continue
        if name in elements.messages:
            lines.append(f"from {TYPES} import {stubs.name('M', name)} as {stubs.name('M', name)}")
            lines.append(f"{short} = {stubs.name('M', name)}")
        elif name in elements.enums:
            lines.append(f"from {TYPES} import {stubs.name('E', name)} as {stubs.name('E', name)}")
            lines.append(f"{short} = {stubs.name('E', name)}")
            for value in _values(stubs, elements, name):
                left, _, right = value.partition(": ")
                lines.append(f"{left}: {TYPES}.{right}")
    return "\n".join(lines) + "\n"


def _contract_module(stubs: Stubs, constants: Iterable[tuple[str, str]]) -> str:
    """The contracts beside a generated module: ``ORDER: Contract[Order]``, and error codes."""
    lines = ["from typing import Any", "from protocontract import Contract", f"import {TYPES}"]
    lines += [f"{constant}: Contract[{TYPES}.{stubs.name('M', message)}]" for constant, message in constants]
    return "\n".join([*lines, "def __getattr__(name: str) -> Any: ..."]) + "\n"


def _grpc_module(stubs: Stubs, services: Iterable[str]) -> str:
    lines = ["from typing import Any", f"import {TYPES}"]
    for name in services:
        own, short = stubs.name("S", name), name.rpartition(".")[2]
        lines.append(f"{short}Stub = {TYPES}.{own}")
        lines.append(f"{short}Servicer = {TYPES}.{own}_Servicer")
        lines.append(f"def add_{short}Servicer_to_server(servicer: Any, server: Any) -> None: ...")
    return "\n".join(lines) + "\n"
