"""The Python back end: one ``*_contract.py`` for each .proto file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib.metadata import version
from itertools import islice
from typing import TYPE_CHECKING

from protocontract_compiler import ir
from protocontract_compiler.emit.layout import laid_out
from protocontract_compiler.emit.names import (
    Names,
    class_of,
    is_plain,
    literal,
    printable,
    screaming,
)
from protocontract_compiler.emit.output import OutputFile
from protocontract_compiler.emit.python.module import PB, RUNTIME, Module
from protocontract_compiler.emit.python.normalize import Normalizers
from protocontract_compiler.emit.python.relate import Relations
from protocontract_compiler.emit.python.spots import tuple_code
from protocontract_compiler.emit.python.tensors import Kind, Tensors
from protocontract_compiler.emit.python.validate import Validators
from protocontract_compiler.emit.python.walk import options_code
from protocontract_compiler.emit.walk import reads_json, where
from protocontract_compiler.emit.writer import Writer
from protocontract_compiler.generated_names import contract_file_of, module_of
from protocontract_compiler.ir_dump import fingerprint
from protocontract_compiler.passes import reach
from protocontract_compiler.passes.codes import RulePlace, places

if TYPE_CHECKING:
    from protocontract_compiler.pipeline import CompileOptions

# What a reader has to know who never saw such a module: what its functions do, and the rest.
_STEPS = {
    "_normalize": "brings values into their normal form",
    "_validate": "checks the rules of buf.validate",
    "_relate": "checks the relations between values",
}
_HOW_TO_READ = """\
Each returns a list of violations, or None while there is none. A comment `user.proto:12  string.min_len`
names the line of the contract that the code beside it carries out, and which rule of that line.
In functions `m` is the message, and `at` how it was reached: (what holds it, path, subscripts, contract)."""
# Error codes are named in the module while a reader can still go through them; all of them are in every violation.
_MAX_NAMED_CODES = 400
# Messages that hold each other have more paths than anybody reads.
_MAX_SENSITIVE = 1000


def emit(schema: ir.Schema, options: CompileOptions) -> list[OutputFile]:
    """The contract modules of the requested files. Files without messages have none."""
    del options
    return [
        OutputFile(contract_file_of(file.name), module_source(schema, file))
        for file in schema.files.values()
        if file.requested and file.messages
    ]


def module_source(schema: ir.Schema, file: ir.File) -> str:
    """The source of the contract module of one file."""
    module = Module(schema, file)
    messages = [schema.messages[name] for name in file.messages]
    # Names that users type are handed out first, so that no constant of ours can take one.
    names = {message.full_name: module.names.fresh(screaming(message.python_path)) for message in messages}
    codes = _code_constants(schema, messages, module.names)
    validators, normalizers, relations = Validators(module), Normalizers(module), Relations(module)
    tensors = Tensors(module)
    contracts = Writer()
    for message in messages:
        functions = (
            ("validate", validators.function(message.full_name)),
            ("normalize", normalizers.function(message.full_name)),
            ("relate", relations.function(message.full_name)),
        )
        _write_contract(module, message, names[message.full_name], functions, tensors, contracts)
    for functions_of_a_kind in (normalizers, validators, relations):
        functions_of_a_kind.write_waiting()
    return _assembled(module, messages, codes, contracts, [*names.values()])


def _assembled(
    module: Module, messages: list[ir.Message], codes: list[str], contracts: Writer, public: list[str]
) -> str:
    writer = Writer()
    _write_header(module, messages, writer)
    writer.line()
    writer.line("from __future__ import annotations")
    writer.line()
    writer.line(f"from typing import {', '.join(sorted(module.typing))}")
    writer.line()
    imports = [_pb_import(module.file.name), f"from protocontract import _codegen_v1 as {RUNTIME}"]
    # A module whose name is no Python name is imported by a function of the runtime's.
    writer.lines(imports if imports[0].startswith(("from ", "import ")) else reversed(imports))
    module.fields.title += module.field_types()
    for section in (module.fields, module.rules, module.tensors, module.constants, module.bound):
        if section.lines:
            _title(writer, section.title)
            writer.lines(section.in_order())
    for function in module.functions:
        writer.line()
        writer.line()
        writer.lines(function.splitlines())
    writer.line()
    _title(writer, "Contracts, each with its promises: field path, its rules in words, their ids")
    writer.lines(contracts.text().splitlines())
    if codes:
        _title(
            writer,
            "Error codes, as `Violation.code` has them: constant across releases, so that no program reads prose",
        )
        writer.lines(codes)
    writer.line()
    with writer.block("__all__ = ["):
        writer.lines(f"{literal(name)}," for name in [*public, *(line.split(":")[0] for line in codes)])
    writer.line("]")
    return laid_out(writer.text())


def _title(writer: Writer, title: str) -> None:
    writer.line()
    writer.lines(f"# {line}" for line in title.splitlines())


def _write_header(module: Module, messages: list[ir.Message], writer: Writer) -> None:
    name = printable(module.file.name)
    writer.line(f"# Generated by protoc-gen-contract {tool_version()} from {name}. Do not edit.")
    for message in messages:
        version_ = message.contract.version if message.contract is not None else ""
        if version_:
            writer.line(f"# {message.full_name}: contract {version_}")
            writer.line(f"#   sha256 {fingerprint(module.schema, message.full_name)}")
    delegated = [message for message in messages if message.delegated is not None]
    if not delegated:
        writer.line("# All buf.validate rules are compiled here; none is left to protovalidate.")
    for message in delegated:
        reason = printable(" ".join(str(message.delegated).split()))
        writer.line(f"# {message.full_name} is left to protovalidate, because of rule {reason}")
    # A docstring must not end in a quote, nor hold three, nor escape.
    writer.line(f'"""Contracts of {name}.' if '"' not in name and "\\" not in name else '"""Contracts.')
    writer.line()
    writer.line("To read: the contracts stand below the functions, each with its promises in words.")
    steps = [word for word in _STEPS if any(f"def {word}_" in function for function in module.functions)]
    if steps:
        writer.line("A record goes through these functions of its message, in this order:")
        writer.lines(f"    {word + '_…':<13} {_STEPS[word]}" for word in steps)
        writer.lines(_HOW_TO_READ.splitlines())
    writer.line('"""')


def _pb_import(proto_file: str) -> str:
    module_name = module_of(proto_file)
    package, _, name = module_name.rpartition(".")
    if all(is_plain(part) for part in module_name.split(".")):
        return f"from {package} import {name} as {PB}" if package else f"import {name} as {PB}"
    return f"{PB} = {RUNTIME}.import_module({literal(module_name)})"


def _code_constants(schema: ir.Schema, messages: list[ir.Message], names: Names) -> list[str]:
    hints: list[tuple[RulePlace, str]] = []
    for message in messages:
        found = list(islice(places(schema, message), _MAX_NAMED_CODES + 1))
        if len(found) > _MAX_NAMED_CODES:
            continue
        unnamed = 0
        for place in found:
            words = screaming(place.rule_id)
            if not place.rule_id.replace(".", "_").replace("-", "_").isidentifier():
                unnamed += 1
                words = f"CEL_{unnamed}"  # a rule whose id is its expression
            parts = ["ERR", screaming(message.python_path), screaming_path(place.path), words]
            hints.append((place, "_".join(filter(None, parts))))
    # `a.b` of Outer and `b` of Outer.A have one name. It is that of the message that declares the field: a field that
    # is added elsewhere takes no name away from it.
    declared = {
        index: names.fresh(hint) for index, (place, hint) in enumerate(hints) if place.owner.full_name == place.contract
    }
    lines: list[str] = []
    for index, (place, hint) in enumerate(hints):
        name = declared.get(index) or names.fresh(hint)
        told = "" if name == hint else f"  # {place.path or 'the message'} of {place.contract}"
        lines.append(f"{name}: Final = {place.code:#010x}{told}")
    return lines


def screaming_path(path: str) -> str:
    """``entities.text`` -> ``ENTITIES_TEXT``; empty for the message itself."""
    return "_".join(screaming(name) for name in path.split(".")) if path else ""


def _write_contract(
    module: Module,
    message: ir.Message,
    name: str,
    functions: tuple[tuple[str, str | None], ...],
    tensors: Tensors,
    writer: Writer,
) -> None:
    schema = module.schema
    contract = message.contract or ir.ContractOptions()
    if message.place.line:
        writer.line(f"# {where(message.place)}")
    with writer.block(f"{name}: Final = {RUNTIME}.Contract("):
        writer.line(f"{class_of(PB, message.python_path)},")
        writer.line(f"full_name={literal(message.full_name)},")
        writer.line(f"fingerprint={literal(fingerprint(schema, message.full_name))},")
        for word in ("version", "owner", "topic", "dead_letter_topic", "key_field", "event_time"):
            if getattr(contract, word):
                writer.line(f"{word}={literal(getattr(contract, word))},")
        if contract.level is not None:
            writer.line(f"level={_level_code(contract.level)},")
        if contract.on_breach != "ALERT":
            writer.line(f"on_breach={literal(contract.on_breach)},")
        for word, function in functions:
            if function is not None:
                writer.line(f"{word}={function},")
        if message.promises:
            with writer.block("promises=("):
                for promise in message.promises:
                    arguments = f"{literal(promise.path)}, {literal(promise.text)}, {literal(promise.rule_ids)}"
                    writer.line(f"{RUNTIME}.Promise({arguments}),")
            writer.line("),")
        kinds: tuple[Kind, ...] = ("tensors", "labels")
        for kind in kinds:
            items = tensors.items(message, kind)
            if items:
                writer.line(f"{kind}={tuple_code(items)},")
        scalars = list(_scalars(schema, message))
        if scalars:
            pairs = ", ".join(f"{literal(name)}: {literal(ir.keywords(options))}" for name, options in scalars)
            writer.line(f"scalars={{{pairs}}},")
        hidden = sorted(islice(_sensitive(schema, message, module.private), _MAX_SENSITIVE))
        if hidden:
            writer.line(f"sensitive=frozenset({{{', '.join(map(literal, hidden))}}}),")
        contexts = reach.contexts(schema, message)
        if contexts:
            writer.line(f"contexts=frozenset({{{', '.join(map(literal, contexts))}}}),")
        writer.line(f"source={literal(message.file)},")
    writer.line(")")


def _level_code(level: ir.StreamLevel) -> str:
    """Durations become seconds: what Python's clocks count."""
    shown: list[str] = []
    for word in ("compliance", "latency", "frequency", "throughput", "error_rate", "window", "minimum_records"):
        value = getattr(level, word)
        if value is not None:
            if word in ("latency", "frequency", "window"):
                value = value / 1_000_000_000
            shown.append(f"{word}={literal(value)}")
    return f"{RUNTIME}.StreamLevel({', '.join(shown)})"


def _scalars(schema: ir.Schema, message: ir.Message) -> Iterator[tuple[str, ir.Options]]:
    """What JSON may hold beyond its strict mapping, by full names of fields: `scalar` options, codes of enums."""
    for reached in reach.reached(schema, message):
        for field in reached.fields:
            options: ir.Options = ()
            if field.normalizer is not None and reads_json(field):
                options = field.normalizer.options
            enum = schema.enums.get((field.value or field).enum or "")
            if enum is not None:
                words = {word: value.number for value in enum.values for word in (value.code, *value.aliases) if word}
                if words:
                    options = (*options, ("enum_aliases", tuple(sorted(words.items()))))
            if options:
                yield f"{reached.full_name}.{field.name}", options


def _sensitive(
    schema: ir.Schema, message: ir.Message, private: frozenset[str], prefix: str = "", outer: tuple[str, ...] = ()
) -> Iterator[str]:
    """Paths (without subscripts) of the sensitive fields of a message and what it reaches, to the first recurrence."""
    outer = (*outer, message.full_name)
    for field in message.fields:
        path = f"{prefix}{field.name}"
        if field.governance.sensitive:
            yield path
        elif field.element_message in private and field.element_message not in outer:
            yield from _sensitive(schema, schema.messages[field.element_message], private, f"{path}.", outer)


@lru_cache(maxsize=1)
def tool_version() -> str:
    """The version of the compiler, as generated headers name it."""
    return version("protocontract")


__all__ = ["emit", "module_source", "options_code", "tool_version"]
