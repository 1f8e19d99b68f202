"""Contracts made at run time."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

import protocontract_compiler
from protocontract.contract import Contract
from protocontract.violations import ContractError, ContractViolation
from tests.compiler.sources import CONTRACTS, EXAMPLES, descriptors


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> FileDescriptorSet:
    return descriptors(EXAMPLES, [CONTRACTS], tmp_path_factory.mktemp("dynamic"))


def test_every_message_has_a_contract(files: FileDescriptorSet) -> None:
    contracts = protocontract_compiler.compile(files)
    assert {name.rpartition(".")[2] for name in contracts} >= {"Transaction", "TextSample", "NamedEntity", "ChatTurn"}
    assert all(isinstance(contract, Contract) for contract in contracts.values())
    assert all(name == contract.full_name for name, contract in contracts.items())
    transaction = contracts["acme.finance.v1.Transaction"]
    assert transaction.version == "1.4.0"
    assert transaction.message_type.DESCRIPTOR.full_name == "acme.finance.v1.Transaction"


def test_records_go_through(files: FileDescriptorSet) -> None:
    contract = protocontract_compiler.compile(files)["acme.finance.v1.Transaction"]
    dirty = contract.message_type(
        id="123e4567-e89b-12d3-a456-426614174000",
        amount="¥1000",
        booked_at="2026-01-01 08:00",
        kind=1,
        account="1" * 19,
    )
    clean = contract.parse(dirty.SerializeToString())
    assert (clean.amount, clean.currency, clean.booked_at) == ("1000.00", 1, "2026-01-01T00:00:00Z")
    dirty.amount = "1.234"
    with pytest.raises(ContractViolation, match=r"money\.ambiguous"):
        contract.parse(dirty.SerializeToString())


def test_two_versions_live_side_by_side(tmp_path: Path) -> None:
    """The pool is private: the same names with other rules are no conflict."""
    found = []
    for least in (1, 5):
        folder = tmp_path / str(least)
        folder.mkdir()
        (folder / "a.proto").write_text(
            'syntax = "proto3"; package same; import "buf/validate/validate.proto";\n'
            f"message A {{ string id = 1 [(buf.validate.field).string.min_len = {least}]; }}"
        )
        found.append(protocontract_compiler.load_protos([folder])["same.A"])
    one, five = found
    assert one.is_valid(one.message_type(id="abc"))
    assert not five.is_valid(five.message_type(id="abc"))
    assert one.fingerprint != five.fingerprint


def test_contracts_of_imported_files_come_along(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "app").mkdir()
    (tmp_path / "lib/inner.proto").write_text(
        'syntax = "proto3"; package lib; import "buf/validate/validate.proto";\n'
        "message Inner { string id = 1 [(buf.validate.field).string.min_len = 2]; }"
    )
    (tmp_path / "app/outer.proto").write_text(
        'syntax = "proto3"; package app; import "inner.proto"; message Outer { lib.Inner inner = 1; }'
    )
    contracts = protocontract_compiler.load_protos([tmp_path / "app"], proto_path=tmp_path / "lib")
    assert set(contracts) == {"app.Outer", "lib.Inner"}
    outer = contracts["app.Outer"]
    message = outer.message_type()
    message.inner.id = "x"
    assert [violation.field_path for violation in outer.validate(message)] == ["inner.id"]


def test_a_wrong_contract_is_an_error_with_all_mistakes(tmp_path: Path) -> None:
    (tmp_path / "a.proto").write_text(
        'syntax = "proto3"; import "protocontract/v1/contract.proto";\nmessage A {\n'
        "  int32 x = 1 [(protocontract.v1.field).text.trim = true];\n"
        '  string y = 2 [(protocontract.v1.field).instant.zone = "Mars/Base"];\n}\n'
    )
    with pytest.raises(ContractError) as caught:
        protocontract_compiler.load_protos([tmp_path])
    lines = str(caught.value).splitlines()
    assert [line[:15] for line in lines] == ["a.proto:3:16: e", "a.proto:4:17: e", "2 errors; nothi"]


def test_a_set_without_source_information(files: FileDescriptorSet) -> None:
    bare = FileDescriptorSet()
    bare.CopyFrom(files)
    for file in bare.file:
        file.ClearField("source_code_info")
    whole, stripped = protocontract_compiler.compile(files), protocontract_compiler.compile(bare)
    assert {name: c.fingerprint for name, c in whole.items()} == {name: c.fingerprint for name, c in stripped.items()}


def test_an_empty_set_has_no_contracts() -> None:
    assert dict(protocontract_compiler.compile(FileDescriptorSet())) == {}
    assert dict(protocontract_compiler.load_protos([])) == {}


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        protocontract_compiler.load_protos([tmp_path / "nowhere"])


def test_tracebacks_show_generated_lines(files: FileDescriptorSet) -> None:
    contract = protocontract_compiler.compile(files)["acme.finance.v1.Transaction"]
    try:
        contract.validate(object())
    except Exception:
        shown = traceback.format_exc()
        assert "transaction_contract compiled in memory" in shown
        assert "def _" in shown or "m." in shown
    else:
        pytest.fail("an object is no message")
