"""Generated contracts as their users meet them: parse, process, violations, changes, evidence, privacy."""

from __future__ import annotations

import copy
import hashlib
import logging
import pickle
from pathlib import Path
from typing import Any

import pytest

import protocontract
from acme.finance.v1 import transaction_contract
from acme.finance.v1.transaction_contract import TRANSACTION
from acme.finance.v1.transaction_pb2 import CURRENCY_CNY, CURRENCY_USD, Transaction
from acme.pipeline.v1.pipeline_contract import CONVERSATION, EMBEDDING, RETRIEVED_CHUNKS, TOKENIZER_OUTPUT
from acme.pipeline.v1.pipeline_pb2 import Conversation, Embedding, RetrievedChunks, TokenizerOutput
from acme.text.v1.text_contract import ERR_TEXT_SAMPLE_RAW_TEXT_STRING_MIN_LEN, TEXT_SAMPLE
from acme.text.v1.text_pb2 import TextSample
from protocontract import Contract, ContractError, ContractViolation
from tests.rules.test_against_protovalidate import VALID
from tests.support.messages import UUID

ACCOUNT = "6222021234567890123"


def payment(**fields: Any) -> Transaction:
    given = {
        "id": UUID, "amount": "1,000.00", "booked_at": "2026-01-01 08:00", "account": ACCOUNT,
        "kind": Transaction.KIND_PAYMENT,
    }  # fmt: skip
    return Transaction(**{**given, **fields})


def rule_ids(contract: Contract[Any], message: Any) -> list[str]:
    return [violation.rule_id for violation in contract.process(message.SerializeToString()).violations]


# -- normalised and valid


def test_parse_gives_the_normalised_message() -> None:
    parsed = TRANSACTION.parse(payment(amount="¥1000", memo="  rent ").SerializeToString())
    assert (parsed.amount, parsed.currency, parsed.booked_at, parsed.memo) == (
        "1000.00", CURRENCY_CNY, "2026-01-01T00:00:00Z", "rent",
    )  # fmt: skip


def test_changes_say_what_was_replaced() -> None:
    outcome = TRANSACTION.process(payment(amount="USD 12.5").SerializeToString())
    assert outcome.ok
    assert [(change.path, change.rule_id, change.before, change.after) for change in outcome.changes] == [
        ("amount", "money", "USD 12.5", "12.50"),
        ("currency", "money", None, "USD"),
        ("booked_at", "instant", "2026-01-01 08:00", "2026-01-01T00:00:00Z"),
    ]
    assert outcome.message is not None
    assert outcome.message.currency == CURRENCY_USD


def test_a_clean_record_has_no_changes_and_twice_is_once() -> None:
    once = TRANSACTION.parse(payment().SerializeToString())
    outcome = TRANSACTION.process(once.SerializeToString())
    assert outcome.ok
    assert outcome.changes == ()
    assert outcome.message == once


def test_normalize_copies_and_validate_never_normalises() -> None:
    message = payment(memo=f"{'x' * 140} ")
    before = copy.deepcopy(message)
    assert TRANSACTION.normalize(message).amount == "1000.00"
    assert message == before
    assert [violation.rule_id for violation in TRANSACTION.validate(message)] == ["string.max_len"]
    assert message == before
    assert not TRANSACTION.is_valid(message)
    assert TRANSACTION.is_valid(TRANSACTION.normalize(message))


def test_normalized_records_are_only_validated() -> None:
    raw = payment(memo=" rent ", amount="1.00", currency=CURRENCY_CNY).SerializeToString()
    outcome = TRANSACTION.process(raw, normalized=True)
    assert outcome.ok
    assert outcome.message is not None
    assert outcome.message.memo == " rent "


# -- broken


def test_a_refused_field_is_reported_once_and_spoils_what_it_would_have_written() -> None:
    # 1.234 is one thousand or one and a bit. Neither the amount's own rules nor the currency's are judged.
    assert rule_ids(TRANSACTION, payment(amount="1.234")) == ["money.ambiguous"]


def test_all_violations_come_at_once_and_in_order() -> None:
    broken = payment(id="x", amount="five", account="1", kind=99, refund_of="y")
    assert rule_ids(TRANSACTION, broken) == [
        "money.syntax", "transaction.refund_of", "string.uuid", "string.len", "enum.defined_only", "string.uuid",
    ]  # fmt: skip


def test_parse_raises_with_all_violations() -> None:
    with pytest.raises(ContractViolation) as raised:
        TRANSACTION.parse(payment(id="x", account="1").SerializeToString())
    assert [violation.rule_id for violation in raised.value.violations] == ["string.uuid", "string.len"]


def test_a_violation_says_where_what_and_how_to_find_it() -> None:
    (violation,) = TRANSACTION.process(payment(amount="1.234").SerializeToString()).violations
    assert (violation.contract, violation.field_path, violation.rule_id) == (
        "acme.finance.v1.Transaction", "amount", "money.ambiguous",
    )  # fmt: skip
    assert violation.code == 0xB93DB785 == transaction_contract.ERR_TRANSACTION_AMOUNT_MONEY_AMBIGUOUS
    assert str(violation).startswith("acme.finance.v1.Transaction amount: two readings of a 5-character text")
    assert str(violation).endswith("(money.ambiguous, 0xb93db785)")
    assert violation.value == "1.234"
    assert violation.error_class == protocontract.ErrorClass("INPUT", "IMMEDIATE")
    assert violation.severity == "ERROR"


def test_codes_are_the_first_bytes_of_a_digest() -> None:
    digest = hashlib.sha256(b"acme.text.v1.TextSample.raw_text:string.min_len").digest()
    assert int.from_bytes(digest[:4], "big") == ERR_TEXT_SAMPLE_RAW_TEXT_STRING_MIN_LEN


@pytest.mark.parametrize("name", VALID)
def test_named_codes_are_those_of_violations(name: str) -> None:
    """Each violation of an empty message has its code under a name in the module."""
    contract, _ = VALID[name]
    module = __import__(contract.source.removesuffix(".proto").replace("/", ".") + "_contract", fromlist=["x"])
    named = {value for key, value in vars(module).items() if key.startswith("ERR_")}
    found = contract.process(b"").violations
    assert found
    assert {violation.code for violation in found} <= named


# -- privacy


def test_a_sensitive_value_is_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    outcome = TRANSACTION.process(payment(account=ACCOUNT + "9").SerializeToString())
    (violation,) = outcome.violations
    assert violation.value is None
    with pytest.raises(ContractViolation) as raised, caplog.at_level(logging.DEBUG):
        TRANSACTION.parse(payment(account=ACCOUNT + "9").SerializeToString())
    shown = [str(violation), repr(violation), str(raised.value), repr(raised.value), repr(outcome), caplog.text,
             violation.to_proto().to_json(), repr(outcome.evidence())]  # fmt: skip
    assert not any(ACCOUNT in text for text in shown)


def test_no_value_is_in_the_text_of_a_violation() -> None:
    marker = "Zq7marker"
    outcome = TRANSACTION.process(payment(id=marker, amount=marker, booked_at=marker).SerializeToString())
    assert len(outcome.violations) == 3
    assert not any(marker in str(violation) for violation in outcome.violations)


# -- spans move with their text


def test_spans_follow_the_normalised_text() -> None:
    sample = copy.deepcopy(VALID["text"][1])
    sample.raw_text = "\ufeff  Ada  lives in   London. "
    first, second = sample.entities
    first.start_offset, first.end_offset = 3, 6
    second.start_offset, second.end_offset = 19, 25
    outcome = TEXT_SAMPLE.process(sample.SerializeToString())
    assert outcome.violations == ()
    assert outcome.message is not None
    text = outcome.message.raw_text
    assert text == "Ada lives in London."
    assert [text[e.start_offset : e.end_offset] for e in outcome.message.entities] == ["Ada", "London"]
    assert {change.path for change in outcome.changes} >= {"raw_text", "entities[0].start_offset"}


def test_a_span_that_does_not_fit_its_text_is_refused() -> None:
    sample = copy.deepcopy(VALID["text"][1])
    sample.entities[1].end_offset = 99
    outcome = TEXT_SAMPLE.process(sample.SerializeToString())
    assert [(violation.field_path, violation.rule_id) for violation in outcome.violations] == [
        ("entities[1]", "spans.bounds")
    ]


def test_spans_of_a_refused_text_are_not_judged() -> None:
    sample = copy.deepcopy(VALID["text"][1])
    sample.raw_text += "\ufffd"
    sample.entities[1].end_offset = 99
    assert rule_ids(TEXT_SAMPLE, sample) == ["text.replacement"]


# -- relations


def test_sequence_graph_tensor() -> None:
    tokens = TokenizerOutput(document_id="d", input_ids=[1, 2], attention_mask=[1], position_ids=[0, 2])
    assert sorted(set(rule_ids(TOKENIZER_OUTPUT, tokens))) == ["sequence.length", "sequence.step", "tensor.shape"]
    talk: Conversation = copy.deepcopy(VALID["conversation"][1])
    talk.turns[0].parent_ids.append("2")
    talk.turns[1].parent_ids.append("9")
    assert sorted(rule_ids(CONVERSATION, talk)) == ["graph.cycle", "graph.missing"]
    embedding: Embedding = copy.deepcopy(VALID["embedding"][1])
    (violation,) = EMBEDDING.process(embedding.SerializeToString()).violations
    assert violation.rule_id == "tensor.norm"
    assert violation.error_class == protocontract.ErrorClass("MODEL", "RETRAINING")


def test_markup_is_taken_out_of_chunks() -> None:
    chunks: RetrievedChunks = copy.deepcopy(VALID["chunks"][1])
    chunks.chunks[0].text = "<p>a &lt; b</p>"
    outcome = RETRIEVED_CHUNKS.process(chunks.SerializeToString())
    assert outcome.message is not None
    assert outcome.message.chunks[0].text == "a < b"
    assert outcome.changes[0].path == "chunks[0].text"


# -- records that are none


@pytest.mark.parametrize(
    ("raw", "rule_id"),
    [
        (b"\xff\xff", "wire.malformed"),
        (payment().SerializeToString()[:-1], "wire.malformed"),
        (b"\x0a\x02\xc3\x28", "wire.malformed"),  # invalid UTF-8
        (b"\x0b" * 10_000, "wire.malformed"),  # groups, 10,000 deep
        (None, "wire.null"),
    ],
)
def test_bytes_that_are_no_message(raw: bytes | None, rule_id: str) -> None:
    outcome = TRANSACTION.process(raw)
    assert not outcome.ok
    assert [violation.rule_id for violation in outcome.violations] == [rule_id]
    assert outcome.evidence().output_sha256 is None


def test_unknown_fields_are_seen() -> None:
    raw = payment().SerializeToString() + b"\xa2\x06\x03new"
    assert TRANSACTION.process(raw).unknown_fields
    assert not TRANSACTION.process(payment().SerializeToString()).unknown_fields


# -- contracts as objects


def test_load_finds_contracts_by_name_and_place() -> None:
    assert protocontract.load("acme.finance.v1.Transaction") is TRANSACTION
    assert protocontract.load("acme.finance.v1.transaction_contract:TRANSACTION") is TRANSACTION


_NAMES = [
    ("acme.finance.v1.Nope", "no contract for acme.finance.v1.Nope: looked in acme.finance.v1.transaction_contract, "
                             "which has acme.finance.v1.Transaction"),
    ("acme.finance.v1.Transacton", "no contract for acme.finance.v1.Transacton: looked in "
                                   "acme.finance.v1.transaction_contract; did you mean acme.finance.v1.Transaction?"),
    ("acme.finance.v1.transaction_contract", "acme.finance.v1.transaction_contract is a module; name a message of it: "
                                             "acme.finance.v1.Transaction"),
    ("acme.finance.v1.transaction_contract:TX", "acme.finance.v1.transaction_contract has no contract named TX; "
                                                "it has: TRANSACTION"),
    ("acme.nowhere.Nope", "no contract for acme.nowhere.Nope: looked in no *_contract.py, as no folder acme/nowhere"),
    ("acme.nowhere:NOPE", "no module acme.nowhere; put the folder of the generated code on PYTHONPATH"),
    ("Transaction", "no contract for Transaction; expected a full name"),
    ("", "no contract for an empty name; expected a full name"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "message"), _NAMES, ids=[name or "empty" for name, _ in _NAMES])
def test_a_name_without_a_contract_is_told_what_there_is(name: str, message: str) -> None:
    with pytest.raises(ContractError) as caught:
        protocontract.load(name)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(("line", "message"), [
    ("import buf_missing", "no module buf_missing"),
    ("import buf.missing", "no module buf.missing; compile buf/validate/validate.proto too"),
    ("from google.protobuf.runtime_version import VersionError\nraise VersionError('x')",
     "was generated for another protobuf: x"),
], ids=["module", "validate", "version"])  # fmt: skip
def test_a_generated_module_that_cannot_be_imported_is_told(
    line: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = f"walk_{len(line)}"
    (tmp_path / place).mkdir()
    (tmp_path / place / "order_contract.py").write_text(line)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ContractError) as caught:
        protocontract.load(f"{place}.Order")
    assert str(caught.value).startswith(f"{place}.order_contract ")
    assert str(caught.value).endswith(message)


def test_contracts_travel_by_name() -> None:
    assert pickle.loads(pickle.dumps(TEXT_SAMPLE)) is TEXT_SAMPLE


def test_metadata() -> None:
    assert TRANSACTION.version == "1.4.0"
    assert TRANSACTION.message_type is Transaction
    assert TRANSACTION.dead_letter_topic == "payments.dead"
    assert TRANSACTION.level == protocontract.StreamLevel(compliance=0.999, latency=300.0, window=3600.0)
    assert TRANSACTION.sensitive == {"account"}
    assert TEXT_SAMPLE.on_breach == "HALT"
    assert len(TRANSACTION.fingerprint) == 64
    assert TextSample.DESCRIPTOR.full_name == TEXT_SAMPLE.full_name


def test_evidence_names_what_was_checked_and_how_it_came_out() -> None:
    raw = payment().SerializeToString()
    outcome = TRANSACTION.process(raw)
    evidence = outcome.evidence()
    assert evidence.ok
    assert evidence.input_sha256 == hashlib.sha256(raw).hexdigest()
    assert outcome.message is not None
    output = outcome.message.SerializeToString(deterministic=True)
    assert evidence.output_sha256 == hashlib.sha256(output).hexdigest()
    assert dict(evidence.data_versions)["unicodedata2"] == "18.0.0"
    assert evidence.fingerprint == TRANSACTION.fingerprint
