"""Runs emitted modules in memory, and finds the contracts in them.

Their imports of *_pb2 and of other contract modules are answered from the private pool of the request, so nothing is
registered in protobuf's default pool and no file is written; the same request twice, or two versions of one file side
by side, do not disturb each other.
"""

from __future__ import annotations

import builtins
import importlib
import linecache
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.internal import enum_type_wrapper

from protocontract.contract import Contract
from protocontract_compiler import ir
from protocontract_compiler.descriptors import Loaded
from protocontract_compiler.descriptors.validate_proto import VALIDATE_PROTO, VOCABULARY_PROTO
from protocontract_compiler.emit.output import OutputFile
from protocontract_compiler.generated_names import contract_file_of, module_of


def execute(loaded: Loaded, schema: ir.Schema, emitted: Iterable[OutputFile]) -> Mapping[str, Contract[Any]]:
    """The contracts of emitted Python, by full name, on message classes of the pool that the schema was read into."""
    modules = _Modules(loaded, schema, {file.name: file.text for file in emitted})
    contracts: dict[str, Contract[Any]] = {}
    for name in schema.files:
        module = modules.contract_module(name)
        for value in vars(module).values() if module is not None else ():
            if isinstance(value, Contract):
                contracts[value.full_name] = value
    return contracts


def has_contracts(name: str) -> bool:
    """Whether a file may have contracts of somebody's own: it is none of those that bring words and known types."""
    return name not in (VALIDATE_PROTO, VOCABULARY_PROTO) and not name.startswith("google/protobuf/")


class _Modules:
    """The modules of one request, made when they are first asked for."""

    def __init__(self, loaded: Loaded, schema: ir.Schema, texts: Mapping[str, str]) -> None:
        self._loaded = loaded
        self._texts = texts
        self._pb2 = {module_of(name): name for name in schema.files}
        self._contracts = {_module_name(contract_file_of(name)): name for name in schema.files}
        self._made: dict[str, ModuleType] = {}

    def contract_module(self, file: str) -> ModuleType | None:
        """The executed contract module of a .proto file; None where nothing was emitted for it."""
        path = contract_file_of(file)
        return self._execute(_module_name(path), self._texts[path]) if path in self._texts else None

    def find(self, name: str) -> ModuleType | None:
        """A module of this request by its name, or None for any other."""
        if name in self._pb2:
            if name not in self._made:
                self._made[name] = _pb2_module(name, self._loaded.pool.FindFileByName(self._pb2[name]))
            return self._made[name]
        return self.contract_module(self._contracts[name]) if name in self._contracts else None

    def _execute(self, name: str, text: str) -> ModuleType:
        if name in self._made:
            return self._made[name]
        module = self._made[name] = ModuleType(name)
        origin = f"<{name} compiled in memory>"
        # So that tracebacks show the lines of generated code.
        linecache.cache[origin] = (len(text), None, text.splitlines(keepends=True), origin)
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": self._import}
        exec(builtins.compile(text, origin, "exec"), module.__dict__)  # noqa: S102  (our own emitter wrote it)
        return module

    def _import(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Sequence[str] | None = (), level: int = 0,  # noqa: A002
    ) -> Any:  # fmt: skip
        """Stands in for ``__import__`` in emitted modules: first the request's own modules, then Python's."""
        if name == "protocontract" and fromlist == ("_codegen_v1",):
            return SimpleNamespace(_codegen_v1=self._runtime())
        if fromlist:
            found = {item: self.find(f"{name}.{item}") for item in fromlist}
            ours = {item: module for item, module in found.items() if module is not None}
            if ours:
                return SimpleNamespace(**ours)
            if (module := self.find(name)) is not None:
                return module
        elif (module := self.find(name)) is not None:
            # `import a.b.c as x` walks the attributes from the root.
            rest = name.split(".")[1:]
            for part in reversed(rest):
                module = SimpleNamespace(**{part: module})  # type: ignore[assignment]
            return module
        return builtins.__import__(name, globals, locals, fromlist or (), level)

    def _runtime(self) -> SimpleNamespace:
        """What emitted modules import from the runtime; modules whose names are no Python names are found here too."""
        from protocontract import _codegen_v1

        return SimpleNamespace(
            **{**vars(_codegen_v1), "import_module": lambda name: self.find(name) or importlib.import_module(name)}
        )


def _module_name(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def _pb2_module(name: str, file: FileDescriptor) -> ModuleType:
    """What protoc's module of a file would hold: classes, enums and their values, extensions, of the private pool."""
    module = ModuleType(name)
    content = module.__dict__
    content["DESCRIPTOR"] = file
    for message in file.message_types_by_name.values():
        content[message.name] = message_factory.GetMessageClass(message)
    for enum in file.enum_types_by_name.values():
        content[enum.name] = enum_type_wrapper.EnumTypeWrapper(enum)
        content.update({value.name: value.number for value in enum.values})
    for extension in file.extensions_by_name.values():
        content[extension.name] = extension
        content[f"{extension.name.upper()}_FIELD_NUMBER"] = extension.number
    return module
