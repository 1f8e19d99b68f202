"""Which files one run of the type checker reads, and how often it is asked."""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import pytest

from protocontract.cli import main
from protocontract_ci.compiled import compiled_file
from protocontract_ci.sources import Contracts, read
from protocontract_ci.usage.python import reader
from protocontract_ci.usage.python.checker import Told, Ty
from protocontract_ci.usage.python.reader import Reading, read_together
from protocontract_ci.usage.python.shared import Shared
from protocontract_ci.usage.python.together import Batch, Group, batches, found_above
from protocontract_ci.usage.vocabulary import Elements
from tests.bench import company

CONTRACT = """\
syntax = "proto3";
package shop.{name}.v1;
message Order {{
  string {name} = 1;
}}
"""
READ = """\
from shop.{name}.v1.contract_pb2 import Order

from app.give import given


def shown(order):
    return order.{name}


def first(data: bytes) -> str:
    return shown(given(data))
"""
GIVE = """\
from shop.{name}.v1.contract_pb2 import Order


def given(data: bytes) -> Order:
    return Order.FromString(data)
"""


class Counting(Ty):
    """ty, and the files of each question. ``above``: whether it looks for what it has not found above the file."""

    def __init__(self, *, above: bool = True) -> None:
        self.asked: list[int] = []
        self._above = above

    def reveal(self, folder: Path, roots: Sequence[Path], files: Sequence[str]) -> Told:
        """See Checker."""
        self.asked.append(len(files))
        told = super().reveal(folder, roots, files)
        return told if self._above or files != ["one/inside/asking.py", "other/inside/asking.py"] else {}


def services(folder: Path) -> tuple[Contracts, dict[str, dict[str, str]]]:
    """Two services with a package `app` each, of a contract each."""
    texts = {}
    for name in ("one", "two"):
        proto = folder / f"contracts/shop/{name}/v1/contract.proto"
        proto.parent.mkdir(parents=True)
        proto.write_text(CONTRACT.format(name=name))
        texts[name] = {
            f"services/{name}/app/__init__.py": "",
            f"services/{name}/app/read.py": READ.format(name=name),
            f"services/{name}/app/give.py": GIVE.format(name=name),
        }
    for files in texts.values():
        for path, text in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    return read(str(folder / "contracts")), texts


@pytest.mark.parametrize(("above", "runs"), [(True, [2, 4, 4]), (False, [2, 2, 2, 2, 2])])
def test_packages_of_one_name_are_read_in_one_run_where_the_checker_can(
    tmp_path: Path, above: bool, runs: list[int]
) -> None:
    contracts, texts = services(tmp_path)
    shared, checker = Shared(Elements([contracts.schema])), Counting(above=above)
    readings = [Reading(tmp_path, files, shared, {}) for files in texts.values()]
    for name, found in zip(texts, read_together(readings, checker), strict=True):
        uses = [use for use in found.uses[f"services/{name}/app/read.py"] if use.how == "read"]
        assert [(use.path, use.certain) for use in uses] == [(f"shop.{name}.v1.Order.{name}", True)]
    # What is asked does not depend on the number of services; without that, each asks for itself.
    assert checker.asked == runs


def test_functions_of_modules_that_are_not_linked_have_parameters_of_their_own(tmp_path: Path) -> None:
    contracts, texts = services(tmp_path)
    alone = {
        name: {path: text.replace("app.give", f"app_{name}.give") for path, text in files.items()}
        for name, files in texts.items()
    }
    moved = {
        path.replace("/app/", f"/app_{name}/"): text for name, files in alone.items() for path, text in files.items()
    }
    for path, text in moved.items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    linked = [{path for path in moved if f"/app_{name}/" in path} for name in texts]
    (found,) = read_together([Reading(tmp_path, moved, Shared(Elements([contracts.schema])), {}, linked)])
    asked = {use.path for use in found.uses["services/one/app_one/read.py"] if use.how == "read"}
    assert asked == {"shop.one.v1.Order.one"}


def _group(service: str, importing: str = "from app import a", where: str = "app/b.py") -> Group:
    root = f"services/{service}"
    return Group({f"{root}/app/__init__.py": "", f"{root}/app/a.py": "", f"{root}/{where}": importing}, [root])


def _all(names: Iterable[str]) -> Collection[str]:
    return list(names)


def _none(names: Iterable[str]) -> Collection[str]:
    del names
    return ()


def _sizes(found: Sequence[Batch]) -> list[int]:
    return [len(batch.groups) for batch in found]


def test_what_is_put_together() -> None:
    groups = [_group("one"), _group("two"), _group("three")]
    assert _sizes(batches(groups, _all)) == [3]
    assert batches(groups, _all)[0].roots == []
    assert _sizes(batches(groups, _none)) == [1, 1, 1]
    # Nobody imports the name: nothing is in the way.
    assert _sizes(batches([_group("one", ""), _group("two", "")], _none)) == [2]


def test_what_is_not_found_above_stays_by_itself() -> None:
    # The importing file is not below the folder of the package.
    aside = Group({"services/one/app/__init__.py": "", "tools/run.py": "import app"}, ["services/one", "tools"])
    assert _sizes(batches([_group("two"), aside, _group("three")], _all)) == [2, 1]
    # Two folders of one group have the name.
    twice = Group({"a/app.py": "import app", "b/app.py": "import app"}, ["a", "b"])
    assert _sizes(batches([_group("two"), twice], _all)) == [1, 1]
    # At the top of everything it is found by everybody.
    top = Group({"app/a.py": "import app.b", "app/b.py": ""}, ["app"])
    assert _sizes(batches([_group("two"), top], _all)) == [1, 1]


def test_a_name_that_is_found_elsewhere_is_not_relied_on(tmp_path: Path) -> None:
    trial = found_above(Ty(), tmp_path)
    (tmp_path / "generated_already.pyi").write_text("x: int\n")
    assert trial(["app", "json", "generated_already"]) == {"app"}


def test_a_small_company_is_read_in_few_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    company.build(tmp_path, 10, 4)
    monkeypatch.chdir(tmp_path)
    assert main(["gate", "--init", "--no-exec"]) == 0
    company.commit(tmp_path)
    subprocess.run(["git", "checkout", "-q", "-b", "change"], cwd=tmp_path, check=True)
    company.change(tmp_path, 4, 2)
    checker = Counting()
    compiled: list[str] = []
    monkeypatch.setattr(reader, "Ty", lambda: checker)

    def counted(contracts: Contracts, file: str) -> object:
        compiled.append(file)
        return compiled_file(contracts, file)

    monkeypatch.setattr("protocontract_ci.meaning.judges.compiled_file", counted)
    assert main(["gate", "--no-exec", "--format", "json"]) in (0, 1)
    # Whether `app` may be read together, and two rounds; of all contracts, those that changed.
    assert len(checker.asked) == 3
    assert set(compiled) == {"acme/c0/v1/contract.proto", "acme/c2/v1/contract.proto"}
