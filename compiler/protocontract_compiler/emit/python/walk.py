"""What the emitters of normalizers and relations share: one function a message, and the walk into what it holds.

A function is called with a link that says how its message was reached. The path of a violation or change is put
together from the links when there is one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace

from protocontract_compiler import ir
from protocontract_compiler.emit.names import Names, attribute, literal, snake
from protocontract_compiler.emit.python.module import Module, governance_keywords
from protocontract_compiler.emit.python.spots import told
from protocontract_compiler.emit.walk import FunctionPerMessage
from protocontract_compiler.emit.writer import Writer


class Walkers(FunctionPerMessage):
    """The functions of one kind in one module."""

    #: Parameters of the functions between the message and the link.
    parameters: str
    #: The list of violations that a function returns, and the line that makes it.
    result: str
    #: Arguments that a call passes on.
    arguments: str
    #: What a function does, for its docstring, with a place for the message.
    says: str

    def __init__(self, module: Module, has_work: Callable[[ir.Message], bool]) -> None:
        super().__init__(module.schema, module.names, module.functions, has_work)
        self.module = module

    @abstractmethod
    def call(self, function: str, value: str, link: str) -> str:
        """The line that calls the function of a message that this one holds."""

    def site(
        self,
        message: ir.Message,
        field: ir.Field,
        word: str,
        needs: tuple[str, ...] = (),
        spoils: tuple[str, ...] = (),
        *,
        source: ir.Field | None = None,
    ) -> str:
        """The name of the Site constant of a field, with the siblings that it reads and those that it writes.

        ``source`` is the field whose value this one receives in another form: it is as sensitive.
        """
        element = self.module.field_element(message.full_name, field)
        governed = self.module.governance(field)
        if source is not None and source.governance.sensitive:
            governed = replace(governed, sensitive=True)
        arguments = [literal(message.full_name), element, literal(word), *governance_keywords(governed)]
        if needs:
            arguments.append(f"needs={literal(needs)}")
        if spoils:
            arguments.append(f"spoils={literal(spoils)}")
        code = f"{self.module.runtime('Site')}({', '.join(arguments)})"
        return self.module.bound_constant(code, f"site_{snake(message.python_path)}_{field.name}_{word}")

    def text(self, message: ir.Message, function: str) -> str:
        """The text of a message's function, whose name that is."""
        writer = Writer()
        names = Names(frozenset({"m", "at", "changes", "out", "found", "sizes"}))
        annotation = self.module.annotation(message)
        violations = f"list[{self.module.runtime('Violation')}] | None"
        head = f"def {function}(m: {annotation}, {self.parameters}, at: _rt.Link = None)"
        with writer.block(f"{head} -> {violations}:"):
            writer.line(f'"""{self.says.format(told(message))}"""')
            self.begin(writer, violations)
            self.own(message, writer, names)
            for field in message.fields:
                self._into(message, field, writer, names)
            writer.line(f"return {self.result}")
        return writer.text()

    def begin(self, writer: Writer, violations: str) -> None:
        """The first lines of a function: none, where the result comes in as an argument."""
        del writer, violations

    def _into(self, message: ir.Message, field: ir.Field, writer: Writer, names: Names) -> None:
        """Calls the function of the messages in a field."""
        child = field.element_message
        function = self.function(child) if child is not None else None
        if function is None:
            return
        element = self.module.field_element(message.full_name, field)
        place = attribute("m", field.name)
        each = f"({element}, {self.module.runtime('EACH')})"
        owner = literal(message.full_name)
        below = names.fresh(f"below_{snake(field.name)}")
        match field.shape:
            case ir.Shape.SINGULAR:
                with writer.block(f"if m.HasField({literal(field.name)}):"):
                    writer.line(f"{below} = (at, ({element},), (), {owner})")
                    writer.line(self.call(function, place, below))
            case ir.Shape.REPEATED:
                index, item = names.fresh("i"), names.fresh("item")
                with writer.block(f"for {index}, {item} in enumerate({place}):"):
                    writer.line(f"{below} = (at, {each}, ({index},), {owner})")
                    writer.line(self.call(function, item, below))
            case ir.Shape.MAP:
                key = names.fresh("key")
                with writer.block(f"for {key} in sorted({place}):"):
                    writer.line(f"{below} = (at, {each}, ({key},), {owner})")
                    writer.line(self.call(function, f"{place}[{key}]", below))


def options_code(options: tuple[tuple[str, ir.OptionValue], ...]) -> str:
    """Keyword arguments for the options of a normalizer or relation."""
    return ", ".join(f"{name}={literal(value)}" for name, value in ir.keywords(options).items())
