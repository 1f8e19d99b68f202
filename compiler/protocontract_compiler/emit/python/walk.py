"""What the emitters of normalizers and relations share: one function a message, and the walk into what it holds.

Both are rare and heavy compared with a field rule, so nothing is inlined: a function is called for each message in the
record that has work, with a link that says how it was reached. The path of a violation or change is put together from
the links when there is one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace

from protocontract_compiler import ir
from protocontract_compiler.emit.names import Names, attribute, literal, snake
from protocontract_compiler.emit.python.module import Module, governance_keywords
from protocontract_compiler.emit.writer import Writer
from protocontract_compiler.passes import reach


class Walkers(ABC):
    """The functions of one kind in one module."""

    #: First word of the functions' names, and their parameters between the message and the link.
    prefix: str
    parameters: str
    #: The list of violations that a function returns, and the line that makes it.
    result: str
    #: Arguments that a call passes on.
    arguments: str

    def __init__(self, module: Module, has_work: Callable[[ir.Message], bool]) -> None:
        self.module = module
        self.schema = module.schema
        self.work = reach.with_work(self.schema, has_work)
        self._names: dict[str, str] = {}
        self._waiting: list[str] = []

    def function(self, message: str) -> str | None:
        """The name of a message's function; None where there is nothing to do in it."""
        if message not in self.work:
            return None
        name = self._names.get(message)
        if name is None:
            name = self.module.names.fresh(f"{self.prefix}_{snake(self.schema.messages[message].python_path)}")
            self._names[message] = name
            self._waiting.append(message)
        return name

    def write_waiting(self) -> None:
        """Writes the functions asked for so far, and those that they call, into the module."""
        while self._waiting:
            message = self.schema.messages[self._waiting.pop(0)]
            self.module.functions.append(self._text(message))

    @abstractmethod
    def own(self, message: ir.Message, writer: Writer, names: Names) -> None:
        """Writes what is to be done with the fields of the message itself."""

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
        return self.module.constant(code, f"site_{snake(message.python_path)}_{field.name}_{word}")

    def _text(self, message: ir.Message) -> str:
        writer = Writer()
        names = Names(frozenset({"m", "at", "changes", "out", "found", "sizes"}))
        annotation = self.module.annotation(message)
        violations = f"list[{self.module.runtime('Violation')}] | None"
        head = f"def {self._names[message.full_name]}(m: {annotation}, {self.parameters}, at: _rt.Link = None)"
        with writer.block(f"{head} -> {violations}:"):
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
        match field.shape:
            case ir.Shape.SINGULAR:
                with writer.block(f"if m.HasField({literal(field.name)}):"):
                    writer.line(self.call(function, place, f"(at, ({element},), (), {owner})"))
            case ir.Shape.REPEATED:
                index, item = names.fresh("i"), names.fresh("item")
                with writer.block(f"for {index}, {item} in enumerate({place}):"):
                    writer.line(self.call(function, item, f"(at, {each}, ({index},), {owner})"))
            case ir.Shape.MAP:
                key = names.fresh("key")
                with writer.block(f"for {key} in sorted({place}):"):
                    writer.line(self.call(function, f"{place}[{key}]", f"(at, {each}, ({key},), {owner})"))


def options_code(options: tuple[tuple[str, ir.OptionValue], ...]) -> str:
    """Keyword arguments for the options of a normalizer or relation."""
    return ", ".join(f"{name}={literal(value)}" for name, value in ir.keywords(options).items())
