"""Emits ``_validate_<message>``: straight-line code for the buf.validate rules of one message and what is in it.

One function checks a whole record in one pass. Messages in messages are inlined, because a call for each costs 6 to 8
percent; recursive and very large ones get a function of their own, and their violations are moved below the field that
holds them. The list of violations is made when the first one is found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from protocontract_compiler import ir
from protocontract_compiler.cel.checks import as_check
from protocontract_compiler.emit.names import Names, attribute, literal, snake
from protocontract_compiler.emit.python.cel_expr import emit, emit_condition
from protocontract_compiler.emit.python.module import Module, governance_keywords
from protocontract_compiler.emit.python.spots import Spot, comment, native_condition, singular_name, told, tuple_code
from protocontract_compiler.emit.walk import MessageFunctions, has_rules, subject
from protocontract_compiler.emit.writer import Writer
from protocontract_compiler.ir_cel import FieldRef, Program
from protocontract_compiler.passes import reach

# A message with more rules than this, itself and below, is called instead of inlined; so is one nested deeper, and what
# comes when a function has taken in so many rules of other messages.
_INLINE_RULES = 80
_INLINE_DEPTH = 5
_INLINE_TOTAL = 400

_NO_RULES = ir.ValueRules()


_CLOCK = re.compile(r"\bnow\b")


class Validators(MessageFunctions):
    """The validate functions of one module."""

    prefix = "_validate"

    def __init__(self, module: Module) -> None:
        super().__init__(module.schema, module.names, module.functions, has_rules)
        self.module = module
        self._recursive = reach.recursive(self.schema)
        self._weights: dict[str, int] = {}

    def text(self, message: ir.Message, function: str) -> str:
        """The text of a message's function, whose name that is."""
        return _Function(self, message, function).text()

    def inlines(self, message: str, depth: int, inlined: int) -> bool:
        """Whether a message is checked where it stands, in a function that has ``inlined`` rules of others already."""
        if message in self._recursive or depth >= _INLINE_DEPTH:
            return False
        weight = self.weight(message)
        # What stands in an inlined message was counted with it.
        return weight <= _INLINE_RULES and (depth > 0 or inlined + weight <= _INLINE_TOTAL)

    def weight(self, message: str) -> int:
        """The number of a message's rules, with those of the messages below it as often as they are reached."""
        found = self._weights.get(message)
        if found is None:
            found = 0
            for field in self.schema.messages[message].fields:
                found += field.rules is not None
                child = field.element_message
                if child in self.work and child not in self._recursive:
                    found += self.weight(child)
            self._weights[message] = found
        return found


class _Function:
    """One function while it is written. It is the ``Scope`` of the CEL emitter."""

    def __init__(self, validators: Validators, message: ir.Message, name: str) -> None:
        self._validators = validators
        self._module = validators.module
        self._root = message
        self._name = name
        self._writer = Writer()
        self._names = Names(frozenset({"m", "out"}))
        self._out = "out"
        self._depth = 0
        self._inlined = 0
        # Locals that hold fields, by message variable and field; a block's own are forgotten at its end.
        self._cached: list[dict[tuple[str, str], str]] = [{}]
        self._messages = {"m"}
        # Subscripts of lists by depth of nesting: loops that follow each other share one.
        self._indices: list[str] = []
        self._loops = 0
        # What the check that is being written is about, for names of its constants.
        self._about = ""

    def text(self) -> str:
        """The source of the function."""
        annotation = self._module.annotation(self._root)
        runtime = self._module.runtime("Violation")
        with self._writer.block(f"def {self._name}(m: {annotation}) -> list[{runtime}] | None:"):
            self._writer.line(f'"""{self._says()}"""')
            self._writer.line(f"out: list[{runtime}] | None = None")
            self._message(self._root, "m", Spot())
            self._writer.line("return out")
        return self._writer.text()

    def _says(self) -> str:
        holds = any(field.element_message in self._validators.work for field in self._root.fields)
        return f"What breaks the rules of {told(self._root)}{' or of messages in it' if holds else ''}."

    # -- messages

    def _message(self, message: ir.Message, base: str, spot: Spot) -> None:
        if message.delegated is not None:
            arguments = f"{self._out}, {base}, {self._place(spot)}"
            table = self._governed(message)
            if table:
                arguments += f", {table}"
            if self._reads_clock(message):
                arguments += ", reads_clock=True"
            self._writer.line(f"{self._out} = {self._rt('delegate')}({arguments})")
            return
        self._messages.add(base)
        governed = self._message_governance(message)
        for check in message.rules.checks:
            self._check(check, base, "None", spot, governed(check), reads=_reads(check))
        for rule in message.rules.oneofs:
            self._message_oneof(message, rule, base, spot)
        for oneof in message.oneofs:
            if oneof.required:
                self._oneof_required(message, oneof, base, spot)
        for field in message.fields:
            self._field(message, field, base, spot)

    def _governed(self, message: ir.Message) -> str:
        """The name of a constant with the governance of all that a message reaches; empty where there is none."""
        entries: list[str] = []
        for reached in reach.reached(self._validators.schema, message):
            own = ir.Governance(sensitive=reached.full_name in self._module.private, contexts=_contexts(reached))
            if own != ir.Governance():
                keywords = governance_keywords(own)
                entries.append(f"{literal(reached.full_name)}: {self._rt('Governed')}({', '.join(keywords)})")
            for field in reached.fields:
                keywords = governance_keywords(field.governance)
                if keywords:
                    name = literal(f"{reached.full_name}.{field.name}")
                    entries.append(f"{name}: {self._rt('Governed')}({', '.join(keywords)})")
        if not entries:
            return ""
        return self._module.constant(f"{{{', '.join(entries)}}}", f"governed_{snake(message.python_path)}")

    def _reads_clock(self, message: ir.Message) -> bool:
        """Whether a rule of a message, or of what it reaches, may ask what time it is: its CEL has the word."""
        return any(
            _CLOCK.search(source)
            for reached in reach.reached(self._validators.schema, message)
            for source in (reached.rule_source, *(field.rule_source for field in reached.fields))
        )

    def _message_governance(self, message: ir.Message) -> Callable[[ir.Check], ir.Governance]:
        """A rule of the message is as sensitive as the most sensitive field that it reads."""
        hidden = {field.name for field in message.fields if self._module.governance(field).sensitive}

        def governed(check: ir.Check) -> ir.Governance:
            return ir.Governance(sensitive=not hidden.isdisjoint(_reads(check)), contexts=_contexts(message))

        return governed

    def _message_oneof(self, message: ir.Message, rule: ir.OneofRule, base: str, spot: Spot) -> None:
        tests = [self._is_set(message.field(name), base) for name in rule.fields]
        count = self._names.fresh("count")
        self._writer.line(f"{count} = {' + '.join(f'bool({test})' for test in tests)}")
        listed, governed = ", ".join(rule.fields), ir.Governance(contexts=_contexts(message))
        with self._writer.block(f"if {count} > 1:{comment(rule.place, 'message.oneof')}"):
            self._add("message.oneof", f"only one of {listed} can be set", "", spot, "None", governed, rule.fields)
        if rule.required:
            with self._writer.block(f"elif not {count}:"):
                self._add("message.oneof", f"one of {listed} must be set", "", spot, "None", governed, rule.fields)

    def _oneof_required(self, message: ir.Message, oneof: ir.Oneof, base: str, spot: Spot) -> None:
        with self._writer.block(
            f"if {base}.WhichOneof({literal(oneof.name)}) is None:{comment(oneof.place, 'oneof.required')}"
        ):
            element = self._module.oneof_element(message.full_name, oneof.name)
            inner = self._module.path_code(spot.path).removeprefix("(").removesuffix(")").rstrip(",")
            rule = self._module.rule(
                self._root.full_name, spot.path, "required", "exactly one field is required in oneof",
                path_code=f"({f'{inner}, ' if inner else ''}{element},)", reads=oneof.fields, oneof=oneof.name,
                governed=ir.Governance(contexts=_contexts(message)),
            )  # fmt: skip
            self._line_add(rule, "None", spot)

    def _is_set(self, field: ir.Field, base: str) -> str:
        """Code of "the field is set": present, or not its zero value, or not empty."""
        if field.shape is not ir.Shape.SINGULAR:
            return f"len({attribute(base, field.name)})"
        if field.has_presence:
            return f"{base}.HasField({literal(field.name)})"
        value = attribute(base, field.name)
        return f"not {self._rt('is_zero')}({value})" if field.type in ir.FLOAT_TYPES else value

    # -- fields

    def _field(self, message: ir.Message, field: ir.Field, base: str, spot: Spot) -> None:
        rules = field.rules or _NO_RULES
        child = field.element_message if field.element_message in self._validators.work else None
        if rules.ignore == "always" or (field.rules is None and child is None):
            return
        here = spot.below(message.full_name, field)
        match field.shape:
            case ir.Shape.SINGULAR:
                self._singular(field, rules, child, base, here)
            case ir.Shape.REPEATED:
                self._repeated(field, rules, child, base, here)
            case ir.Shape.MAP:
                self._map(field, rules, child, base, here)

    def _singular(self, field: ir.Field, rules: ir.ValueRules, child: str | None, base: str, spot: Spot) -> None:
        has_body = bool(rules.checks) or child is not None
        if field.has_presence:
            present = f"{base}.HasField({literal(field.name)})"
            if has_body:
                with self._block(f"if {present}:"):
                    value = self._local(base, field)
                    self._element(rules, child, field, value, spot)
                if rules.required:
                    with self._writer.block(f"else:{comment(rules.place, 'required')}"):
                        self._required(rules, field, spot, "None")
            elif rules.required:
                with self._writer.block(f"if not {present}:{comment(rules.place, 'required')}"):
                    self._required(rules, field, spot, "None")
            return
        if not has_body and not rules.required:
            return
        value = self._local(base, field)
        is_float = field.type in ir.FLOAT_TYPES
        if rules.required:
            zero = f"{self._rt('is_zero')}({value})" if is_float else f"not {value}"
            with self._writer.block(f"if {zero}:{comment(rules.place, 'required')}"):
                self._required(rules, field, spot, value)
            if has_body:
                with self._block("else:"):
                    self._element(rules, child, field, value, spot)
        elif rules.ignore == "if_zero_value":
            test = f"not {self._rt('is_zero')}({value})" if is_float else value
            with self._block(f"if {test}:"):
                self._element(rules, child, field, value, spot)
        else:
            self._element(rules, child, field, value, spot)

    def _repeated(self, field: ir.Field, rules: ir.ValueRules, child: str | None, base: str, spot: Spot) -> None:
        items = rules.items or _NO_RULES
        child = None if items.ignore == "always" else child
        loops = items.ignore != "always" and bool(items.checks or child)
        if not (loops or rules.checks or rules.required):
            return
        # A slice of upb's container is a list: cheaper to count and to go through than the container.
        values = self._local(base, field, suffix="[:]" if loops else "")
        with self._unless_empty(field, rules, values, spot):
            governed, message = self._module.governance(field), field.element_message or ""
            for check in rules.checks:
                self._check(check, values, values, spot, governed, items=message)
            if loops:
                index, item = self._index(), self._names.fresh(singular_name(field.name))
                head = f"for {index}, {item} in enumerate({values}):"
                self._loops += 1
                with self._block(head), self._unless_zero(items, field, item):
                    self._element(items, child, field, item, spot.each(index))
                self._loops -= 1

    def _map(self, field: ir.Field, rules: ir.ValueRules, child: str | None, base: str, spot: Spot) -> None:
        assert field.key is not None
        assert field.value is not None
        keys, values = rules.keys or _NO_RULES, rules.values or _NO_RULES
        child = None if values.ignore == "always" else child
        checks_keys = keys.ignore != "always" and bool(keys.checks)
        checks_values = values.ignore != "always" and bool(values.checks or child)
        if not (checks_keys or checks_values or rules.checks or rules.required):
            return
        entries = self._local(base, field)
        with self._unless_empty(field, rules, entries, spot):
            governed, message = self._module.governance(field), field.element_message or ""
            for check in rules.checks:
                self._check(check, entries, entries, spot, governed, items=message)
            if not (checks_keys or checks_values):
                return
            key = self._names.fresh("key")
            each = spot.each(key)
            outer, self._out = self._out, self._names.fresh("found")
            self._writer.line(f"{self._out}: list[{self._rt('Violation')}] | None = None")
            with self._block(f"for {key} in {entries}:"):
                if checks_keys:
                    with self._unless_zero(keys, field.key, key):
                        self._element(keys, None, field.key, key, each, for_key=True, field=field)
                if checks_values:
                    value = self._names.fresh("value")
                    self._writer.line(f"{value} = {entries}[{key}]")
                    with self._unless_zero(values, field.value, value):
                        self._element(values, child, field.value, value, each, field=field)
            found, self._out = self._out, outer
            # Maps have no order of their own: violations are sorted by key so that equal input gives equal output.
            with self._writer.block(f"if {found} is not None:"):
                self._writer.line(f"{outer} = {self._rt('add_entries')}({outer}, {found}, {len(spot.subscripts)})")

    @contextmanager
    def _unless_empty(self, field: ir.Field, rules: ir.ValueRules, values: str, spot: Spot) -> Iterator[None]:
        """The rules of a list or map, where it is not empty although it must not be, or need not be checked."""
        if rules.required:
            with self._writer.block(f"if not {values}:{comment(rules.place, 'required')}"):
                self._required(rules, field, spot, values)
            if rules.checks or rules.items or rules.keys or rules.values or field.is_message:
                with self._block("else:"):
                    yield
            else:
                yield
        elif rules.ignore == "if_zero_value" and rules.checks:
            with self._block(f"if {values}:"):
                yield
        else:
            yield

    @contextmanager
    def _unless_zero(self, rules: ir.ValueRules, field: ir.Field, value: str) -> Iterator[None]:
        """The rules of an element, unless they do not apply to zero values.

        An element has no presence on the wire, so -0.0 is zero here (probed), as it is not for a field. A message is
        zero where nothing is set in it, not even an unknown field (probed): where it takes no bytes.
        """
        if rules.ignore != "if_zero_value":
            yield
            return
        is_message = field.type in ir.MESSAGE_TYPES
        with self._block(f"if {value}.ByteSize():" if is_message else f"if {value}:"):
            yield

    # -- values

    def _element(
        self,
        rules: ir.ValueRules,
        child: str | None,
        part: ir.Field,
        value: str,
        spot: Spot,
        *,
        for_key: bool = False,
        field: ir.Field | None = None,
    ) -> None:
        """The checks of one value, then the message in it. ``field`` is the map that an entry's ``part`` is from."""
        this = value
        if rules.checks and part.type in ir.MESSAGE_TYPES:
            this = self._represented(part, value, rules)
        governed = self._module.governance(field or part)
        of_message = part.type in ir.MESSAGE_TYPES and this == value
        for check in rules.checks:
            reads = _reads(check) if of_message and check.program is not None else None
            self._check(check, this, value, spot, governed, for_key=for_key, reads=reads)
        if child is None:
            return
        if self._validators.inlines(child, self._depth, self._inlined):
            if not self._depth:
                self._inlined += self._validators.weight(child)
            self._depth += 1
            self._message(self._validators.schema.messages[child], value, spot)
            self._depth -= 1
        else:
            found = self._names.fresh("inner")
            self._writer.line(f"{found} = {self._validators.function(child)}({value})")
            with self._writer.block(f"if {found} is not None:"):
                self._writer.line(f"{self._out} = {self._rt('nest')}({self._out}, {found}, {self._place(spot)})")

    def _represented(self, part: ir.Field, value: str, rules: ir.ValueRules) -> str:
        """``this`` as CEL sees the message in ``value``: nanoseconds for moments and durations, wrapped values bare."""
        if not any(check.program is not None for check in rules.checks):
            return value
        if part.message in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
            name = self._names.fresh(f"{value}_ns")
            self._writer.line(f"{name} = {value}.seconds * 1_000_000_000 + {value}.nanos")
            return name
        if part.message in ir.WRAPPERS:
            name = self._names.fresh(f"{value}_value")
            self._writer.line(f"{name} = {value}.value")
            return name
        self._messages.add(value)
        return value

    # -- checks

    def _check(
        self,
        check: ir.Check,
        this: str,
        value: str,
        spot: Spot,
        governed: ir.Governance,
        *,
        for_key: bool = False,
        items: str = "",
        reads: tuple[str, ...] | None = None,
    ) -> None:
        """One rule: at most one violation.

        ``items`` is the message type of a container's elements, ``reads`` all fields that the rule of a message reads.
        """
        shown = comment(check.place, check.rule_path or check.rule_id)
        owner, name = (spot.path[-1].message, spot.path[-1].field.name) if spot.path else (self._root.full_name, "")
        self._about = subject(check, self._validators.schema.messages[owner], name)
        if check.program is None:
            with self._writer.block(f"if {native_condition(check, this)}:{shown}"):
                self._line_add(self._rule(check, check.message, spot, governed, for_key, reads), value, spot)
            return
        now = self._now(check.program)
        reduced = as_check(check.program)
        if reduced is None:
            text = self._names.fresh("text")
            emitted = emit(check.program, this=this, scope=self, now=now, items=items)
            rule = self._rule(check, "", spot, governed, for_key, reads)
            with self._evaluated(emitted.can_raise, rule, spot):
                self._writer.lines(emitted.prelude)
                self._writer.line(f"{text} = {emitted.code}{shown}")
                with self._writer.block(f"if {text}:"):
                    self._line_add(rule, value, spot, text)
            return
        # All of them first: they read fields into locals, for which there is no room between `if` and `elif`.
        conditions = [
            emit_condition(branch.condition, this=this, scope=self, now=now, items=items) for branch in reduced.branches
        ]
        messages = (check.message if branch.message is None else branch.message for branch in reduced.branches)
        rules = [self._rule(check, message, spot, governed, for_key, reads) for message in messages]
        raises = any(condition.can_raise for condition in conditions)
        with self._evaluated(raises, rules[0], spot), ExitStack() as blocks:
            for place, (condition, rule) in enumerate(zip(conditions, rules, strict=True)):
                if place and condition.prelude:
                    # Statements cannot stand between `if` and `elif`.
                    blocks.enter_context(self._block("else:"))
                self._writer.lines(condition.prelude)
                word = "elif" if place and not condition.prelude else "if"
                with self._writer.block(f"{word} {condition.code}:{'' if place else shown}"):
                    self._line_add(rule, value, spot)

    @contextmanager
    def _evaluated(self, raises: bool, rule: str, spot: Spot) -> Iterator[None]:
        """The evaluation of a rule: where it has no result, that is noted as the rule's."""
        if not raises:
            yield
            return
        with self._block("try:"):
            yield
        failure = self._names.fresh("failure")
        with self._writer.block(f"except {self._rt('RuleEvaluationError')} as {failure}:"):
            arguments = [self._out, rule, failure, *([tuple_code(spot.subscripts)] if spot.subscripts else [])]
            self._writer.line(f"{self._out} = {self._rt('unevaluable')}({', '.join(arguments)})")

    def _now(self, program: Program) -> str | None:
        return f"{self._rt('now')}()" if program.uses_now else None

    def _rule(
        self,
        check: ir.Check,
        message: str,
        spot: Spot,
        governed: ir.Governance,
        for_key: bool,
        reads: tuple[str, ...] | None,
    ) -> str:
        return self._module.rule(
            self._root.full_name, spot.path, check.rule_id, message, check.rule_path, governed=governed,
            extension=check.extension, rule_text=check.source, for_key=for_key, reads=reads,
        )  # fmt: skip

    def _required(self, rules: ir.ValueRules, field: ir.Field, spot: Spot, value: str) -> None:
        rule_path = f"{rules.rule_prefix}required"
        self._add("required", "value is required", rule_path, spot, value, self._module.governance(field))

    def _add(
        self,
        rule_id: str,
        message: str,
        rule_path: str,
        spot: Spot,
        value: str,
        governed: ir.Governance,
        reads: tuple[str, ...] | None = None,
    ) -> None:
        rule = self._module.rule(
            self._root.full_name, spot.path, rule_id, message, rule_path, governed=governed, reads=reads
        )
        self._line_add(rule, value, spot)

    def _line_add(self, rule: str, value: str, spot: Spot, text: str | None = None) -> None:
        arguments = [self._out, rule]
        if value != "None" or spot.subscripts or text:
            arguments.append(value)
        if spot.subscripts or text:
            arguments.append(tuple_code(spot.subscripts))
        if text:
            arguments.append(text)
        self._writer.line(f"{self._out} = {self._rt('add')}({', '.join(arguments)})")

    def _place(self, spot: Spot) -> str:
        """Arguments that say where a message stands: path, subscripts, and the record's contract."""
        path = self._module.path_code(spot.path)
        return f"{path}, {tuple_code(spot.subscripts)}, {literal(self._root.full_name)}"

    # -- variables

    def _local(self, base: str, field: ir.Field, suffix: str = "") -> str:
        """A local variable that holds the field's value; read once in a block."""
        key = (base, field.name + suffix)
        for scope in reversed(self._cached):
            if key in scope:
                return scope[key]
        hint = snake(field.name)
        if base != "m" and not (self._names.is_free(hint) and self._names.is_free(f"{hint}_")):
            hint = f"{base}_{hint}"
        name = self._names.fresh(hint)
        self._writer.line(f"{name} = {attribute(base, field.name)}{suffix}")
        self._cached[-1][key] = name
        return name

    def _index(self) -> str:
        """The variable of a list's subscript in the loop that comes."""
        if self._loops == len(self._indices):
            self._indices.append(self._names.fresh("ijk"[self._loops] if self._loops < 3 else "index"))
        return self._indices[self._loops]

    @contextmanager
    def _block(self, head: str) -> Iterator[None]:
        """A block of code whose locals are forgotten at its end."""
        with self._writer.block(head):
            self._cached.append({})
            try:
                yield
            finally:
                self._cached.pop()

    def _rt(self, name: str) -> str:
        return self._module.runtime(name)

    # -- the CEL emitter's Scope

    def read(self, base: str, message: str, field: FieldRef) -> str:
        """Code that reads a field: a local, where ``base`` is a message of this function and the value a scalar."""
        if base in self._messages and field.cardinality == "singular" and field.wire != "message":
            return self._local(base, self._validators.schema.messages[message].field(field.name))
        return attribute(base, field.name)

    def has(self, base: str, message: str, field: FieldRef) -> str:
        """Code of CEL's ``has()``: presence, or a value that is not zero, or a list or map that is not empty."""
        return self._is_set(self._validators.schema.messages[message].field(field.name), base)

    def constant(self, value_code: str, hint: str) -> str:
        """A module-level constant. Patterns are compiled by the engines that the private runtime module offers."""
        if value_code.startswith(("re.", "re2.")):
            value_code = self._rt(value_code)
        return self._module.own_constant(value_code, f"{hint}_{self._about}" if self._about else hint)

    def runtime(self, name: str) -> str:
        """Code for a helper of the private runtime module."""
        return self._rt(name)

    def temp(self, hint: str) -> str:
        """A fresh local name."""
        return self._names.fresh(hint)


def _reads(check: ir.Check) -> tuple[str, ...]:
    """All fields of ``this`` that a rule reads."""
    return tuple(sorted(check.program.reads)) if check.program is not None else ()


def _contexts(message: ir.Message) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return message.contract.contexts if message.contract is not None else ()
