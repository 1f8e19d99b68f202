"""[decisions]: every open question can be answered otherwise in modules.toml, and the answer changes a verdict."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from protocontract_ci.gate.command import source_files
from protocontract_ci.gate.settle import settle
from protocontract_ci.modules import DECISIONS, Module
from protocontract_ci.sources import read
from protocontract_ci.usage.typescript.prepare import ready
from protocontract_ci.verdicts.folder import Folder
from tests.gate.company import LABEL, READER, Company, company
from tests.gate.scenarios import CASES

DAY = datetime.date(2026, 6, 1)
OWN = CASES.parent / "gate_own"
#: A scenario and a module of it whose verdict rests on the question.
SETTLED = {
    "D1": (CASES / "31-field-removed-reserved", "discount.py"),
    "D2": (CASES / "06-string-to-bytes", "labels.py"),
    "D3": (CASES / "08-implicit-to-optional", "avatar.ts"),
    "D4": (OWN / "into-existing-oneof", ""),
    "D5": (CASES / "13-oneof-case-added", "fee.py"),
    "D6": (CASES / "36-min-len-raised", "legacy.py"),
    "D7": (OWN / "unknown-reader", ""),
    "D9": (OWN / "test-file", ""),
    "D11": (OWN / "reserved-number-reused", ""),
    "D12": (OWN / "cel-incomparable", ""),
    "D13": (CASES / "56-unit-changed", "age.py"),
    "D14": (OWN / "latency-tightened", ""),
    "D15": (CASES / "69-vendored-generated-copy", "reader.py"),
}
#: The questions that only a repository can show; see the tests below.
REPOSITORY = ("D8", "D10", "D16", "D17")


def test_every_question_has_a_test() -> None:
    assert sorted(DECISIONS) == sorted((*SETTLED, *REPOSITORY))


@pytest.mark.parametrize("key", SETTLED)
def test_a_question_that_is_a_notice_here(key: str) -> None:
    folder, name = SETTLED[key]
    if name.endswith(".ts") and not ready():
        pytest.skip("the TypeScript compiler is not installed (protocontract gate --prepare)")
    files = source_files(folder / "downstream")
    judged = Folder(folder / "downstream", files, read(str(folder / "before")), read(str(folder / "after")))
    red = [each for each in judged.verdicts() if each.verdict == "not_adapted" and name in ("", each.file)]
    assert red
    decided = []
    for verdict in red:
        module = Module("m", 1)
        default, notice = (
            settle(module, [verdict], [], in_code=(), opened=(), decisions=given, file="modules.toml", today=DAY)
            for given in ({}, {key: "notice"})
        )
        assert (default.verdict.verdict, default.fails) == ("not_adapted", True)
        decided.append(
            (notice.verdict.verdict, notice.fails, any(each.decision == key for each in notice.verdict.findings))
        )
    assert any(not fails and rests for _, fails, rests in decided), decided


# -- in a repository


def decide(acme: Company, word: str) -> None:
    """Write a line of [decisions]."""
    acme.edit(
        "contracts/modules.toml", ('[[module]]\nname = "ingest"', f'[decisions]\n{word}\n\n[[module]]\nname = "ingest"')
    )


@pytest.fixture
def acme(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Company:
    return company(tmp_path, capsys)


def test_options_of_other_languages(acme: Company) -> None:
    module = (
        '\n[[module]]\nname = "report"\npaths = ["report"]\nlanguages = ["java"]\nuses = ["acme.text.v1.Note.text"]\n'
    )
    acme.write({"contracts/modules.toml": (acme.root / "contracts/modules.toml").read_text() + module})
    proto = "contracts/acme/text/v1/text.proto"
    acme.edit(proto, ("package acme.text.v1;", 'package acme.text.v1;\noption java_package = "example.acme";'))
    assert acme.gate()[0] == 0
    decide(acme, 'D8 = "fail"')
    code, answer = acme.gate()
    (finding,) = answer["modules"]["report"]["findings"]
    assert (code, finding["decision"], finding["path"]) == (1, "D8", "acme/text/v1/text.proto")
    assert {name for name, each in answer["modules"].items() if each["findings"]} == {"report"}
    acme.edit("contracts/modules.toml", ('D8 = "fail"', 'D8 = "notice"'))
    code, answer = acme.gate()
    assert (code, answer["modules"]["report"]["findings"][0]["notice"]) == (0, True)


def test_constants_of_other_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = 'OTHER = "start"\nCHANGED = "label"\n'
    use = (
        "from acme.text.v1.text_pb2 import NamedEntity\n\nfrom .names import {0}\n\n\n"
        "def get(entity: NamedEntity):\n    return getattr(entity, {0})\n"
    )
    files = {"app/__init__.py": "", "app/names.py": names, "app/other.py": use.format("OTHER")}
    acme = company(tmp_path, capsys, {**files, "app/changed.py": use.format("CHANGED")})
    acme.contract(("string label = 1 [", 'string name = 1 [(protocontract.v1.field).renamed_from = "label", '))
    _, answer = acme.gate()
    found = {each["file"]: each for each in answer["modules"]["app"]["findings"]}
    # What stands in another file may be anything.
    assert {file: each["proof"] for file, each in found.items()} == {
        "app/other.py": "unresolved", "app/changed.py": "unresolved",
    }  # fmt: skip
    decide(acme, 'D10 = "imports"')
    code, answer = acme.gate()
    found = {each["file"]: each for each in answer["modules"]["app"]["findings"]}
    assert (code, list(found)) == (1, ["app/changed.py"])
    assert (found["app/changed.py"]["proof"], found["app/changed.py"]["lines"]) == ("static", [7])


def test_a_language_that_is_not_read(acme: Company) -> None:
    module = '\n[[module]]\nname = "report"\npaths = ["report"]\nlanguages = ["go"]\n'
    acme.write({"contracts/modules.toml": (acme.root / "contracts/modules.toml").read_text() + module})
    acme.commit()
    acme.git("branch", "-f", "main", "change")
    acme.contract(("int32 start", "int64 start"))
    assert acme.gate("report")[0] == 1
    decide(acme, 'D16 = "notice"')
    code, answer = acme.gate("report")
    assert (code, answer["modules"]["report"]["findings"][0]["decision"]) == (0, "D16")


def test_what_is_deprecated(acme: Company) -> None:
    proto = "contracts/acme/text/v1/text.proto"
    acme.edit(proto, ('in: ["PER", "ORG"]}]', 'in: ["PER", "ORG"]}, deprecated = true]'))
    code, answer = acme.gate()
    (finding,) = answer["modules"]["training"]["findings"]
    assert (code, finding["decision"], finding["path"], finding["lines"]) == (0, "D17", LABEL, [7])
    assert finding["notice"] is True
    assert answer["modules"]["notes"]["findings"] == []
    decide(acme, 'D17 = "fail"')
    code, answer = acme.gate()
    assert (code, answer["modules"]["training"]["verdict"]) == (1, "not_adapted")
    acme.write({"training/labels.py": READER + f"\n# contract-ack: {LABEL} added (until release 7)\n"})
    assert acme.gate("training")[0] == 0
