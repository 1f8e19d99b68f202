"""Messages as JSON objects: their properties, and the rules between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from protocontract_compiler import ir
from protocontract_compiler import ir_cel as cel
from protocontract_compiler.emit.jsonschema.combine import Json, all_of, any_of
from protocontract_compiler.emit.jsonschema.conditions import (
    Found,
    Unknown,
    evaluate,
    everything,
    join,
    kept,
    meet,
    over,
)
from protocontract_compiler.emit.jsonschema.fields import Fields, Judging, Property, kind_of
from protocontract_compiler.emit.jsonschema.forms import NULL
from protocontract_compiler.emit.jsonschema.sets import Numbers, points
from protocontract_compiler.emit.plain import one_line

_NUMBER_DEFAULTS: Final = {"number": 0, "bool": False, "text": "", "bytes": b""}


class Messages:
    """The schemas of a message and of all that it reaches; those below it become ``definitions``."""

    def __init__(self, schema: ir.Schema, root: ir.Message, *, normalized: bool) -> None:
        self._schema = schema
        self._root = root.full_name
        self.definitions: dict[str, Json] = {}
        self._fields = Fields(schema, self._reference, self._empty, normalized=normalized)

    def root(self) -> dict[str, Any]:
        """The schema of the message itself; ``definitions`` are complete afterwards."""
        return self._message(self._schema.messages[self._root], frozenset())

    def property_of(self, message: ir.Message, field: ir.Field) -> Property:
        """A field of a message as a property: what values it takes, and whether it may be left out."""
        return self._fields.of(field, _judging(message, field, frozenset()), self._moving(message, field))

    def _reference(self, name: str, unjudged: frozenset[str] | None) -> Json:
        """A message below. ``unjudged`` are fields whose rules do not count there; None: no rule counts."""
        if name == self._root and unjudged == frozenset():
            return {"$ref": "#"}
        key = _key(name, unjudged)
        if key not in self.definitions:
            self.definitions[key] = True  # it may hold itself
            self.definitions[key] = self._message(self._schema.messages[name], unjudged)
        return {"$ref": f"#/$defs/{key}"}

    def _empty(self, name: str) -> Json:
        """A message below in which nothing may be set."""
        return all_of([{"type": "object"}, *(self._unset(field) for field in self._schema.messages[name].fields)])

    def _pointer(self, message: ir.Message, unjudged: frozenset[str] | None) -> str:
        at_root = message.full_name == self._root and unjudged == frozenset()
        return "#" if at_root else f"#/$defs/{_key(message.full_name, unjudged)}"

    def _message(self, message: ir.Message, unjudged: frozenset[str] | None) -> dict[str, Any]:
        properties: dict[str, Json] = {}
        required: list[str] = []
        either: list[Json] = []
        for field in message.fields:
            found = self._fields.of(field, _judging(message, field, unjudged), self._moving(message, field))
            names = list(dict.fromkeys((field.json_name, field.name)))
            properties[names[0]] = _described(found.schema, field, found.notes)
            if len(names) > 1:
                # JSON may use the name that the .proto has, too.
                properties[names[1]] = {"$ref": f"{self._pointer(message, unjudged)}/properties/{names[0]}"}
                either.append({"not": {"required": names}})
            if found.required and len(names) == 1:
                required += names
            elif found.required:
                either.append({"anyOf": [{"required": [name]} for name in names]})
        rules, notes = ([], []) if unjudged is None else self._rules(message, unjudged)
        schema: dict[str, Any] = {"title": message.full_name}
        if message.comment.strip():
            schema["description"] = one_line(message.comment)
        if notes:
            schema["$comment"] = f"rules: {', '.join(notes)}"
        schema |= {"type": "object", "properties": properties, "additionalProperties": False}
        if required:
            schema["required"] = required
        several = [part for part in (*either, *_oneofs(message), *rules) if part is not True]
        if several:
            schema["allOf"] = several
        return schema

    def _moving(self, message: ir.Message, field: ir.Field) -> frozenset[str]:
        """The fields of a span that move when its text is normalised."""
        if self._fields.normalized:
            return frozenset()
        names: set[str] = set()
        for relation in field.relations:
            text = relation.option("text")
            if relation.kind == "spans" and any(other.name == text and other.normalizer for other in message.fields):
                names |= {str(name) for key in ("start", "end", "surface") if (name := relation.option(key))}
        return frozenset(names)

    # -- rules of the message

    def _rules(self, message: ir.Message, unjudged: frozenset[str]) -> tuple[list[Json], list[str]]:
        found: list[Json] = []
        notes: list[str] = []
        contexts = {rule_id for rule_id, _ in message.contract.contexts} if message.contract is not None else set()
        if message.delegated is not None:
            notes.append(f"{message.delegated.partition(':')[0]} (not told)")
        moved = unjudged | (frozenset() if self._fields.normalized else _changed(message))
        for check in message.rules.checks:
            name = check.rule_id or check.source
            if check.rule_id in contexts:
                notes.append(f"{name} (in some contexts)")
                continue
            conditions = kept(check)
            if conditions is None:
                notes.append(f"{name} (not told)")
                continue
            whole = _Conditions(self._schema, self._fields, message, moved)
            told = meet("other", [whole.over(condition) for condition in conditions])
            assert not isinstance(told.values, Numbers)
            if not told.exact:
                notes.append(f"{name} ({'not told' if told.values is True else 'told in part'})")
            found.append(told.values)
        if "message.oneof" in contexts:
            notes += ["message.oneof (in some contexts)"] if message.rules.oneofs else []
        else:
            for rule in message.rules.oneofs:
                found += self._one_of(message, rule, moved)
        for oneof in message.oneofs:
            if oneof.required and "required" not in contexts:
                found.append(any_of(_present(message.field(name)) for name in oneof.fields))
        return found, notes

    def _one_of(self, message: ir.Message, rule: ir.OneofRule, moved: frozenset[str]) -> Iterator[Json]:
        """At most one of the fields is set, or exactly one. What is set by a normalizer is not known before."""
        if moved.intersection(rule.fields):
            return
        unset = {name: self._unset(message.field(name)) for name in rule.fields}
        yield any_of(all_of(unset[other] for other in rule.fields if other != name) for name in rule.fields)
        if rule.required:
            yield any_of(self._set(message.field(name)) for name in rule.fields)

    def _set(self, field: ir.Field) -> Json:
        """Objects in which the field may be set, as such a rule counts it."""
        if field.shape is ir.Shape.REPEATED:
            return all_of([_present(field), _at(field, {"minItems": 1})])
        if field.shape is ir.Shape.MAP:
            return all_of([_present(field), _at(field, {"minProperties": 1})])
        if field.has_presence or field.type in ir.FLOAT_TYPES:
            return _present(field)
        text = kind_of(field) == "text"
        nonzero, _ = self._fields.value(field, {"minLength": 1} if text else ~points([0]), field, None)
        return all_of([_present(field), _at(field, nonzero)])

    def _unset(self, field: ir.Field) -> Json:
        """Objects in which the field may be unset: absent, null, or its zero value where it has no presence."""
        zero: Json = False
        if field.shape is ir.Shape.REPEATED:
            zero = {"maxItems": 0}
        elif field.shape is ir.Shape.MAP:
            zero = {"maxProperties": 0}
        elif not field.has_presence:
            kind = kind_of(field)
            zero, _ = self._fields.value(field, {"const": ""} if kind == "text" else points([0]), field, None)
        return _at(field, any_of([NULL, zero]))


def _key(name: str, unjudged: frozenset[str] | None) -> str:
    """The name of a definition: the message's, with the fields that are not judged in parentheses."""
    if unjudged is None:
        return f"{name}(*)"
    return f"{name}({','.join(sorted(unjudged))})" if unjudged else name


def _judging(message: ir.Message, field: ir.Field, unjudged: frozenset[str] | None) -> Judging:
    written = {other.normalizer.target for other in message.fields if other.normalizer and other.normalizer.target}
    return Judging(
        changing=field.name in _changed(message),
        written=field.name in written or (unjudged is not None and field.name in unjudged),
        unjudged=unjudged is None,
    )


def _changed(message: ir.Message) -> frozenset[str]:
    """Fields whose values normalizers change before rules are looked at, and those that they write."""
    names: set[str] = set()
    for field in message.fields:
        normalizer = field.normalizer
        if normalizer is None:
            continue
        element = field.value if field.value is not None else field
        # On numbers these two only say which values there are and how JSON writes them.
        if normalizer.kind not in {"scalar", "label"} or element.type == ir.TYPE_STRING:
            names.add(field.name)
        if normalizer.target:
            names.add(normalizer.target)
    return frozenset(names)


def _described(schema: Json, field: ir.Field, notes: list[str]) -> Json:
    words: dict[str, Any] = {}
    if field.comment.strip():
        words["description"] = one_line(field.comment)
    if notes:
        words["$comment"] = f"rules: {', '.join(notes)}"
    if not words:
        return schema
    return {**words, **(schema if isinstance(schema, dict) else {"not": {}} if schema is False else {})}


def _names(field: ir.Field) -> list[str]:
    return list(dict.fromkeys((field.json_name, field.name)))


def _at(field: ir.Field, schema: Json) -> Json:
    """Objects whose field, where it is there, has such a value."""
    return True if schema is True else {"properties": dict.fromkeys(_names(field), schema)}


def _present(field: ir.Field) -> Json:
    """Objects in which the field is there, and not null."""
    takes_null = field.message == "google.protobuf.Value" or field.enum == "google.protobuf.NullValue"
    there = any_of({"required": [name]} for name in _names(field))
    return all_of([there] if takes_null else [there, _at(field, {"not": NULL})])


def _oneofs(message: ir.Message) -> Iterator[Json]:
    """Of the members of a oneof one is set at most: JSON that names two is refused."""
    for oneof in message.oneofs:
        members = [message.field(name) for name in oneof.fields]
        if len(members) > 1 and not any(
            member.message == "google.protobuf.Value" or member.enum == "google.protobuf.NullValue"
            for member in members
        ):
            yield any_of(
                {
                    "properties": dict.fromkeys(
                        (key for other in members if other is not member for key in _names(other)), NULL
                    )
                }
                for member in members
            )


class _Conditions:
    """Conditions on ``this`` where that is a message: each part that reads one field becomes a demand on it."""

    def __init__(self, schema: ir.Schema, fields: Fields, message: ir.Message, moved: frozenset[str]) -> None:
        self._schema = schema
        self._fields = fields
        self._message = message
        self._moved = moved

    def over(self, expr: cel.Expr) -> Found:
        """Objects for which the condition can be true."""
        match expr:
            case cel.Literal(value=bool(value)):
                return Found(value, True)
            case cel.And():
                return meet("other", [self.over(operand) for operand in expr.operands])
            case cel.Or():
                return join("other", [self.over(operand) for operand in expr.operands])
            case cel.Cond(condition=condition, then=then, otherwise=otherwise):
                return self.over(cel.Or((cel.And((condition, then)), cel.And((cel.negate(condition), otherwise)))))
            case cel.Compare(op="eq" | "ne", left=left, right=right) if left.type.kind == right.type.kind == "bool":
                if not isinstance(left, cel.Literal) and not isinstance(right, cel.Literal):
                    other = cel.negate(right) if expr.op == "ne" else right
                    same = cel.And((left, other)), cel.And((cel.negate(left), cel.negate(other)))
                    return self.over(cel.Or(same))
            case cel.Not(operand=operand) if not isinstance(cel.negate(operand), cel.Not):
                return self.over(cel.negate(operand))
        return self._atom(expr)

    def _atom(self, expr: cel.Expr) -> Found:
        unknown = Found(True, False)
        absent = isinstance(expr, cel.Not) and isinstance(expr.operand, cel.Has)
        has = expr.operand if isinstance(expr, cel.Not) else expr
        if isinstance(has, cel.Has):
            return self._has(has, absent=absent)
        leaves = _leaves(expr)
        if leaves is None or len(leaves) != 1:
            return unknown
        path = _path(leaves[0])
        fields = None if path is None else self._along(path)
        if fields is None or path is None or path[0] in self._moved:
            return unknown
        last = fields[-1]
        if last.message is not None and last.shape is ir.Shape.SINGULAR:
            return unknown  # a moment, a duration, a wrapped value, which can be null
        if last.shape is ir.Shape.SINGULAR:
            kind, default = kind_of(last), _default(last)
        else:
            kind, default = ("list" if last.shape is ir.Shape.REPEATED else "map"), ()
        if kind == "other":
            return unknown
        found = over(expr, kind, lambda part: part == leaves[0])
        if found.values == everything(kind):
            return Found(True, found.exact)
        if kind in {"list", "map"}:
            schema, told = found.values, ""
        else:
            schema, told = self._fields.value(last, found.values, last, None)
        assert not isinstance(schema, Numbers)
        unset = self._of_default(expr, leaves[0], default)
        for field in reversed(fields):
            if field is not last:
                schema = all_of([{"type": "object"}, schema])
            schema = self._reaching(field, schema, unset=unset is not False)
        return Found(schema, found.exact and not told and unset is not None)

    @staticmethod
    def _reaching(field: ir.Field, schema: Json, *, unset: bool) -> Json:
        """Objects whose field has such a value, or, where its default does too, may be unset."""
        if unset:
            return _at(field, any_of([schema, NULL]))
        return all_of([_at(field, schema), any_of({"required": [name]} for name in _names(field))])

    @staticmethod
    def _of_default(expr: cel.Expr, leaf: cel.Expr, default: Any) -> bool | None:
        def value_of(part: cel.Expr) -> Any:
            if part == leaf:
                return default
            raise Unknown

        try:
            return evaluate(expr, value_of) is True
        except Unknown:
            return None

    def _has(self, has: cel.Has, *, absent: bool) -> Found:
        """Presence of a field of the message itself, where it is one that JSON shows."""
        operand = has.operand
        if not (isinstance(operand, cel.Var) and operand.name == "this") or has.field.name in self._moved:
            return Found(True, False)
        field = self._message.field(has.field.name)
        if field.shape is not ir.Shape.SINGULAR or not field.has_presence:
            return Found(True, False)
        if field.message == "google.protobuf.Value" or field.enum == "google.protobuf.NullValue":
            return Found(True, False)
        return Found(_at(field, NULL) if absent else _present(field), True)

    def _along(self, path: list[str]) -> list[ir.Field] | None:
        """The fields of a path, the last one of any shape; None where it leads through a list or a special message."""
        found: list[ir.Field] = []
        message: ir.Message | None = self._message
        for name in path:
            if message is None or message.full_name.startswith("google.protobuf."):
                return None
            if found and found[-1].shape is not ir.Shape.SINGULAR:
                return None
            if found and name in _changed(message):
                return None
            found.append(message.field(name))
            message = self._schema.messages.get(found[-1].message or "")
        return found


def _default(field: ir.Field) -> Any:
    if field.default is not None:
        return field.default
    return _NUMBER_DEFAULTS.get(kind_of(field), 0)


def _leaves(expr: cel.Expr) -> list[cel.Expr] | None:
    """The chains of fields that an expression reads, each once; None where it reads anything else."""
    found: list[cel.Expr] = []
    waiting: list[cel.Expr] = [expr]
    while waiting:
        part = waiting.pop()
        if isinstance(part, cel.Select):
            if _path(part) is None:
                return None
            if part not in found:
                found.append(part)
        elif isinstance(part, cel.Var | cel.Has | cel.Macro):
            return None
        else:
            waiting += cel.children(part)
    return found


def _path(expr: cel.Expr) -> list[str] | None:
    names: list[str] = []
    while isinstance(expr, cel.Select):
        names.append(expr.field.name)
        expr = expr.operand
    return names[::-1] if isinstance(expr, cel.Var) and expr.name == "this" and not expr.slot else None
