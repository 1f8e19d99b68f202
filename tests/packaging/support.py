"""An environment with nothing in it but the wheel, made of the source distribution, and what it asks for."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Distribution:
    """The source distribution of this tree, unpacked in ``source``, and the wheel that was built there."""

    sdist: Path
    source: Path
    wheel: Path


@dataclass(frozen=True)
class Installed:
    """A virtual environment with the wheel and its extra ``compiler``.

    ``without_the_extra`` is what came of ``protocontract compile`` before the extra was installed.
    """

    folder: Path
    without_the_extra: subprocess.CompletedProcess[str]

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def run(self, command: str, folder: Path, *, extra_path: str = "", code: int = 0) -> str:
        """Runs a shell command that sees the environment's own executables and the system's, and no other.

        Returns what it prints; it has to end with ``code``.
        """
        environment = {
            "PATH": os.pathsep.join(filter(None, [str(self.folder / "bin"), extra_path, "/usr/bin", "/bin"])),
            "HOME": str(folder),
            "LANG": "C.UTF-8",
        }
        result = subprocess.run(
            ["sh", "-euc", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert result.returncode == code, result.stdout + result.stderr
        return result.stdout


def build(source: Path, target: str, out: Path) -> Path:
    """Build ``target`` (sdist, wheel) of the tree ``source``, as every build frontend does; without a network."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(out)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (found,) = out.iterdir()
    return found


def distribution(folder: Path) -> Distribution:
    """The source distribution, and a wheel made of it where there is no repository."""
    sdist = build(ROOT, "sdist", folder / "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    return Distribution(sdist, source, build(source, "wheel", folder / "wheel"))


def install(python: Path, *requirements: str) -> None:
    """Install by the pip of this environment: one of its own takes seconds to make."""
    options = ["--quiet", "--disable-pip-version-check", "--no-compile"]
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", *options, *requirements], check=True
    )


def environment(folder: Path, wheel: Path, protobuf: str) -> Installed:
    """A new environment with the wheel and its extra, under a major version of protobuf."""
    venv.create(folder)
    python = folder / "bin" / "python"
    install(python, str(wheel), f"protobuf=={protobuf}.*")
    (folder / "empty.proto").write_text('syntax = "proto3";\n')
    refused = subprocess.run(
        [folder / "bin" / "protocontract", "compile", "empty.proto", "--out", "gen"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    install(python, f"{wheel}[compiler]", f"protobuf=={protobuf}.*")
    return Installed(folder, refused)
