"""Merged is not deployed: head against what runs, the order, and sunsets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.gate.company import LABEL, MISC, Company, company

PROD = "contracts/deployments/prod/training.json"


@pytest.fixture
def acme(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Company:
    made = company(tmp_path, capsys)
    for module in ("training", "ingest"):
        code, out, _ = made.run("record-deployment", module, "prod")
        assert (code, out.startswith(f"{module} runs in prod at ")) == (0, True)
    return made


def test_the_order_of_deployment(acme: Company) -> None:
    runs = acme.git("rev-parse", "--short=7", "HEAD").strip()
    acme.contract(MISC)
    acme.edit("training/labels.py", ('"ORG": 1}', '"ORG": 1, "MISC": 2}'))
    code, answer = acme.gate("--env", "prod")
    # The code of head has adapted, what runs has not: an order settles it.
    assert (code, answer["modules"]["training"]["verdict"]) == (0, "adapted")
    assert answer["modules"][f"training@{runs}"]["verdict"] == "not_adapted"
    assert (
        f"prod: readers first: deploy anew training@{runs} before the writers of head ({LABEL}@string.in)"
        in (answer["notes"])
    )
    acme.commit()
    acme.run("record-deployment", "training", "prod")
    code, answer = acme.gate("--env", "prod")
    assert "prod: nothing that runs there is broken by head; deploy in any order" in answer["notes"]


def test_writers_first(acme: Company) -> None:
    acme.contract(('"PER", "ORG"', '"ORG"'))
    acme.edit("ingest/write.py", ('"PER"', '"ORG"'))
    _, answer = acme.gate("--env", "prod")
    assert any(note.startswith("prod: writers first: deploy anew ingest@") for note in answer["notes"])


def test_a_change_that_no_order_helps(acme: Company) -> None:
    acme.contract(('string label = 1 [(buf.validate.field).string = {in: ["PER", "ORG"]}];', "int32 label = 1;"))
    code, answer = acme.gate("--env", "prod")
    assert code == 1
    assert any("no order of deployment helps" in note for note in answer["notes"])


def test_records_that_are_kept(acme: Company) -> None:
    acme.contract(('"PER", "ORG"', '"ORG"'))
    acme.edit("ingest/write.py", ('"PER"', '"ORG"'))
    acme.commit()
    code, out, _ = acme.run("record-deployment", "ingest", "prod", "--retained", "30")
    assert (code, "counts until" in out) == (0, True)
    _, answer = acme.gate("--env", "prod")
    assert any(note.startswith("prod: records that ingest wrote at ") for note in answer["notes"])
    # Without retention it is forgotten.
    acme.run("record-deployment", "training", "prod")
    assert len(json.loads((acme.root / PROD).read_text())["states"]) == 1


def test_an_environment_of_which_nothing_is_known(acme: Company) -> None:
    code, _, err = acme.run("gate", "--env", "staging")
    assert (code, "protocontract record-deployment MODULE staging" in err) == (2, True)
    code, _, err = acme.run("record-deployment", "nobody", "prod")
    assert (code, "no module `nobody`" in err) == (2, True)


def sunset(acme: Company, day: str) -> None:
    acme.edit(
        "contracts/acme/text/v1/text.proto",
        ("int32 end = 3;", f'int32 end = 3 [(protocontract.v1.field).sunset = "{day}"];'),
    )
    acme.commit()
    acme.git("branch", "-f", "main", "change")


def test_a_field_that_goes_before_its_sunset(acme: Company) -> None:
    sunset(acme, "2999-01-31")
    acme.contract(('int32 end = 3 [(protocontract.v1.field).sunset = "2999-01-31"];', 'reserved 3; reserved "end";'))
    acme.edit("ingest/write.py", (", end=end", ""))
    code, answer = acme.gate()
    assert (code, answer["demands"][0]["path"]) == (1, "acme.text.v1.NamedEntity.end")
    assert "may go after its sunset 2999-01-31" in answer["demands"][0]["demand"]


def test_a_field_that_is_used_after_its_sunset(acme: Company) -> None:
    sunset(acme, "2020-01-31")
    code, answer = acme.gate()
    (finding,) = answer["modules"]["ingest"]["findings"]
    assert (code, finding["kind"], finding["because"]) == (
        1, "used_after_sunset", "uses acme.text.v1.NamedEntity.end, whose sunset was 2020-01-31",
    )  # fmt: skip
    assert answer["modules"]["training"]["verdict"] == "unaffected"
