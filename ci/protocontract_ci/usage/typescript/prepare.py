"""The TypeScript compiler that the reader needs: installed once into the user's cache, from the lock file here."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

#: The reader's program, with its package.json and package-lock.json.
PROGRAM: Final = Path(__file__).with_name("node")
#: What to type where the compiler is missing.
COMMAND: Final = "protocontract gate --prepare"

_FILES: Final = ("package.json", "package-lock.json")
_PACKAGES: Final = ("typescript", "@bufbuild/protobuf")
_SECONDS: Final = 300


class NotPreparedError(Exception):
    """Node.js or the packages that the reader needs are missing. The text says what to do."""


def folder() -> Path:
    """Where the packages of this version's lock file are, or will be: below the user's cache (``XDG_CACHE_HOME``)."""
    cache = os.environ.get("XDG_CACHE_HOME")
    digest = hashlib.sha256(b"".join((PROGRAM / name).read_bytes() for name in _FILES)).hexdigest()[:16]
    return (Path(cache) if cache else Path("~/.cache").expanduser()) / "protocontract" / f"typescript-{digest}"


def ready() -> bool:
    """Whether TypeScript modules can be read here."""
    return shutil.which("node") is not None and _is_complete(folder())


def packages() -> tuple[str, Path]:
    """Node's path and the folder of the packages. Raises NotPreparedError."""
    node = shutil.which("node")
    if node is None:
        raise NotPreparedError(f"Node.js is not installed; install Node.js 20 or newer, then run {COMMAND}")
    found = folder()
    if not _is_complete(found):
        raise NotPreparedError(f"the TypeScript compiler is not installed; run {COMMAND}")
    return node, found


def prepare() -> Path:
    """Installs the packages with ``npm ci``, from the registry that npm is configured for, and returns their folder.

    Nothing is done where they are there. Raises NotPreparedError where npm is missing or fails.
    """
    target = folder()
    if _is_complete(target):
        return target
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        raise NotPreparedError("node and npm are not installed; install Node.js 20 or newer")
    target.parent.mkdir(parents=True, exist_ok=True)
    # Beside its place until it is complete: two that prepare at a time do not see each other's halves.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as temporary:
        work = Path(temporary, "packages")
        work.mkdir()
        for name in _FILES:
            shutil.copyfile(PROGRAM / name, work / name)
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
        try:
            done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False, timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            raise NotPreparedError(f"npm ci did not end within {_SECONDS} s") from None
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            raise NotPreparedError(f"npm ci failed: {lines[0] if lines else 'no message'}")
        try:
            work.rename(target)
        except OSError:
            if not _is_complete(target):
                raise
    return target


def _is_complete(where: Path) -> bool:
    return all((where / "node_modules" / name / "package.json").is_file() for name in _PACKAGES)
