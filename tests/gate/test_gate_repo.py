"""`protocontract gate` in a git repository: by modules.toml, against the merge base."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.gate.company import CONTRACT, LABEL, MISC, READER, Company, company


@pytest.fixture
def acme(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Company:
    return company(tmp_path, capsys)


def test_who_has_not_adapted_is_told_with_line_and_owner(acme: Company) -> None:
    acme.contract(MISC)
    code, answer = acme.gate()
    trainer = answer["modules"]["training"]
    assert code == 1
    assert (trainer["verdict"], trainer["owner"]) == ("not_adapted", "@ml-data")
    (finding,) = trainer["findings"]
    assert (finding["path"], finding["lines"]) == (f"{LABEL}@string.in", [7])
    assert {name: each["verdict"] for name, each in answer["modules"].items() if name != "training"} == {
        "ingest": "unaffected", "notes": "unaffected",
    }  # fmt: skip
    acme.edit("training/labels.py", ('"ORG": 1}', '"ORG": 1, "MISC": 2}'))
    code, answer = acme.gate()
    assert (code, answer["modules"]["training"]["verdict"]) == (0, "adapted")
    code, out, _ = acme.run("gate")
    assert code == 0
    assert "all 3 modules have adapted or are not affected" in out


def test_the_merge_base_is_compared_with_and_not_the_tip(acme: Company) -> None:
    acme.git("checkout", "-q", "main")
    acme.contract(MISC)
    acme.commit()
    acme.git("checkout", "-q", "change")
    acme.write({"notes/show.py": "\n" + (acme.root / "notes/show.py").read_text()})
    # What main has since is not taken back by a branch that does not know it.
    assert acme.gate()[0] == 0


def test_one_module_at_ones_own_desk(acme: Company) -> None:
    acme.contract(MISC)
    assert acme.verdicts("ingest") == {"ingest": "unaffected"}
    assert acme.gate("ingest")[0] == 0
    code, _, err = acme.run("gate", "ingst")
    assert (code, err) == (
        2,
        "error: no module `ingst` in contracts/modules.toml; expected one of ingest, notes, training\n",
    )


def test_a_mode_that_only_reports(acme: Company) -> None:
    acme.contract(MISC)
    acme.edit("contracts/modules.toml", ('mode = "new"', 'mode = "report"'))
    code, answer = acme.gate()
    assert (code, answer["modules"]["training"]["verdict"]) == (0, "not_adapted")


def test_a_decision_that_is_a_notice_here(acme: Company) -> None:
    acme.contract(MISC)
    acme.edit(
        "contracts/modules.toml",
        ('[[module]]\nname = "ingest"', '[decisions]\nD6 = "notice"\n\n[[module]]\nname = "ingest"'),
    )
    code, answer = acme.gate()
    assert code == 0
    (finding,) = answer["modules"]["training"]["findings"]
    assert finding["notice"] is True


def test_uses_in_tests_that_are_notices_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    acme = company(tmp_path, capsys, {"notes/tests/test_show.py": READER})
    acme.contract(("string label = 1 [", 'string name = 1 [(protocontract.v1.field).renamed_from = "label", '))
    assert acme.verdicts("notes") == {"notes": "not_adapted"}
    acme.edit(
        "contracts/modules.toml",
        ('[[module]]\nname = "ingest"', '[decisions]\nD9 = "notice"\n\n[[module]]\nname = "ingest"'),
    )
    code, answer = acme.gate("notes")
    assert (code, answer["modules"]["notes"]["findings"][0]["decision"]) == (0, "D9")


def test_users_outside_all_modules(acme: Company) -> None:
    acme.write({"scripts/export.py": READER, "scripts/other.py": "import json\n"})
    _, out, _ = acme.run("gate")
    told = "scripts/export.py:1 uses acme.text.v1.text_pb2 and belongs to no module of contracts/modules.toml"
    assert f"note: {told}" in out
    acme.edit("contracts/modules.toml", ('mode = "new"', 'mode = "all"'))
    code, answer = acme.gate()
    assert (code, answer["modules"]["scripts/export.py"]["lines"]) == (1, [1])
    acme.edit("contracts/modules.toml", ('mode = "all"', 'mode = "all"\nignore = ["scripts"]'))
    code, answer = acme.gate()
    assert (code, "scripts/export.py" in answer["modules"]) == (0, False)


def test_a_role_that_is_narrower_than_what_the_code_does(acme: Company) -> None:
    acme.write(
        {"training/labels.py": READER + '\n\ndef clear(entity: text_pb2.NamedEntity) -> None:\n    entity.label = ""\n'}
    )
    code, answer = acme.gate()
    assert code == 1
    (finding,) = answer["modules"]["training"]["findings"]
    assert (finding["kind"], finding["lines"], finding["because"]) == (
        "role_exceeded", [11], f"is declared a reader, and writes {LABEL}",
    )  # fmt: skip


def test_contracts_that_a_module_does_not_name(acme: Company) -> None:
    acme.edit(
        "contracts/modules.toml",
        ('paths = ["training/**"]', 'paths = ["training/**"]\ncontracts = ["acme.text.v1.Note"]'),
    )
    acme.write({"training/labels.py": READER + "\n"})
    code, answer = acme.gate()
    (finding,) = answer["modules"]["training"]["findings"]
    assert (code, finding["kind"]) == (1, "contract_undeclared")


def test_a_change_of_a_module_alone_is_judged(acme: Company) -> None:
    acme.write({"training/labels.py": READER.replace("entity.label", "entity.labl")})
    code, answer = acme.gate()
    (finding,) = answer["modules"]["training"]["findings"]
    assert (code, finding["kind"], finding["path"], finding["lines"]) == (
        1, "name_unknown", "acme.text.v1.NamedEntity.labl", [7],
    )  # fmt: skip
    # What main has already is not this change's doing.
    acme.commit()
    acme.git("branch", "-f", "main", "change")
    acme.write({"training/labels.py": READER.replace("entity.label", "entity.labl") + "\n"})
    code, answer = acme.gate()
    assert (code, answer["modules"]["training"]["findings"][0]["notice"]) == (0, True)


def test_a_package_of_which_a_module_holds_a_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The package is called like one of the standard library, and its `__init__.py` is above the module."""
    files = {"checks/__init__.py": "", "checks/typing/__init__.py": "", "checks/typing/show.py": READER}
    acme = company(tmp_path, capsys, files)
    modules = (acme.root / "contracts/modules.toml").read_text().replace('"checks/**"', '"checks/typing/**"')
    assert modules.count('"checks/typing/**"') == 1
    acme.write({"contracts/modules.toml": modules})
    acme.contract(("string label = 1 [", 'string name = 1 [(protocontract.v1.field).renamed_from = "label", '))
    _, answer = acme.gate()
    # Found by type, and not by name alone.
    assert [each["proof"] for each in answer["modules"]["training"]["findings"]] == ["static"]
    assert [each["proof"] for each in answer["modules"]["checks"]["findings"]] == ["static"]


def test_a_module_in_a_language_that_is_not_read(acme: Company) -> None:
    module = '\n[[module]]\nname = "report"\npaths = ["report/**"]\nlanguages = ["go"]\n'
    acme.write({"contracts/modules.toml": (acme.root / "contracts/modules.toml").read_text() + module})
    acme.commit()
    acme.git("branch", "-f", "main", "change")
    acme.contract(("int32 start", "int64 start"))
    code, answer = acme.gate()
    (finding,) = answer["modules"]["report"]["findings"]
    assert (code, finding["decision"], finding["path"]) == (1, "D16", "acme.text.v1.NamedEntity.start")
    acme.edit("contracts/modules.toml", ('["go"]', '["go"]\nrole = "reader"\nuses = ["acme.text.v1.Note.text"]'))
    assert acme.verdicts()["report"] == "unaffected"
    acme.edit("contracts/modules.toml", ("v1.Note.text", "v1.NamedEntity.start"))
    assert acme.verdicts()["report"] == "not_adapted"


def test_a_module_that_is_not_there(acme: Company) -> None:
    module = '\n[[module]]\nname = "elsewhere"\npaths = ["elsewhere/**"]\n'
    acme.write({"contracts/modules.toml": (acme.root / "contracts/modules.toml").read_text() + module})
    code, answer = acme.gate()
    assert (code, answer["modules"]["elsewhere"]["verdict"]) == (2, "unverified")
    acme.edit("contracts/modules.toml", ('["elsewhere/**"]', '["elsewhere/**"]\nrequired = false'))
    assert acme.gate()[0] == 0


def test_a_module_elsewhere_is_judged_by_the_lock_that_it_published(acme: Company) -> None:
    acme.git("rm", "-q", "training/labels.py")
    acme.commit()
    acme.git("branch", "-f", "main", "change")
    acme.contract(("string label = 1 [", "string name = 1 ["))
    code, answer = acme.gate()
    assert (code, answer["modules"]["training"]["verdict"]) == (1, "not_adapted")
    assert answer["modules"]["training"]["findings"][0]["path"] == LABEL


def test_stored_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reader = """\
import protovalidate

from acme.text.v1.text_pb2 import Note


def load(data: bytes) -> str:
    note = Note.FromString(data)
    protovalidate.validate(note)
    return note.text
"""
    acme = company(tmp_path, capsys, {"archive/load.py": reader})
    acme.contract(("max_len = 40", "max_len = 20"))
    code, answer = acme.gate()
    found = answer["modules"]["archive"]["findings"]
    assert [(each["decision"], each["notice"]) for each in found] == [("D6", True)]
    assert code == 0
    acme.edit("contracts/modules.toml", ('paths = ["archive/**"]', 'paths = ["archive/**"]\nstored_data = true'))
    code, answer = acme.gate()
    assert (code, answer["modules"]["archive"]["lines"]) == (1, [9])
    # A sample of what is stored settles it, one way or the other.
    acme.write({"stored.jsonl": '{"text": "short"}\n'})
    assert acme.gate("--sample", "acme.text.v1.Note=stored.jsonl")[0] == 0
    acme.write({"stored.jsonl": f'{{"text": "{"long" * 8}"}}\n'})
    assert acme.gate("--sample", "acme.text.v1.Note=stored.jsonl")[0] == 1


def test_an_acknowledgement_that_has_ended(acme: Company) -> None:
    acme.contract(MISC)
    word = f'path = "{LABEL}@string.in", change = "PER,ORG->PER,ORG,MISC", reason = "release 7"'
    acme.edit(
        "contracts/modules.toml",
        ('paths = ["training/**"]', f'paths = ["training/**"]\nacknowledge = [{{{word}, until = 2020-01-31}}]'),
    )
    code, answer = acme.gate()
    assert code == 1
    assert answer["modules"]["training"]["findings"][0]["because"].endswith("its acknowledgement ended on 2020-01-31")


def test_a_word_that_fits_nothing_is_reported(acme: Company) -> None:
    acme.write({"training/labels.py": READER + f"\n# contract-ack: {LABEL} removed (gone)\n"})
    code, answer = acme.gate()
    assert code == 0
    assert any("training/labels.py:9: the acknowledgement of" in note for note in answer["notes"])


def test_a_word_without_its_change_is_reported_with_it(acme: Company) -> None:
    acme.contract(MISC)
    acme.write({"training/labels.py": READER + f"\n# contract-ack: {LABEL}@string.in (never sent to us)\n"})
    code, answer = acme.gate()
    assert code == 1
    expected = f"expected `contract-ack: {LABEL}@string.in PER,ORG->PER,ORG,MISC (reason)`"
    assert [note for note in answer["notes"] if note.endswith(expected) and "training/labels.py:9: " in note]


def test_where_nothing_shows_it_the_report_says_what_would(acme: Company) -> None:
    acme.contract(MISC)
    assert "@writer" not in acme.run("gate")[1]
    # What imports this is not run by itself.
    acme.write({"training/labels.py": f"import socket\n{READER}\nHOST = socket.gethostname\n"})
    assert "mark one with @writer or @reader" in acme.run("gate")[1]


def test_what_is_missing_is_said(tmp_path: Path, acme: Company) -> None:
    plain = Company(tmp_path / "plain", acme.capsys)
    plain.root.mkdir()
    code, _, err = plain.run("gate")
    assert (code, "not in a git repository" in err) == (2, True)
    plain.git("init", "-q", "-b", "main")
    plain.write({"contracts/a.proto": CONTRACT})
    code, _, err = plain.run("gate")
    assert (code, "protocontract gate --init" in err) == (2, True)
    code, _, err = acme.run("gate", "--init")
    assert (code, "is there already" in err) == (2, True)
    code, _, err = acme.run("gate", "--against", "origin/nowhere")
    assert (code, "git fetch origin nowhere" in err) == (2, True)


def test_a_shallow_clone_says_what_to_type(tmp_path: Path, acme: Company) -> None:
    acme.contract(MISC)
    acme.commit()
    acme.git("checkout", "-q", "main")
    acme.write({"readme.md": "main goes on\n"})
    acme.commit()
    url = f"file://{acme.root}"
    clone = Company(tmp_path / "clone", acme.capsys)
    subprocess.run(
        ["git", "clone", "-q", "--depth=1", "--no-single-branch", "-b", "change", url, str(clone.root)], check=True
    )
    code, _, err = clone.run("gate")
    assert code == 2
    assert "git fetch --unshallow" in err
    clone.git("fetch", "-q", "--unshallow")
    assert clone.gate()[0] == 1


def test_a_new_field_that_everybody_must_know(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The founding story: a field is added, and nobody has to mail everybody."""
    more = (
        "from acme.text.v1.text_pb2 import NamedEntity\n\n\ndef score(entity: NamedEntity) -> float:\n    return 1.0\n"
    )
    acme = company(tmp_path, capsys, {"training/score.py": more})
    acme.git("checkout", "-q", "main")
    acme.contract(("owner:", "acknowledge_new_fields: true owner:"), version="1.1.0")
    acme.commit()
    acme.git("checkout", "-q", "-B", "change")
    proto = "contracts/acme/text/v1/text.proto"
    acme.edit(proto, ("int32 end = 3;", "int32 end = 3;\n  double confidence_score = 4;"), ('"1.1.0"', '"1.2.0"'))
    assert acme.verdicts() == {"ingest": "not_adapted", "notes": "unaffected", "training": "not_adapted"}
    # One file of a module that uses it is enough; another module says that it ignores it.
    acme.edit("training/score.py", ("return 1.0", "return entity.confidence_score"))
    with (acme.root / "ingest/write.py").open("a") as file:
        file.write("\n# contract-ack: acme.text.v1.NamedEntity.confidence_score added (we have no model)\n")
    code, answer = acme.gate()
    assert (code, {each["verdict"] for each in answer["modules"].values()}) == (0, {"adapted", "unaffected"})
