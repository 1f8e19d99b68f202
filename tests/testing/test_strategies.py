"""``valid``, ``boundary``, ``invalid`` and ``messages`` hold what they say, by the word of both validators."""

from __future__ import annotations

from functools import cache
from typing import Any

import protovalidate
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import find as shrunk
from hypothesis import strategies as st

from protocontract import Contract
from protocontract.testing import boundary, invalid, messages, valid
from protocontract.v1 import contract_pb2
from protocontract.violations import ContractError
from protocontract_compiler.passes.pass_annotations import RELATIONS
from tests.examples import examples
from tests.testing.support import KINDS, contract_of, example_contracts

EXAMPLES = example_contracts()
EVERY = [*KINDS, *EXAMPLES]

NORMALIZERS = [field.name for field in contract_pb2.Field.DESCRIPTOR.oneofs_by_name["normalizer"].fields]
#: Rules of protovalidate's begin so; the others are those of our normalizers and relations.
OURS = tuple(f"{word}." for word in (*NORMALIZERS, *RELATIONS))


def get(name: str) -> Contract[Any]:
    return EXAMPLES[name] if name in EXAMPLES else contract_of(name)


def drawn(strategy: st.SearchStrategy[Any], number: int) -> list[Any]:
    """The same examples every time, with hypothesis' own checks on how many had to be thrown away."""
    found: list[Any] = []

    @settings(max_examples=number, derandomize=True, database=None, deadline=None,
              suppress_health_check=[HealthCheck.too_slow])  # fmt: skip
    @given(strategy)
    def collect(message: Any) -> None:
        found.append(message)

    collect()
    return found


def theirs(message: Any) -> set[str]:
    """The rules that protovalidate says are broken."""
    return {each.proto.rule_id or "" for each in _validator(message.DESCRIPTOR.file.pool).collect_violations(message)}


@cache
def _validator(_pool: object) -> protovalidate.Validator:
    """One for each pool: a validator mixes up the extensions of several."""
    return protovalidate.Validator()


def test_every_word_is_drawn() -> None:
    """Strategies, and the examples of documents, are tried on these contracts, and on no other words."""
    told = {id_.partition(".")[0] for name in EVERY for promise in get(name).promises for id_ in promise.rule_ids}
    missing = sorted(word for word in (*NORMALIZERS, *RELATIONS) if word not in told)
    assert not missing, (
        f"add a contract with {missing} to KINDS in tests/testing/support.py; protocontract/testing/_relations.py and "
        "protocontract_compiler/examples/building.py make its fields agree"
    )


@pytest.mark.parametrize("name", EVERY)
def test_valid_messages_are_accepted_by_both_and_normal(name: str) -> None:
    contract = get(name)
    found = drawn(valid(contract), examples(50))
    assert found
    for message in found:
        assert isinstance(message, contract.message_type)
        outcome = contract.process(message.SerializeToString())
        assert outcome.ok
        assert not outcome.changes
        assert theirs(message) == set()


@pytest.mark.parametrize("name", EVERY)
def test_invalid_messages_are_refused(name: str) -> None:
    contract = get(name)
    if not any(promise.rule_ids for promise in contract.promises):
        pytest.skip("nothing to break")
    for message in drawn(invalid(contract), 20):
        assert not contract.process(message.SerializeToString()).ok


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        *(("acme.finance.v1.Transaction", rule) for rule in (
            "string.uuid", "string.len", "required", "enum.not_in", "enum.defined_only", "transaction.refund_of",
            "transaction.self_refund", "money.currency", "money.syntax", "instant.syntax", "instant.fold",
            "instant.gap", "text.replacement",
        )),
        *(("acme.text.v1.TextSample", rule) for rule in (
            "string.min_len", "string.max_len", "string.in", "spans.bounds", "spans.surface", "timestamp.gt",
            "text.nul",
        )),
        *(("acme.pipeline.v1.TokenizerOutput", rule) for rule in (
            "repeated.min_items", "repeated.max_items", "int64.gte_lt", "sequence.step", "sequence.length",
            "tensor.shape",
        )),
        *(("acme.pipeline.v1.Conversation", rule) for rule in ("graph.cycle", "graph.missing", "graph.duplicate")),
        *(("acme.pipeline.v1.Embedding", rule) for rule in ("tensor.norm", "tensor.finite", "string.pattern")),
        ("acme.pipeline.v1.RetrievedChunks", "retrieved.best_first"),
        ("between", "int32.gt_lte"), ("outside", "sint64.gt_lt_exclusive"), ("items", "repeated.unique"),
        ("map", "map.min_pairs"), ("map", "string.pattern"), ("map", "int32.gt"), ("oneof", "required"),
        ("cel_field", "even"), ("cel_message", "ordered"), ("duration", "duration.gte_lt"), ("float", "float.gt_lt"),
        ("bytes", "bytes.prefix"), ("wrapper", "int64.gte_lt"), ("any", "any.in"), ("field_mask", "field_mask.in"),
    ],
)  # fmt: skip
def test_invalid_breaks_the_wanted_rule(name: str, rule: str) -> None:
    contract = get(name)
    for message in drawn(invalid(contract, rule), 10):
        outcome = contract.process(message.SerializeToString())
        assert not outcome.ok
        as_it_stands = {each.rule_id for each in contract.validate(message)}
        assert rule in as_it_stands | {each.rule_id for each in outcome.violations}
        if not rule.startswith(OURS):
            # Blanks are a text for protovalidate, and nothing once they are normalised.
            assert rule in theirs(message) | theirs(contract.normalize(message))


def test_the_other_rules_are_kept_where_that_is_possible() -> None:
    for message in drawn(invalid(contract_of("map"), "map.min_pairs"), 10):
        assert {each.rule_id for each in contract_of("map").validate(message)} == {"map.min_pairs"}


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("between", {5, 6, 9, 10, 0, 2**31 - 1, -(2**31)}),
        ("outside", {-100, -101, 100, 101}),
        ("in_not_in", {2, 3, 4, 5, 6}),
    ],
)
def test_boundary_has_both_sides_of_each_bound(kind: str, values: set[int]) -> None:
    found = {message.f for message in drawn(boundary(contract_of(kind)), 300)}
    assert values <= found


def test_boundary_has_sizes_zeros_and_nasty_texts() -> None:
    texts = {message.f for message in drawn(boundary(contract_of("text_size")), 600)}
    assert {2, 3, 5, 6} <= {len(text) for text in texts}
    assert {"", "\x00", "e\u0301", "\u202ea"} <= texts
    assert {len(message.f) for message in drawn(boundary(contract_of("items")), 300)} >= {0, 1, 2, 3, 4}
    assert {message.HasField("f") for message in drawn(boundary(contract_of("required")), 100)} == {True, False}
    moments = {
        message.f.seconds * 10**9 + message.f.nanos for message in drawn(boundary(contract_of("timestamp")), 300)
    }
    assert {100 * 10**9, 100 * 10**9 + 1, 200 * 10**9, 200 * 10**9 + 1} <= moments


def test_messages_are_of_all_kinds() -> None:
    contract = EXAMPLES["acme.text.v1.TextSample"]
    found = drawn(messages(contract), 200)
    assert any(message.entities for message in found)
    assert any(not contract.is_valid(message) for message in found)


def test_examples_shrink_to_small_messages() -> None:
    contract = EXAMPLES["acme.text.v1.TextSample"]
    smallest = shrunk(valid(contract), lambda message: len(message.entities) >= 1,
                      settings=settings(derandomize=True, database=None, deadline=None))  # fmt: skip
    assert len(smallest.entities) == 1
    assert len(smallest.raw_text) == 2


def test_what_has_no_valid_message_says_so() -> None:
    from protocontract_compiler import dynamic

    source = """
        syntax = "proto3"; package none; import "buf/validate/validate.proto";
        message Never { int32 f = 1 [(buf.validate.field).cel = {id: "never" expression: "this != this"}]; }
    """
    contract = dynamic.compile(dynamic.describe({"never.proto": source}))["none.Never"]
    with pytest.raises(ContractError, match=r"no valid message of none\.Never .* never"):
        drawn(valid(contract), 100)


def test_a_rule_that_the_contract_does_not_have() -> None:
    with pytest.raises(ValueError, match=r"has no rule 'string\.max_len'; expected one of int32\.gt_lte"):
        invalid(contract_of("between"), "string.max_len")
