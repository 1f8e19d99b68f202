"""Versions of a contract package that lock files pin, and what they mean for the gate."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocontract_ci.pins import PinError, pinned_version
from tests.gate.company import LABEL, MISC, Company, company

PINS = Path(__file__).parents[1] / "cases" / "pins"


@pytest.mark.parametrize(
    ("file", "package"),
    [
        ("uv.lock", "acme-contracts"),
        ("poetry.lock", "Acme.Contracts"),
        ("npm-v3/package-lock.json", "@acme/contracts"),
        ("npm-v2/package-lock.json", "@acme/contracts"),
    ],
)
def test_lock_files_as_the_tools_write_them(file: str, package: str) -> None:
    text = (PINS / file).read_text()
    assert pinned_version(file, text, package) == "1.0.0"
    with pytest.raises(PinError, match="does not hold"):
        pinned_version(file, text, "acme-contract")


UV = 'version = 1\n[[package]]\nname = "acme-contracts"\nversion = "1.0.0"\nsource = {source}\n'
POETRY = '[[package]]\nname = "acme-contracts"\nversion = "1.0.0"\n[package.source]\ntype = "{kind}"\nurl = "x"\n'
NPM = '{{"lockfileVersion": 3, "packages": {{"": {{"name": "a"}}, {entries}}}}}'


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("uv.lock", UV.format(source='{ git = "x?rev=1" }'), "comes from a git repository"),
        ("uv.lock", UV.format(source='{ editable = "../x" }'), "comes from a folder"),
        ("uv.lock", UV.format(source='{ registry = "x" }') * 1 + UV.partition("\n")[2].replace("1.0.0", "1.1.0").format(
            source='{ registry = "x" }'), r"several versions \(1.0.0, 1.1.0\)"),
        ("uv.lock", "version = ", "cannot be read"),
        ("uv.lock", 'package = "acme"', "cannot be read"),
        ("poetry.lock", POETRY.format(kind="git"), "comes from a git repository"),
        ("poetry.lock", POETRY.format(kind="directory"), "comes from a folder"),
        ("package-lock.json", '{"lockfileVersion": 1, "dependencies": {}}', "not of version 2 or 3"),
        ("package-lock.json", NPM.format(entries='"node_modules/acme-contracts": {"resolved": "../c", "link": true}'),
         "a git repository or a folder"),
        ("package-lock.json", NPM.format(entries='"node_modules/acme-contracts": {"version": "1.0.0"}, '
         '"node_modules/a/node_modules/acme-contracts": {"version": "2.0.0"}'), "several versions"),
        ("requirements.txt", "acme-contracts>=1.0\n", "no exact version"),
        ("requirements.txt", "# acme-contracts==1.0.0\nacme-tools==1\n", "does not hold"),
        ("Pipfile.lock", "{}", "no lock file that the gate reads"),
    ],
)  # fmt: skip
def test_what_pins_nothing_says_why(file: str, text: str, said: str) -> None:
    with pytest.raises(PinError, match=said):
        pinned_version(file, text, "acme-contracts")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("requirements.txt", "-i x\nacme_contracts[all]==1.0.0 \\\n    --hash=sha256:00  # by pip-compile\n"),
        ("requirements-prod.txt", "acme-contracts === 1.0.0 ; python_version > '3.8'\n"),
        ("package-lock.json", NPM.format(entries='"node_modules/c": {"name": "acme-contracts", "version": "1.0.0"}')),
        ("package-lock.json", NPM.format(entries='"node_modules/acme-contracts": {"version": "1.0.0"}, '
         '"node_modules/a/node_modules/acme-contracts": {"version": "1.0.0"}')),
    ],
)  # fmt: skip
def test_other_forms_of_one_version(file: str, text: str) -> None:
    assert pinned_version(file, text, "acme-contracts") == "1.0.0"


# -- in a repository


@pytest.fixture
def acme(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Company:
    """Contracts that went on after release 1.0.0, and a trainer that pins it; the branch changes nothing."""
    made = company(tmp_path, capsys)
    made.git("checkout", "-q", "main")
    made.git("tag", "contracts-v1.0.0")
    made.contract(MISC)
    made.edit(
        "contracts/modules.toml", ('paths = ["training/**"]', 'paths = ["training/**"]\npackage = "acme-contracts"')
    )
    made.edit("contracts/modules.toml", ('mode = "new"', 'mode = "new"\nrelease_tags = ["contracts-v{version}"]'))
    made.commit()
    made.git("checkout", "-q", "-B", "change")
    return made


def pin(acme: Company, version: str, file: str) -> None:
    acme.write({file: (PINS / "uv.lock").read_text().replace('"1.0.0"', f'"{version}"')})


def test_a_module_elsewhere_is_judged_by_the_version_that_it_pins(acme: Company) -> None:
    acme.git("rm", "-q", "-r", "training")
    pin(acme, "1.0.0", "contracts/pins/training/uv.lock")
    acme.commit()
    acme.git("branch", "-f", "main", "change")
    code, answer = acme.gate()
    (finding,) = answer["modules"]["training"]["findings"]
    assert (code, finding["path"], finding["file"]) == (
        1, f"{LABEL}@string.in", "contracts/locks/training/acme.text.v1.NamedEntity.json",
    )  # fmt: skip
    told = "training: stands on acme-contracts 1.0.0, as contracts/pins/training/uv.lock pins it"
    assert told in answer["notes"]
    assert {answer["modules"][name]["verdict"] for name in ("ingest", "notes")} == {"unaffected"}
    # The release in which the rule was changed already.
    pin(acme, "2.0.0", "contracts/pins/training/uv.lock")
    code, answer = acme.gate()
    assert (code, answer["modules"]["training"]["verdict"]) == (2, "unverified")
    assert answer["modules"]["training"]["because"] == (
        "contracts/pins/training/uv.lock: pins acme-contracts 2.0.0, and `contracts-v2.0.0` is no commit here; "
        "expected `git fetch --tags`, or the version in [releases]"
    )
    acme.git("tag", "contracts-v2.0.0", "main")
    assert acme.gate()[0] == 0
    acme.git("tag", "-d", "contracts-v2.0.0")
    text = (acme.root / "contracts/modules.toml").read_text()
    acme.write({"contracts/modules.toml": f'{text}\n[releases]\n"2.0.0" = "main"\n'})
    assert acme.gate()[0] == 0


def test_a_module_that_pins_nothing_that_can_be_had_is_unverified(acme: Company) -> None:
    acme.git("rm", "-q", "-r", "training")
    code, answer = acme.gate()
    assert (code, answer["modules"]["training"]["verdict"]) == (2, "unverified")
    assert answer["modules"]["training"]["because"].startswith("no lock file of acme-contracts is at its paths or")
    acme.write({"elsewhere/requirements.txt": "acme-contracts>=1\n"})
    package = 'package = "acme-contracts"'
    acme.edit("contracts/modules.toml", (package, f'{package}\npin = "elsewhere/requirements.txt"'))
    code, answer = acme.gate()
    assert (code, answer["modules"]["training"]["because"]) == (
        2, "elsewhere/requirements.txt: acme-contracts has no exact version; expected acme-contracts==VERSION",
    )  # fmt: skip
    acme.edit("contracts/modules.toml", (package, f"{package}\nrequired = false"))
    assert acme.gate()[0] == 0


def test_a_module_in_the_checkout_stands_on_what_it_pins(acme: Company) -> None:
    pin(acme, "1.0.0", "training/uv.lock")
    code, answer = acme.gate()
    (finding,) = answer["modules"]["training"]["findings"]
    assert (code, finding["path"], finding["lines"]) == (1, f"{LABEL}@string.in", [7])
    acme.edit("training/labels.py", ('"ORG": 1}', '"ORG": 1, "MISC": 2}'))
    assert acme.gate()[0] == 0
