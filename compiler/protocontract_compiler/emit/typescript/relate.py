"""Emits ``relate<Message>``: the relations of one message's fields, after all of the record's buf.validate rules."""

from __future__ import annotations

from protocontract_compiler import ir
from protocontract_compiler.emit.names import Names, snake
from protocontract_compiler.emit.typescript import bound
from protocontract_compiler.emit.typescript.access import place, present, read
from protocontract_compiler.emit.typescript.module import Module
from protocontract_compiler.emit.typescript.validate import comment
from protocontract_compiler.emit.typescript.walk import Walkers
from protocontract_compiler.emit.walk import has_relation
from protocontract_compiler.emit.writer import Writer


class Relations(Walkers):
    """The relate functions of one module."""

    prefix = "relate"
    says = "What breaks the relations in {}."

    def __init__(self, module: Module) -> None:
        super().__init__(module, has_relation)

    def own(self, message: ir.Message, writer: Writer, names: Names) -> None:
        sizes = ""
        if any(relation.kind == "tensor" for field in message.fields for relation in field.relations):
            sizes = names.fresh("sizes")
            writer.line(f"const {sizes} = new Map<string, bigint>(); // of the free dims: equal wherever a name recurs")
        for field in message.fields:
            for relation in field.relations:
                writer.line(comment(relation.place, f"{field.name}: {relation.kind}").lstrip())
                options = ir.keywords(relation.options)
                code = bound.relation(self.module.use, relation.kind, options, relation.place)
                checker = self.module.bound_constant(
                    code, f"check_{snake(message.python_path)}_{field.name}_{relation.kind}"
                )
                match relation.kind:
                    case "spans":
                        self._spans(message, field, relation, checker, writer)
                    case "sequence":
                        self._sequence(message, field, relation, checker, writer)
                    case "graph":
                        self._graph(message, field, relation, checker, writer)
                    case "tensor":
                        self._tensor(message, field, relation, checker, sizes, writer)

    def _note(self, site: str, found: str, values: str, writer: Writer) -> None:
        writer.line(f"{self.module.use('violation', 'refuseAll')}(run, {site}, {found}, {values}, at);")

    def _spans(self, message: ir.Message, field: ir.Field, relation: ir.Relation, checker: str, writer: Writer) -> None:
        text = message.field(str(relation.option("text")))
        site = self.module.site(message, field, "spans", (text.name,), source=text)
        item = self.schema.messages[str(field.message)]
        items = place("m", field)
        columns = [
            _column(items, item, item.field(str(name)))
            for option in ("start", "end", "surface")
            if (name := relation.option(option))
        ]
        self._note(site, f"{checker}({', '.join([read('m', message, text), *columns])})", items, writer)

    def _sequence(
        self, message: ir.Message, field: ir.Field, relation: ir.Relation, checker: str, writer: Writer
    ) -> None:
        values = place("m", field)
        arguments = [values]
        other = relation.option("same_length_as")
        if other:
            arguments.append(f"{place('m', message.field(str(other)))}.length")
        site = self.module.site(message, field, "sequence")
        self._note(site, f"{checker}({', '.join(arguments)})", values, writer)

    def _graph(self, message: ir.Message, field: ir.Field, relation: ir.Relation, checker: str, writer: Writer) -> None:
        items = place("m", field)
        child = self.schema.messages[str(field.message)]
        parents = child.field(str(relation.option("parents")))
        each = read("item", child, parents)
        if parents.shape is not ir.Shape.REPEATED:
            # One parent: an item without one is a root.
            given = present("item", child, parents) if parents.has_presence else each
            each = f"({given} ? [{each}] : [])"
        ids = _column(items, child, child.field(str(relation.option("id"))))
        site = self.module.site(message, field, "graph")
        self._note(site, f"{checker}({ids}, {items}.map((item) => {each}))", items, writer)

    def _tensor(
        self, message: ir.Message, field: ir.Field, relation: ir.Relation, checker: str, sizes: str, writer: Writer
    ) -> None:
        shape = relation.option("shape_field")
        needs = (str(shape),) if shape else ()
        site = self.module.site(message, field, "tensor", needs)
        value = place("m", field)
        if field.type == ir.TYPE_FLOAT:
            value = f"{value}.map(Math.fround)"
        elif field.shape is ir.Shape.SINGULAR:
            value = read("m", message, field)
        stated = place("m", message.field(str(shape))) if shape else "undefined"
        condition = f"if ({present('m', message, field)}) " if field.has_presence else ""
        refuse = self.module.use("violation", "refuseAll")
        found = f"{checker}({value}, {stated}, {sizes})"
        writer.line(f"{condition}{refuse}(run, {site}, {found}, undefined, at);")


def _column(items: str, item: ir.Message, field: ir.Field) -> str:
    return f"{items}.map((item) => {read('item', item, field)})"
