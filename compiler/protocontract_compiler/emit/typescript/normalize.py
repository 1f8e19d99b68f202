"""Emits ``normalize<Message>``: what the fields of one message become before they are validated.

The message is a copy and is changed in place. A violation or change is noted where it is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from protocontract_compiler import ir
from protocontract_compiler.emit.names import Names, snake
from protocontract_compiler.emit.typescript import bound
from protocontract_compiler.emit.typescript.access import (
    BIG,
    assign,
    default,
    literal,
    place,
    present,
    read,
    subscript_of,
    text,
)
from protocontract_compiler.emit.typescript.module import Module
from protocontract_compiler.emit.typescript.validate import comment
from protocontract_compiler.emit.typescript.walk import Walkers, entry
from protocontract_compiler.emit.walk import acts, currency_codes, currency_options, has_normalizer, spans_into
from protocontract_compiler.emit.writer import Writer
from protocontract_compiler.typescript_names import property_name


def _part(field: ir.Field) -> ir.Field:
    """The field of one value: of a map, of its values."""
    return field.value or field


def _own(names: Names, word: str, field: ir.Field) -> str:
    """A local called ``word``, with the field's name before it where another field has that already."""
    return names.fresh(word if names.is_free(word) else f"{property_name(field.name)}{word.capitalize()}")


@dataclass(frozen=True, slots=True)
class _Value:
    """One value under a normalizer while its code is written: its variable, where it stands, and its subscript."""

    name: str
    message: ir.Message
    field: ir.Field
    held: str = ""
    subscript: str = ""

    @property
    def place(self) -> str:
        """The last arguments of calls that note something about the value."""
        return f"at, {self.subscript}" if self.subscript else "at"

    def store(self, code: str) -> str:
        """The statement that puts a value into the place."""
        return f"{self.held} = {code};" if self.held else assign("m", self.message, self.field, code)


class Normalizers(Walkers):
    """The normalize functions of one module."""

    prefix = "normalize"
    says = "Normalizes {} in place."

    def __init__(self, module: Module) -> None:
        super().__init__(module, has_normalizer)

    def own(self, message: ir.Message, writer: Writer, names: Names) -> None:
        for field in message.fields:
            if not acts(field):
                continue
            assert field.normalizer is not None
            writer.line(comment(field.normalizer.place, f"{field.name}: {field.normalizer.kind}").lstrip())
            match field.shape:
                case ir.Shape.SINGULAR:
                    name = names.fresh(property_name(field.name))
                    condition = present("m", message, field) if field.has_presence else f"{name} !== {default(field)}"
                    if not field.has_presence:
                        writer.line(f"const {name} = {read('m', message, field)};")
                    with _braces(writer, f"if ({condition})"):
                        if field.has_presence:
                            writer.line(f"const {name} = {read('m', message, field)};")
                        self._value(_Value(name, message, field), writer, names)
                case ir.Shape.REPEATED:
                    index, name = names.fresh("i"), _own(names, "value", field)
                    with _braces(writer, f"for (const [{index}, {name}] of {place('m', field)}.entries())"):
                        value = _Value(name, message, field, f"{place('m', field)}[{index}]", index)
                        self._value(value, writer, names)
                case ir.Shape.MAP:
                    name = _own(names, "value", field)
                    key = self.open_map(field, writer, names)
                    with writer.indented():
                        held = entry(field, key)
                        writer.line(f"const {name} = {held}!;")
                        self._value(_Value(name, message, field, held, subscript_of(field, key)), writer, names)
                    writer.line("}")

    # -- one value

    def _value(self, value: _Value, writer: Writer, names: Names) -> None:
        field, message = value.field, value.message
        normalizer = field.normalizer
        assert normalizer is not None
        given = normalizer.options
        if normalizer.kind == "money":
            given = (*given, *currency_options(self.schema, message, normalizer))
        options = ir.keywords(given)
        code = bound.normalizer(self.module.use, normalizer.kind, options, _part(field).type, normalizer.place)
        constant = self.module.bound_constant(code, f"normalize_{snake(message.python_path)}_{field.name}")
        site = self.module.site(
            message, field, normalizer.kind, spoils=(normalizer.target,) if normalizer.target else ()
        )
        result = _own(names, "result", field)
        if normalizer.kind == "money":
            self._money(value, normalizer.target, constant, site, result, writer, names)
            return
        if "amounts" in options:
            code = bound.amount_warnings(self.module.use, options)
            warnings = self.module.bound_constant(code, f"amounts_{snake(message.python_path)}_{field.name}")
            warn_all = self.module.use("normalize/warn", "warnAll")
            writer.line(f"{warn_all}(run, {site}, {warnings}({value.name}), {value.name}, {value.place});")
        writer.line(f"const {result} = {constant}({value.name});")
        is_number = _part(field).type in ir.INTEGER_TYPES
        match normalizer.kind:
            case "text":
                self._edited(value, site, result, writer)
            case "label" if is_number:
                # A class number stays as it is, or is refused.
                writer.line(f"if ({result} !== undefined) {self._refuse(site, value, result)}")
            case "quantity":
                self._quantity(value, normalizer.target, site, result, writer, names)
            case "instant" if normalizer.target:
                self._timestamp(value, normalizer.target, site, result, writer, names)
            case "instant" if is_number:
                # A number stays a number in its declared unit: only its range is judged.
                is_refusal = self.module.use("refusal", "isRefusal")
                writer.line(f"if ({is_refusal}({result})) {self._refuse(site, value, result)}")
            case _:
                self._plain(site, value, result, writer)

    def _refuse(self, site: str, value: _Value, result: str) -> str:
        return f"{self.module.use('violation', 'refuse')}(run, {site}, {result}, {value.name}, {value.place});"

    @contextmanager
    def _accepted(self, site: str, value: _Value, result: str, writer: Writer, condition: str = "") -> Iterator[None]:
        """Notes a refusal; the block is for the other case."""
        writer.line(f"if ({self.module.use('refusal', 'isRefusal')}({result})) {{")
        with writer.indented():
            writer.line(self._refuse(site, value, result))
        with _braces(writer, f"}} else{f' if ({condition})' if condition else ''}"):
            yield

    def _plain(self, site: str, value: _Value, result: str, writer: Writer) -> None:
        """The result goes into the field itself."""
        with self._accepted(site, value, result, writer, f"{result} !== {value.name}"):
            self._store(site, value, result, writer)

    def _store(self, site: str, value: _Value, stored: str, writer: Writer) -> None:
        writer.line(value.store(stored))
        change = self.module.use("violation", "change")
        writer.line(f"{change}(run, {site}, {value.name}, {stored}, {value.place});")

    def _money(
        self, value: _Value, target_name: str | None, constant: str, site: str, result: str, writer: Writer,
        names: Names,
    ) -> None:  # fmt: skip
        """The amount goes into the field, the code of its currency into a sibling, where one is declared for it."""
        if target_name is None:
            writer.line(f"const {result} = {constant}({value.name});")
            with self._accepted(site, value, result, writer, f"{result}.amount !== {value.name}"):
                self._store(site, value, f"{result}.amount", writer)
            return
        target = value.message.field(target_name)
        known = _own(names, "known", value.field)
        stored = f"{result}.currency"
        held = read("m", value.message, target)
        if target.enum is None:
            writer.line(f"const {known} = {held} || undefined;")
        else:
            codes = currency_codes(self.schema.enums[target.enum])
            numbers = {code: number for number, code in sorted(codes.items(), reverse=True)}
            short = target.enum.rpartition(".")[2]
            by_number = self.module.constant(_map(codes), f"currencies_of_{short}")
            by_code = self.module.constant(_map(numbers), f"numbers_of_{short}")
            writer.line(f"const {known} = {by_number}.get({held});")
            stored = f"{by_code}.get({stored})!"
        writer.line(f"const {result} = {constant}({value.name}, {known});")
        with self._accepted(site, value, result, writer):
            with _braces(writer, f"if ({result}.amount !== {value.name})"):
                self._store(site, value, f"{result}.amount", writer)
            with _braces(writer, f"if ({result}.currency !== {known})"):
                writer.line(assign("m", value.message, target, stored))
                target_site = self.module.site(value.message, target, "money", source=value.field)
                change = self.module.use("violation", "change")
                writer.line(f"{change}(run, {target_site}, {known}, {result}.currency, at);")

    def _quantity(
        self, value: _Value, target_name: str | None, site: str, result: str, writer: Writer, names: Names
    ) -> None:
        """The number goes into the field, or into a sibling, in the type of the one that takes it."""
        part = _part(value.field)
        target = value.message.field(target_name) if target_name else part
        is_refusal = self.module.use("refusal", "isRefusal")
        stored = names.fresh("stored")
        with self._accepted(site, value, result, writer):
            writer.line(f"const {stored} = {bound.quantity_as(self.module.use, result, target.type)};")
            if target.type != ir.TYPE_STRING:
                writer.line(f"if ({is_refusal}({stored})) {{")
                with writer.indented():
                    writer.line(self._refuse(site, value, stored))
                writer.line("} else {")
            else:
                writer.line("{")
            with writer.indented():
                self._store_quantity(value, target_name, site, stored, target, writer, names)
            writer.line("}")

    def _store_quantity(
        self, value: _Value, target_name: str | None, site: str, stored: str, target: ir.Field, writer: Writer,
        names: Names,
    ) -> None:  # fmt: skip
        as_number = target.type in ir.INTEGER_TYPES and target.type not in BIG
        held = names.fresh("held")
        writer.line(f"const {held} = {f'Number({stored})' if as_number else stored};")
        if target_name is None:
            with _braces(writer, f"if ({held} !== {value.name})"):
                self._store(site, value, held, writer)
            return
        before = names.fresh("before")
        was = read("m", value.message, target)
        if target.has_presence:
            was = f"({present('m', value.message, target)}) ? {was} : undefined"
        writer.line(f"const {before} = {was};")
        with _braces(writer, f"if ({before} !== {held})"):
            target_site = self.module.site(value.message, target, "quantity", source=value.field)
            change = self.module.use("violation", "change")
            writer.line(f"{change}(run, {target_site}, {before}, {held}, at);")
            writer.line(assign("m", value.message, target, held))

    def _timestamp(self, value: _Value, target_name: str, site: str, result: str, writer: Writer, names: Names) -> None:
        """The moment goes into a sibling, and the field stays as it came."""
        target = value.message.field(target_name)
        target_site = self.module.site(value.message, target, "instant", source=value.field)
        shown = self.module.use("normalize/timestamp", "timestampText")
        before = names.fresh("before")
        with self._accepted(site, value, result, writer):
            writer.line(f"const {before} = {shown}({read('m', value.message, target)});")
            with _braces(writer, f"if ({before} !== {result})"):
                made = f"{self.module.use('normalize/timestamp', 'timestampOf')}({result})"
                writer.line(assign("m", value.message, target, made))
                change = self.module.use("violation", "change")
                writer.line(f"{change}(run, {target_site}, {before}, {result}, at);")

    # -- texts, which take the spans that point into them along

    def _edited(self, value: _Value, site: str, result: str, writer: Writer) -> None:
        with self._accepted(site, value, result, writer, f"{result} !== undefined"):
            self._store(site, value, f"{result}.text", writer)
            for other, relation in spans_into(value.message, value.field):
                self._move_spans(value, other, relation, result, writer)

    def _move_spans(self, value: _Value, other: ir.Field, relation: ir.Relation, edits: str, writer: Writer) -> None:
        site = self.module.site(value.message, other, "spans", (value.field.name,), source=value.field)
        item = self.schema.messages[str(other.message)]
        accessors = {
            option: _accessor(item, item.field(str(name)))
            for option in ("start", "end", "surface")
            if (name := relation.option(option))
        }
        unit = literal(relation.option("unit", "code_point"))
        arguments = f"run, {site}, at, {place('m', other)}, {unit}, {value.name}, {edits}"
        writer.line(f"{self.module.use('relations/move', 'moveSpans')}({arguments}, {{")
        with writer.indented():
            for option, code in accessors.items():
                writer.line(f"{option}: {code},")
        writer.line("});")


def _map(pairs: Mapping[int, str] | Mapping[str, int]) -> str:
    """Code of a Map, marked as without effect."""
    entries = ", ".join(f"[{literal(key)}, {literal(value)}]" for key, value in pairs.items())
    return f"/* @__PURE__ */ new Map([{entries}])"


def _accessor(item: ir.Message, field: ir.Field) -> str:
    """Code of an ItemField."""
    new = "BigInt(value)" if field.type in BIG else "value"
    write = assign("item", item, field, new)
    parts = [f"tail: {text(f'.{field.name}')}", f"read: (item) => {read('item', item, field)}"]
    return f"{{ {', '.join(parts)}, write: (item, value) => {{ {write} }} }}"


@contextmanager
def _braces(writer: Writer, head: str) -> Iterator[None]:
    writer.line(f"{head} {{")
    with writer.indented():
        yield
    writer.line("}")
