"""The gate on this repository's own modules, in a temporary repository: red at file and line, then green."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from protocontract_ci.modules import load_modules
from protocontract_ci.usage.typescript import prepare
from tests.gate.company import Company
from tests.modules.support import ROOT

TEXT = "contracts/acme/text/v1/text.proto"
TRAINER = "docs/examples/modules/trainer/train.py"
LEDGER = "docs/examples/modules/ledger/book.py"
WEB = "docs/examples/modules/annotations-web/src/segments.ts"
#: What a pull request that lets in a fourth label changes in the contract.
PRODUCT = (
    ('"PERSON", "LOCATION", "ORGANIZATION"', '"PERSON", "LOCATION", "ORGANIZATION", "PRODUCT"'),
    ('"2.1.0"', '"2.2.0"'),
)


def line_of(text: str, file: str) -> int:
    """The number of the one line that has a text in it."""
    (found,) = [number for number, line in enumerate((ROOT / file).read_text().splitlines(), 1) if text in line]
    return found


@pytest.fixture
def own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Company:
    """This repository's contracts, locks and modules, committed; the branch of a pull request is checked out."""
    made = Company(tmp_path / "own", capsys)
    for folder in ("contracts", *(path for module in load_modules(ROOT).modules for path in module.paths)):
        skipped = shutil.ignore_patterns("__pycache__", ".mypy_cache", "node_modules", "dist", "gen")
        shutil.copytree(ROOT / folder, made.root / folder, ignore=skipped, dirs_exist_ok=True)
    if not prepare.ready():
        modules = (made.root / "contracts/modules.toml").read_text()
        first, _, rest = modules.partition('[[module]]\nname = "annotations-web"')
        made.write({"contracts/modules.toml": first + "[[module]]" + rest.partition("[[module]]")[2]})
        shutil.rmtree(made.root / "contracts/locks/annotations-web")
    made.git("init", "-q", "-b", "main")
    made.commit()
    made.git("checkout", "-q", "-b", "change")
    return made


def test_the_committed_locks_are_of_the_contracts_as_they_are(own: Company) -> None:
    """A lock of older sources is read again; one of an older contract would mean that somebody is behind."""
    before = slices(own)
    code, out, _ = own.run("adapt", "--all", "--against", "main")
    assert code == 0, out
    assert slices(own) == before, "run make adapt and commit contracts/locks"


def slices(own: Company) -> dict[str, object]:
    locks = (own.root / "contracts" / "locks").glob("*/*.json")
    return {f"{path.parent.name} {path.stem}": json.loads(path.read_text())["contract"] for path in locks}


def test_a_pull_request_that_changes_a_contract(own: Company) -> None:
    own.edit(TEXT, *PRODUCT)
    code, answer = own.gate("--against", "main")
    assert code == 1
    (finding,) = answer["modules"]["trainer"]["findings"]
    assert (finding["file"], finding["lines"], finding["proof"]) == (
        TRAINER, [line_of("return CLASSES[entity.label]", TRAINER)], "witness",
    )  # fmt: skip
    others = {name: each["verdict"] for name, each in answer["modules"].items() if name != "trainer"}
    assert {name: others[name] for name in ("ledger", "encoder", "demo")} == dict.fromkeys(
        ("ledger", "encoder", "demo"), "unaffected"
    )
    own.edit(TRAINER, ('"ORGANIZATION": 2}', '"ORGANIZATION": 2, "PRODUCT": 3}'))
    assert own.gate("--against", "main", "trainer")[0] == 0
    # The page shows what it does not know in grey; whoever cannot see that from its code is told.
    with (own.root / WEB).open("a") as file:
        step = "PERSON,LOCATION,ORGANIZATION->PERSON,LOCATION,ORGANIZATION,PRODUCT"
        file.write(f"// contract-ack: acme.text.v1.NamedEntity.label@string.in {step} (grey)\n")
    code, answer = own.gate("--against", "main")
    assert code == 0, answer
    assert answer["modules"]["trainer"]["verdict"] == "adapted"


def test_a_pull_request_that_adds_a_value_without_a_branch_for_it(own: Company) -> None:
    own.edit(
        "contracts/acme/finance/v1/transaction.proto",
        ("KIND_REFUND = 2;", "KIND_REFUND = 2;\n    KIND_FEE = 3;"), ('"1.4.0"', '"1.5.0"'),
    )  # fmt: skip
    code, answer = own.gate("--against", "main")
    assert (code, answer["modules"]["ledger"]["lines"]) == (1, [line_of("SIGNS[payment.kind]", LEDGER)])
    own.edit(LEDGER, ("Transaction.KIND_REFUND: 1}", "Transaction.KIND_REFUND: 1, Transaction.KIND_FEE: -1}"))
    assert own.gate("--against", "main")[0] == 0


def test_a_pull_request_that_touches_a_module_alone(own: Company) -> None:
    own.edit(LEDGER, ("Decimal(payment.amount)", "Decimal(payment.amont)"))
    code, answer = own.gate("--against", "main")
    (finding,) = answer["modules"]["ledger"]["findings"]
    assert (code, finding["path"], finding["lines"]) == (
        1, "acme.finance.v1.Transaction.amont", [line_of("Decimal(payment.amount)", LEDGER)],
    )  # fmt: skip


# -- what CI runs


def script(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """.ci/gate in a repository; the gate itself is a script that says how it was called."""
    (folder / ".ci").mkdir(exist_ok=True)
    shutil.copy(ROOT / ".ci" / "gate", folder / ".ci" / "gate")
    spy = folder.parent / "spy"
    spy.write_text('#!/bin/sh\n[ "$2" = --prepare ] || echo "called: $*"\n')
    spy.chmod(0o755)
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | environment
    return subprocess.run([folder / ".ci" / "gate", spy], env=env, check=False, capture_output=True, text=True)


def test_what_is_compared_is_said_whatever_the_history_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    upstream = Company(tmp_path / "upstream", capsys)
    upstream.write({"a": "1"})
    done = script(upstream.root)
    assert (done.returncode, "nothing to compare with" in done.stdout) == (0, True)
    upstream.git("init", "-q", "-b", "main")
    upstream.commit()
    first = upstream.git("rev-parse", "HEAD").strip()
    alone = script(upstream.root)
    assert alone.stdout.splitlines() == [
        f"gate: compared with {first[:7]}, HEAD itself, for no history is here: only what is not committed can differ",
        f"called: gate --against {first}",
    ]
    upstream.write({"a": "2"})
    upstream.commit()
    second = upstream.git("rev-parse", "HEAD").strip()
    assert script(upstream.root).stdout.splitlines()[0] == f"gate: compared with {first[:7]}, the commit before HEAD"
    upstream.git("checkout", "-q", "-b", "change")
    upstream.write({"a": "3"})
    upstream.commit()
    branch = script(upstream.root).stdout.splitlines()
    assert branch == [
        f"gate: compared with {second[:7]}, where the branch and main parted", f"called: gate --against {second}",
    ]  # fmt: skip
    # As CI systems check out: one commit, on no branch, with or without a remote branch that is as short.
    for number, single in enumerate(("--single-branch", "--no-single-branch")):
        clone = tmp_path / f"clone{number}"
        url = f"file://{upstream.root}"
        words = ["git", "clone", "-q", "--depth=1", single, "-b", "change", url, str(clone)]
        subprocess.run(words, check=True, capture_output=True)
        subprocess.run(["git", "-C", str(clone), "checkout", "-q", "--detach"], check=True)
        shallow = script(clone)
        assert (shallow.returncode, "no history is here" in shallow.stdout) == (0, True), shallow


def test_the_workflow_uses_the_action_of_this_repository() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "contracts.yml").read_text())
    # YAML reads the word `on` as true.
    assert set(workflow[True]) == {"pull_request", "merge_group", "push"}
    assert workflow["permissions"] == {"contents": "read", "pull-requests": "write", "security-events": "write"}
    (job,) = workflow["jobs"].values()
    steps = {step["uses"].partition("@")[0]: step for step in job["steps"]}
    assert steps["actions/checkout"]["with"]["fetch-depth"] == 0
    action = yaml.safe_load((ROOT / "ci" / "action.yml").read_text())
    assert set(steps["./ci"]["with"]) <= set(action["inputs"])
    assert steps["./ci"]["with"]["install"] == ".[gate]"
    used = steps["github/codeql-action/upload-sarif"]["with"]["sarif_file"]
    assert used == "${{ steps.gate.outputs.reports }}/gate.sarif"
    assert steps["./ci"]["id"] == "gate"
    assert {"exit-code", "reports"} <= set(action["outputs"])
