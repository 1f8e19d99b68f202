"""Runs protovalidate's own conformance harness against ours: ``make conformance``.

The harness is built from its Go module (go.mod beside this file pins it) into the user's cache, once.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
MODULE = "github.com/bufbuild/protovalidate/tools/protovalidate-conformance"


def build() -> Path:
    """The harness's executable. Raises SystemExit where there is no Go."""
    go = shutil.which("go")
    if go is None:
        raise SystemExit("make conformance needs go (https://go.dev), which builds the official harness")
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "protocontract"
    pinned = (HERE / "go.mod").read_text().rpartition("tools v")[2].split()[0]
    binary = cache / f"protovalidate-conformance-{pinned}"
    if not binary.exists():
        cache.mkdir(parents=True, exist_ok=True)
        subprocess.run([go, "build", "-o", str(binary), MODULE], cwd=HERE, check=True)
    return binary


def main() -> int:
    """The harness's exit code; arguments are passed on to it (``--suite``, ``--case``, ``-v``)."""
    binary = build()
    with tempfile.TemporaryDirectory() as folder:
        executor = Path(folder) / "executor"
        executor.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m protocontract_compiler.conformance\n')
        executor.chmod(executor.stat().st_mode | stat.S_IXUSR)
        flags = ["--strict_message", "--strict_error", "--timeout", "120s"]
        return subprocess.run([str(binary), *flags, *sys.argv[1:], str(executor)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
