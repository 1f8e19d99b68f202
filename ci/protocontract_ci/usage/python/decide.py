"""From sites and told types to uses."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from protocontract_ci.model import How, Use
from protocontract_ci.usage.python.foreign import is_foreign
from protocontract_ci.usage.python.names import Bound, Names
from protocontract_ci.usage.python.sites import BY_NAME, Site, Sites, fails
from protocontract_ci.usage.python.stubs import Revealed, Stubs
from protocontract_ci.usage.vocabulary import Elements
from protocontract_compiler import ir

#: Methods of a field's value that change it.
_CHANGING: Final = frozenset(
    {
        *("append", "extend", "add", "insert", "remove", "pop", "clear", "sort", "reverse", "update", "setdefault"),
        *("get_or_create", "CopyFrom", "MergeFrom", "Clear", "SetInParent", "ParseFromString", "MergeFromString"),
        *("FromDatetime", "GetCurrentTime", "FromSeconds", "FromMilliseconds", "FromNanoseconds", "FromTimedelta"),
        *("FromJsonString", "Pack"),
    }
)
#: What fills a message that it is given, or is called on.
_FILLING: Final = frozenset({"ParseFromString", "MergeFromString", "CopyFrom", "Parse", "ParseDict", "Merge", "Unpack"})
_TEXT_FORMAT_NAME: Final = re.compile(r"(?<![\w.\"'])([A-Za-z_]\w*)\s*[:{<]")
#: The path of a use of a violation's own words, whichever rule it is of.
VIOLATION: Final = "violation"
#: Types that may be any message.
_UNKNOWN: Final = frozenset({"", "Unknown", "Any", "Never", "object", "Message"})
_NOTHING: Final = Revealed()


class Decider:
    """Decides the sites of one file."""

    def __init__(
        self, sites: Sites, names: Names, elements: Elements, stubs: Stubs, told: Mapping[ast.expr, str], *, aware: bool
    ) -> None:
        self._sites = sites
        self._source = sites.source
        self._names = names
        self._elements = elements
        self._stubs = stubs
        self._told = told
        self._aware = aware
        self._found: dict[Use, None] = {}
        #: JSON accesses: the field that a lookup by a key gave.
        self._json: dict[ast.AST, tuple[ir.Field, ...]] = {}
        self._keyed: dict[ast.AST, Site] = {site.node: site for site in sites.found if site.kind == "key"}

    def uses(self) -> list[Use]:
        """All uses, in the order of the file."""
        self._imports()
        self._static_names()
        # What is inside comes first: a key of a key, a comparison of what a key gave.
        for site in sorted(self._sites.found, key=lambda each: (each.kind == "compare", *_end(each.node))):
            self._decide(site)
        for node, name in self._sites.full_names():
            self._add(node, name, "reflection")
        for each in self._sites.of_violations() if self._names.validates else ():
            texts = [value for value in self._sites.compared_with(each) if isinstance(value, str)]
            self._add(each, VIOLATION, "rule_id", text=texts[0] if len(texts) == 1 else "")
        return sorted(self._found, key=lambda use: (use.line, use.column, use.path, use.how))

    def _add(
        self, node: ast.AST, path: str, how: How, *, certain: bool = True, origin: int = 0, text: str = "",
        named: bool = True, handles: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        line = node.lineno  # type: ignore[attr-defined]
        column = self._source.column(node)  # type: ignore[arg-type]
        if isinstance(node, ast.Attribute) and node.end_lineno is not None:
            # The name stands at the end: a chain over several lines is used where the name is.
            line = node.end_lineno
            end = self._source.offset(line, node.end_col_offset or 0)
            column = end - self._source.offset(line, 0) - len(node.attr) + 1
        origin = 0 if origin == line else origin
        self._found[Use(self._source.path, line, column, path, how, certain, origin, text, named, handles)] = None

    def _type(self, node: ast.expr) -> Revealed:
        bound = self._names.resolve(node)
        if bound is not None and bound.kind != "contract":
            return _of(bound)
        told = self._told.get(node)
        return _NOTHING if told is None else self._stubs.read(told)

    # -- what imports decide

    def _imports(self) -> None:
        for imported in self._names.imports:
            how: How = "type_only" if imported.only_types else "import"
            bound = imported.bound
            file = self._names.file_of(imported.module)
            if file:
                self._add(imported.node, file, how)
            if bound.kind in ("message", "enum", "value", "service"):
                self._add(imported.node, bound.name, how, text=file if bound.kind in ("message", "enum") else "")

    def _static_names(self) -> None:
        for node in self._source.nodes:
            if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            bound = self._names.resolve(node)
            if bound is None or bound.kind in ("module", "grpc", "package"):
                continue
            parent = self._source.parent(node)
            if isinstance(parent, ast.Attribute) and self._names.resolve(parent) is not None:
                # Part of a longer name.
                continue
            if bound.kind == "error":
                self._add(node, bound.name, "error_code")
                continue
            if bound.kind == "contract":
                self._add(node, bound.name, "read")
                continue
            how: How = "enum_value" if bound.kind == "value" else "type_only" if self._is_type(node) else "read"
            if bound.kind == "service":
                how = "subclass" if isinstance(parent, ast.ClassDef) else "read"
                if isinstance(parent, ast.ClassDef):
                    self._servicer(parent, bound.name)
            self._add(node, bound.name, how, text=bound.file)
            if bound.kind == "enum" and isinstance(parent, ast.Attribute) and parent.attr == "Value":
                call = self._source.parent(parent)
                if isinstance(call, ast.Call) and call.args:
                    for text in self._sites.texts(call.args[0])[0]:
                        self._members(call, bound.name, text)

    def _is_type(self, node: ast.AST) -> bool:
        child, parent = node, self._source.parent(node)
        while parent is not None and not isinstance(child, ast.stmt):
            if isinstance(parent, ast.arg) or (isinstance(parent, ast.AnnAssign) and child is parent.annotation):
                return True
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef) and child is parent.returns:
                return True
            child, parent = parent, self._source.parent(parent)
        return False

    def _servicer(self, node: ast.ClassDef, service: str) -> None:
        methods = {method.name for state in self._elements.services.get(service, ()) for method in state.methods}
        for each in node.body:
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name in methods:
                self._add(each, f"{service}.{each.name}", "subclass")

    # -- sites

    def _decide(self, site: Site) -> None:
        told = self._type(site.asked)
        match site.kind:
            case "attribute":
                self._attribute(site, told)
            case "by_name":
                self._by_name(site, told)
            case "construct":
                self._construct(site, told)
            case "reflection":
                if self._is_told_name(site):
                    return
                for name in (*self._matching(site, told.messages), *self._held(site, told)):
                    self._add(site.node, name, "reflection", certain=site.pattern is None, origin=site.origin)
                if not told.messages and self._unknown(told) and not is_foreign(site.asked, self._source, self._names):
                    self._uncertain(site, "reflection")
            case "key":
                self._key(site, told)
            case "lookup":
                self._dispatch(site.node, told, closed="default" in site.names, handled=site.handled)
            case "match":
                self._match(site, told)
            case "compare":
                self._compare(site, told)
            case "parsed":
                self._parsed(site, told)
            case "mask":
                self._uncertain(site, "reflection", deep=True)
            case "descriptor":
                for message in told.messages:
                    self._add(site.node, message, "call")
            case "whole":
                for message in () if told.is_class or told.is_json else told.messages:
                    self._add(site.node, message, "write" if self._serializes(site.node) else "read", named=False)

    def _serializes(self, node: ast.AST) -> bool:
        function = node.func if isinstance(node, ast.Call) else None
        return isinstance(function, ast.Attribute) and function.attr.startswith("Serialize")

    def _unknown(self, told: Revealed) -> bool:
        """Whether nobody knows what it is, in a file that imports the contracts."""
        return self._aware and told.text.strip("`") in _UNKNOWN

    def _attribute(self, site: Site, told: Revealed) -> None:
        node, name = site.node, site.names[0]
        assert isinstance(node, ast.Attribute)
        for service in told.services:
            if any(method.name == name for state in self._elements.services[service] for method in state.methods):
                self._add(node, f"{service}.{name}", "call")
        for enum in told.enums if told.is_class else ():
            self._members(node, enum, name)
        if told.is_json or told.is_class:
            return
        known = False
        for message in told.itself:
            if name in self._elements.fields(message):
                known = True
                kinds = {type(value).__name__ for value in self._sites.compared_with(node)}
                self._add(node, f"{message}.{name}", self._how(node), text=kinds.pop() if len(kinds) == 1 else "")
        if not known and self._unknown(told) and not is_foreign(node.value, self._source, self._names):
            self._uncertain(site, self._how(node))

    def _how(self, node: ast.Attribute) -> How:
        """Whether a field is read, written or cleared: also through its items, its fields or its methods."""
        if isinstance(node.ctx, ast.Store):
            return "write"
        if isinstance(node.ctx, ast.Del):
            return "clear"
        child: ast.AST = node
        parent = self._source.parent(node)
        while isinstance(parent, ast.Attribute | ast.Subscript) and parent.value is child:
            if isinstance(parent.ctx, ast.Store | ast.Del):
                return "write"
            grand = self._source.parent(parent)
            called = isinstance(grand, ast.Call) and grand.func is parent
            if isinstance(parent, ast.Attribute) and called:
                return "write" if parent.attr in _CHANGING else "read"
            child, parent = parent, grand
        return "read"

    def _uncertain(self, site: Site, how: How, *, deep: bool = False) -> None:
        """The receiver may be any message that the file could have got; ``deep``: or one inside of these."""
        possible = list(self._possible())
        for message in possible if deep else ():
            inner = (each.element_message for states in self._elements.fields(message).values() for each in states)
            possible += [name for name in dict.fromkeys(inner) if name is not None and name not in possible]
        for message in possible:
            for name in self._matching(site, (message,)):
                self._add(site.node, name, how, certain=False, origin=site.origin)

    def _possible(self) -> Iterator[str]:
        """Messages of the modules that the file imports."""
        seen: dict[str, None] = {}
        for imported in self._names.imports:
            bound = imported.bound
            if bound.kind == "message":
                seen[bound.name] = None
            elif bound.kind == "module":
                seen.update(dict.fromkeys(self._names.messages_of(bound.name)))
        yield from seen

    def _matching(self, site: Site, messages: Iterable[str]) -> Iterator[str]:
        for message in messages:
            for name in self._elements.fields(message):
                if name in site.names or (site.pattern is not None and site.pattern.fullmatch(name)):
                    yield f"{message}.{name}"

    def _is_told_name(self, site: Site) -> bool:
        """Whether WhichOneof() or a descriptor told the name: there is a field of that name, whatever it is."""
        name_of = self._type(site.name) if site.name is not None else _NOTHING
        return bool(name_of.oneofs) or "NameOf[" in name_of.text

    def _held(self, site: Site, told: Revealed) -> Iterator[str]:
        """What names mean in a generated module, or of a stub: ``getattr(order_pb2, "Order")``."""
        bound = self._names.resolve(site.asked)
        held = self._names.inside(bound.name) if bound is not None and bound.kind in ("module", "grpc") else {}
        yield from (held[name].name for name in site.names if name in held)
        for service in told.services:
            methods = {method.name for state in self._elements.services[service] for method in state.methods}
            yield from (f"{service}.{name}" for name in site.names if name in methods)

    def _by_name(self, site: Site, told: Revealed) -> None:
        call = site.node
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Attribute)
        if self._is_told_name(site):
            return
        how: How = BY_NAME[call.func.attr]  # type: ignore[assignment]
        certain = site.pattern is None
        for message in told.messages:
            names = [*self._elements.fields(message), *self._elements.oneofs(message)]
            for name in names:
                if name in site.names or (site.pattern is not None and site.pattern.fullmatch(name)):
                    self._add(call, f"{message}.{name}", how, certain=certain, origin=site.origin)
        if not told.messages and self._unknown(told):
            self._uncertain(site, how)

    def _construct(self, site: Site, told: Revealed) -> None:
        call = site.node
        assert isinstance(call, ast.Call)
        messages = told.messages if told.is_class else ()
        named = bool(messages)
        if not messages and isinstance(call.func, ast.Attribute) and call.func.attr == "add":
            # repeated.add(field=...): the type of the new item.
            held = self._told.get(call.func, "")
            messages = self._stubs.read(held.rpartition("->")[2]).messages if "->" in held else ()
        for message in messages:
            # An empty message that something is parsed into is not built but read.
            self._add(call, message, "read" if self._is_filled(call) else "construct", named=named)
            fields = self._elements.fields(message)
            for keyword in call.keywords:
                if keyword.arg is None:
                    self._spread(call, message, keyword.value)
                elif keyword.arg in fields:
                    self._given(keyword.value, keyword, message, keyword.arg, fields[keyword.arg])

    def _is_filled(self, call: ast.Call) -> bool:
        """Whether an empty message is made for a parser to fill: ``order = Order(); order.ParseFromString(raw)``."""
        if call.args or call.keywords:
            return False
        parent = self._source.parent(call)
        if isinstance(parent, ast.Call):
            return _called(parent) in _FILLING and call in parent.args
        if not isinstance(parent, ast.Assign) or not isinstance(parent.targets[0], ast.Name):
            return False
        variable, scope = parent.targets[0].id, self._source.parent(parent)
        while scope is not None and not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
            scope = self._source.parent(scope)
        for each in ast.walk(scope) if scope is not None else ():
            if isinstance(each, ast.Call) and _called(each) in _FILLING:
                receiver = each.func.value if isinstance(each.func, ast.Attribute) else None
                if any(isinstance(held, ast.Name) and held.id == variable for held in (receiver, *each.args)):
                    return True
        return False

    def _spread(self, call: ast.Call, message: str, value: ast.expr) -> None:
        """``**fields``: the names are known where it is a display of a dictionary."""
        fields = self._elements.fields(message)
        display = self._sites.display(value)
        if display is not None and all(isinstance(key, ast.Constant) for key in display.keys):
            for key, inner in zip(display.keys, display.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in fields:
                    at = None if display is value else call
                    self._given(inner, key, message, str(key.value), fields[str(key.value)], at, key.lineno)
            return
        if isinstance(value, ast.DictComp) and (names := self._sites.texts(value.key))[0]:
            for name in names[0]:
                if name in fields:
                    self._add(call, f"{message}.{name}", "construct", origin=names[1])
            return
        for name in fields:
            self._add(call, f"{message}.{name}", "construct", certain=False)

    def _given(
        self,
        value: ast.expr,
        place: ast.AST,
        message: str,
        name: str,
        states: tuple[ir.Field, ...],
        at: ast.AST | None = None,
        origin: int = 0,
    ) -> None:
        """A field is given a value. ``at`` is the place of everything inside, where the value is no source itself or
        stands elsewhere, at the line ``origin``.
        """
        self._add(at or place, f"{message}.{name}", "construct", origin=origin)
        for state in states:
            element = state.value if state.value is not None else state
            values = list(value.elts) if isinstance(value, ast.List | ast.Tuple) else [value]
            for each in values:
                if element.enum is not None:
                    for text in self._sites.texts(each)[0]:
                        self._members(at or each, element.enum, text)
                if element.message is not None and isinstance(each, ast.Dict):
                    self._from_dictionary(each, element.message, at=at)

    def _from_dictionary(self, value: ast.Dict, message: str, at: ast.AST | None = None) -> None:
        self._add(at or value, message, "construct", named=False)
        fields = self._elements.fields(message)
        by_name = {state.json_name: name for name, states in fields.items() for state in states}
        by_name.update({name: name for name in fields})
        for key, inner in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant) and key.value in by_name:
                name, text = by_name[str(key.value)], str(key.value)
                self._given(inner, key, message, name, fields[name], at)
                if text not in fields:
                    self._add(at or key, f"{message}.{name}", "json_name", text=text)

    # -- JSON

    def _parsed(self, site: Site, told: Revealed) -> None:
        """``ParseDict({...}, Order())`` and ``Parse('{...}', Order())``."""
        call = site.node
        assert isinstance(call, ast.Call)
        given = call.args[0]
        display = self._sites.display(given)
        for message in told.messages:
            if display is not None:
                self._from_dictionary(display, message, at=None if _holds(given, display) else given)
            elif texts := self._sites.texts(given)[0]:
                self._from_text(texts[0], message, given)

    def _from_text(self, text: str, message: str, at: ast.expr) -> None:
        """A message written as JSON or in the text format."""
        try:
            found = ast.parse(repr(json.loads(text)), mode="eval").body
        except ValueError:
            for name in _TEXT_FORMAT_NAME.findall(text):
                if name in self._elements.fields(message):
                    self._add(at, f"{message}.{name}", "construct")
            return
        if isinstance(found, ast.Dict):
            self._from_dictionary(found, message, at=at)

    def _key(self, site: Site, told: Revealed) -> None:
        if "NameOf[" in told.text:
            # By the names of an enum: dict(State.items())["STATE_OPEN"].
            for enum in told.enums:
                for text in site.names:
                    self._members(site.node, enum, text, origin=site.origin)
        messages = told.messages if told.is_json else self._json_messages(site.asked)
        plain = "PlainDict[" in told.text
        found: list[ir.Field] = []
        for message in messages:
            for name, states, text in self._keys(message, site.names):
                found += states
                # A key may be the name in the .proto and not the one of JSON, of whoever wrote the file.
                how: How = (
                    "reflection" if plain or not any(state.json_name == text for state in states) else "json_name"
                )
                self._add(site.node, f"{message}.{name}", how, origin=site.origin, text=text)
        self._json[site.node] = tuple(found)
        if not found and self._unknown(told) and self._names.imports_json:
            for message in self._possible():
                for name, _, text in self._keys(message, site.names):
                    self._add(site.node, f"{message}.{name}", "json_name", certain=False, origin=site.origin, text=text)

    def _keys(self, message: str, names: Iterable[str]) -> Iterator[tuple[str, tuple[ir.Field, ...], str]]:
        """The fields that keys of JSON mean, with the key that stands there."""
        for name, states in self._elements.fields(message).items():
            for text in names:
                if text == name or any(state.json_name == text for state in states):
                    yield name, states, text

    def _json_messages(self, node: ast.expr) -> tuple[str, ...]:
        """The messages whose JSON an expression is, where it was reached by keys."""
        if isinstance(node, ast.Subscript) and not self._json.get(node):
            # An item of a list.
            node = node.value
        if isinstance(node, ast.Name):
            # An item of a loop, or a part that has got a name: what it comes from may stand behind it.
            origin = self._sites.comes_from(node)
            known = self._keyed.get(origin) if origin is not None else None
            if known is not None and origin is not None:
                if origin not in self._json:
                    self._json[origin] = ()
                    self._decide(known)
                node = origin
        fields = self._json.get(node, ())
        return tuple(dict.fromkeys(message for each in fields if (message := each.element_message) is not None))

    # -- enums and oneofs

    def _members(self, node: ast.AST, enum: str, text: str, origin: int = 0) -> None:
        for member in self._elements.members(enum).values():
            if text in (member.name, str(member.number)):
                self._add(node, member.path, "enum_value", origin=origin, text=text)

    def _enums_of(self, node: ast.expr, told: Revealed) -> tuple[str, ...]:
        found = dict.fromkeys(told.enums)
        found.update(dict.fromkeys(value.rpartition(".")[0] for value in told.values))
        found.update(dict.fromkeys(each.enum for each in self._json.get(node, ()) if each.enum is not None))
        return tuple(found)

    def _compare(self, site: Site, told: Revealed) -> None:
        for enum in self._enums_of(site.asked, told):
            for text in site.names:
                self._members(site.node, enum, text, origin=site.origin)
        for message in told.messages if "NameOf[" in told.text else ():
            # The name of a field that ListFields() told.
            for text in site.names:
                if text in self._elements.fields(message):
                    self._add(site.node, f"{message}.{text}", "reflection", origin=site.origin)
        for oneof in told.oneofs:
            message, _, name = oneof.rpartition(".")
            for text in site.names:
                if text in self._elements.oneofs(message).get(name, ()):
                    self._add(site.node, f"{message}.{text}", "which_oneof", origin=site.origin)
                    self._add(site.node, oneof, "which_oneof")

    def _dispatch(self, node: ast.AST, told: Revealed, *, closed: bool, handled: tuple[str, ...]) -> None:
        how: How = "match_closed" if closed else "match_open"
        for name in (*told.oneofs, *self._enums(told)):
            self._add(node, name, how, handles=handled)

    def _enums(self, told: Revealed) -> tuple[str, ...]:
        values = (value.rpartition(".")[0] for value in told.values)
        return () if told.is_class else tuple(dict.fromkeys((*told.enums, *values)))

    def _match(self, site: Site, told: Revealed) -> None:
        node = site.node
        assert isinstance(node, ast.Match)
        rest = next((case for case in node.cases if _takes_all(case)), None)
        closed = rest is not None and not fails(rest.body[0])
        branches = [each for case in node.cases if case.guard is None for each in ast.walk(case.pattern)]
        handled = [
            name for each in branches if isinstance(each, ast.MatchValue) for name in self._sites.values(each.value)
        ]
        self._dispatch(node, told, closed=closed, handled=tuple(handled))
        for case in node.cases:
            for each in ast.walk(case.pattern):
                if isinstance(each, ast.MatchClass):
                    self._match_class(each)
                if not isinstance(each, ast.MatchValue):
                    continue
                texts = self._sites.texts(each.value)[0]
                for enum in self._enums(told):
                    for text in texts:
                        self._members(each, enum, text)
                for oneof in told.oneofs:
                    message = oneof.rpartition(".")[0]
                    for text in texts:
                        self._add(each, f"{message}.{text}", "which_oneof")

    def _match_class(self, node: ast.MatchClass) -> None:
        """``case Order(coupon=code)``."""
        bound = self._names.resolve(node.cls)
        if bound is not None and bound.kind == "message":
            fields = self._elements.fields(bound.name)
            for name, pattern in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
                if name in fields:
                    self._add(pattern, f"{bound.name}.{name}", "read")


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _holds(given: ast.expr, display: ast.Dict) -> bool:
    """Whether a dictionary stands where it is given, itself or inside of a call (``json.dumps({...})``)."""
    return any(each is display for each in ast.walk(given))


def _takes_all(case: ast.match_case) -> bool:
    return isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None


def _end(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def _of(bound: Bound) -> Revealed:
    match bound.kind:
        case "message":
            return Revealed(messages=(bound.name,), is_class=True)
        case "enum":
            return Revealed(enums=(bound.name,), is_class=True)
        case "value":
            return Revealed(enums=(bound.name.rpartition(".")[0],), values=(bound.name,))
        case "service":
            return Revealed(services=(bound.name,), is_class=True)
        case _:
            return Revealed(text="module")
