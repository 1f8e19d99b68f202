"""Emits ``validate<Message>``: straight-line code for the buf.validate rules of one message.

The order of checks is that of the Python target, which is protovalidate's. A message in a message is checked by a
function of its own, with the place where it stands; violations go into the run as they are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from protocontract_compiler import ir
from protocontract_compiler.cel.checks import as_check
from protocontract_compiler.emit.names import printable
from protocontract_compiler.emit.typescript import access
from protocontract_compiler.emit.typescript.cel_code import CONDITIONAL, Code, negated
from protocontract_compiler.emit.typescript.cel_nodes import Emitter, Unsupported
from protocontract_compiler.emit.typescript.inexact import Inexact
from protocontract_compiler.emit.typescript.module import Module
from protocontract_compiler.emit.typescript.shapes import Shapes
from protocontract_compiler.emit.typescript.values import held, is_set, not_zero, wrapped_type
from protocontract_compiler.emit.walk import MessageFunctions, has_rules, is_range, subject, where
from protocontract_compiler.emit.writer import Writer
from protocontract_compiler.ir_cel import FieldRef, Program, can_raise
from protocontract_compiler.typescript_names import property_name

_NO_RULES = ir.ValueRules()
#: What ``comment`` writes.
_NOTE = re.compile(r" // (?:\S+:\d+ )?\S+$", re.MULTILINE)
_TIMES = ("google.protobuf.Timestamp", "google.protobuf.Duration")


class Validators(MessageFunctions):
    """The validate functions of one module."""

    prefix = "validate"

    def __init__(self, module: Module, shapes: Shapes) -> None:
        super().__init__(module.schema, module.names, module.functions, has_rules)
        self.module = module
        self.shapes = shapes

    def spelled(self, name: str) -> str:
        """A function's name in camel case."""
        return property_name(name)

    def text(self, message: ir.Message, function: str) -> str:
        """The text of a message's function, whose name that is."""
        return _Function(self, message, function).text()


class _Place:
    """Where a value stands in its message: its field, the code of its subscript, and whether it is a key."""

    def __init__(
        self, element: str = "", name: str = "", subscript: str = "", *, for_key: bool = False, wrapped: bool = False
    ) -> None:
        self.element = element
        self.name = name
        self.subscript = subscript
        self.for_key = for_key
        #: Whether the value is bare here and in a wrapper message elsewhere.
        self.wrapped = wrapped


class _Function:
    """One function while it is written. It is the ``Scope`` of the CEL emitter."""

    def __init__(self, validators: Validators, message: ir.Message, name: str) -> None:
        self._validators = validators
        self._module = validators.module
        self._message = message
        self._name = name
        self._writer = Writer("  ")
        self._names = self._module.local_names()
        # The variable of a list's subscript.
        self._index = ""
        # What the check that is being written is about, for names of its constants.
        self._about = ""
        # Locals that hold fields; a block's own are forgotten at its end.
        self._cached: list[dict[str, str]] = [{}]

    def text(self) -> str:
        """The source of the function."""
        message = self._message
        if message.delegated is not None:
            reason = " ".join(message.delegated.split())
            raise Inexact(
                message.place, f"a rule of {message.full_name} is left to protovalidate: {printable(reason)}",
                "state the rule in a form that protocontract compiles, which `compile --strict` checks",
            )  # fmt: skip
        with self._writer.indented():
            for check in message.rules.checks:
                self._check(check, Code("m"), "undefined", _Place(), self._message_governance(check))
            for rule in message.rules.oneofs:
                self._message_oneof(rule)
            for oneof in message.oneofs:
                if oneof.required:
                    self._oneof_required(oneof)
            for field in message.fields:
                self._field(field)
        body = self._writer.text()
        types = (self._module.annotation(message), self.use("violation", "type At"), self.use("violation", "type Run"))
        pairs = zip(("m", "at", "run"), types, strict=True)
        parameters = ", ".join(f"{_unless_unread(name, body)}: {type_}" for name, type_ in pairs)
        holds = any(field.element_message in self._validators.work for field in message.fields)
        says = f"/** What breaks the rules of {told(message)}{' or of messages in it' if holds else ''}. */"
        return f"{says}\nfunction {self._name}({parameters}): void {{\n{body}}}\n"

    # -- rules of the message

    def _message_governance(self, check: ir.Check) -> ir.Governance:
        """A rule of the message is as sensitive as the most sensitive field that it reads."""
        reads = check.program.reads if check.program is not None else frozenset()
        hidden = any(field.name in reads and self._module.governance(field).sensitive for field in self._message.fields)
        return ir.Governance(sensitive=hidden, contexts=self._contexts())

    def _contexts(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        contract = self._message.contract
        return contract.contexts if contract is not None else ()

    def _message_oneof(self, rule: ir.OneofRule) -> None:
        count = self._names.fresh("count")
        tests = (f"Number({self._set(self._message.field(name))})" for name in rule.fields)
        self._writer.line(f"const {count} = {' + '.join(tests)};{comment(rule.place, 'message.oneof')}")
        listed, governed = ", ".join(rule.fields), ir.Governance(contexts=self._contexts())
        described = [(f"{count} > 1", f"only one of {listed} can be set")]
        if rule.required:
            described.append((f"{count} === 0", f"one of {listed} must be set"))
        for condition, message in described:
            name = self._rule(_Place(), "message.oneof", message, governed, describes="")
            with self._block(f"if ({condition})"):
                self._writer.line(self._adding(name, "undefined", _Place()))

    def _oneof_required(self, oneof: ir.Oneof) -> None:
        element = self._module.oneof_element(self._message.full_name, oneof.name)
        place = _Place(element, oneof.name)
        governed = ir.Governance(contexts=self._contexts())
        rule = self._rule(place, "required", "exactly one field is required in oneof", governed, describes="")
        held = access.member("m", access.property_name(oneof.name))
        with self._block(f"if ({held}.case === undefined)", comment(oneof.place, "oneof.required")):
            self._writer.line(self._adding(rule, "undefined", place))

    def _set(self, field: ir.Field) -> str:
        return is_set("m", self._message, field)

    # -- fields

    def _field(self, field: ir.Field) -> None:
        rules = field.rules or _NO_RULES
        child = field.element_message if field.element_message in self._validators.work else None
        if rules.ignore == "always" or (field.rules is None and child is None):
            return
        match field.shape:
            case ir.Shape.SINGULAR:
                self._singular(field, rules, child)
            case ir.Shape.REPEATED:
                self._repeated(field, rules, child)
            case ir.Shape.MAP:
                self._map(field, rules, child)

    def _place_of(self, field: ir.Field, subscript: str = "", *, for_key: bool = False) -> _Place:
        element = self._module.field_element(self._message.full_name, field)
        return _Place(element, field.name, subscript, for_key=for_key, wrapped=access.is_wrapped(field))

    def _singular(self, field: ir.Field, rules: ir.ValueRules, child: str | None) -> None:
        has_body = bool(rules.checks) or child is not None
        if not has_body and not rules.required:
            return
        place = self._place_of(field)
        if field.has_presence:
            present = access.present("m", self._message, field)
            if not has_body:
                self._required(_unless(present), rules, field, place, "undefined")
                return
            with self._block(f"if ({present})"):
                self._element(rules, child, field, self._local(field, access.held("m", field)), place)
            if rules.required:
                with self._block("else", comment(rules.place, "required")):
                    self._writer.line(self._adding(self._required_rule(rules, field, place), "undefined", place))
            return
        value = self._local(field)
        with ExitStack() as blocks:
            self._unless_unset(not_zero(value, field), f"{value}", rules, field, place, has_body, blocks)
            if has_body:
                self._element(rules, child, field, value, place)

    def _unless_unset(
        self, is_set_code: str, value: str, rules: ir.ValueRules, field: ir.Field, place: _Place, has_body: bool,
        blocks: ExitStack,
    ) -> None:  # fmt: skip
        """Opens the block in which the rules of a value without presence apply."""
        if rules.required:
            if not has_body:
                self._required(_unless(is_set_code), rules, field, place, value)
                return
            with self._block(f"if ({_unless(is_set_code)})", comment(rules.place, "required")):
                self._writer.line(self._adding(self._required_rule(rules, field, place), value, place))
            blocks.enter_context(self._block("else"))
        elif rules.ignore == "if_zero_value":
            blocks.enter_context(self._block(f"if ({is_set_code})"))

    def _repeated(self, field: ir.Field, rules: ir.ValueRules, child: str | None) -> None:
        items = rules.items or _NO_RULES
        child = None if items.ignore == "always" else child
        loops = items.ignore != "always" and bool(items.checks or child)
        if not (loops or rules.checks or rules.required):
            return
        place, values = self._place_of(field), self._local(field)
        with ExitStack() as blocks:
            has_body = bool(loops or rules.checks)
            self._unless_unset(f"{values}.length !== 0", values, rules, field, place, has_body, blocks)
            for check in rules.checks:
                self._check(check, Code(values), values, place, self._module.governance(field), part=field)
            if loops:
                item = self._names.fresh(_singular_name(field.name))
                # Loops follow each other: none stands in another, as messages in messages have functions of their own.
                self._index = index = self._index or self._names.fresh("i")
                head = f"for (const [{index}, {item}] of {values}.entries())"
                with self._block(head), self._unless_zero(items, field, item):
                    read, each = self._read_item(field, item), self._place_of(field, index)
                    self._element(items, child, field, read, each)

    def _read_item(self, part: ir.Field, item: str) -> str:
        """A local with the item as rules see it: floats in single precision, enums as numbers."""
        if part.type == ir.TYPE_FLOAT:
            name = self._names.fresh("single")
            self._writer.line(f"const {name} = Math.fround({item});")
            return name
        if part.type == ir.TYPE_ENUM:
            name = self._names.fresh("number")
            self._writer.line(f"const {name}: number = {item};")
            return name
        return item

    def _map(self, field: ir.Field, rules: ir.ValueRules, child: str | None) -> None:
        assert field.key is not None
        assert field.value is not None
        keys, values = rules.keys or _NO_RULES, rules.values or _NO_RULES
        child = None if values.ignore == "always" else child
        checks_keys = keys.ignore != "always" and bool(keys.checks)
        checks_values = values.ignore != "always" and bool(values.checks or child)
        if not (checks_keys or checks_values or rules.checks or rules.required):
            return
        entries, place = self._local(field), self._place_of(field)
        with ExitStack() as blocks:
            has_body = bool(checks_keys or checks_values or rules.checks)
            size = f"Object.keys({entries}).length !== 0"
            self._unless_unset(size, entries, rules, field, place, has_body, blocks)
            for check in rules.checks:
                self._check(check, Code(entries), entries, place, self._module.governance(field), part=field)
            if not (checks_keys or checks_values):
                return
            property_ = self._names.fresh("property")
            kind = access.text(access.key_kind(field))
            head = f"for (const {property_} of {self.use('codepoints', 'sortedKeys')}({entries}, {kind}))"
            with self._block(head):
                key = self._names.fresh("key")
                self._writer.line(f"const {key} = {access.subscript_of(field, property_)};")
                # Keys of integers are bigints, whatever their width.
                if checks_keys:
                    each = self._place_of(field, key, for_key=True)
                    with self._unless_zero(keys, field.key, key, is_key=True):
                        self._element(keys, None, field.key, key, each, field=field, is_key=True)
                if checks_values:
                    value = self._names.fresh("value")
                    index = f"Number({property_})" if _numbers(field.key) else property_
                    self._writer.line(f"const {value} = {entries}[{index}]!;")
                    with self._unless_zero(values, field.value, value):
                        read = self._read_item(field.value, value)
                        self._element(values, child, field.value, read, self._place_of(field, key), field=field)

    @contextmanager
    def _unless_zero(self, rules: ir.ValueRules, part: ir.Field, value: str, *, is_key: bool = False) -> Iterator[None]:
        """The rules of an element, unless they do not apply to zero values.

        An element has no presence on the wire, so -0.0 is zero here, as it is not for a field. A message is zero where
        nothing is set in it, not even an unknown field.
        """
        if rules.ignore != "if_zero_value":
            yield
            return
        if part.type in ir.MESSAGE_TYPES:
            shape = self._validators.shapes.of(str(part.message))
            test = f"!{self.use('shape', 'isEmpty')}({value}, {shape})"
        elif part.type in ir.FLOAT_TYPES:
            # Single precision: what rounds to zero is zero.
            rounded = f"Math.fround({value})" if part.type == ir.TYPE_FLOAT else value
            test = f"{rounded} !== 0"
        elif is_key and part.type in ir.INTEGER_TYPES:
            test = f"{value} !== 0n"
        else:
            test = not_zero(value, part)
        with self._block(f"if ({test})"):
            yield

    # -- values

    def _element(
        self,
        rules: ir.ValueRules,
        child: str | None,
        part: ir.Field,
        value: str,
        place: _Place,
        *,
        field: ir.Field | None = None,
        is_key: bool = False,
    ) -> None:
        """The checks of one value, then the message in it. ``field`` is the map that an entry's ``part`` is from."""
        held_by = "bigint" if is_key and part.type in ir.INTEGER_TYPES else held(part)
        this = Code(value, held=held_by)
        if part.type in ir.MESSAGE_TYPES and any(check.program is not None for check in rules.checks):
            this = self._represented(part, value, wrapped=field is None and access.is_wrapped(part))
        governed = self._module.governance(field or part)
        for check in rules.checks:
            self._check(check, this, value, place, governed)
        if child is None:
            return
        below = self.use("violation", "below")
        subscript = f", {place.subscript}" if place.subscript else ""
        function = self._validators.function(child)
        self._writer.line(f"{function}({value}, {below}(at, {place.element}{subscript}), run);")

    def _represented(self, part: ir.Field, value: str, *, wrapped: bool) -> Code:
        """``this`` as CEL sees the message in ``value``: nanoseconds for moments and durations, wrapped values bare.

        ``wrapped``: protobuf-es has the bare value already.
        """
        if part.message in _TIMES:
            name = self._names.fresh(f"{value}Nanos")
            self._writer.line(f"const {name} = {self.use('cel/time', 'nanos')}({value});")
            return Code(name)
        if part.message in ir.WRAPPERS:
            bare = value if wrapped else f"{value}.value"
            if wrapped_type(str(part.message)) == ir.TYPE_FLOAT:
                bare = f"Math.fround({bare})"
            name = self._names.fresh(f"{value}Value")
            self._writer.line(f"const {name} = {bare};")
            return Code(name, held=held(part))
        return Code(value)

    # -- checks

    def _check(
        self, check: ir.Check, this: Code, value: str, place: _Place, governed: ir.Governance,
        *, part: ir.Field | None = None,
    ) -> None:  # fmt: skip
        """One rule: at most one violation. ``part`` is the field where ``this`` is a container."""
        shown = comment(check.place, check.rule_path or check.rule_id)
        self._about = subject(check, self._message, place.name)
        if check.program is None:
            rule = self._checked(check, check.message, place, governed)
            with self._block(f"if ({_native_condition(check, this.text)})", shown):
                self._writer.line(self._adding(rule, value, place))
            return
        reduced = as_check(check.program)
        try:
            if reduced is None:
                self._textual(check, check.program, this, value, place, governed, part, shown)
                return
            emitter = Emitter(this, self, self._clock(check.program), part)
            rules = [
                self._checked(check, check.message if branch.message is None else branch.message, place, governed)
                for branch in reduced.branches
            ]
            raises = any(can_raise(branch.condition) for branch in reduced.branches)
            conditions = [emitter.expr(branch.condition).text for branch in reduced.branches]
        except Unsupported as error:
            name = check.rule_id or check.source or check.rule_path
            raise Inexact(
                check.place, f"the rule {name!r} has no exact form in TypeScript: {error.why}", error.hint
            ) from None
        if not rules:
            return
        with self._evaluated(raises, rules[0]):
            for number, (condition, rule) in enumerate(zip(conditions, rules, strict=True)):
                head = f"{'else ' if number else ''}if ({condition})"
                with self._block(head, "" if number else shown):
                    self._writer.line(self._adding(rule, value, place))

    def _textual(
        self, check: ir.Check, program: Program, this: Code, value: str, place: _Place, governed: ir.Governance,
        part: ir.Field | None, shown: str,
    ) -> None:  # fmt: skip
        """A rule whose message is made at run time."""
        rule = self._checked(check, "", place, governed)
        emitted = Emitter(this, self, self._clock(program), part).expr(program.expr)
        with self._evaluated(can_raise(program.expr), rule):
            name = self._names.fresh("text")
            self._writer.line(f"const {name} = {emitted.text};{shown}")
            with self._block(f'if ({name} !== "")'):
                self._writer.line(self._adding(rule, value, place, name))

    def _clock(self, program: Program) -> str | None:
        """A local with the moment that one rule takes for now."""
        if not program.uses_now:
            return None
        name = self._names.fresh("now")
        self._writer.line(f"const {name} = run.now();")
        return name

    @contextmanager
    def _evaluated(self, raises: bool, rule: str) -> Iterator[None]:
        """The evaluation of a rule: where it has no result, that ends the run, if the rule counts."""
        if not raises:
            yield
            return
        with self._block(f"{self.use('cel/logic', 'evaluated')}(run, {rule}, () =>", close="});"):
            yield

    def _checked(self, check: ir.Check, message: str, place: _Place, governed: ir.Governance) -> str:
        describes = ("message" if place.wrapped else "value") if check.rule_path else ""
        return self._rule(place, check.rule_id, message, governed, rule_text=check.source, describes=describes)

    def _rule(
        self, place: _Place, rule_id: str, message: str, governed: ir.Governance, *, rule_text: str = "",
        describes: str = "value",
    ) -> str:  # fmt: skip
        return self._module.rule(
            self._message.full_name, place.element, place.name, rule_id, message,
            governed=governed, rule_text=rule_text, for_key=place.for_key, describes=describes,
        )  # fmt: skip

    def _required_rule(self, rules: ir.ValueRules, field: ir.Field, place: _Place) -> str:
        del rules
        return self._rule(place, "required", "value is required", self._module.governance(field))

    def _required(self, condition: str, rules: ir.ValueRules, field: ir.Field, place: _Place, value: str) -> None:
        with self._block(f"if ({condition})", comment(rules.place, "required")):
            self._writer.line(self._adding(self._required_rule(rules, field, place), value, place))

    def _adding(self, rule: str, value: str, place: _Place, text: str = "") -> str:
        arguments = ["run", "at", rule, value, place.subscript or "undefined", text]
        while arguments[-1] in ("", "undefined"):
            arguments.pop()
        return f"{self.use('violation', 'add')}({', '.join(arguments)});"

    # -- variables and blocks

    def _local(self, field: ir.Field, code: str = "") -> str:
        """A local variable that holds the field's value; read once in a block, by ``code``."""
        code = code or access.read("m", self._message, field)
        for scope in reversed(self._cached):
            if field.name in scope:
                return scope[field.name]
        name = self._names.of_field(field)
        self._writer.line(f"const {name} = {code};")
        self._cached[-1][field.name] = name
        return name

    @contextmanager
    def _block(self, head: str, note: str = "", close: str = "}") -> Iterator[None]:
        """A block of code whose locals are forgotten at its end."""
        with self._writer.block(f"{head} {{{note}"):
            self._cached.append({})
            try:
                yield
            finally:
                self._cached.pop()
        self._writer.line(close)

    # -- the CEL emitter's Scope

    def field(self, reference: FieldRef) -> tuple[ir.Message, ir.Field]:
        """The message and field that a reference of CEL means."""
        message = self._module.schema.messages.get(reference.message)
        for field in message.fields if message is not None else ():
            if field.name == reference.name and field.number == reference.number:
                assert message is not None
                return message, field
        raise Unsupported(f"it reads {reference.message}.{reference.name}", "state the rule on fields of the contract")

    def local(self, base: str, message: ir.Message, field: ir.Field) -> str:
        """A local with a field of ``m``; of any other message, code that reads it."""
        return self._local(field) if base == "m" else access.read(base, message, field)

    def empty(self, message: str) -> str:
        """A constant that reads as a message with nothing set."""
        return self._validators.shapes.empty(message)

    def constant(self, value_code: str, hint: str, annotation: str = "") -> str:
        """A module-level constant."""
        return self._module.own_constant(value_code, f"{hint}_{self._about}" if self._about else hint, annotation)

    def use(self, path: str, name: str) -> str:
        """The local name of a helper, or of a type that a helper module exports (``type At``)."""
        return self._module.use(path, name.removeprefix("type "), type_only=name.startswith("type "))

    def temp(self, hint: str) -> str:
        """A fresh local name."""
        return self._names.fresh(hint)


def _unless(condition: str) -> str:
    """Code of the contrary of a condition."""
    return negated(Code(condition, CONDITIONAL)).text


def _unless_unread(parameter: str, body: str) -> str:
    """A parameter's name, with an underscore before it where nothing reads it: not every rule has code."""
    is_read = re.search(rf"(?<![.$\w]){parameter}\b", _NOTE.sub("", body)) is not None
    return parameter if is_read else f"_{parameter}"


def _native_condition(check: ir.Check, this: str) -> str:
    """Code of the condition under which a rule that the engine decides itself is broken."""
    values = access.literal(check.values)
    match check.native:
        case "enum_defined_only" if is_range(check.values):
            return f"{this} < {min(check.values)} || {this} > {max(check.values)}"
        case "enum_defined_only":
            return f"!{values}.includes({this})"
        case "any_in":
            return f"!{values}.includes({this}.typeUrl)"
        case _:
            return f"{values}.includes({this}.typeUrl)"


def _numbers(key: ir.Field) -> bool:
    """Whether protobuf-es types a map with such keys as indexed by numbers."""
    return key.type in ir.INTEGER_TYPES and key.type not in access.BIG


def comment(place: ir.Place, what: str) -> str:
    """A comment for the end of a line: where the contract demands what the line checks."""
    short = what if what.isprintable() and len(what) < 60 else "cel"
    return f" // {where(place)} {short}" if place.line else f" // {short}"


def told(message: ir.Message) -> str:
    """A message and the line of the contract where it is declared, for a comment."""
    name = message.full_name.rpartition(".")[2]
    return f"{name} ({where(message.place).replace('*/', '* /')})" if message.place.line else name


def _singular_name(plural: str) -> str:
    """``entities`` -> ``entity``, ``tags`` -> ``tag``: a name for one item."""
    name = access.property_name(plural)
    if name.endswith("ies") and len(name) > 4:
        return f"{name[:-3]}y"
    if name.endswith("s") and not name.endswith("ss") and len(name) > 2:
        return name[:-1]
    return f"{name}Item"
