"""modules.toml: what it may say, and every mistake of it with its line."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from protocontract.violations import ContractError
from protocontract_ci.discovery import find_users, parse_owners
from protocontract_ci.gate.modules_edit import add_acknowledgements
from protocontract_ci.modules import glob_pattern, parse_modules
from protocontract_ci.usage.vocabulary import Elements
from protocontract_ci.verdicts.acknowledgements import Acknowledgement, complaint
from protocontract_compiler import dynamic
from protocontract_compiler.descriptors import load
from protocontract_compiler.diagnostics import Diagnostics
from protocontract_compiler.emit import typescript

TODAY = datetime.date(2026, 6, 1)


def test_what_a_module_says() -> None:
    modules = parse_modules(
        """
[gate]
contracts = "proto"
against = "origin/develop"
mode = "report"
ignore = ["shared/**/legacy"]
[decisions]
D7 = "notice"
[[module]]
name = "trainer"
owner = "@ml-data"
paths = ["training/**", "shared/labels.py"]
role = "reader"
stored_data = true
acknowledge = [{path = "a.B.c", change = "added", reason = "later", until = 2026-07-01}]
[[module]]
name = "shared"
paths = ["shared"]
mode = "all"
""",
        today=TODAY,
    )
    trainer, shared = modules.modules
    assert (modules.contracts, modules.against, modules.decisions) == ("proto", "origin/develop", {"D7": "notice"})
    assert (trainer.mode, shared.mode, trainer.stored_data, shared.required) == ("report", "all", True, True)
    assert trainer.acknowledged[0].key == "a.B.c added"
    # The most exact glob decides.
    assert [getattr(modules.module_of(path), "name", "") for path in ("shared/labels.py", "shared/a/b.py", "x.py")] == [
        "trainer", "shared", "",
    ]  # fmt: skip
    assert [modules.ignores(path) for path in ("shared/a/legacy/b.py", "shared/a/b.py")] == [True, False]
    assert modules.module_of("shared/a/legacy/b.py") is None


def test_all_mistakes_are_told_with_their_lines() -> None:
    text = """\
[gate]
mode = "strict"
[decisions]
D18 = "fail"
D7 = "maybe"
[[module]]
name = "a b"
role = "owner"
[[module]]
name = "x"
paths = ["../else"]
colour = 1
[[module.acknowledge]]
path = "a.B"
change = "added"
reason = ""
until = 2026-11-29
[[module]]
name = "x"
required = "no"
"""
    with pytest.raises(ContractError) as caught:
        parse_modules(text, "modules.toml", TODAY)
    lines = [line.strip().split(": ")[0] for line in str(caught.value).splitlines()[1:]]
    numbers = (2, 4, 5, 7, 8, 11, 12, 16, 17, 19, 20)
    assert lines == [f"modules.toml:{number}" for number in numbers]
    assert "expected 2026-11-28 at most (180 days), got 2026-11-29" in str(caught.value)


def test_an_acknowledgement_stands_apart_from_the_next_module() -> None:
    text = '[[module]]\nname = "a"\n\n[[module]]\nname = "b"\n'
    once = add_acknowledgements(text, "a", "x.Y", ["added", "1->2"], "why", TODAY)
    word = '[[module.acknowledge]]\npath = "x.Y"\nchange = "{}"\nreason = "why"\nuntil = {}\n\n'
    first, last = text.split("\n\n")
    assert once == f"{first}\n\n{word.format('added', TODAY)}{word.format('1->2', TODAY)}{last}"


def test_an_acknowledgement_of_another_step_is_told_the_one_that_is_there() -> None:
    word = Acknowledgement("x.Y.z@string.max_len", "tightened", "", 3)
    told = complaint(word, ["x.Y.a added", "x.Y.z@string.max_len 20->12"])
    assert told.endswith(
        "remove it, or write `contract-ack: x.Y.z@string.max_len 20->12 (reason)` where that change is meant"
    )
    assert complaint(word, ["x.Y.a added"]).endswith("is spent or fits nothing; remove it")


def test_a_file_that_is_no_toml() -> None:
    with pytest.raises(ContractError, match=r"^modules\.toml:2:5: "):
        parse_modules("[gate]\nmode\n", "modules.toml", TODAY)


@pytest.mark.parametrize(
    ("glob", "fits", "not_"),
    [
        ("training", ["training/a.py", "training/a/b.py"], ["training2/a.py", "x/training/a.py"]),
        ("training/**", ["training/a.py", "training/a/b.py"], ["training.py"]),
        ("web/*.ts", ["web/a.ts"], ["web/src/a.ts", "web/a.py"]),
        ("**/*.ts", ["a.ts", "web/src/a.ts"], ["a.py"]),
        ("services/*/api", ["services/x/api/a.py"], ["services/x/y/api/a.py"]),
    ],
)
def test_globs(glob: str, fits: list[str], not_: list[str]) -> None:
    assert all(glob_pattern(glob).fullmatch(path) for path in fits)
    assert not any(glob_pattern(glob).fullmatch(path) for path in not_)


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("readme.md", ("@all",)),
        ("docs/a.md", ("@docs",)),
        ("docs/deep/a.md", ("@all",)),
        ("x/apps/a.py", ("@apps", "a@acme.example")),
        ("build/logs/a.log", ()),
        ("web/src/a.ts", ("@web",)),
    ],
)
def test_owners(path: str, owners: tuple[str, ...]) -> None:
    text = "# all\n* @all\ndocs/* @docs\napps/ @apps a@acme.example # theirs\n/build/logs/\n*.ts @web\n[Section]\n"
    assert parse_owners(text).of(path) == owners


def test_generated_contracts_in_typescript_are_no_users(tmp_path: Path) -> None:
    files = dynamic.describe({"shop/order.proto": 'syntax = "proto3"; package shop; message Order { string id = 1; }'})
    loaded = load(files, ["shop/order.proto"], Diagnostics())
    made = typescript.emit(loaded.schema).files[0]
    (tmp_path / "shop").mkdir()
    (tmp_path / made.name).write_text(made.text)
    (tmp_path / "form.ts").write_text('import { order } from "./shop/order_contract.js";\nconsole.log(order);\n')
    found = find_users(tmp_path, [made.name, "form.ts"], Elements([loaded.schema]))
    assert [(user.file, user.line) for user in found] == [("form.ts", 1)]
