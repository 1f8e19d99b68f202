"""The TypeScript back end: one ``*_contract.ts`` for each .proto file, and the helper modules that it imports.

Generated modules take their message types from protoc-gen-es's ``*_pb.ts`` (types alone: nothing of it is needed at run
time) or, as plain interfaces, from themselves. The helpers are kept as TypeScript in ``runtime/`` and written below the
output folder, those that are needed. What cannot be translated exactly is refused with its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from importlib.metadata import version
from typing import Final

from protocontract_compiler import ir
from protocontract_compiler.emit.layout import TYPESCRIPT, laid_out
from protocontract_compiler.emit.names import printable
from protocontract_compiler.emit.output import OutputFile
from protocontract_compiler.emit.typescript import data
from protocontract_compiler.emit.typescript.access import literal, text
from protocontract_compiler.emit.typescript.inexact import Inexact
from protocontract_compiler.emit.typescript.module import HELPERS, Module, module_of
from protocontract_compiler.emit.typescript.normalize import Normalizers
from protocontract_compiler.emit.typescript.relate import Relations
from protocontract_compiler.emit.typescript.shapes import Shapes
from protocontract_compiler.emit.typescript.types import declarations
from protocontract_compiler.emit.typescript.validate import Validators
from protocontract_compiler.emit.walk import where
from protocontract_compiler.emit.writer import Writer
from protocontract_compiler.ir_dump import fingerprint
from protocontract_compiler.passes import reach
from protocontract_compiler.typescript_names import RESERVED, Types

_IMPORT: Final = re.compile(r'^(?:import|export) [^"]*"(\.[^"]+)\.js";', re.MULTILINE)
#: A branch on a line of its own, as a writer of blocks leaves it.
_ELSE: Final = re.compile(r"(?<=\})\n *else(?= )", re.MULTILINE)
# What a reader has to know who never saw such a module: what its functions do, and the rest.
_STEPS: Final = {
    "normalize": "brings values into their normal form",
    "validate": "checks the rules of buf.validate",
    "relate": "checks the relations between values",
}
_HOW_TO_READ: Final = """\
// What they find goes into `run`. A comment `user.proto:12 string.min_len` names the line of the contract
// that the code beside it carries out, and which rule of that line.
// `m` is the message, `at` how it was reached from the record, `below` one step further."""


@dataclass(frozen=True, slots=True)
class Emitted:
    """The files, or what stands against them."""

    files: tuple[OutputFile, ...]
    inexact: tuple[Inexact, ...]


def emit(schema: ir.Schema, *, types: Types = "protobuf-es", messages: tuple[str, ...] = ()) -> Emitted:
    """The contract modules of the requested files, and the helpers that they import.

    ``messages``: full names of the messages that get a contract; empty for all. Files without any have no module.
    """
    fingerprints = {name: fingerprint(schema, name) for file in _requested(schema) for name in file.messages}
    schema = _with_defaults(schema)
    files: list[OutputFile] = []
    inexact: list[Inexact] = []
    helpers: set[str] = set()
    for file in _requested(schema):
        chosen = [name for name in file.messages if not messages or name in messages]
        if not chosen:
            continue
        module = Module(schema, file, types, fingerprints)
        source = _module_source(module, [schema.messages[name] for name in chosen], inexact)
        files.append(OutputFile(f"{module_of(file.name, '_contract')}.ts", source))
        helpers.update(module.helpers)
    files.extend(OutputFile(f"{HELPERS}/{path}.ts", source) for path, source in _helper_sources(helpers))
    return Emitted(tuple(files), tuple(inexact))


def _requested(schema: ir.Schema) -> Iterator[ir.File]:
    return (file for file in schema.files.values() if file.requested)


def _with_defaults(schema: ir.Schema) -> ir.Schema:
    """The schema with the defaults that enums have of themselves: their first value, which need not be 0."""

    def given(field: ir.Field) -> ir.Field:
        first = schema.enums[field.enum].values[0].number if field.enum is not None else 0
        return replace(field, default=first) if first and field.default is None and field.has_presence else field

    messages = {
        name: replace(message, fields=tuple(map(given, message.fields))) for name, message in schema.messages.items()
    }
    return replace(schema, messages=messages)


def _helper_sources(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The helper modules of some paths and all that they import, in order of their paths."""
    folder = resources.files("protocontract_compiler.emit.typescript").joinpath("runtime")
    found: dict[str, str] = {}
    waiting = sorted(paths)
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        made = data.SOURCES.get(path)
        source = folder.joinpath(*f"{path}.ts".split("/")).read_text("utf-8") if made is None else made()
        found[path] = source
        here = path.split("/")[:-1]
        for imported in _IMPORT.findall(source):
            parts = list(here)
            for part in imported.split("/"):
                if part == "..":
                    parts.pop()
                elif part != ".":
                    parts.append(part)
            waiting.append("/".join(parts))
    head = f"// Written by protoc-gen-contract {tool_version()}. Do not edit.\n"
    return iter(sorted((path, head + source) for path, source in found.items()))


def _module_source(module: Module, messages: list[ir.Message], inexact: list[Inexact]) -> str:
    # Names that users type are handed out first, so that no constant of ours can take one.
    names = {message.full_name: module.names.exported(contract_name(message)) for message in messages}
    types = {message.full_name: module.annotation(message) for message in messages}
    shapes = Shapes(module)
    kinds: tuple[tuple[str, Normalizers | Validators | Relations], ...] = (
        ("normalize", Normalizers(module)),
        ("validate", Validators(module, shapes)),
        ("relate", Relations(module)),
    )
    contracts = Writer("  ")
    for message in messages:
        functions = [(word, function) for word, kind in kinds if (function := kind.function(message.full_name))]
        _write_contract(
            module, message, (names[message.full_name], types[message.full_name]), shapes, functions, contracts
        )
    for _, kind in kinds:
        _exhaust(kind.write_waiting, inexact)
    return _assembled(module, messages, contracts)


def _exhaust(write_waiting: Callable[[], None], inexact: list[Inexact]) -> None:
    """Writes all functions that wait; those that have no exact form are noted, and the others are tried."""
    while True:
        try:
            write_waiting()
        except Inexact as error:
            inexact.append(error)
        else:
            return


def contract_name(message: ir.Message) -> str:
    """``TextSample`` -> ``textSample``; ``Outer.Inner`` -> ``outer_Inner``, as its type is ``Outer_Inner``."""
    name = message.python_path.replace(".", "_")
    name = name[:1].lower() + name[1:]
    return f"{name}_" if name in RESERVED else name


def _assembled(module: Module, messages: list[ir.Message], contracts: Writer) -> str:
    writer = Writer("  ")
    name = printable(module.file.name)
    writer.line(f"// Generated by protoc-gen-contract {tool_version()} from {name}. Do not edit.")
    for message in messages:
        if message.contract is not None and message.contract.version:
            writer.line(f"// {message.full_name}: contract {message.contract.version}")
            writer.line(f"//   sha256 {module.fingerprints[message.full_name]}")
    writer.line("//")
    writer.line("// To read: the contracts stand at the end, each with its promises in words.")
    steps = [word for word in _STEPS if any(f"function {word}" in function for function in module.functions)]
    if steps:
        writer.line("// A record goes through these functions of its message, in this order:")
        writer.lines(f"//   {word + '…':<10} {_STEPS[word]}" for word in steps)
        writer.lines(_HOW_TO_READ.splitlines())
    plain = declarations(module)
    writer.lines(module.import_lines())
    if plain:
        writer.lines(plain.splitlines())
    for section in (module.fields, module.shapes, module.rules, module.constants, module.bound):
        if section.lines:
            writer.line()
            writer.lines(f"// {line}" for line in section.title.splitlines())
            writer.lines(section.in_order() if section is module.fields else section.lines)
    for function in module.functions:
        writer.line()
        writer.lines(_ELSE.sub(" else", function).splitlines())
    writer.line()
    writer.line("// Contracts, each with its promises")
    writer.lines(contracts.text().splitlines())
    return laid_out(writer.text(), TYPESCRIPT)


def _write_contract(
    module: Module, message: ir.Message, names: tuple[str, str], shapes: Shapes, functions: list[tuple[str, str]],
    writer: Writer,
) -> None:  # fmt: skip
    schema = module.schema
    name, type_ = names
    contract, of = module.use("contract", "contract"), module.use("contract", "Contract", type_only=True)
    writer.line()
    writer.lines(_doc(message))
    with writer.block(f"export const {name}: {of}<{type_}> = /* @__PURE__ */ {contract}<{type_}>({{"):
        writer.line(f"fullName: {text(message.full_name)},")
        writer.line(f"fingerprint: {text(module.fingerprints[message.full_name])},")
        if message.contract is not None and message.contract.version:
            writer.line(f"version: {text(message.contract.version)},")
        writer.line(f"shape: {shapes.of(message.full_name)},")
        contexts = reach.contexts(schema, message)
        if contexts:
            writer.line(f"contexts: {literal(contexts)},")
        for word, function in functions:
            writer.line(f"{word}: {function},")
    writer.line("});")


def _doc(message: ir.Message) -> Iterator[str]:
    """What editors show of a contract: its version and what it promises."""
    version_ = message.contract.version if message.contract is not None else ""
    yield "/**"
    place = f" ({where(message.place).replace('*/', '* /')})" if message.place.line else ""
    yield f" * {message.full_name}{f', contract {version_}' if version_ else ''}{place}."
    for promise in message.promises:
        told = f"{promise.path}: {promise.text}" if promise.path else promise.text
        yield f" * - {printable(told).replace('*/', '* /')}"
    yield " */"


@lru_cache(maxsize=1)
def tool_version() -> str:
    """The version of the compiler, as generated headers name it."""
    return version("protocontract")
