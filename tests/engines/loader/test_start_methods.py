"""However a worker comes by its contract: forked, spawned, from a fork server, through cloudpickle."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from protocontract import Contract, ContractError
from protocontract.cli import main
from protocontract.loading import compiler
from protocontract.torch import ContractDataset, ContractLoader, ContractStream
from tests.engines.loader.support import GOOD, batches, chunks, files, numbers
from tests.support.samples import TEXT_SAMPLE

ROOT = Path(__file__).parents[3]


def compiled() -> Contract[Any]:
    contracts = compiler("load_protos")([ROOT / "contracts" / "acme" / "text"], proto_path=ROOT / "contracts")
    found: Contract[Any] = contracts["acme.text.v1.TextSample"]
    return found


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("contract", [TEXT_SAMPLE, compiled()], ids=["generated", "compiled at run time"])
def test_workers_have_the_contract_however_they_are_started(
    contract: Contract[Any], method: str, tmp_path: Path
) -> None:
    files(tmp_path)
    train = ContractDataset.from_files(
        f"{tmp_path}/[abc].*",
        contract,
        on_violation="quarantine",
        quarantine=tmp_path / "rejects.jsonl",
        cache=tmp_path / "cache",
    )
    # One worker: what starts it imports PyTorch anew, which takes its time.
    loader = ContractLoader(train, batch_size=64, num_workers=1, multiprocessing_context=method, collate_fn=numbers)
    assert batches(loader) == chunks(GOOD, 64)
    assert str(loader.report()).startswith("1,000 read, 950 used, 50 quarantined: ")


SHOW = """
import pickle, sys
train = pickle.load(sys.stdin.buffer)
print(len(train), train[18], train.contract.fingerprint)
"""


@pytest.mark.parametrize("contract", [TEXT_SAMPLE, compiled()], ids=["generated", "compiled at run time"])
def test_cloudpickle_takes_a_data_set_with_a_lambda(contract: Contract[Any], tmp_path: Path) -> None:
    files(tmp_path)
    train = ContractDataset.from_files(
        f"{tmp_path}/[abc].*",
        contract,
        on_violation="skip",
        cache=tmp_path / "cache",
        transform=lambda sample: sample.raw_text,
    )
    pickled = cloudpickle.dumps(train)
    shown = subprocess.run([sys.executable, "-c", SHOW], input=pickled, capture_output=True, check=True)
    assert shown.stdout.decode().strip() == f"950 text 18 of Oxford {contract.fingerprint}"


PROTO = """\
syntax = "proto3";
package loader.v1;
import "buf/validate/validate.proto";
message Line { string text = 1 [(buf.validate.field).string.max_len = %d]; }
"""


def test_a_worker_that_finds_another_contract_refuses_naming_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def generate(longest: int) -> None:
        source = tmp_path / "protos" / "loader" / "v1" / "line.proto"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(PROTO % longest)
        assert main(["compile", str(tmp_path / "protos"), "--out", str(tmp_path / "gen")]) == 0

    generate(8)
    monkeypatch.syspath_prepend(tmp_path / "gen")
    contract: Contract[Any] = importlib.import_module("loader.v1.line_contract").LINE
    (tmp_path / "a.jsonl").write_text('{"text": "short"}\n')
    train = ContractDataset.from_files(tmp_path / "a.jsonl", contract, cache=tmp_path / "cache")
    loader = ContractLoader(train, num_workers=1, multiprocessing_context="spawn")
    # A deployment in the midst of it: what the worker imports is not what this process has imported.
    generate(9)
    with pytest.raises(ContractError) as caught:
        batches(loader)
    told = str(caught.value)
    assert told.startswith(
        f"loader.v1.Line is another contract here; expected fingerprint {contract.fingerprint}, got "
    )
    assert told.endswith("; both processes need the same generated code")


def test_deliveries_hold_nothing_that_is_sensitive(tmp_path: Path) -> None:
    """What a worker sends to be raised is data too."""
    from acme.finance.v1.transaction_contract import TRANSACTION

    bad = TRANSACTION.message_type(account="4111 1111")
    stream = ContractStream.from_iterable([bad], TRANSACTION)
    loader = ContractLoader(stream, num_workers=1)
    with pytest.raises(ValueError, match="account") as caught:
        batches(loader)
    assert "4111" not in str(caught.value)
    assert b"4111" not in pickle.dumps(caught.value)
