"""Random CEL of known types: mostly mild expressions that have results, now and then all of tests/cel's grammar."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.cel.grammar import CONSTANTS as LEAVES
from tests.cel.grammar import Grammar

#: Constants by type.
CONSTANTS = {
    "int": ["0", "1", "2", "-1", "7", "9223372036854775807", "-9223372036854775808"],
    "uint": ["0u", "1u", "2u", "18446744073709551615u"],
    "double": ["0.0", "1.0", "-1.5", "1e308"],
    "string": ["''", "'a'", "'ab'", "'PERSON'", "'日本'", "'1.0.0'"],
    "bytes": ["b''", "b'a'", "b'\\x00\\xff'"],
    "bool": ["true", "false"],
    # `now` is the real clock on both sides: compared with moments that are far away from it, never computed with.
    "timestamp": ["timestamp(0)", "timestamp('2020-01-01T00:00:00Z')", "timestamp('2020-01-01T00:00:01Z')", "now"],
    "duration": ["duration('0s')", "duration('1.000000001s')", "duration('-1s')", "duration('1577836800s')"],
}
_TESTS = ["isEmail()", "isHostname()", "isIp()", "isIp(4)", "isIp(6)", "isIpPrefix()", "isIpPrefix(4)",
          "isIpPrefix(6, true)", "isUri()", "isUriRef()", "isHostAndPort(true)", "isHostAndPort(false)"]  # fmt: skip
_TEXTS = ["lowerAscii()", "upperAscii()", "trim()", "reverse()", "replace('a', 'b')", "substring(0)", "charAt(0)"]


_UNIQUE = frozenset({"int", "uint", "double", "string", "bytes", "bool"})


@dataclass(frozen=True, slots=True)
class Known:
    """A part of ``this``: its code, and its CEL type (``int``, ``list(int)``, ``map(string,int)``, ``message``)."""

    code: str
    kind: str


class Expressions:
    """Makes expressions over the known parts."""

    def __init__(self, random: Random, known: list[Known]) -> None:
        self._random = random
        self._known = known
        self._variables = 0

    def _wild(self) -> Grammar:
        """tests/cel's grammar over the known parts: most operations, few of which have results on most messages."""
        leaves: dict[str, list[str]] = {type_: [] for type_ in LEAVES}
        for known in self._known:
            if known.kind in leaves:
                leaves[known.kind].append(known.code)
        return Grammar(self._random, leaves)

    def result(self) -> str:
        """An expression as rules have them: a bool, or a text that is empty where all is well."""
        roll = self._random.random()
        if roll < 0.06:
            return self._wild().make(self._random.choice(["bool", "string"]), 2)
        if roll < 0.75:
            return self.boolean()
        message = self._random.choice(["'bad'", "'bad: ' + string(1)", "'%s is bad'.format(['x'])"])
        return f"{self.boolean()} ? '' : {message}"

    def boolean(self, depth: int = 3) -> str:
        """An expression of type bool."""
        random = self._random
        if depth == 0:
            return self._comparison(0)
        roll = random.random()
        if roll < 0.15:
            return f"({self.boolean(depth - 1)} && {self.boolean(depth - 1)})"
        if roll < 0.3:
            return f"({self.boolean(depth - 1)} || {self.boolean(depth - 1)})"
        if roll < 0.37:
            return f"!({self.boolean(depth - 1)})"
        if roll < 0.45:
            return f"({self.boolean(depth - 1)} ? {self.boolean(depth - 1)} : {self.boolean(depth - 1)})"
        if roll < 0.6:
            return self._macro(depth - 1)
        if roll < 0.7:
            return self._text_test(depth - 1)
        return self._comparison(depth - 1)

    def value(self, kind: str, depth: int) -> str:
        """An expression of a scalar type."""
        random = self._random
        candidates = [known.code for known in self._known if known.kind == kind]
        if depth > 0 and random.random() < 0.4:
            made = self._operation(kind, depth - 1)
            if made is not None:
                return made
        if candidates and random.random() < 0.75:
            return self._spelled(random.choice(candidates))
        if kind == "bool":
            return self.boolean(max(0, depth - 1)) if depth > 0 else random.choice(CONSTANTS["bool"])
        return random.choice(CONSTANTS[kind])

    def _spelled(self, code: str) -> str:
        """A known part, now and then by the ways around the checker: getField() and dyn()."""
        roll = self._random.random()
        base, dot, name = code.rpartition(".")
        if roll < 0.03 and dot and base == "this":
            return f"getField(this, '{name}')"
        return f"dyn({code})" if roll < 0.05 else code

    def _operation(self, kind: str, depth: int) -> str | None:
        random = self._random
        if kind in ("int", "uint", "double"):
            if kind == "int" and random.random() < 0.35:
                return self._size()
            operator = random.choice(["+", "-", "*", "/"] + (["%"] if kind != "double" else []))
            return f"({self.value(kind, depth)} {operator} {self.value(kind, depth)})"
        if kind == "string":
            roll = random.random()
            if roll < 0.5:
                return f"({self.value('string', depth)} + {self.value('string', depth)})"
            if roll < 0.75:
                return f"string({self.value(random.choice(['int', 'uint', 'bool']), depth)})"
            if roll < 0.9:
                return f"{self.value('string', 0)}.{random.choice(_TEXTS)}"
            shown = self.value(random.choice(["int", "string", "bool", "uint"]), 0)
            return f"'{random.choice(['%s', '<%s>', '%s%%'])}'.format([{shown}])"
        if kind == "duration":
            return f"({self.value('duration', 0)} {random.choice('+-')} {self.value('duration', 0)})"
        if kind == "timestamp":
            moment = random.choice(self._codes("timestamp") or ["timestamp(0)"])
            return f"({moment} {random.choice('+-')} {self.value('duration', 0)})"
        return None

    def _codes(self, kind: str) -> list[str]:
        return [known.code for known in self._known if known.kind == kind]

    def _comparison(self, depth: int) -> str:
        kinds = [known.kind for known in self._known if known.kind in CONSTANTS] or ["int"]
        kind = self._random.choice([*kinds, "int"])
        if self._random.random() < 0.12 and kind not in ("bool", "timestamp", "duration"):
            listed = ", ".join(self._random.sample(CONSTANTS[kind], 2))
            return f"{self.value(kind, depth)} in [{listed}]"
        operators = ["==", "!="] if kind == "bool" else ["==", "!=", "<", "<=", ">", ">="]
        return f"{self.value(kind, depth)} {self._random.choice(operators)} {self.value(kind, depth)}"

    def _text_test(self, depth: int) -> str:
        method = self._random.choice(["startsWith", "endsWith", "contains"])
        if self._random.random() < 0.3:
            return f"{self.value('string', depth)}.matches('{self._random.choice(['^a', 'b$', '[0-9]+', 'a.c'])}')"
        if self._random.random() < 0.3:
            return f"{self.value('string', depth)}.{self._random.choice(_TESTS)}"
        return f"{self.value('string', depth)}.{method}({self.value('string', 0)})"

    def _containers(self) -> list[Known]:
        return [known for known in self._known if known.kind.startswith(("list(", "map("))]

    def _size(self) -> str:
        sized = [known.code for known in self._containers()]
        sized += [known.code for known in self._known if known.kind in ("string", "bytes")]
        return f"size({self._random.choice(sized)})" if sized else "size('abc')"

    def _macro(self, depth: int) -> str:
        containers = self._containers()
        if not containers:
            return self._comparison(depth)
        container = self._random.choice(containers)
        inner = container.kind.partition("(")[2].removesuffix(")").partition(",")[0]
        if container.kind.startswith("list(") and inner in _UNIQUE and self._random.random() < 0.12:
            return f"{container.code}.unique()"
        if inner not in CONSTANTS:
            return f"size({container.code}) > {self._random.choice(['0', '1', '2'])}"
        if container.kind.startswith("list(") and self._random.random() < 0.15:
            return f"{container.code}[{self._random.choice(['0', '1'])}] == {self._random.choice(CONSTANTS[inner])}"
        self._variables += 1
        variable = f"v{self._variables}"
        body = Expressions(self._random, [*self._known, Known(variable, inner)])
        body._variables = self._variables
        macro = self._random.choice(["all", "exists", "exists_one", "filter", "map"])
        if macro == "filter":
            return f"size({container.code}.filter({variable}, {body.boolean(depth)})) > 0"
        if macro == "map":
            return f"size({container.code}.map({variable}, {body.value('int', depth)})) > 1"
        return f"{container.code}.{macro}({variable}, {body.boolean(depth)})"
