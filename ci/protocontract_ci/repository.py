"""What the gate asks git: where the repository begins, the merge base, files of a commit, and what changed."""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from protocontract.violations import ContractError

#: What a branch is compared with where nothing is said.
_MAIN_BRANCHES: Final = ("origin/HEAD", "origin/main", "origin/master", "main", "master")


class RepositoryError(ContractError):
    """git cannot tell; the message says what to type."""


@dataclass(frozen=True)
class Repository:
    """A checkout. ``root`` is its top folder."""

    root: Path

    @classmethod
    def around(cls, folder: Path) -> Repository:
        """The repository that a folder is in. Raises RepositoryError."""
        done = _git(folder, "rev-parse", "--show-toplevel")
        if done.returncode:
            raise RepositoryError(
                "not in a git repository; expected one (gate: or --before DIR --after DIR --modules DIR)"
            )
        return cls(Path(done.stdout.decode().rstrip("\n")))

    def _ask(self, *arguments: str) -> str:
        done = _git(self.root, *arguments)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise RepositoryError(f"git {arguments[0]}: {said[-1] if said else 'failed'}")
        return done.stdout.decode("utf-8", "surrogateescape")

    def merge_base(self, against: str = "") -> str:
        """The commit from which the working tree and ``against`` went different ways; never the tip of a branch.

        Raises RepositoryError, which says what to type where the history is not there.
        """
        ref = against or next((name for name in _MAIN_BRANCHES if self.commit(name)), "")
        if not ref:
            raise RepositoryError(
                f"no ref to compare with: none of {', '.join(_MAIN_BRANCHES)} is here; expected --against REF"
            )
        if not self.commit(ref):
            remote, _, branch = ref.partition("/")
            fetch = f"git fetch {remote} {branch}" if branch else f"git fetch origin {ref}"
            raise RepositoryError(f"`{ref}` is no commit here; expected a ref, or `{fetch}` first")
        done = _git(self.root, "merge-base", "HEAD", ref)
        if done.returncode == 0:
            return done.stdout.decode().strip()
        if self.shallow:
            raise RepositoryError(
                f"the clone is shallow and does not hold where HEAD and `{ref}` parted; "
                "type `git fetch --unshallow` (in GitHub Actions: fetch-depth: 0)"
            )
        raise RepositoryError(f"HEAD and `{ref}` have no commit in common; expected --against REF")

    @property
    def shallow(self) -> bool:
        """Whether the history is cut off."""
        return self._ask("rev-parse", "--is-shallow-repository").strip() == "true"

    def commit(self, ref: str) -> str:
        """The full id of a ref's commit; "" where there is none."""
        done = _git(self.root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        return done.stdout.decode().strip() if done.returncode == 0 else ""

    def files(self) -> list[str]:
        """The files of the working tree, without what git ignores."""
        names = self._ask("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        return sorted({name for name in names.split("\0") if name and (self.root / name).is_file()})

    def files_at(self, commit: str, folder: str = "") -> list[str]:
        """The files of a commit, below a folder."""
        names = self._ask("ls-tree", "-r", "-z", "--name-only", commit, *(["--", folder] if folder else []))
        return sorted(name for name in names.split("\0") if name)

    def changed(self, commit: str) -> set[str]:
        """The files that differ between a commit and the working tree, files that git does not know included."""
        names = self._ask("diff", "--name-only", "-z", "--no-renames", commit, "--")
        new = self._ask("ls-files", "-z", "--others", "--exclude-standard")
        return {name for name in (*names.split("\0"), *new.split("\0")) if name}

    def history(self, commit: str, folder: str, most: int) -> list[str]:
        """The commits that changed a folder, the latest first."""
        return self._ask("log", f"--max-count={most}", "--format=%H", commit, "--", folder).split()

    def contents_at(self, commit: str, folder: str) -> dict[str, bytes]:
        """The files of a commit below a folder with what is in them; none where it has no such folder."""
        if not self._ask("ls-tree", "--name-only", commit, "--", folder):
            return {}
        done = _git(self.root, "archive", "--format=tar", commit, "--", folder)
        if done.returncode:
            raise RepositoryError(f"git archive: {done.stderr.decode('utf-8', 'replace').strip()}")
        found = {}
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            for member in archive.getmembers():
                data = archive.extractfile(member) if member.isfile() else None
                if data is not None:
                    found[member.name] = data.read()
        return found

    @contextmanager
    def checkout(self, commit: str, paths: Sequence[str]) -> Iterator[Path]:
        """A temporary folder with some files of a commit; those that it does not have are left out."""
        with TemporaryDirectory(prefix="protocontract-") as folder:
            known = set(self.files_at(commit))
            wanted = [path for path in paths if path in known]
            for start in range(0, len(wanted), 500):
                done = _git(self.root, "archive", "--format=tar", commit, "--", *wanted[start : start + 500])
                if done.returncode:
                    raise RepositoryError(f"git archive: {done.stderr.decode('utf-8', 'replace').strip()}")
                with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
                    archive.extractall(folder, filter="data")
            yield Path(folder)


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False)
    except FileNotFoundError:
        raise RepositoryError("git is not installed; expected it on the PATH") from None
