"""What the front end accepts, refuses and says; programs' facts; ``rule`` and ``rules`` as constants."""

from __future__ import annotations

import pytest
from google.protobuf import descriptor_pb2

from protocontract import _cel
from protocontract_compiler.cel import fold, overloads
from protocontract_compiler.cel.checks import as_check
from protocontract_compiler.cel.compiler import CelCompiler, CelError, ThisType, Untranslatable, constant_of_field
from protocontract_compiler.emit.python.cel_nodes import Emitter
from protocontract_compiler.ir_cel import BOOL, INT, STRING, Literal, Type
from tests.cel.messages import FIELDS
from tests.cel.support import (
    COMPILER,
    POOL,
    Field,
    FieldRules,
    function_of,
    message_class,
    schema,
    this_of_field,
    this_of_message,
)
from tests.support.timing import within

MESSAGE = schema(
    [
        *FIELDS,
        Field("st", "google.protobuf.Struct"),
        Field("an", "google.protobuf.Any"),
        Field("v", "google.protobuf.Value"),
    ]
).DESCRIPTOR
THIS = this_of_message(MESSAGE)

MISTAKES = {
    "1 +": (1, 4, "Syntax error"),
    "this.nosuch > 1": (1, 5, "undefined field 'nosuch'"),
    "this.l >\n  this.foo()": (2, 11, "undeclared reference to 'foo'"),
    "this.l + 1.0 > 0.0": (1, 8, "found no matching overload for '_+_'"),
    "this.l": (1, 1, "expected bool or string, got int"),
    "this.s ? true : false": (1, 8, "found no matching overload for '_?_:_'"),
    "this.b &&\n this.s.matches('(')": (2, 16, "invalid regular expression: missing ): ("),
    "this.s.isNan()": (1, 13, "found no matching overload for 'isNan'"),
    "rules.min_len > 0u": (1, 6, "undeclared reference to 'rules.min_len'"),
    "": (1, 1, "Syntax error"),
}
DELEGATED = [
    # A missing field behind dyn() or getField() is an error of evaluation to protovalidate, not of the expression.
    "dyn(this).nosuch == 1", "has(dyn(this).nosuch)", "getField(this, 'nosuch') == 1",
    "this.b || dyn(this.sub).nosuch == 1",
    "this == this", "this.sub == this.sub", "this.sub in this.rm", "this.rm == this.rm", "this.st.a == 1",
    "this.an == this.an",
    "this.v == 1.0", "dyn(this.st).a == 1", "this.s.matches(this.s2)", "timestamp(this.s) > this.t",
    "duration(this.s) > this.du",
    "duration('0.3ns') > this.du", "duration('1d') > this.du", "timestamp('2020-1-1T0:0:0Z') > this.t",
    "this.t.getHours(this.s) > 1", "this.t.getHours('Nowhere/City') > 1",
    "this.s == null ? this.rs == [] : [1, 'a'] == []",
    "[1, 'a'][0] == 1", "this.rm.unique()", "this.rt.unique()", "'%s'.format([this.sub])", "'%s'.format([this.w])",
    "'%z'.format([1])", "'%s'.format([])", "this.s.format([1])", "'%s'.format(this.rs.map(x, x))", "this.w == 1.5",
    "type(this.sub) == type(this.sub)", "{'a': 1, 'b': 'c'}.size() == 2", "cel_test.n1.Sub{a: 1}.a == 1",
    "this.rdu == this.rdu", "this.rdu[0] > this.du", "this.md['a'] > this.du", "this.ri[0.0] == 1",
    "'%s'.format([this.y]) == 'a'", "'%x'.format(['%s'.format([this.y])])", "'%s%s'.format([this.y, this.y])",
]  # fmt: skip


@pytest.mark.parametrize("source", MISTAKES)
def test_mistakes_have_places(source: str) -> None:
    line, column, text = MISTAKES[source]
    with pytest.raises(CelError) as caught:
        COMPILER.compile(source, this=THIS)
    assert (caught.value.line, caught.value.column) == (line, column), caught.value
    assert text in caught.value.message


@pytest.mark.parametrize("source", DELEGATED)
def test_what_has_no_exact_translation_is_refused(source: str) -> None:
    with pytest.raises(Untranslatable) as caught:
        COMPILER.compile(source, this=THIS)
    assert caught.value.reason


def test_deep_nesting_is_refused_and_not_a_crash() -> None:
    assert COMPILER.compile("(" * 30 + "this.b" + ")" * 30, this=THIS).result == "bool"
    assert COMPILER.compile("this.b" + " && this.b" * 500, this=THIS).result == "bool"
    for source in ("this.l" + " + 1" * 300 + " > 0", "!(" * 300 + "this.b" + ")" * 300):
        with pytest.raises((CelError, Untranslatable)):
            COMPILER.compile(source, this=THIS)


@pytest.mark.parametrize(
    ("source", "result", "can_raise", "uses_now", "reads", "constant"),
    [
        ("this.l > 1 && this.s != ''", "bool", False, False, {"l", "s"}, None),
        ("this.l / 2 > 1", "bool", True, False, {"l"}, None),
        ("this.t < now", "bool", False, True, {"t"}, None),
        ("this.rs.all(now, now != '')", "bool", False, False, {"rs"}, None),
        ("has(this.sub.s)", "bool", False, False, {"sub"}, None),
        ("1 + 1 == 2", "bool", False, False, set(), True),
        ("'a' + 'b'", "string", False, False, set(), "ab"),
        ("true || this.l / 0 > 1", "bool", False, False, set(), True),
        ("this.rm.exists(x, x.a > this.i)", "bool", False, False, {"rm", "i"}, None),
        ("this.w > 1", "bool", True, False, {"w"}, None),
    ],
)
def test_facts(
    source: str, result: str, can_raise: bool, uses_now: bool, reads: set[str], constant: bool | str | None
) -> None:
    program = COMPILER.compile(source, this=THIS)
    assert program.result == result
    assert program.can_raise is can_raise
    assert program.uses_now is uses_now
    assert program.reads == reads
    assert program.constant == constant
    assert COMPILER.compile(source, this=THIS) is program


def test_this_types() -> None:
    fields = MESSAGE.fields_by_name
    assert this_of_field(fields["w"]) == ThisType(INT)
    assert this_of_field(fields["rw"]) == ThisType(Type("list", (INT,)))
    assert this_of_field(fields["rw"], "item") == ThisType(INT)
    assert this_of_field(fields["mb"]) == ThisType(Type("map", (BOOL, STRING)))
    assert this_of_field(fields["mb"], "key") == ThisType(BOOL)
    assert this_of_field(fields["mm"], "value").type.message.endswith(".Sub")
    assert this_of_field(fields["an"]).type.kind == "dyn"


def test_rule_is_bound_to_the_value_of_a_predefined_rule() -> None:
    rules = FieldRules().string
    this = ThisType(STRING)
    seven = Literal(INT, 7)
    program = COMPILER.compile("size(this) % rule == 0", this=this, rules=rules, rule=seven)
    assert function_of(program)("1234567", 0) is None
    assert function_of(program)("123456", 0) is True
    mask = FieldRules().field_mask
    mask.const.paths.append("a")
    rule = constant_of_field(mask, mask.DESCRIPTOR.fields_by_name["const"])
    program = COMPILER.compile(
        "this in rule.paths ? '' : 'not %s'.format([rule.paths])", this=this, rules=mask, rule=rule
    )
    check = as_check(program)
    assert check is not None
    assert [branch.message for branch in check.branches] == ["not [a]"]


def test_rules_of_doubles_read_as_protovalidate_writes_them() -> None:
    rules = FieldRules().double
    rules.lt = 1e20
    text = "this >= rules.lt ? '%s'.format([rules.lt]) : ''"
    for standard, shown in ((True, "100000000000000000000"), (False, "1e+20"), (None, "1e+20")):
        program = COMPILER.compile(text, this=ThisType(Type("double")), rules=rules, standard=standard)
        check = as_check(program)
        assert check is not None
        assert check.branches[0].message == shown


def test_timestamps_of_rules_must_be_in_range() -> None:
    rules = FieldRules().timestamp
    rules.lt.seconds = 253402300800
    with pytest.raises(CelError, match="timestamp out of range"):
        COMPILER.compile("this < rules.lt", this=ThisType(Type("timestamp")), rules=rules)


def test_checks() -> None:
    def messages(source: str) -> list[str | None] | None:
        check = as_check(COMPILER.compile(source, this=THIS))
        return None if check is None else [branch.message for branch in check.branches]

    assert messages("this.b") == [None]
    assert messages("true") == []
    assert messages("''") == []
    assert messages("this.b ? 'x' : ''") == ["x"]
    assert messages("this.l > 1 ? 'x' : this.l > 0 ? 'y' : 'z'") == ["x", "y", "z"]
    assert messages("this.b ? (this.l > 0 ? 'x' : 'y') : ''") == ["x", "y"]
    assert messages("this.b ? '' : (this.l > 0 ? 'x' : '')") == ["x"]
    assert messages("this.b ? this.s : ''") is None
    assert messages("this.l / this.i > 0 ? '' : 'x'") is None


def test_every_operation_is_known_to_folding_and_to_the_runtime() -> None:
    special = {"same", "matches", "timestamp_of_string", "duration_of_string", "is_ip_prefix_strict"}
    operations = {signature[0] for signature in overloads._OVERLOADS.values()} - special
    for op in operations:
        assert op in fold._INLINE or f"cel_{op}" in _cel.__all__, op
        inline = op in fold._INLINE and not hasattr(Emitter, f"_op_{op}")
        known = op in ("add_double", "sub_double", "mul_double", "concat", "contains", "is_nan")
        assert not inline or known or f"cel_{op}" in _cel.__all__, op


def test_all_is_exported() -> None:
    assert all(hasattr(_cel, name) for name in _cel.__all__)
    helpers = {name for name in vars(_cel) if name.startswith("cel_")}
    assert helpers <= set(_cel.__all__)


def test_a_second_compiler_of_the_same_pool_is_cheap() -> None:
    def work() -> None:
        compiler = CelCompiler(POOL)
        for number in range(300):
            compiler.compile(f"this.l > {number} && this.s != ''", this=THIS)

    assert within(1.0, work)


def test_extension_options_are_constants() -> None:
    """A predefined rule of a contract: the extension's value, read by its descriptor."""
    file = descriptor_pb2.FileDescriptorProto(name="cel_test/ext.proto", package="cel_test.ext", syntax="proto2")
    file.dependency.append("buf/validate/validate.proto")
    file.extension.add(name="even", number=5001, label=1, type=8, extendee=".buf.validate.Int64Rules")
    POOL.Add(file)
    extension = POOL.FindExtensionByName("cel_test.ext.even")
    rules = message_class("buf.validate.Int64Rules")()
    rules.Extensions[extension] = True
    rule = constant_of_field(rules, extension)
    assert rule == Literal(BOOL, True)
    program = COMPILER.compile("!rule || this % 2 == 0", this=ThisType(INT), rules=rules, rule=rule)
    assert function_of(program)(3, 0) is True
    assert function_of(program)(4, 0) is None
