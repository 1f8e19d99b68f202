"""Random CEL of known types, from a grammar."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

#: Constants by type.
CONSTANTS = {
    "int": ["0", "1", "2", "-1", "7", "9223372036854775807", "-9223372036854775808"],
    "uint": ["0u", "1u", "2u", "18446744073709551615u"],
    "double": ["0.0", "1.0", "-1.5", "1e308"],
    "string": ["''", "'a'", "'ab'", "'PERSON'", "'日本'", "'1.0.0'"],
    "bytes": ["b''", "b'a'", "b'\\x00\\xff'"],
    "bool": ["true", "false"],
}


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

    def result(self) -> str:
        """An expression as rules have them: a bool, or a text that is empty where all is well."""
        if self._random.random() < 0.75:
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
            return random.choice(candidates)
        if kind == "bool":
            return self.boolean(max(0, depth - 1)) if depth > 0 else random.choice(CONSTANTS["bool"])
        return random.choice(CONSTANTS[kind])

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
            return f"{self.value('string', 0)}.{random.choice(['lowerAscii()', 'upperAscii()', 'trim()'])}"
        return None

    def _comparison(self, depth: int) -> str:
        kinds = [known.kind for known in self._known if known.kind in CONSTANTS] or ["int"]
        kind = self._random.choice([*kinds, "int"])
        if self._random.random() < 0.12 and kind != "bool":
            listed = ", ".join(self._random.sample(CONSTANTS[kind], 2))
            return f"{self.value(kind, depth)} in [{listed}]"
        operators = ["==", "!="] if kind == "bool" else ["==", "!=", "<", "<=", ">", ">="]
        return f"{self.value(kind, depth)} {self._random.choice(operators)} {self.value(kind, depth)}"

    def _text_test(self, depth: int) -> str:
        method = self._random.choice(["startsWith", "endsWith", "contains"])
        if self._random.random() < 0.3:
            return f"{self.value('string', depth)}.matches('{self._random.choice(['^a', 'b$', '[0-9]+', 'a.c'])}')"
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
