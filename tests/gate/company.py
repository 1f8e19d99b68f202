"""A small company in a git repository: one contract, a reader and a writer, and what changes in it."""

from __future__ import annotations

import contextlib
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from protocontract.cli import main

CONTRACT = """\
syntax = "proto3";
package acme.text.v1;
import "buf/validate/validate.proto";
import "protocontract/v1/contract.proto";
message NamedEntity {
  option (protocontract.v1.contract) = {version: "1.0.0" owner: "text@acme.example"};
  string label = 1 [(buf.validate.field).string = {in: ["PER", "ORG"]}];
  int32 start = 2;
  int32 end = 3;
}
message Note {
  string text = 1 [(buf.validate.field).string.max_len = 40];
}
"""
READER = """\
from acme.text.v1 import text_pb2

IDS = {"PER": 0, "ORG": 1}


def label_id(entity: text_pb2.NamedEntity) -> int:
    return IDS[entity.label]
"""
WRITER = """\
from acme.text.v1.text_pb2 import NamedEntity


def person(start: int, end: int) -> NamedEntity:
    return NamedEntity(label="PER", start=start, end=end)
"""
NOTES = """\
from acme.text.v1.text_pb2 import Note


def shown(note: Note) -> str:
    return note.text.strip()
"""
MISC = ('"PER", "ORG"', '"PER", "ORG", "MISC"')
LABEL = "acme.text.v1.NamedEntity.label"


@dataclass
class Company:
    """The repository. Commands run through the command line, with its top as the working directory."""

    root: Path
    capsys: pytest.CaptureFixture[str]

    def git(self, *arguments: str) -> str:
        """git, with a name that needs no configuration."""
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@example", "-C", str(self.root), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def write(self, files: dict[str, str]) -> None:
        """Files by path."""
        for path, text in files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text)

    def edit(self, path: str, *changes: tuple[str, str]) -> None:
        """Texts of a file in the place of others, which have to be there."""
        text = (self.root / path).read_text()
        for old, new in changes:
            assert old in text, (path, old)
            text = text.replace(old, new)
        (self.root / path).write_text(text)

    def contract(self, *changes: tuple[str, str], version: str = "2.0.0") -> None:
        """A change of the contract with its version."""
        self.edit("contracts/acme/text/v1/text.proto", *changes, ('"1.0.0"', f'"{version}"'))

    def commit(self) -> None:
        """Everything, on the branch that is checked out."""
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a change")

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, standard output and standard error of a command."""
        self.capsys.readouterr()
        with contextlib.chdir(self.root):
            code = main(arguments)
        out, err = self.capsys.readouterr()
        return code, out, err

    def gate(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """Exit code and answer of the gate; ``modules`` are by name."""
        code, out, err = self.run("gate", "--format", "json", *arguments)
        assert not err, err
        answer: dict[str, Any] = json.loads(out)
        answer["modules"] = {each["module"]: each for each in answer["modules"]}
        return code, answer

    def verdicts(self, *arguments: str) -> dict[str, str]:
        """The verdicts of the gate by module."""
        return {name: each["verdict"] for name, each in self.gate(*arguments)[1]["modules"].items()}


def company(tmp_path: Path, capsys: pytest.CaptureFixture[str], files: dict[str, str] | None = None) -> Company:
    """A repository with a contract, two modules and a third for another message; main is committed, with locks.

    The branch ``change`` is checked out.
    """
    made = Company(tmp_path / "company", capsys)
    made.root.mkdir()
    made.git("init", "-q", "-b", "main")
    made.write(
        {
            "contracts/acme/text/v1/text.proto": CONTRACT,
            "training/labels.py": READER,
            "ingest/write.py": WRITER,
            "notes/show.py": NOTES,
            ".github/CODEOWNERS": "* @platform\n/training/ @ml-data\n",
            **(files or {}),
        }
    )
    made.commit()
    code, out, err = made.run("gate", "--init")
    assert code == 0, (out, err)
    made.commit()
    made.git("checkout", "-q", "-b", "change")
    return made
