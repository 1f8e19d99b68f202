"""Random well-typed expressions, over the message of ``messages.FIELDS`` or any other leaves."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

Make = Callable[["Grammar", int], str]

_INTS = ["0", "1", "2", "5", "-1", "10", "9223372036854775807", "-9223372036854775808", "9007199254740993"]
_UINTS = ["0u", "1u", "2u", "5u", "18446744073709551615u"]
_DOUBLES = ["0.0", "1.0", "1.5", "-2.5", "1e300", "9007199254740992.0", "0.1", "-0.0"]
_STRINGS = ["''", "'a'", "'b'", "'abc'", "'é'", "','", "' a '", "'10'", "'日本'", "'\\n'", "'%s'"]
_BYTES = ["b''", "b'a'", "b'\\xff'", "b'abc'"]
_TIMES = ["timestamp(0)", "timestamp('2020-01-01T00:00:00Z')", "timestamp('1969-12-31T23:59:59.5Z')"]
_SPANS = ["duration('0s')", "duration('1.5s')", "duration('1h')", "duration('-90s')", "duration('100ns')"]
_PATTERNS = ["^a+$", "[0-9]", "^$", "b|c$", "(?i)ABC", "^.{2,3}$"]
_ZONES = ["", "'UTC'", "'Asia/Shanghai'", "'America/New_York'", "'+05:30'", "'-00:30'"]
_CONVERTED = ["int", "uint", "double", "bytes", "bool", "timestamp", "duration"]
_DURATION_PARTS = ["getHours", "getMinutes", "getSeconds", "getMilliseconds"]
_PARTS = [
    "getFullYear",
    "getMonth",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getHours",
    "getMinutes",
]


class Grammar:
    """Makes expressions of a type; deeper ones are smaller."""

    def __init__(self, rng: random.Random, leaves: Mapping[str, Sequence[str]] | None = None) -> None:
        """``leaves`` are the known parts of ``this`` by type; constants stand beside them in any case."""
        self.rng = rng
        self._leaves = _LEAVES
        if leaves is not None:
            self._leaves = {type_: [*known, *leaves.get(type_, ())] for type_, known in CONSTANTS.items()}
        self._nodes = _NODES if leaves is not None else _NODES_OF_FIELDS
        self._names = 0
        self._variables: dict[str, list[str]] = {}

    def rule(self) -> str:
        """A whole rule: a bool, or a text that is empty where all is well."""
        if self.rng.random() < 0.75:
            return self.make("bool", 4)
        if self.rng.random() < 0.5:
            return f"{self.make('bool', 3)} ? {self.make('string', 2)} : ''"
        return self.make("string", 3)

    def make(self, type_: str, depth: int) -> str:
        """An expression of a type: bool, int, uint, double, string, bytes, timestamp, duration, or a list of one."""
        leaves = [*self._leaves[type_], *self._variables.get(type_, []) * 3]
        nodes = self._nodes.get(type_, [])
        if depth <= 0 or not nodes or self.rng.random() < 0.12:
            return self.rng.choice(leaves)
        return self.rng.choice(nodes)(self, depth - 1)

    def pick(self, choices: list[str]) -> str:
        return self.rng.choice(choices)

    def macro(self, kind: str, item: str, depth: int, body: str = "bool") -> str:
        """A macro over a list of ``item``."""
        range_ = self.make(f"list({item})", depth - 1)
        self._names += 1
        name = f"v{self._names}"
        self._variables.setdefault(item, []).append(name)
        text = f"{range_}.{kind}({name}, {self.make(body, depth - 1)})"
        self._variables[item].pop()
        return text


_ITEMS = ["int", "string", "double", "uint", "bytes", "bool"]
_SHOWN = [*_ITEMS, "timestamp", "list(int)", "list(double)"]


def _same(g: Grammar, d: int, operators: list[str], types: list[str]) -> str:
    type_ = g.pick(types)
    return f"({g.make(type_, d)} {g.pick(operators)} {g.make(type_, d)})"


def _numbers(g: Grammar, d: int) -> str:
    left, right = g.pick(["int", "uint", "double"]), g.pick(["int", "uint", "double"])
    return f"({g.make(left, d)} {g.pick(['<', '<=', '>', '>=', '==', '!='])} {g.make(right, d)})"


def _choice(type_: str) -> Make:
    return lambda g, d: f"({g.make('bool', d)} ? {g.make(type_, d)} : {g.make(type_, d)})"


#: Leaves that any message has.
CONSTANTS: dict[str, list[str]] = {
    "bool": ["true", "false"],
    "int": _INTS,
    "uint": _UINTS,
    "double": _DOUBLES,
    "string": _STRINGS,
    "bytes": _BYTES,
    "timestamp": _TIMES,
    "duration": _SPANS,
    "list(int)": ["[1, 2, 5]"],
    "list(uint)": ["[1u, 2u]"],
    "list(double)": ["[0.5, 1.0]"],
    "list(string)": ["['a', 'b']"],
    "list(bytes)": ["[b'a']"],
    "list(bool)": ["[true, false]"],
    "list(timestamp)": ["[timestamp(0)]"],
}

_LEAVES: dict[str, list[str]] = {
    "bool": ["true", "false", "this.b", "has(this.s)", "has(this.o)", "has(this.sub)", "has(this.sub.o)", "has(this.w)",
             "has(this.d)", "has(this.rs)", "(this.w == null)", "(this.ws != null)"],
    "int": [*_INTS, "this.l", "this.i", "this.e", "this.sub.a", "this.o", "this.w", "this.sub.o", "size(this.ms)"],
    "uint": [*_UINTS, "this.u"],
    "double": [*_DOUBLES, "this.d", "this.fl", "this.sub.d"],
    "string": [*_STRINGS, "this.s", "this.s2", "this.sub.s", "this.ws", "this.os"],
    "bytes": [*_BYTES, "this.y"],
    "timestamp": [*_TIMES, "this.t", "this.t2", "this.sub.t"],
    "duration": [*_SPANS, "this.du"],
    "list(int)": ["this.ri", "this.rw", "this.re", "[1, 2, 5]"],
    "list(uint)": ["this.ru", "[1u, 2u]"],
    "list(double)": ["this.rd", "[0.5, 1.0]"],
    "list(string)": ["this.rs", "this.sub.l", "['a', 'b']", "this.rm.map(m, m.s)"],
    "list(bytes)": ["this.ry", "[b'a']"],
    "list(bool)": ["this.rb", "[true, false]"],
    "list(timestamp)": ["this.rt", "this.rm.map(m, m.t)"],
}  # fmt: skip

_NODES: dict[str, list[Make]] = {
    "bool": [
        lambda g, d: f"({g.make('bool', d)} && {g.make('bool', d)})",
        lambda g, d: f"({g.make('bool', d)} || {g.make('bool', d)})",
        lambda g, d: f"({g.make('bool', d)} && {g.make('bool', d)} && {g.make('bool', d)})",
        lambda g, d: f"!{g.make('bool', d)}" if d < 1 else f"!({g.make('bool', d)})",
        _choice("bool"),
        lambda g, d: _same(g, d, ["==", "!="], [*_ITEMS, "timestamp", "duration"]),
        lambda g, d: _same(g, d, ["<", "<=", ">", ">="], [*_ITEMS, "timestamp", "duration"]),
        _numbers,
        lambda g, d: f"{g.make('string', d)}.{g.pick(['contains', 'startsWith', 'endsWith'])}({g.make('string', d)})",
        lambda g, d: f"{g.make('bytes', d)}.{g.pick(['contains', 'startsWith', 'endsWith'])}({g.make('bytes', d)})",
        lambda g, d: f"{g.make('string', d)}.matches('{g.pick(_PATTERNS)}')",
        lambda g, d: g.macro(g.pick(["all", "exists", "exists_one"]), g.pick([*_ITEMS, "timestamp"]), d),
        lambda g, d: (lambda t: f"({g.make(t, d)} in {g.make(f'list({t})', d)})")(g.pick(_ITEMS)),
        lambda g, d: f"{g.make(f'list({g.pick(_ITEMS)})', d)}.unique()",
        lambda g, d: (lambda t: f"({g.make(t, d)} == {g.make(t, d)})")(f"list({g.pick(_ITEMS)})"),
        lambda g, d: f"{g.make('double', d)}.isNan()" if d < 1 else f"({g.make('double', d)}).isInf()",
        lambda g, d: f"{g.make('string', d)}.{g.pick(['isEmail()', 'isHostname()', 'isIp()', 'isUriRef()'])}",
        lambda g, d: f"bool({g.make('string', d)})",
    ],
    "int": [
        lambda g, d: _same(g, d, ["+", "-", "*", "/", "%"], ["int"]),
        lambda g, d: _same(g, d, ["+", "-", "*", "/", "%"], ["int"]),
        lambda g, d: f"-({g.make('int', d)})",
        _choice("int"),
        lambda g, d: f"size({g.make(g.pick(['string', 'bytes', 'list(string)', 'list(int)', 'list(timestamp)']), d)})",
        lambda g, d: f"int({g.make(g.pick(['uint', 'double', 'string', 'timestamp']), d)})",
        lambda g, d: f"{g.make('string', d)}.{g.pick(['indexOf', 'lastIndexOf'])}({g.make('string', d)})",
        lambda g, d: f"{g.make('string', d)}.indexOf({g.make('string', d)}, {g.make('int', d)})",
        lambda g, d: f"{g.make('string', d)}.lastIndexOf({g.make('string', d)}, {g.make('int', d)})",
        lambda g, d: f"({g.make('timestamp', d)}).{g.pick(_PARTS)}({g.pick(_ZONES)})",
        lambda g, d: f"({g.make('duration', d)}).{g.pick(_DURATION_PARTS)}()",
        lambda g, d: f"{g.make('list(int)', d)}[{g.make('int', d)}]",
    ],
    "uint": [
        lambda g, d: _same(g, d, ["+", "-", "*", "/", "%"], ["uint"]),
        lambda g, d: f"uint({g.make(g.pick(['int', 'double', 'string']), d)})",
        _choice("uint"),
    ],
    "double": [
        lambda g, d: _same(g, d, ["+", "-", "*", "/"], ["double"]),
        lambda g, d: f"-({g.make('double', d)})",
        lambda g, d: f"double({g.make(g.pick(['int', 'uint', 'string']), d)})",
        _choice("double"),
    ],
    "string": [
        lambda g, d: _same(g, d, ["+"], ["string"]),
        _choice("string"),
        lambda g, d: f"string({g.make(g.pick(_CONVERTED), d)})",
        lambda g, d: f"{g.make('string', d)}.{g.pick(['lowerAscii', 'upperAscii', 'trim', 'reverse'])}()",
        lambda g, d: f"{g.make('string', d)}.substring({g.make('int', d)})",
        lambda g, d: f"{g.make('string', d)}.substring({g.make('int', d)}, {g.make('int', d)})",
        lambda g, d: f"{g.make('string', d)}.charAt({g.make('int', d)})",
        lambda g, d: f"{g.make('string', d)}.replace({g.make('string', d)}, {g.make('string', d)})",
        lambda g, d: f"{g.make('list(string)', d)}.join({g.make('string', d)})",
        lambda g, d: f"'%s=%s'.format([{g.make(g.pick(_ITEMS), d)}, {g.make(g.pick(_SHOWN), d)}])",
        lambda g, d: f"'%d %x'.format([{g.make('int', d)}, {g.make(g.pick(['int', 'uint', 'string', 'bytes']), d)}])",
        lambda g, d: f"'%.2f %e'.format([{g.make('double', d)}, {g.make('double', d)}])",
        lambda g, d: f"{g.make('list(string)', d)}[{g.make('int', d)}]",
    ],
    "bytes": [
        lambda g, d: _same(g, d, ["+"], ["bytes"]),
        lambda g, d: f"bytes({g.make('string', d)})",
        _choice("bytes"),
    ],
    "timestamp": [
        lambda g, d: f"({g.make('timestamp', d)} {g.pick(['+', '-'])} {g.make('duration', d)})",
        lambda g, d: f"timestamp({g.make('int', d)})",
        _choice("timestamp"),
    ],
    "duration": [
        lambda g, d: f"({g.make('timestamp', d)} - {g.make('timestamp', d)})",
        lambda g, d: f"({g.make('duration', d)} {g.pick(['+', '-'])} {g.make('duration', d)})",
        _choice("duration"),
    ],
    **{
        f"list({item})": [
            lambda g, d, item=item: g.macro("filter", item, d),
            lambda g, d, item=item: g.macro("map", g.pick(["int", "string"]), d, item),
            lambda g, d, item=item: f"[{g.make(item, d)}, {g.make(item, d)}]",
            lambda g, d, item=item: f"({g.make(f'list({item})', d)} + {g.make(f'list({item})', d)})",
        ]
        for item in _ITEMS
    },
}  # fmt: skip
_NODES["list(string)"] += [lambda g, d: f"{g.make('string', d)}.split({g.make('string', d)})"]

_NODES_OF_FIELDS: dict[str, list[Make]] = {
    **_NODES,
    "bool": [
        *_NODES["bool"],
        lambda g, d: f"({g.make('string', d)} in this.ms)",
        lambda g, d: f"({g.make('int', d)} in this.mi)",
        lambda g, d: f"this.ms.{g.pick(['all', 'exists', 'exists_one'])}(k, k == {g.make('string', d)})",
        lambda g, d: f"this.mi.all(k, k < {g.make('int', d)} || this.mi[k] != {g.make('string', d)})",
    ],
    "int": [*_NODES["int"], lambda g, d: f"this.ms[{g.make('string', d)}]"],
    "string": [*_NODES["string"], lambda g, d: f"this.mi[{g.make('int', d)}]"],
}
