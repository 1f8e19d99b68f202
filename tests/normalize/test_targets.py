"""Normalizers that write into a sibling: what the sibling cannot hold is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from protocontract import Contract
from protocontract_compiler import load_protos

PROTO = """
syntax = "proto3"; package targets.v1; import "protocontract/v1/contract.proto";
import "google/protobuf/timestamp.proto";
enum Currency {
  CURRENCY_UNSPECIFIED = 0;
  CURRENCY_CNY = 1 [(protocontract.v1.value).code = "CNY"];
  CURRENCY_USD = 2 [(protocontract.v1.value).code = "USD"];
}
message Price {
  string amount = 1 [(protocontract.v1.field).money = {currency_field: "currency"}];
  Currency currency = 2;
}
message Length {
  string text = 1 [(protocontract.v1.field).quantity = {unit: "m" value_field: "single" scale: 2}];
  float single = 2;
  string whole_text = 3 [(protocontract.v1.field).quantity = {unit: "m" value_field: "whole"}];
  int32 whole = 4;
  string wide_text = 5 [(protocontract.v1.field).quantity = {unit: "m" value_field: "wide" policy: LENIENT}];
  double wide = 6;
}
message Visit {
  string written = 1 [(protocontract.v1.field).instant = {instant_field: "moment"}];
  google.protobuf.Timestamp moment = 2;
}
"""


@pytest.fixture(scope="module")
def contracts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Contract[Any]]:
    file: Path = tmp_path_factory.mktemp("targets") / "targets.proto"
    file.write_text(PROTO, encoding="utf-8")
    return dict(load_protos([file], proto_path=file.parent))


@pytest.mark.parametrize(
    ("amount", "currency", "expected"),
    [
        ("USD 5", 0, ("5.00", 2)),
        ("5", 1, ("5.00", 1)),
        ("\u20ac5", 0, "money.currency"),  # a currency that the enum has no value for
        ("$5", 0, "money.ambiguous"),  # the enum decides no mark: that is for `allowed`
        ("5", 7, "money.currency"),
    ],
)
def test_an_enum_takes_the_currency(
    contracts: dict[str, Contract[Any]], amount: str, currency: int, expected: object
) -> None:
    contract = contracts["targets.v1.Price"]
    record = contract.message_type(amount=amount, currency=currency).SerializeToString()
    outcome = contract.process(record)
    if isinstance(expected, str):
        assert [violation.rule_id for violation in outcome.violations] == [expected]
    else:
        assert outcome.message is not None
        assert (outcome.message.amount, outcome.message.currency) == expected


@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        ("single", "3 ft", 0.91),
        ("single", "1" + "0" * 39, "quantity.range"),
        ("whole", "5 km", 5000),
        ("whole", "5.5", "quantity.scale"),
        ("whole", "3000000 km", "quantity.range"),
        ("wide", "1e60 km", 1e63),
        ("wide", f"{'9' * 150}e60 km", 1e213),
    ],
)
def test_a_number_takes_the_quantity(
    contracts: dict[str, Contract[Any]], field: str, text: str, expected: float | str
) -> None:
    contract = contracts["targets.v1.Length"]
    name = {"single": "text", "whole": "whole_text", "wide": "wide_text"}[field]
    outcome = contract.process(contract.message_type(**{name: text}).SerializeToString())
    if isinstance(expected, str):
        assert [violation.rule_id for violation in outcome.violations] == [expected]
        return
    assert outcome.message is not None
    assert getattr(outcome.message, field) == pytest.approx(expected)
    again = contract.process(outcome.message.SerializeToString())
    assert (again.message, again.changes) == (outcome.message, ())


@pytest.mark.parametrize("seconds", [-62_135_596_801, 253_402_300_800])
def test_a_timestamp_that_is_no_moment_is_replaced(contracts: dict[str, Contract[Any]], seconds: int) -> None:
    contract = contracts["targets.v1.Visit"]
    record = contract.message_type(written="2026-01-02T03:04:05Z", moment={"seconds": seconds})
    outcome = contract.process(record.SerializeToString())
    assert outcome.message is not None
    assert outcome.message.moment.seconds == 1_767_323_045
    assert [(change.path, change.before) for change in outcome.changes] == [("moment", None)]
