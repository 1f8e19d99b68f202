"""The manifest says what contracts, descriptors and runtime say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.compiler.sources import ROOT
from tests.testing.support import example_contracts


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((ROOT / "generated" / "manifest" / "manifest.json").read_text())
    return read


def test_contracts_are_those_of_the_generated_modules(manifest: dict[str, Any]) -> None:
    contracts = {contract["name"]: contract for contract in manifest["contracts"]}
    known = {name: contract for name, contract in example_contracts().items() if contract.version}
    assert known.keys() <= contracts.keys()
    for name, contract in known.items():
        listed = contracts[name]
        assert (listed["version"], listed["fingerprint"]) == (contract.version, contract.fingerprint)
        assert [(p["path"], tuple(p["rules"])) for p in listed["promises"]] == [
            (promise.path, tuple(promise.rule_ids)) for promise in contract.promises
        ]


def test_codes_are_those_of_violations(manifest: dict[str, Any]) -> None:
    """A message in which nothing is set breaks rules on many paths."""
    listed = {
        contract["name"]: {(rule["path"], rule["id"]): rule["code"] for rule in contract["rules"]}
        for contract in manifest["contracts"]
    }
    compared = 0
    for name, contract in example_contracts().items():
        if name not in listed:
            continue
        outcome = contract.process(b"")
        for violation in outcome.violations:
            path = violation.field_path
            if "[" not in path:
                assert listed[name][path, violation.rule_id] == f"{violation.code:#010x}"
                compared += 1
    assert compared > 10


def test_codes_of_records_as_a_whole(manifest: dict[str, Any]) -> None:
    contract = example_contracts()["acme.finance.v1.Transaction"]
    listed = next(each for each in manifest["contracts"] if each["name"] == contract.full_name)
    codes = {rule["id"]: rule["code"] for rule in listed["record_rules"]}
    (violation,) = contract.process(b"\xff").violations
    assert codes[violation.rule_id] == f"{violation.code:#010x}"
    assert {rule["path"] for rule in listed["record_rules"] if rule["id"] == "key.mismatch"} == {"id"}


def test_fields_levels_and_services(manifest: dict[str, Any]) -> None:
    fields = {field["name"]: field for field in manifest["messages"]["acme.finance.v1.Transaction"]["fields"]}
    assert fields["account"]["sensitive"] is True
    assert fields["amount"]["normalizer"]["writes"] == "currency"
    assert fields["booked_at"]["json_name"] == "bookedAt"
    listed = {contract["name"]: contract for contract in manifest["contracts"]}
    assert listed["acme.finance.v1.Transaction"]["level"] == {
        "compliance": 0.999, "latency_seconds": 300.0, "window_seconds": 3600.0
    }  # fmt: skip
    assert listed["acme.inference.v1.PredictRequest"]["level"] is None
    methods = {method["name"]: method for service in manifest["services"] for method in service["methods"]}
    assert methods["Predict"]["level"]["queue"] == 100
    codes = {value["name"]: value.get("code") for value in manifest["enums"]["acme.finance.v1.Currency"]["values"]}
    assert codes["CURRENCY_CNY"] == "CNY"


def test_the_files_it_names_are_there(manifest: dict[str, Any]) -> None:
    named = [
        ROOT / "generated" / target / name
        for contract in manifest["contracts"]
        for target, names in contract["files"].items()
        for name in names
    ]
    assert len(named) > 40
    assert [path for path in named if not path.is_file()] == []
