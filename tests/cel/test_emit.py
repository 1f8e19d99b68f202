"""The emitted code is what a reviewer would write: straight lines, no needless parentheses or helpers."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

from protocontract_compiler.cel.compiler import this_of_field, this_of_message
from tests.cel.messages import FIELDS
from tests.cel.support import COMPILER, Field, FieldRules, TestScope, rules_of, schema, source_of

MESSAGE = schema(FIELDS).DESCRIPTOR

RULES = {
    ("string", "string", "min_len: 1"): ["if len(v) < 1:"],
    ("string", "string", "min_bytes: 1"): ["if _rt.cel_utf8_size(v) < 1:"],
    ("string", "string", "uuid: true"): ['if v != "" and _matches_0(v) is None:', 'if v == "":'],
    ("string", "string", "email: true"): ['if v != "" and not _rt.cel_is_email(v):', 'if v == "":'],
    ("string", "string", 'in: ["a", "b"]'): ['if v not in ("a", "b"):'],
    ("string", "string", 'not_in: "a"'): ['if v == "a":'],
    ("string", "string", 'in: ["a", "b", "c", "d"]'): ["if v not in _set_0:"],
    ("string", "string", 'contains: "x"'): ['if "x" not in v:'],
    ("string", "string", 'prefix: "x"'): ['if not v.startswith("x"):'],
    ("int32", "int32", "gt: 0 lt: 10"): ["if not 0 < v < 10:"],
    ("int32", "int32", "gte: 0 lte: 10"): ["if not 0 <= v <= 10:"],
    ("int32", "int32", "gt: 10 lt: 0"): ["if 0 <= v <= 10:"],
    ("int32", "int32", "const: 3"): ["if v != 3:"],
    ("double", "double", "gt: 0 lt: 10"): ["if not 0.0 < v < 10.0:"],
    ("double", "double", "lte: 1.5"): ["if not v <= 1.5:"],
    ("double", "double", "lte: nan"): ['if v != v or v > float("nan"):'],
    ("double", "double", "finite: true"): ["if v != v or _rt.cel_is_inf(v, 0):"],
    ("bool", "bool", "const: true"): ["if not v:"],
    ("timestamp", "google.protobuf.Timestamp", "lt_now: true"): ["if v > now:"],
    ("timestamp", "google.protobuf.Timestamp", "within { seconds: 1 }"): [
        "if v < now - 1000000000 or v > now + 1000000000:"
    ],
    ("duration", "google.protobuf.Duration", "lt { seconds: 1 }"): ["if v >= 1000000000:"],
    ("field_mask", "google.protobuf.FieldMask", 'not_in: ["a", "b"]'): [
        'if p_2 in ("a", "b") or p_2.startswith(("a.", "b.")):',
        "if found_1:",
    ],
}  # fmt: skip

EXPRESSIONS = {
    "this.l > this.i": ["if m.l <= m.i:"],
    "this.s.size() > 3 || this.b": ["if len(m.s) <= 3 and not m.b:"],
    "this.l + 1 > this.i": ["if _rt.cel_add_int(m.l, 1) <= m.i:"],
    "this.d + 1.0 > this.d * 2.0": ["if not m.d + 1.0 > m.d * 2.0:"],
    "(this.d + 1.0) * 2.0 > 0.0": ["if not (m.d + 1.0) * 2.0 > 0.0:"],
    "this.d - (1.0 - this.d) > 0.0": ["if not m.d - (1.0 - m.d) > 0.0:"],
    "(this.b || this.l > 3) && this.s != 'a'": ['if not m.b and m.l <= 3 or m.s == "a":'],
    "this.t > this.t2": ["if _rt.cel_nanos(m.t) <= _rt.cel_nanos(m.t2):"],
    "this.rs.all(x, x != '')": ["found_1 = False", "for x_2 in m.rs:", 'if x_2 == "":', "if found_1:"],
    "this.b && this.rs.exists(x, x == 'a')": ['if not m.b or not any(x_1 == "a" for x_1 in m.rs):'],
    "this.ri.all(x, x / 2 > 0)": [
        "if not _rt.cel_all(m.ri, lambda x_1: _rt.cel_div_int(x_1, 2) > 0):",
    ],
    "this.l / 2 > 0 || this.b": ["if _rt.cel_and(lambda: _rt.cel_div_int(m.l, 2) <= 0, lambda: not m.b):"],
    "this.b || this.l / 2 > 0": ["if not m.b and _rt.cel_div_int(m.l, 2) <= 0:"],
    "has(this.sub) && this.sub.s == 'x'": ['if not m.HasField("sub") or m.sub.s != "x":'],
    "(this.b ? this.l : this.i) > 0": ["if (m.l if m.b else m.i) <= 0:"],
    "!(this.s in ['a', 'b'])": ['if m.s in ("a", "b"):'],
    "this.s + 'a' == 'ba'": ['if m.s + "a" != "ba":'],
    "this.b == false": ["if m.b:"],
    "-this.d < 0.0": ["if not -m.d < 0.0:"],
    "this.rt.size() > 1": ["if len(m.rt) <= 1:"],
}


def _code_of(source: str) -> list[str]:
    return [line.strip() for line in source.splitlines() if line.strip().startswith(("if ", "for ", "found_", "ok_"))]


@pytest.mark.parametrize("rule", RULES)
def test_rules(rule: tuple[str, str, str]) -> None:
    kind, type_, text = rule
    field_rules = text_format.Parse(f"{kind} {{ {text} }}", FieldRules())
    field = schema([Field("f", type_)]).DESCRIPTOR.fields_by_name["f"]
    lines = []
    for _, _, program in rules_of(getattr(field_rules, kind), this_of_field(field)):
        lines += _code_of(source_of(program, TestScope(), "v"))
    skipped = ("for p_2 in v.paths:", "found_1 = False", "found_1 = True")
    assert [line for line in lines if line not in skipped] == RULES[rule]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions(expression: str) -> None:
    program = COMPILER.compile(expression, this=this_of_message(MESSAGE))
    lines = _code_of(source_of(program, TestScope(), "m"))
    assert [line for line in lines if line != "found_1 = True"] == EXPRESSIONS[expression]
