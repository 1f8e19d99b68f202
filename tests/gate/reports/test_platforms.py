"""The Action, the GitLab template and the pre-commit hooks: their scripts run as the platforms run them.

The scripts come out of the YAML files, in a git repository with a pull request's branch, under the variables that the
platform sets. `gh` is a script here that writes down what it is asked.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from protocontract_ci.reports.markdown import MARKER

ROOT = Path(__file__).parents[3]
DEMO = ROOT / "docs" / "demo-gate"
GIT = {
    "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@acme.example", "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@acme.example", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
}  # fmt: skip
#: Everything that the platforms set is set by the tests alone.
BASE = {
    name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "CI_", "RUNNER_", "GIT_"))
} | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", **GIT}
GH = """#!/usr/bin/env bash
printf '%s\\n' "$*" >> "$GH_LOG"
case "$*" in
  *--paginate*) [ "$GH_STATE" = forbidden ] && exit 1; [ "$GH_STATE" = commented ] && echo 77; exit 0 ;;
  *) [ "$GH_STATE" = readonly ] && exit 1; exit 0 ;;
esac
"""


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, env=BASE, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's company (its Python modules) after a field was added; one of three modules has adapted."""
    folder = tmp_path_factory.mktemp("company")
    shutil.copytree(DEMO / "company", folder, dirs_exist_ok=True)
    shutil.rmtree(folder / "web")
    modules = folder / "contracts" / "modules.toml"
    modules.write_text(modules.read_text().partition('[[module]]\nname = "web"')[0])
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "A company")
    subprocess.run(["protocontract", "adapt", "--all"], cwd=folder, env=BASE, check=True, capture_output=True)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Locks")
    git(folder, "update-ref", "refs/remotes/origin/main", "main")
    git(folder, "switch", "-qc", "change")
    shutil.copytree(DEMO / "change", folder, dirs_exist_ok=True)
    shutil.copytree(DEMO / "adapted" / "review", folder / "review", dirs_exist_ok=True)
    git(folder, "commit", "-qam", "Add confidence_score")
    return folder


# -- GitHub


@dataclass
class Run:
    """What became of an action: the exit code of its last step, what it printed, and where it wrote."""

    code: int
    out: str
    summary: str
    reports: Path
    asked: list[str]


def action(
    company: Path, tmp_path: Path, context: Mapping[str, str], env: Mapping[str, str], *, state: str = "", **inputs: str
) -> Run:
    """Run the action's steps as the runner does: expressions filled in, conditions kept, outputs handed on."""
    spec = yaml.safe_load((ROOT / "ci" / "action.yml").read_text())
    (tmp_path / "bin").mkdir()
    gh = tmp_path / "bin" / "gh"
    gh.write_text(GH)
    gh.chmod(0o755)
    values = {f"inputs.{name}": str(each["default"]) for name, each in spec["inputs"].items()}
    values |= {"inputs.install": "", "github.token": "secret", **context}
    values |= {f"inputs.{name}": value for name, value in inputs.items()}
    summary, output, log = (tmp_path / name for name in ("summary", "output", "log"))
    for path in (summary, output, log):
        path.touch()
    told, code = [], 0
    for step in spec["runs"]["steps"]:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "a script must not hold text from outside"
        if not condition(step.get("if", "success()"), values, failed=bool(code)):
            continue
        given = {name: filled(text, values) for name, text in step.get("env", {}).items()}
        runner = {
            "PATH": f"{tmp_path / 'bin'}{os.pathsep}{BASE['PATH']}", "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_OUTPUT": str(output), "RUNNER_TEMP": str(tmp_path), "GITHUB_REPOSITORY": "acme/data",
            "GH_LOG": str(log), "GH_STATE": state,
        }  # fmt: skip
        # As the runner calls bash.
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=company / filled(step.get("working-directory", "."), values), env={**BASE, **runner, **env, **given},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        told.append(done.stdout + done.stderr)
        code = done.returncode or code
        if "id" in step:
            found = dict(line.split("=", 1) for line in output.read_text().splitlines())
            values |= {f"steps.{step['id']}.outputs.{name}": value for name, value in found.items()}
    reports = Path(values["steps.gate.outputs.reports"])
    return Run(code, "".join(told), summary.read_text(), reports, log.read_text().splitlines())


def filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda match: values.get(match[1], ""), text)


def condition(text: str, values: Mapping[str, str], *, failed: bool) -> bool:
    """A condition of ==, != and && over texts."""
    if failed and "always()" not in text:
        return False
    for part in text.split(" && "):
        match = re.fullmatch(r"([\w.-]+) (==|!=) '(.*)'", part)
        if match is None:
            assert part in ("always()", "success()"), part
        elif (values.get(match[1], "") == match[3]) != (match[2] == "=="):
            return False
    return True


PULL_REQUEST = {"github.event.pull_request.head.repo.full_name": "acme/data", "github.event.pull_request.number": "5"}
PULL_ENV = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_BASE_REF": "main"}


def test_a_pull_request_is_annotated_summarised_and_commented(company: Path, tmp_path: Path) -> None:
    run = action(company, tmp_path, PULL_REQUEST, PULL_ENV)
    assert run.code == 1
    assert "::error file=training/dataset.py,line=7,title=trainer has not adapted" in run.out
    assert "review/queue.py" not in "".join(re.findall("::error.*", run.out))
    assert run.summary.startswith("## Contract gate: 2 of 3 modules have not adapted")
    assert (run.reports / "comment.md").read_text().startswith(MARKER)
    assert json.loads((run.reports / "gate.sarif").read_text())["version"] == "2.1.0"
    assert [each.split(" -F")[0] for each in run.asked[1:]] == [
        "api --silent --method POST repos/acme/data/issues/5/comments"
    ]


def test_an_earlier_comment_is_replaced(company: Path, tmp_path: Path) -> None:
    run = action(company, tmp_path, PULL_REQUEST, PULL_ENV, state="commented")
    assert run.asked[1].startswith("api --silent --method PATCH repos/acme/data/issues/comments/77 -F body=@")


@pytest.mark.parametrize("state", ["forbidden", "readonly"])
def test_a_token_that_may_not_comment_changes_no_verdict(state: str, company: Path, tmp_path: Path) -> None:
    run = action(company, tmp_path, PULL_REQUEST, PULL_ENV, state=state)
    assert run.code == 1
    assert "::notice title=no comment::" in run.out


def test_a_fork_is_judged_without_a_token_and_without_running_anything(company: Path, tmp_path: Path) -> None:
    spy = tmp_path / "spy"
    spy.mkdir()
    real = shutil.which("protocontract", path=BASE["PATH"])
    (spy / "protocontract").write_text(f'#!/bin/sh\necho "called: $*"\nexec {real} "$@"\n')
    (spy / "protocontract").chmod(0o755)
    fork = {**PULL_REQUEST, "github.event.pull_request.head.repo.full_name": "stranger/data"}
    env = {**PULL_ENV, "PATH": f"{spy}{os.pathsep}{BASE['PATH']}"}
    run = action(company, tmp_path, fork, env)
    assert run.code == 1
    assert re.search(r"called: gate .*--no-exec", run.out)
    assert run.summary.startswith("## Contract gate: 2 of 3")
    assert run.asked == []


def test_a_merge_group_is_judged_against_its_base(company: Path, tmp_path: Path) -> None:
    context = {"github.event.merge_group.base_sha": git(company, "rev-parse", "origin/main")}
    run = action(company, tmp_path, context, {"GITHUB_EVENT_NAME": "merge_group"})
    assert run.code == 1
    assert "trainer has not adapted" in run.out
    assert run.asked == []


def test_what_cannot_be_checked_is_reported_too(company: Path, tmp_path: Path) -> None:
    run = action(company, tmp_path, PULL_REQUEST, {**PULL_ENV, "GITHUB_BASE_REF": "nowhere"})
    assert run.code == 2
    assert "::error title=the gate could not check::error: " in run.out
    assert "## Contract gate: could not check" in run.summary
    assert "method POST" in "".join(run.asked)


def test_names_and_samples_reach_the_gate_as_they_are(company: Path, tmp_path: Path) -> None:
    sample = tmp_path / "verdicts 1.jsonl"
    sample.write_text('{"commentId": "8b0a6e5e-0f0d-4b57-9d1c-7d7f3f0c8a11", "label": "LABEL_FINE"}\n')
    run = action(
        company, tmp_path, PULL_REQUEST, PULL_ENV, modules="review-queue $(touch injected)",
        samples=f"{sample}\n",
    )  # fmt: skip
    assert run.code == 2
    assert not (company / "injected").exists()
    second = tmp_path / "second"
    second.mkdir()
    run = action(company, second, PULL_REQUEST, PULL_ENV, modules="review-queue", samples=f"{sample}\n")
    assert run.code == 0
    assert json.loads((run.reports / "gate.json").read_text())["impacts"][0]["records"] == 1
    # Green, and nothing to correct: no comment.
    assert "method" not in "".join(run.asked[1:])


# -- GitLab


def gitlab(company: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the job's script as the runner does: all its lines in one shell."""
    (job,) = yaml.safe_load((ROOT / "ci" / "gitlab" / "gate.yml").read_text()).values()
    script = "\n".join(job["script"])
    given = {**job["variables"], "PROTOCONTRACT_INSTALL": "", **env}
    return subprocess.run(
        ["sh", "-e", "-c", script], cwd=company, env={**BASE, **given}, capture_output=True, text=True, check=False
    )


def test_a_merge_request(company: Path, tmp_path: Path) -> None:
    (job,) = yaml.safe_load((ROOT / "ci" / "gitlab" / "gate.yml").read_text()).values()
    base = git(company, "rev-parse", "origin/main")
    env = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": base} | dict.fromkeys(
        ("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH", "CI_MERGE_REQUEST_PROJECT_PATH"), "acme/data"
    )
    try:
        done = gitlab(company, env)
        assert done.returncode == 1, done.stderr
        assert "2 of 3 modules have not adapted" in done.stdout
        reports = job["artifacts"]["reports"]
        issues = json.loads((company / reports["codequality"]).read_text())
        assert {issue["location"]["path"] for issue in issues} == {"serving/moderator.py", "training/dataset.py"}
        assert (company / reports["junit"]).read_text().startswith("<?xml")
        assert job["artifacts"]["when"] == "always"
    finally:
        git(company, "clean", "-fdq")


def test_a_fork_s_merge_request_runs_nothing(company: Path, tmp_path: Path) -> None:
    (tmp_path / "protocontract").write_text('#!/bin/sh\necho "called: $*"\n')
    (tmp_path / "protocontract").chmod(0o755)
    env = {
        "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH": "stranger/data", "CI_MERGE_REQUEST_PROJECT_PATH": "acme/data",
        "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": "abc", "PROTOCONTRACT_SAMPLES": "a b.jsonl\nshop.v1.Order=c.binpb",
        "PATH": f"{tmp_path}{os.pathsep}{BASE['PATH']}",
    }  # fmt: skip
    done = gitlab(company, env)
    assert done.returncode == 0, done.stderr
    assert "--against abc --no-exec --sample a b.jsonl --sample shop.v1.Order=c.binpb" in done.stdout


# -- pre-commit


def hooks() -> dict[str, dict[str, Any]]:
    return {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}


@pytest.mark.parametrize("name", hooks())
def test_hooks_have_what_pre_commit_asks_for(name: str) -> None:
    hook = hooks()[name]
    assert {"id", "name", "entry", "language"} <= hook.keys()
    extra = re.fullmatch(r"\.\[(\w+)\]", hook["additional_dependencies"][0])
    assert extra is not None
    assert f"\n{extra[1]} = [" in (ROOT / "pyproject.toml").read_text()


def test_the_hook_judges_the_working_tree(company: Path) -> None:
    words = hooks()["protocontract-gate"]["entry"].split()
    done = subprocess.run(words, cwd=company, env=BASE, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "2 of 3 modules have not adapted" in done.stdout


def test_pre_commit_itself_runs_them(company: Path, tmp_path: Path) -> None:
    """The real program reads the manifest, chooses files by its types, and runs the hook (in this environment)."""
    program = shutil.which("pre-commit", path=BASE["PATH"])
    if program is None:
        pytest.skip("pre-commit is not installed (ci/requirements-dev.txt)")
    env = {**BASE, "PRE_COMMIT_HOME": str(tmp_path / "cache")}
    manifest = [program, "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml")]
    assert subprocess.run(manifest, env=env, check=False).returncode == 0
    local = [{**hook, "language": "system"} for hook in hooks().values()]
    for hook in local:
        del hook["additional_dependencies"]
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump({"repos": [{"repo": "local", "hooks": local}]}))
    command = [program, "run", "--config", str(config), "--all-files", "--verbose"]
    done = subprocess.run(
        [*command, "protocontract-gate"], cwd=company, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 of 3 modules have not adapted" in done.stdout
    # The hook of contracts is given no file where none has changed.
    plain = [program, "run", "--config", str(config), "protocontract-lint", "--files", "training/dataset.py"]
    done = subprocess.run(plain, cwd=company, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, "no files to check" in done.stdout) == (0, True), done.stdout + done.stderr
