"""``make demo-gate``: a field is added to a message whose contract demands that everybody takes notice.

A company of four modules (company/) lies in a git repository with locks. A branch adds ``confidence_score`` (change/):
the gate is red for each module, with file, line and owner. Then the modules adapt (adapted/), three by using the field
and one by saying that it does not need it, and the gate is green.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from protocontract_ci.usage.typescript import prepare

HERE: Final = Path(__file__).resolve().parent
#: Of the commits; nothing of the user's own settings takes part.
_GIT: Final = {
    "GIT_AUTHOR_NAME": "demo", "GIT_AUTHOR_EMAIL": "demo@acme.example", "GIT_COMMITTER_NAME": "demo",
    "GIT_COMMITTER_EMAIL": "demo@acme.example", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
}  # fmt: skip


def main() -> int:
    """Run the story; 0 where the gate is red, and then green."""
    with tempfile.TemporaryDirectory(prefix="protocontract-demo-") as folder:
        company = Path(folder)
        start(company)
        lay(company, "change")
        red = gate(company)
        lay(company, "adapted")
        green = gate(company)
    return 0 if (red, green) == (1, 0) else 1


def start(company: Path) -> None:
    """The company on its main branch, with the locks of all modules, and a new branch."""
    lay(company, "company")
    if not prepare.ready():
        print(f"without the TypeScript module; `{prepare.COMMAND}` installs what reads it", file=sys.stderr)
        shutil.rmtree(company / "web")
        modules = company / "contracts" / "modules.toml"
        modules.write_text(modules.read_text().partition('[[module]]\nname = "web"')[0])
    git(company, "init", "--quiet", "--initial-branch", "main")
    git(company, "add", "--all")
    git(company, "commit", "--quiet", "--message", "A company")
    run(company, "adapt", "--all", quiet=True)
    git(company, "add", "--all")
    git(company, "commit", "--quiet", "--message", "Locks")
    git(company, "switch", "--quiet", "--create", "add-confidence")


def lay(company: Path, state: str) -> None:
    """Copy the files of a state over those that are there."""
    for source in sorted((HERE / state).rglob("*")):
        if source.is_file() and (state == "company" or (company / source.relative_to(HERE / state)).is_file()):
            target = company / source.relative_to(HERE / state)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def gate(company: Path) -> int:
    """Judge the branch as a pull request's check does, and show the answer."""
    print("$ protocontract gate --against main", flush=True)
    return run(company, "gate", "--against", "main")


def run(company: Path, *words: str, quiet: bool = False) -> int:
    """A protocontract command in the company's repository."""
    command = [sys.executable, "-m", "protocontract.cli", *words]
    out = subprocess.DEVNULL if quiet else None
    return subprocess.run(command, cwd=company, env={**os.environ, **_GIT}, stdout=out, check=False).returncode


def git(company: Path, *words: str) -> None:
    """A git command in the company's repository."""
    subprocess.run(["git", *words], cwd=company, env={**os.environ, **_GIT}, check=True)


if __name__ == "__main__":
    sys.exit(main())
