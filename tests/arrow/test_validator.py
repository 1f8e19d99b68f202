"""``ArrowValidator``: every row keeps its place and its columns, and gets the verdict of ``Contract.process``."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf import json_format
from hypothesis import given, settings
from hypothesis import strategies as st

from acme.finance.v1.transaction_contract import TRANSACTION
from acme.pipeline.v1.pipeline_contract import CONVERSATION
from acme.text.v1.text_contract import TEXT_SAMPLE
from protocontract import ContractError
from protocontract.arrow import METADATA, VERDICTS, ArrowValidator, verdict_schema
from protocontract.arrow import validator as module
from protocontract.contract import Contract
from protocontract.testing import messages
from protocontract.wire import encode
from tests.arrow.support import payment, verdicts
from tests.examples import examples

GOOD = payment().SerializeToString()
ROWS = [GOOD, payment(amount="1.234", account="1").SerializeToString(), None, b"\xff", b"", GOOD]
CONTRACTS = [TRANSACTION, TEXT_SAMPLE, CONVERSATION]


def table(records: list[bytes | None], kind: pa.DataType | None = None) -> pa.Table:
    return pa.table({"place": range(len(records)), "value": pa.array(records, kind or pa.binary())})


def rows_of(result: Any) -> list[dict[str, Any]]:
    return [{name: row[name] for name in VERDICTS.names} for row in result.to_pylist()]


# -- rows


def test_every_row_has_the_verdict_of_process_and_keeps_its_columns() -> None:
    given_table = table(ROWS)
    result = ArrowValidator(TRANSACTION)(given_table)
    assert rows_of(result) == verdicts(TRANSACTION, ROWS)
    assert result.select(["place", "value"]).equals(given_table)
    assert [row["ok"] for row in result.to_pylist()] == [True, False, False, False, False, True]


def test_a_null_row_is_a_violation_and_no_loss() -> None:
    result = ArrowValidator(TRANSACTION)(table([None, GOOD]))
    first = result.to_pylist()[0]
    assert (first["ok"], first["rule_ids"], first["normalized"]) == (False, ["wire.null"], None)
    assert result.num_rows == 2


def test_an_empty_record_is_a_message_and_no_null() -> None:
    assert "wire.null" not in ArrowValidator(TRANSACTION)(table([b""])).to_pylist()[0]["rule_ids"]


@settings(max_examples=examples(60))
@given(st.data())
def test_any_records_in_any_chunks(data: st.DataObject) -> None:
    contract: Contract[Any] = data.draw(st.sampled_from(CONTRACTS))
    record = st.one_of(
        st.none(),
        st.binary(max_size=40),
        messages(contract).map(lambda message: message.SerializeToString()),
    )
    chunks = data.draw(st.lists(st.lists(record, max_size=6), max_size=4))
    kind = data.draw(st.sampled_from([pa.binary(), pa.large_binary(), pa.binary_view()]))
    column = pa.chunked_array([pa.array(chunk, kind) for chunk in chunks], kind)
    validator = ArrowValidator(contract)
    result = validator(pa.table({"value": column}))
    records = [raw for chunk in chunks for raw in chunk]
    assert rows_of(result) == verdicts(contract, records)
    assert result.schema.equals(validator.schema(pa.schema([("value", kind)])), check_metadata=True)
    result.validate(full=True)


@settings(max_examples=examples(40))
@given(st.lists(st.one_of(st.none(), st.text(max_size=20), messages(TEXT_SAMPLE)), max_size=8))
def test_json_as_text_or_bytes(drawn: list[Any]) -> None:
    records = [
        record if record is None or isinstance(record, str) else encode(record, "json").decode() for record in drawn
    ]
    expected = verdicts(TEXT_SAMPLE, records, "json")
    validator = ArrowValidator(TEXT_SAMPLE, "value", encoding="json")
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary()):
        column = [record if record is None or kind != pa.binary() else record.encode() for record in records]
        assert rows_of(validator(pa.table({"value": pa.array(column, kind)}))) == expected


def test_normalised_bytes_are_protobuf_whatever_the_encoding() -> None:
    written = json_format.MessageToJson(payment())
    result = ArrowValidator(TRANSACTION, encoding="json")(pa.table({"value": [written]})).to_pylist()[0]
    assert result["normalized"] == TRANSACTION.parse(GOOD).SerializeToString(deterministic=True)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(ROWS, pa.binary()).dictionary_encode(),
        pa.chunked_array([pa.array(ROWS[:2], pa.binary()), pa.array([], pa.binary()), pa.array(ROWS[2:], pa.binary())]),
        pa.array([b"no row of these", *ROWS], pa.large_binary()).slice(1),
        pa.array(ROWS, pa.binary_view()),
    ],
    ids=["dictionary", "chunks", "slice", "view"],
)
def test_how_a_column_is_laid_out_is_no_difference(column: Any) -> None:
    assert rows_of(ArrowValidator(TRANSACTION)(pa.table({"value": column}))) == verdicts(TRANSACTION, ROWS)


def test_a_column_without_a_value_and_one_of_equal_sizes() -> None:
    assert ArrowValidator(TRANSACTION)(pa.table({"value": pa.nulls(2)}))["ok"].to_pylist() == [False, False]
    fixed = pa.array([GOOD, GOOD], pa.binary(len(GOOD)))
    assert ArrowValidator(TRANSACTION)(pa.table({"value": fixed}))["ok"].to_pylist() == [True, True]


def test_a_batch_a_table_and_a_stream_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a batch is taken in several parts, by rows and by bytes."""
    records = ROWS * 5
    whole = ArrowValidator(TRANSACTION)(table(records))
    monkeypatch.setattr(module, "_PART_ROWS", 7)
    monkeypatch.setattr(module, "_PART_BYTES", 3 * len(GOOD))
    validator = ArrowValidator(TRANSACTION)
    (batch,) = table(records).to_batches()
    assert pa.Table.from_batches([validator(batch)]).equals(whole, check_metadata=True)
    streamed = list(validator.map_in_arrow(iter([batch, batch.slice(0, 0), batch])))
    assert len(streamed) > 10
    assert pa.Table.from_batches(streamed).to_pylist() == whole.to_pylist() * 2
    assert validator.verdicts(table(records)["value"]).to_pylist() == rows_of(whole)
    assert validator.verdicts(batch.column("value")).to_pylist() == rows_of(whole)


def test_nothing_goes_in_and_nothing_comes_out() -> None:
    validator = ArrowValidator(TRANSACTION)
    empty = table([])
    assert validator(empty).num_rows == 0
    assert validator(empty).schema.equals(validator.schema(empty.schema), check_metadata=True)
    batch = pa.RecordBatch.from_pylist([], schema=empty.schema)
    assert validator(batch).schema.equals(validator.schema(empty.schema), check_metadata=True)
    assert list(validator.map_in_arrow([])) == []


def test_context_and_clock_are_those_of_process() -> None:
    with pytest.raises(ValueError, match="context"):
        ArrowValidator(TRANSACTION, context="nowhere")
    with pytest.raises(ValueError, match="encoding"):
        ArrowValidator(TRANSACTION, encoding="avro")  # type: ignore[arg-type]
    assert rows_of(ArrowValidator(TRANSACTION, now=1)(table(ROWS))) == verdicts(TRANSACTION, ROWS)


# -- the schema


def test_the_schema_is_declared_and_says_by_which_contract() -> None:
    result = ArrowValidator(TRANSACTION)(table(ROWS))
    assert result.schema.names == ["place", "value", *VERDICTS.names]
    assert [result.schema.field(name) for name in VERDICTS.names] == list(VERDICTS)
    said = {key.decode(): value.decode() for key, value in result.schema.metadata.items()}
    assert said == dict(
        zip(
            METADATA,
            ("acme.finance.v1.Transaction", "1.4.0", TRANSACTION.fingerprint, "value", "protobuf"),
            strict=True,
        )
    )


def test_metadata_of_the_input_stays() -> None:
    given_table = table(ROWS).replace_schema_metadata({"pandas": "{}"})
    assert ArrowValidator(TRANSACTION)(given_table).schema.metadata[b"pandas"] == b"{}"


def test_names_that_clash_are_refused_and_a_prefix_helps() -> None:
    clash = table(ROWS).append_column("ok", pa.nulls(len(ROWS)))
    with pytest.raises(ContractError, match="names of verdict columns: ok; choose a prefix"):
        ArrowValidator(TRANSACTION)(clash)
    result = ArrowValidator(TRANSACTION, prefix="contract_")(clash)
    assert result.schema.names[-len(VERDICTS) :] == [f"contract_{name}" for name in VERDICTS.names]
    assert verdict_schema(TRANSACTION, prefix="x_").names[0] == "x_ok"


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        (pa.table({"key": [1]}), "no column named 'value'; the input has key"),
        (pa.table([pa.array([b""]), pa.array([b""])], names=["value", "value"]), "2 columns named 'value'"),
        (pa.table({"value": [1]}), "column 'value' is int64; expected binary"),
        (pa.table({"value": ["text"]}), "column 'value' is string; expected binary"),
    ],
)
def test_a_column_that_holds_no_records_is_refused(rows: pa.Table, error: str) -> None:
    with pytest.raises(ContractError, match=error):
        ArrowValidator(TRANSACTION)(rows)
    with pytest.raises(ContractError, match=error):
        list(ArrowValidator(TRANSACTION).map_in_arrow(rows.to_batches()))


def test_keys_of_maps_are_in_no_verdict() -> None:
    from protocontract.loading import resolve
    from tests.verify.support import LEDGER, PROTOS

    ledger = resolve(LEDGER, proto_path=PROTOS)
    record = json_format.ParseDict({"byName": {"secret key": {"label": "y"}}}, ledger.message_type())
    result = ArrowValidator(ledger)(table([record.SerializeToString()])).to_pylist()[0]
    assert "by_name[*].label" in result["field_paths"]
    assert "secret" not in str({name: result[name] for name in VERDICTS.names})


# -- travelling


def test_it_pickles_with_all_that_it_was_made_with() -> None:
    validator = ArrowValidator(TRANSACTION, "raw", encoding="json", prefix="c_", now=5)
    copy = pickle.loads(pickle.dumps(validator))
    assert copy.contract is TRANSACTION
    assert (copy.column, copy.encoding, copy.prefix, copy.context, copy.now) == ("raw", "json", "c_", None, 5)
    assert repr(copy) == "<ArrowValidator acme.finance.v1.Transaction of 'raw' (json)>"


def test_without_pyarrow_the_extra_is_named() -> None:
    script = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "try: import protocontract.arrow\n"
        "except ImportError as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout == 'MissingExtra protocontract.arrow needs pyarrow: pip install "protocontract[arrow]"\n'
