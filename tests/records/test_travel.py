"""Contracts travel to other processes: generated ones by name and fingerprint, others by their descriptors."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from acme.text.v1.text_contract import TEXT_SAMPLE
from protocontract import Contract, ContractError
from protocontract.loading import compiler, load_same

ROOT = Path(__file__).parents[2]

SHOW = "import pickle, sys; print(pickle.load(sys.stdin.buffer).fingerprint)"


def compiled() -> Contract[object]:
    contracts = compiler("load_protos")([ROOT / "contracts" / "acme" / "text"], proto_path=ROOT / "contracts")
    found: Contract[object] = contracts["acme.text.v1.TextSample"]
    return found


def test_a_generated_contract_is_its_name_and_its_fingerprint() -> None:
    assert TEXT_SAMPLE.__reduce__() == (load_same, ("acme.text.v1.TextSample", TEXT_SAMPLE.fingerprint))
    assert pickle.loads(pickle.dumps(TEXT_SAMPLE)) is TEXT_SAMPLE


def test_another_fingerprint_is_refused_by_name() -> None:
    other = "0" * 64
    with pytest.raises(ContractError) as caught:
        load_same("acme.text.v1.TextSample", other)
    assert str(caught.value) == (
        f"acme.text.v1.TextSample is another contract here; expected fingerprint {other},"
        f" got {TEXT_SAMPLE.fingerprint}; both processes need the same generated code"
    )


def test_a_contract_compiled_at_run_time_travels_into_a_process_that_has_no_generated_code() -> None:
    contract = compiled()
    pickled = pickle.dumps(contract)
    assert pickle.loads(pickled) is contract
    # -I: neither PYTHONPATH nor this folder. The editable install still knows generated/, so the name is not asked for.
    shown = subprocess.run([sys.executable, "-I", "-c", SHOW], input=pickled, capture_output=True, check=True)
    assert shown.stdout.decode().strip() == contract.fingerprint
    assert b"load_same" not in pickled


def test_descriptors_that_compile_to_another_contract_are_refused() -> None:
    contract = compiled()
    function, (descriptors, name, _) = contract.__reduce__()
    with pytest.raises(ContractError, match=f"expected fingerprint {'1' * 64}, got {contract.fingerprint}"):
        function(descriptors, name, "1" * 64)
