"""Every mistake has an id, a case, a place and a message in the style of the house."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from google.protobuf import text_format
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from protocontract.violations import ContractError
from protocontract_compiler import load_protos, plugin
from protocontract_compiler.diagnostics import IDS, Diagnostics, did_you_mean
from protocontract_compiler.ir import Place
from tests.compiler.goldens import matches
from tests.compiler.sources import ROOT, descriptors, request

CASES = Path(__file__).parent / "cases"

# Ids whose text comes from protoc, cel-cpp, RE2 or the runtime's own checks of options, or needs no expectation.
_WORDS_OF_OTHERS = {"proto", "cel", "pattern", "descriptor", "normalizer-option", "relation-option", "rule-oneof",
                    "rule-contradiction"}  # fmt: skip

_LINE = re.compile(r"(?P<place>[^:\s]+\.proto:\d+:\d+: |[^:\s]+\.proto: )?error\[(?P<id>[a-z-]+)\]: (?P<message>.+)")


def _diagnose(folder: Path, scratch: Path) -> str:
    """The error of the plugin for a case; of the command for what protoc itself refuses."""
    if folder.name == "proto":
        with pytest.raises(ContractError) as caught:
            load_protos([folder / "case.proto"], proto_path=folder)
        return str(caught.value)
    text = folder / "descriptors.txtpb"
    if text.exists():
        files = text_format.Parse(text.read_text(), FileDescriptorSet())
    else:
        files = descriptors(["case.proto"], [folder], scratch)
    parameter = folder / "parameter"
    given = parameter.read_text().strip() if parameter.exists() else ""
    response = plugin.respond(request(files, ["case.proto"], given or f"source_root={folder}"))
    assert not response.file
    return response.error.removeprefix("\n")


@pytest.mark.parametrize("case", sorted(IDS))
def test_each_id_has_a_case_whose_errors_are_known(case: str, tmp_path: Path) -> None:
    folder = CASES / case
    assert folder.is_dir(), f"diagnostics.IDS has {case}: make tests/compiler/cases/{case} with case.proto and stderr"
    found = _diagnose(folder, tmp_path)
    assert f"error[{case}]" in found
    assert matches(folder / "stderr", found + "\n")


def test_each_case_has_an_id() -> None:
    assert {folder.name for folder in CASES.iterdir()} - set(IDS) == set(), "no mistake of diagnostics.IDS is called so"


@pytest.mark.parametrize("case", sorted(IDS))
def test_messages_keep_the_style(case: str) -> None:
    *lines, count = (CASES / case / "stderr").read_text().splitlines()
    assert count == f"{len(lines)} error{'s' if len(lines) != 1 else ''}; nothing was written"
    for line in lines:
        match = _LINE.fullmatch(line)
        assert match is not None, line
        assert match["id"] in IDS
        message = match["message"]
        if case == "proto":
            continue  # protoc's own words
        assert not message[0].isupper() or message.startswith("RE2"), line
        assert not message.endswith((".", "!")), line
        assert "expected" in message or "; " in message or match["id"] in _WORDS_OF_OTHERS, line
        assert message.count("`") % 2 == 0, line


def test_lines_are_sorted_by_place() -> None:
    diagnostics = Diagnostics()
    diagnostics.error("sunset", Place("b.proto", 1, 1), "second file")
    diagnostics.error("sunset", Place("a.proto", 10, 1), "tenth line")
    diagnostics.error("sunset", Place("a.proto", 9, 25), "ninth line", "did you mean `x`?")
    diagnostics.error("sunset", Place("a.proto", 9, 25), "ninth line", "did you mean `x`?")
    assert diagnostics.render() == (
        "a.proto:9:25: error[sunset]: ninth line; did you mean `x`?\n"
        "a.proto:10:1: error[sunset]: tenth line\n"
        "b.proto:1:1: error[sunset]: second file\n"
        "3 errors; nothing was written"
    )
    assert [error["line"] for error in json.loads(diagnostics.to_json())["errors"]] == [9, 10, 1]


def test_an_unknown_id_is_a_mistake_of_ours() -> None:
    with pytest.raises(KeyError):
        Diagnostics().error("no-such-id", Place(""), "text")


def test_hints_name_what_is_close() -> None:
    assert did_you_mean("curency", ["currency", "amount"]) == "did you mean `currency`?"
    assert did_you_mean("zzz", ["currency", "amount"]) is None


def test_without_the_source_the_path_inside_the_option_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """protoc tells the start of an option only; the rest is the path inside it."""
    folder = CASES / "money-currency-field"
    files = descriptors(["case.proto"], [folder], tmp_path)
    monkeypatch.chdir(tmp_path)
    error = plugin.respond(request(files, ["case.proto"])).error
    assert (
        "case.proto:8:22: error[money-currency-field]: money.currency_field: `curency` is not a field of Order; "
        "did you mean `currency`?" in error
    )


def test_the_table_of_ids_is_documented() -> None:
    rows = [f"| `{id_}` | {meaning} |" for id_, meaning in IDS.items()]
    head = (
        "# Diagnostics\n\nWhat the compiler refuses, by id. Everything in this table stops the build; nothing is\n"
        "written then. Each id has a case with its exact output in tests/compiler/cases.\n\n"
        "| id | meaning |\n| --- | --- |\n"
    )
    assert matches(ROOT / "docs" / "diagnostics.md", head + "\n".join(rows) + "\n")
