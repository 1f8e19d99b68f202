"""What the emitters of normalizers and relations share: one function a message, and the walk into what it holds."""

from __future__ import annotations

from collections.abc import Callable

from protocontract_compiler import ir
from protocontract_compiler.emit.names import Names
from protocontract_compiler.emit.typescript.access import BIG, key_kind, place, read, subscript_of
from protocontract_compiler.emit.typescript.module import LocalNames, Module
from protocontract_compiler.emit.typescript.validate import told
from protocontract_compiler.emit.walk import FunctionPerMessage
from protocontract_compiler.emit.writer import Writer
from protocontract_compiler.typescript_names import property_name


class Walkers(FunctionPerMessage):
    """The functions of one kind in one module: ``(m, at, run) => void``."""

    #: What a function does, for its comment, with a place for the message.
    says: str

    def __init__(self, module: Module, has_work: Callable[[ir.Message], bool]) -> None:
        super().__init__(module.schema, module.names, module.functions, has_work)
        self.module = module

    def spelled(self, name: str) -> str:
        """A function's name in camel case."""
        return property_name(name)

    def text(self, message: ir.Message, function: str) -> str:
        """The text of a message's function, whose name that is."""
        writer = Writer("  ")
        names = self.module.local_names()
        use = self.module.use
        at, run = use("violation", "At", type_only=True), use("violation", "Run", type_only=True)
        writer.line(f"/** {self.says.format(told(message))} */")
        writer.line(f"function {function}(m: {self.module.annotation(message)}, at: {at}, run: {run}): void {{")
        with writer.indented():
            self.own(message, writer, names)
            for field in message.fields:
                self._into(message, field, writer, names)
        writer.line("}")
        return writer.text()

    def _into(self, message: ir.Message, field: ir.Field, writer: Writer, names: LocalNames) -> None:
        """Calls the function of the messages in a field."""
        child = field.element_message
        function = self.function(child) if child is not None else None
        if function is None:
            return
        below = self.module.use("violation", "below")
        element = self.module.field_element(message.full_name, field)
        match field.shape:
            case ir.Shape.SINGULAR:
                held = names.of_field(field)
                writer.line(f"const {held} = {read('m', message, field)};")
                writer.line(f"if ({held} !== undefined) {function}({held}, {below}(at, {element}), run);")
            case ir.Shape.REPEATED:
                index, item = names.fresh("i"), names.fresh("item")
                writer.line(f"for (const [{index}, {item}] of {place('m', field)}.entries()) {{")
                with writer.indented():
                    writer.line(f"{function}({item}, {below}(at, {element}, {index}), run);")
                writer.line("}")
            case ir.Shape.MAP:
                key = self.open_map(field, writer, names)
                with writer.indented():
                    where = f"{below}(at, {element}, {subscript_of(field, key)})"
                    writer.line(f"{function}({entry(field, key)}!, {where}, run);")
                writer.line("}")

    def open_map(self, field: ir.Field, writer: Writer, names: Names) -> str:
        """Opens a loop over the keys of a map, in order; their variable."""
        key = names.fresh("key")
        keys = f'{self.module.use("codepoints", "sortedKeys")}({place("m", field)}, "{key_kind(field)}")'
        writer.line(f"for (const {key} of {keys}) {{")
        return key


def entry(field: ir.Field, key: str) -> str:
    """Code of the place under a key of a map, which JavaScript holds as a text; protobuf-es types some as numbers."""
    assert field.key is not None
    as_number = field.key.type in ir.INTEGER_TYPES - BIG
    return f"{place('m', field)}[{f'Number({key})' if as_number else key}]"
