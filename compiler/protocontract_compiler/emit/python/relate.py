"""Emits ``_relate_<message>``: the relations of one message's fields, after all of the record's buf.validate rules."""

from __future__ import annotations

from contextlib import nullcontext

from protocontract_compiler import ir
from protocontract_compiler.emit.names import Names, attribute, literal, snake
from protocontract_compiler.emit.python.module import Module
from protocontract_compiler.emit.python.spots import comment
from protocontract_compiler.emit.python.walk import Walkers, options_code
from protocontract_compiler.emit.walk import has_relation
from protocontract_compiler.emit.writer import Writer


class Relations(Walkers):
    """The relate functions of one module."""

    prefix = "_relate"
    parameters = "out: list[_rt.Violation] | None"
    result = "out"
    arguments = "out"
    says = "Adds to `out` what breaks the relations in {}."

    def __init__(self, module: Module) -> None:
        super().__init__(module, has_relation)

    def call(self, function: str, value: str, link: str) -> str:
        return f"out = {function}({value}, out, {link})"

    def own(self, message: ir.Message, writer: Writer, names: Names) -> None:
        if any(relation.kind == "tensor" for field in message.fields for relation in field.relations):
            writer.line("sizes: dict[str, int] = {}  # of the free dims: equal wherever a name recurs in this message")
        for field in message.fields:
            for relation in field.relations:
                writer.line(comment(relation.place, f"{field.name}: {relation.kind}").lstrip())
                getattr(self, f"_{relation.kind}")(message, field, relation, writer, names)

    def _checker(self, message: ir.Message, field: ir.Field, relation: ir.Relation) -> str:
        code = f"{self.module.runtime(relation.kind)}({options_code(relation.passed)})"
        return self.module.bound_constant(code, f"check_{snake(message.python_path)}_{field.name}_{relation.kind}")

    def _note(self, site: str, found: str, values: str, writer: Writer) -> None:
        writer.line(f"found = {found}")
        writer.line(f"out = {self.module.runtime('refuse_all')}(out, {site}, found, {values}, at)")

    def _spans(self, message: ir.Message, field: ir.Field, relation: ir.Relation, writer: Writer, names: Names) -> None:
        text = str(relation.option("text"))
        checker = self._checker(message, field, relation)
        site = self.site(message, field, "spans", (text,), source=message.field(text))
        items = names.fresh(snake(field.name))
        writer.line(f"{items} = {attribute('m', field.name)}[:]")
        columns = [_column(items, str(relation.option(name))) for name in ("start", "end")]
        surface = relation.option("surface")
        columns.append(_column(items, str(surface)) if surface else "None")
        with writer.block(f"if {items}:"):
            found = f"{checker}({', '.join([attribute('m', text), *columns])})"
            self._note(site, found, items, writer)

    def _sequence(
        self, message: ir.Message, field: ir.Field, relation: ir.Relation, writer: Writer, names: Names
    ) -> None:
        del names
        checker, site = self._checker(message, field, relation), self.site(message, field, "sequence")
        values = attribute("m", field.name)
        other = relation.option("same_length_as")
        arguments = [f"{values}[:]"]
        if other:
            arguments.append(f"len({attribute('m', str(other))})")
        found = f"{checker}({', '.join(arguments)})"
        self._note(site, found, values, writer)

    def _graph(self, message: ir.Message, field: ir.Field, relation: ir.Relation, writer: Writer, names: Names) -> None:
        checker, site = self._checker(message, field, relation), self.site(message, field, "graph")
        items = names.fresh(snake(field.name))
        writer.line(f"{items} = {attribute('m', field.name)}[:]")
        child = self.schema.messages[str(field.message)]
        parents = child.field(str(relation.option("parents")))
        each = attribute("item", parents.name)
        if parents.shape is ir.Shape.REPEATED:
            listed = f"[{each}[:] for item in {items}]"
        else:
            # One parent: an item without one is a root.
            given = f"item.HasField({literal(parents.name)})" if parents.has_presence else each
            listed = f"[[{each}] if {given} else [] for item in {items}]"
        found = f"{checker}({_column(items, str(relation.option('id')))}, {listed})"
        with writer.block(f"if {items}:"):
            self._note(site, found, items, writer)

    def _tensor(
        self, message: ir.Message, field: ir.Field, relation: ir.Relation, writer: Writer, names: Names
    ) -> None:
        del names
        shape = relation.option("shape_field")
        needs = (str(shape),) if shape else ()
        checker, site = self._checker(message, field, relation), self.site(message, field, "tensor", needs)
        value = attribute("m", field.name)
        given = f"{attribute('m', str(shape))}[:]" if shape else "None"
        found = f"{checker}({value}, {given}, sizes)"
        given_too = writer.block(f"if m.HasField({literal(field.name)}):") if field.has_presence else nullcontext()
        with given_too:
            self._note(site, found, "None", writer)


def _column(items: str, name: str) -> str:
    return f"[{attribute('item', name)} for item in {items}]"
