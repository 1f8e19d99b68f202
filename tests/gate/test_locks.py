"""Locks: evidence of what a module stands on, and never permission."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from tests.gate.company import LABEL, MISC, READER, Company, company

UNTIL = (datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=30)).isoformat()
TRAINING = "contracts/locks/training/acme.text.v1.NamedEntity.json"
INGEST = "contracts/locks/ingest/acme.text.v1.NamedEntity.json"


@pytest.fixture
def acme(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Company:
    return company(tmp_path, capsys)


def lock(acme: Company, path: str = TRAINING) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((acme.root / path).read_text())
    return found


def test_a_lock_has_what_the_module_uses_and_nothing_else(acme: Company) -> None:
    found = lock(acme)
    assert list(found["uses"]) == ["acme.text.v1.NamedEntity", LABEL]
    assert (found["role"], list(found["sources"]), found["open"]) == ("reader", ["training/labels.py"], [])
    text = (acme.root / TRAINING).read_text()
    assert "1.0.0" not in text
    assert "202" not in text.replace(found["contract"], "").replace(str(found["sources"]), "")


def test_locks_that_a_change_does_not_concern_are_not_rewritten(acme: Company) -> None:
    acme.contract(("int32 end = 3;", "int32 end = 3;\n  int32 page = 4;"), version="1.1.0")
    code, out, _ = acme.run("adapt", "--all")
    assert code == 0, out
    assert acme.git("status", "--short", "contracts/locks") == ""
    assert all(not each["findings"] for each in acme.gate()[1]["modules"].values())


def test_modules_that_stand_as_they_did_are_not_read_again(acme: Company) -> None:
    acme.contract(("int32 end = 3;", "int32 end = 3;\n  int32 page = 4;"), version="1.1.0")
    _, answer = acme.gate()
    assert "not read again, for neither they nor what they use has changed: 3 modules" in answer["notes"]
    acme.write({"training/more.py": READER})
    _, answer = acme.gate()
    assert "not read again, for neither they nor what they use has changed: 2 modules" in answer["notes"]


def test_adapt_refuses_while_something_is_open(acme: Company) -> None:
    acme.contract(MISC)
    code, out, _ = acme.run("adapt", "--all")
    assert code == 1
    assert "training: refused" in out
    assert acme.git("status", "--short", "contracts/locks") == f" M {INGEST}\n"
    acme.edit("training/labels.py", ('"ORG": 1}', '"ORG": 1, "MISC": 2}'))
    code, out, _ = acme.run("adapt", "training")
    assert (code, out) == (0, f"training: {TRAINING}\n")
    assert acme.run("adapt", "training")[1] == "training: nothing to write\n"
    assert acme.gate()[0] == 0


def test_a_lock_that_was_edited_by_hand_proves_nothing(acme: Company) -> None:
    acme.contract(MISC)
    acme.run("adapt", "ingest")
    # As if it had been proven: the digest of the new slice.
    before = lock(acme)["contract"]
    acme.edit("training/labels.py", ('"ORG": 1}', '"ORG": 1, "MISC": 2}'))
    acme.run("adapt", "training")
    acme.write({"training/labels.py": READER})
    assert lock(acme)["contract"] != before
    code, answer = acme.gate()
    kinds = [each["kind"] for each in answer["modules"]["training"]["findings"]]
    assert (code, kinds) == (1, ["rule_changed", "lock_edited"])


def test_what_helps_a_module_whose_own_state_is_at_fault_is_no_acknowledgement(acme: Company) -> None:
    text = (acme.root / TRAINING).read_text()
    acme.write({TRAINING: text.replace('"role": "reader"', '"role": "writer"')})
    code, out, _ = acme.run("gate")
    assert code == 1
    assert out.endswith("What helps:\n  protocontract adapt training\n")
    assert acme.run("adapt", "training")[0] == 0
    assert acme.gate()[0] == 0
    old = r"""# acme.text.v1.text_pb2
from google.protobuf import descriptor_pool

DESCRIPTOR = descriptor_pool.Default().AddSerializedFile(b"\n\x17acme/text/v1/text.proto\x12\x0cacme.text.v1")
"""
    acme.write({"notes/text_pb2.py": old})
    acme.edit("ingest/write.py", ("end=end", "last=end"))
    code, out, _ = acme.run("gate")
    assert code == 1
    assert out.partition("What helps:\n")[2].splitlines() == [
        "  write a name that the contract has", "  generate the code anew from the contracts",
    ]  # fmt: skip


def test_what_main_left_behind_stays_open_for_the_lock(acme: Company) -> None:
    """The contract was merged without the module: its lock tells what it stands on, the history the rest."""
    acme.git("checkout", "-q", "main")
    acme.contract(MISC)
    acme.commit()
    acme.git("checkout", "-q", "-B", "later")
    acme.write({"readme.md": "something else\n"})
    acme.commit()
    code, answer = acme.gate()
    assert (code, answer["changes"][-1]["path"]) == (1, f"{LABEL}@string.in")
    assert answer["modules"]["training"]["verdict"] == "not_adapted"
    acme.edit("training/labels.py", ('"ORG": 1}', '"ORG": 1, "MISC": 2}'))
    assert acme.run("adapt", "--all")[0] == 0
    assert acme.gate()[0] == 0


def test_an_acknowledgement_for_a_time(acme: Company) -> None:
    acme.contract(MISC)
    word = ("--reason", "release 7", "--until", UNTIL)
    before = (acme.root / TRAINING).read_text()
    code, _, err = acme.run("adapt", "training", "--acknowledge", LABEL, *word)
    assert (code, f"open are {LABEL}@string.in" in err) == (2, True)
    code, out, err = acme.run("adapt", "training", "--acknowledge", f"{LABEL}@string.in", *word)
    assert code == 0, (out, err)
    assert acme.gate()[0] == 0
    # Nothing is proven by it: the lock stays where it was, and the change comes back when the word ends.
    assert acme.run("adapt", "training")[0] == 0
    assert (acme.root / TRAINING).read_text() == before
    acme.edit("contracts/modules.toml", (f"until = {UNTIL}", "until = 2026-01-31"))
    assert acme.gate()[0] == 1


def test_an_acknowledgement_keeps_the_rest_of_the_file(acme: Company) -> None:
    path = acme.root / "contracts/modules.toml"
    path.write_text(path.read_text().replace('name = "training"', 'name = "training"   # ours'))
    acme.contract(MISC)
    before = path.read_text()
    acme.run("adapt", "training", "--acknowledge", f"{LABEL}@string.in", "--reason", "x", "--until", UNTIL)
    assert path.read_text().startswith(before.rstrip("\n"))
    code, _, err = acme.run(
        "adapt", "training", "--acknowledge", f"{LABEL}@string.in", "--reason", "x", "--until", "2099-12-31"
    )
    assert (code, "(180 days)" in err) == (2, True)


def test_an_acknowledgement_in_code_is_spent_with_the_lock(acme: Company) -> None:
    acme.contract(MISC)
    word = f"# contract-ack: {LABEL}@string.in PER,ORG->PER,ORG,MISC (never sent to us)\n"
    acme.write({"training/labels.py": READER + word})
    assert acme.gate()[0] == 0
    assert acme.run("adapt", "training", "ingest")[0] == 0
    acme.commit()
    acme.git("branch", "-f", "main", "change")
    acme.git("checkout", "-q", "-b", "next")
    acme.write({"training/labels.py": READER + word + "\n"})
    code, answer = acme.gate()
    assert code == 0
    assert any("spent or fits nothing" in note for note in answer["notes"])


def test_the_branch_that_brings_the_first_locks_is_green(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    acme = company(tmp_path, capsys, {"old/read.py": READER.replace("entity.label", "entity.lable")})
    acme.git("branch", "-f", "main", "change~1")
    code, answer = acme.gate()
    assert (code, answer["modules"]["old"]["verdict"]) == (0, "unaffected")


def test_the_baseline_records_what_is_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    acme = company(tmp_path, capsys, {"old/read.py": READER.replace("entity.label", "entity.lable")})
    path = "contracts/locks/old/acme.text.v1.NamedEntity.json"
    assert lock(acme, path)["open"] == ["acme.text.v1.NamedEntity.lable name_unknown unknown"]
    acme.write({"old/read.py": READER.replace("entity.label", "entity.lable") + "\n"})
    assert acme.gate()[0] == 0
    acme.edit("contracts/modules.toml", ('mode = "new"', 'mode = "all"'))
    assert acme.gate()[0] == 1
