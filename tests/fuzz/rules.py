"""Random buf.validate rules for a value of a known kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from tests.fuzz.expressions import Expressions, Known
from tests.fuzz.extensions import Predefined
from tests.fuzz.values import SCALARS, WRAPPERS, Value
from tests.support.messages import BYTES, STRINGS

PATTERNS = ["^[a-z]+$", "a|b", "^$", "x{2,5}", "(?i)person", "[^a]", "\\d+\\.\\d+", "^.{1,5}$", "日+", "^\\S*$",
            "(a+)+$", "^(?:a|ab)(?:c|bcd)(?:d*)$", "\\pL", "[[:alpha:]]+", "\\Qa.b\\E", "a\\z", "(?s).",
            "(?U)a+"]  # fmt: skip
FORMATS = [
    "email", "hostname", "ip", "ipv4", "ipv6", "uri", "uri_ref", "address", "uuid", "tuuid", "ip_with_prefixlen",
    "ipv4_with_prefixlen", "ipv6_with_prefixlen", "ip_prefix", "ipv4_prefix", "ipv6_prefix", "host_and_port", "ulid",
    "protobuf_fqn", "protobuf_dot_fqn",
]  # fmt: skip
URLS = ["type.googleapis.com/google.protobuf.Duration", "type.googleapis.com/x.Y", ""]


class Rules:
    """Fills in FieldRules."""

    def __init__(self, random: Random, predefined: Predefined) -> None:
        self._random = random
        self._predefined = predefined

    def common(self, rules: Any) -> None:
        """``required`` and ``ignore``, in any combination."""
        if self._random.random() < 0.14:
            rules.required = True
        if self._random.random() < 0.12:
            rules.ignore = self._random.choice([1, 3, 0])

    def value(self, rules: Any, value: Value, known: Sequence[Known] = ()) -> None:
        """Rules of one value: CEL, then the standard rules of its kind, then predefined ones."""
        random = self._random
        this = [Known("this", value.cel)] if value.cel != "message" else list(known)
        if this and random.random() < 0.15:
            expressions = Expressions(random, this)
            if random.random() < 0.3:
                rules.cel_expression.append(expressions.boolean())
            for index in range(random.randint(0, 2)):
                rules.cel.add(id=f"c{index}", message=random.choice(["", "no"]), expression=expressions.result())
        if not value.rules or random.random() < 0.2:
            return
        part = getattr(rules, value.rules)
        makers: dict[str, Callable[[Any], None]] = {
            "string": self._string, "bytes": self._bytes, "bool": self._bool, "enum": self._enum, "any": self._any,
            "field_mask": self._field_mask, "duration": self._duration, "timestamp": self._timestamp,
        }  # fmt: skip
        if value.rules in makers:
            makers[value.rules](part)
        else:
            self._number(part, SCALARS[value.scalar][1])
        self._predefined.apply(random, part)

    def repeated(self, rules: Any, value: Value, known: Sequence[Known] = ()) -> None:
        """Rules of a list and of its items."""
        random = self._random
        part = rules.repeated
        if random.random() < 0.4:
            part.min_items = random.randint(0, 2)
        if random.random() < 0.3:
            part.max_items = random.randint(0, 4)
        # Lists of messages cannot be unique (protovalidate refuses them, and so do we): rarely tried.
        if random.random() < (0.3 if value.scalar and value.type in SCALARS else 0.01):
            part.unique = True
        if random.random() < 0.7:
            self.value(part.items, value, known)
            if random.random() < 0.25:
                self.common(part.items)
        if value.cel != "message" and value.type in SCALARS and random.random() < 0.2:
            expressions = Expressions(random, [Known("this", f"list({value.cel})")])
            rules.cel.add(id="l", message="no", expression=expressions.result())
        self._predefined.apply(random, part)

    def map(self, rules: Any, key: Value, value: Value, known: Sequence[Known] = ()) -> None:
        """Rules of a map, its keys and its values."""
        random = self._random
        if random.random() < 0.4:
            rules.map.min_pairs = random.randint(0, 2)
        if random.random() < 0.3:
            rules.map.max_pairs = random.randint(0, 3)
        if random.random() < 0.6:
            self.value(rules.map.keys, key)
        if random.random() < 0.6:
            self.value(rules.map.values, value, known)
        for part in ("keys", "values"):
            if random.random() < 0.15:
                self.common(getattr(rules.map, part))
        if value.type in SCALARS and random.random() < 0.15:
            expressions = Expressions(random, [Known("this", f"map({key.cel},{value.cel})")])
            rules.cel.add(id="p", message="no", expression=expressions.result())

    # -- by kind

    def _number(self, part: Any, pool: Sequence[Any]) -> None:
        random = self._random
        usable = [value for value in pool if value == value]
        roll = random.random()
        if roll < 0.15:
            part.const = random.choice(usable)
        elif roll < 0.4:
            getattr(part, random.choice(["in", "not_in"])).extend(random.sample(usable, random.randint(1, 3)))
        else:
            if random.random() < 0.7:
                setattr(part, random.choice(["gt", "gte"]), random.choice(usable))
            if random.random() < 0.7:
                setattr(part, random.choice(["lt", "lte"]), random.choice(usable))
            if "finite" in part.DESCRIPTOR.fields_by_name and random.random() < 0.3:
                part.finite = True

    def _string(self, part: Any) -> None:
        random = self._random
        for name in random.sample(
            ["len", "min_len", "max_len", "len_bytes", "min_bytes", "max_bytes", "prefix", "suffix", "contains",
             "not_contains", "pattern", "in", "not_in", "const", "format", "format", "well_known_regex"],
            random.randint(1, 3),
        ):  # fmt: skip
            if name == "format":
                setattr(part, self._known(part, FORMATS), random.random() < 0.9)
            elif name == "well_known_regex":
                part.well_known_regex = random.choice([1, 2])
                part.strict = random.random() < 0.5
            elif name in ("in", "not_in"):
                getattr(part, name).extend(random.sample(STRINGS, 2))
            elif name == "pattern":
                part.pattern = random.choice(PATTERNS)
            elif name in ("prefix", "suffix", "contains", "not_contains", "const"):
                setattr(part, name, random.choice(STRINGS)[:3])
            else:
                setattr(part, name, random.choice([0, 1, 2, 3, 19, 36, 512]))

    def _bytes(self, part: Any) -> None:
        random = self._random
        for name in random.sample(
            ["len", "min_len", "max_len", "prefix", "suffix", "contains", "in", "not_in", "const", "format", "pattern"],
            2,
        ):
            if name == "format":
                setattr(part, self._known(part, ["ip", "ipv4", "ipv6", "uuid"]), True)
            elif name == "pattern":
                part.pattern = random.choice(["^a", "^$", "x{2,5}", "[^a]"])
            elif name in ("in", "not_in"):
                getattr(part, name).extend(random.sample(BYTES, 2))
            elif name in ("prefix", "suffix", "contains", "const"):
                setattr(part, name, random.choice(BYTES)[:2])
            else:
                setattr(part, name, random.choice([0, 1, 2, 4, 16]))

    def _known(self, part: Any, names: Sequence[str]) -> str:
        """One of the names that the installed validate.proto declares."""
        return self._random.choice([name for name in names if name in part.DESCRIPTOR.fields_by_name])

    def _bool(self, part: Any) -> None:
        part.const = self._random.random() < 0.5

    def _enum(self, part: Any) -> None:
        random = self._random
        if random.random() < 0.5:
            part.defined_only = True
        if random.random() < 0.5:
            getattr(part, random.choice(["in", "not_in"])).extend(random.sample([0, 1, 2, 7, 99], 2))
        if random.random() < 0.2:
            part.const = random.choice([0, 1, 99])

    def _any(self, part: Any) -> None:
        random = self._random
        getattr(part, random.choice(["in", "not_in"])).extend(random.sample(URLS, random.randint(1, 2)))

    def _field_mask(self, part: Any) -> None:
        random = self._random
        if random.random() < 0.3:
            part.const.paths.extend(random.choices(["a", "a.b", "c"], k=random.randint(0, 2)))
        else:
            getattr(part, random.choice(["in", "not_in"])).extend(random.sample(["a", "a.b", "c"], 2))

    def _duration(self, part: Any) -> None:
        random = self._random
        roll = random.random()
        if roll < 0.15:
            self._moment(part.const)
        elif roll < 0.3:
            for _ in range(2):
                self._moment(getattr(part, random.choice(["in", "not_in"])).add())
        else:
            self._bounds(part)

    def _timestamp(self, part: Any) -> None:
        """protovalidate reads the real clock, so constants and values keep far away from now."""
        random = self._random
        roll = random.random()
        if roll < 0.15:
            self._moment(part.const)
        elif roll < 0.4:
            setattr(part, random.choice(["lt_now", "gt_now"]), random.random() < 0.9)
        elif roll < 0.8:
            self._bounds(part)
        if random.random() < 0.25:
            part.within.seconds = random.choice([0, 3600, 3_200_000_000])

    def _bounds(self, part: Any) -> None:
        for names in self._random.sample([["gt", "gte"], ["lt", "lte"]], self._random.randint(1, 2)):
            self._moment(getattr(part, self._random.choice(names)))

    def _moment(self, target: Any) -> None:
        target.seconds = self._random.choice([0, 1, -1, 1577836800])
        target.nanos = self._random.choice([0, 1, 999999999])


__all__ = ["WRAPPERS", "Rules"]
