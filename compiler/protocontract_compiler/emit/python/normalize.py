"""Emits ``_normalize_<message>``: what the fields of one message become before they are validated.

The message is a fresh copy and is changed in place. A normalizer returns the very object that it was given where
nothing changes, so a clean value costs one call and one comparison.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from protocontract_compiler import ir
from protocontract_compiler.emit.names import Names, assignment, attribute, literal, snake
from protocontract_compiler.emit.python.module import Module
from protocontract_compiler.emit.python.spots import comment
from protocontract_compiler.emit.python.walk import Walkers, options_code
from protocontract_compiler.emit.walk import acts, currency_codes, currency_options, has_normalizer, spans_into
from protocontract_compiler.emit.writer import Writer


@dataclass(frozen=True, slots=True)
class _Value:
    """One value under a normalizer while its code is written: where it is read from and written to."""

    name: str
    field: ir.Field
    subscript: str

    @property
    def place(self) -> str:
        """The last arguments of calls that note something about the value."""
        return f"at, {self.subscript}" if self.subscript else "at"

    def store(self, code: str) -> str:
        """The statement that puts a value into the place."""
        if self.subscript:
            return f"{attribute('m', self.field.name)}[{self.subscript}] = {code}"
        return assignment("m", self.field.name, code)


def _own(names: Names, word: str, field: ir.Field) -> str:
    """A local called ``word``, with the field's name before it where another field has that already."""
    return names.fresh(word if names.is_free(word) else f"{snake(field.name)}_{word}")


class Normalizers(Walkers):
    """The normalize functions of one module."""

    prefix = "_normalize"
    parameters = "changes: list[_rt.Change]"
    result = "found"
    arguments = "changes"
    says = "Normalizes {} in place; returns what was refused."

    def __init__(self, module: Module) -> None:
        super().__init__(module, has_normalizer)

    def begin(self, writer: Writer, violations: str) -> None:
        writer.line(f"found: {violations} = None")

    def call(self, function: str, value: str, link: str) -> str:
        return f"found = {self._rt('extend')}(found, {function}({value}, changes, {link}))"

    def own(self, message: ir.Message, writer: Writer, names: Names) -> None:
        for field in message.fields:
            if not acts(field):
                continue
            assert field.normalizer is not None
            writer.line(comment(field.normalizer.place, f"{field.name}: {field.normalizer.kind}").lstrip())
            place = attribute("m", field.name)
            match field.shape:
                case ir.Shape.SINGULAR:
                    name = names.fresh(snake(field.name))
                    present = self._present(field, writer)
                    with present:
                        writer.line(f"{name} = {place}")
                        guard: AbstractContextManager[None] = nullcontext()
                        if not field.has_presence:
                            guard = writer.block(f"if {name}:")
                        with guard:
                            self._value(message, field, _Value(name, field, ""), writer, names)
                case ir.Shape.REPEATED:
                    index, name = names.fresh("i"), _own(names, "value", field)
                    with writer.block(f"for {index}, {name} in enumerate({place}[:]):"):
                        self._value(message, field, _Value(name, field, index), writer, names)
                case ir.Shape.MAP:
                    key, name = names.fresh("key"), _own(names, "value", field)
                    with writer.block(f"for {key} in sorted({place}):"):
                        writer.line(f"{name} = {place}[{key}]")
                        self._value(message, field, _Value(name, field, key), writer, names)

    def _present(self, field: ir.Field, writer: Writer) -> AbstractContextManager[None]:
        return writer.block(f"if m.HasField({literal(field.name)}):") if field.has_presence else nullcontext()

    # -- one value

    def _value(self, message: ir.Message, field: ir.Field, value: _Value, writer: Writer, names: Names) -> None:
        normalizer = field.normalizer
        assert normalizer is not None
        options = normalizer.options
        if normalizer.kind == "money":
            options = (*options, *currency_options(self.schema, message, normalizer))
        if normalizer.kind == "scalar":
            # Says how JSON is read, and is refused on a text where it is written.
            options = tuple(pair for pair in options if pair[0] != "quoted_numbers")
        code = f"{self._rt(normalizer.kind)}({options_code(options)})"
        bound = self.module.bound_constant(code, f"normalize_{snake(message.python_path)}_{field.name}")
        site = self.site(message, field, normalizer.kind, spoils=(normalizer.target,) if normalizer.target else ())
        result = _own(names, "result", field)
        match normalizer.kind:
            case "money" if normalizer.target:
                self._money(message, normalizer.target, bound, site, value, result, writer, names)
            case "money":
                self._plain(f"{bound}({value.name})", site, value, result, writer, stored=f"{result}.amount")
            case "instant" if normalizer.target:
                with self._accepted(f"{bound}({value.name})", site, value, result, writer):
                    target = message.field(normalizer.target)
                    target_site = self.site(message, target, "instant", source=field)
                    call = (
                        f"{self._rt('set_timestamp')}(changes, {target_site}, m, {literal(target.name)}, {result}, at)"
                    )
                    writer.line(call)
            case "instant" if field.type in ir.INTEGER_TYPES:
                # A number stays a number in its declared unit: only its range is judged.
                writer.line(f"{result} = {bound}({value.name})")
                self._refuse(site, value, result, writer)
            case "quantity":
                self._quantity(message, field, bound, site, value, result, writer, names)
            case "text":
                self._edited(message, field, bound, site, value, result, writer)
            case _:
                self._plain(f"{bound}({value.name})", site, value, result, writer)

    def _accepted(
        self, call: str, site: str, value: _Value, result: str, writer: Writer
    ) -> AbstractContextManager[None]:
        """Calls the normalizer and notes a refusal; the block is for the other case."""
        writer.line(f"{result} = {call}")
        self._refuse(site, value, result, writer)
        return writer.block("else:")

    def _refuse(self, site: str, value: _Value, result: str, writer: Writer) -> None:
        with writer.block(f"if isinstance({result}, {self._rt('Refusal')}):"):
            refusal = f"found, {site}, {result}, {value.name}, {value.place}"
            writer.line(f"found = {self._rt('refuse')}({refusal})")

    def _plain(
        self, call: str, site: str, value: _Value, result: str, writer: Writer, stored: str | None = None
    ) -> None:
        """The result goes into the field itself."""
        stored = stored or result
        writer.line(f"{result} = {call}")
        if stored == result:
            with writer.block(f"if {result} is not {value.name}:"):
                self._refuse(site, value, result, writer)
                with writer.block("else:"):
                    self._store(site, value, stored, writer)
            return
        self._refuse(site, value, result, writer)
        with writer.block(f"elif {stored} != {value.name}:"):
            self._store(site, value, stored, writer)

    def _store(self, site: str, value: _Value, stored: str, writer: Writer) -> None:
        writer.line(value.store(stored))
        writer.line(f"{self._rt('change')}(changes, {site}, {value.name}, {stored}, {value.place})")

    # -- words with more than one result

    def _money(
        self, message: ir.Message, target_name: str, bound: str, site: str, value: _Value, result: str, writer: Writer,
        names: Names,
    ) -> None:  # fmt: skip
        """The code of the currency goes into a sibling: a string, or an enum whose values have codes."""
        target = message.field(target_name)
        place = attribute("m", target.name)
        known = _own(names, "known", value.field)
        stored = f"{result}.currency"
        if target.enum is not None:
            codes = currency_codes(self.schema.enums[target.enum])
            by_number = self.module.constant(literal(codes), f"currencies_of_{target.enum.rpartition('.')[2]}")
            by_code = self.module.constant(
                literal({code: number for number, code in sorted(codes.items(), reverse=True)}),
                f"numbers_of_{target.enum.rpartition('.')[2]}",
                "dict[str, Any]",  # protoc's stubs take an enum's own class only
            )
            writer.line(f"{known} = {by_number}.get({place})")
            stored = f"{by_code}[{result}.currency]"
        else:
            writer.line(f"{known} = {place} or None")
        with self._accepted(f"{bound}({value.name}, {known})", site, value, result, writer):
            with writer.block(f"if {result}.amount != {value.name}:"):
                self._store(site, value, f"{result}.amount", writer)
            with writer.block(f"if {result}.currency != {known}:"):
                writer.line(assignment("m", target.name, stored))
                target_site = self.site(message, target, "money", source=value.field)
                writer.line(f"{self._rt('change')}(changes, {target_site}, {known}, {result}.currency, at)")

    def _quantity(
        self, message: ir.Message, field: ir.Field, bound: str, site: str, value: _Value, result: str, writer: Writer,
        names: Names,
    ) -> None:  # fmt: skip
        """The number goes into the field, or into a sibling, in the type of the one that takes it."""
        del names
        assert field.normalizer is not None
        name = field.normalizer.target
        part = field.value or field
        target = message.field(name) if name else part
        with self._accepted(f"{bound}({value.name})", site, value, result, writer):
            writer.line(f"{result} = {self._rt('quantity_as')}({result}, {target.type})")
            self._refuse(site, value, result, writer)
            if name is None:
                with writer.block(f"elif {result} != {value.name}:"):
                    self._store(site, value, result, writer)
                return
            place = attribute("m", target.name)
            changed = f"{place} != {result}"
            if target.has_presence:
                changed = f"not m.HasField({literal(target.name)}) or {changed}"
            with writer.block(f"elif {changed}:"):
                target_site = self.site(message, target, "quantity", source=field)
                before = f"{place} if m.HasField({literal(target.name)}) else None" if target.has_presence else place
                writer.line(f"{self._rt('change')}(changes, {target_site}, {before}, {result}, at)")
                writer.line(assignment("m", target.name, result))

    def _edited(
        self, message: ir.Message, field: ir.Field, bound: str, site: str, value: _Value, result: str, writer: Writer
    ) -> None:
        """A text takes the spans that point into it along."""
        assert field.normalizer is not None
        related = spans_into(message, field)
        if any(name == "amounts" for name, _ in field.normalizer.options):
            warnings = f"{bound}.warnings({value.name})"
            writer.line(f"found = {self._rt('warn_all')}(found, {site}, {warnings}, {value.name}, {value.place})")
        if not related:
            self._plain(f"{bound}({value.name})", site, value, result, writer)
            return
        writer.line(f"{result} = {bound}.edited({value.name})")
        with writer.block(f"if {result} is not {value.name}:"):
            self._refuse(site, value, result, writer)
            with writer.block("else:"):
                self._store(site, value, f"{result}.text", writer)
                for other, relation in related:
                    self._move_spans(message, other, relation, value, result, writer)

    def _move_spans(
        self, message: ir.Message, other: ir.Field, relation: ir.Relation, value: _Value, edits: str, writer: Writer
    ) -> None:
        unit = relation.option("unit", "code_point")
        remapper = self.module.bound_constant(
            f"{self._rt('spans_remapper')}(unit={literal(unit)})", f"spans_remapper_{unit}"
        )
        fields = tuple(relation.option(name) for name in ("start", "end", "surface"))
        text = str(relation.option("text"))
        site = self.site(message, other, "spans", (text,), source=message.field(text))
        arguments = f"found, changes, {site}, at, {attribute('m', other.name)}, {remapper}, {value.name}, {edits}"
        writer.line(f"found = {self._rt('move_spans')}({arguments}, {literal(fields)})")

    def _rt(self, name: str) -> str:
        return self.module.runtime(name)
