"""What is published: the source distribution, the wheel that is made of it, its metadata."""

from __future__ import annotations

import re
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import Any

from tests.packaging.support import ROOT, Distribution, Installed, build

#: What the source distribution has at its top: nothing that lies in a checkout by chance.
TOP = {
    ".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "DESIGN.md", "LICENSE", "Makefile", "PKG-INFO", "README.md",
    "pyproject.toml", "ci", "compiler", "contracts", "docs", "generated", "runtime", "tests",
}  # fmt: skip
NOT_SOURCE = re.compile(
    r"(^|/)(__pycache__|node_modules|build|dist|\.venv[^/]*|\.\w+_cache|\.hypothesis)(/|$)|\.pyc$|^generated/python/buf/"
)


def test_the_source_distribution_makes_the_wheel_that_the_tree_makes(built: Distribution, tmp_path: Path) -> None:
    assert build(ROOT, "wheel", tmp_path).read_bytes() == built.wheel.read_bytes()


def test_the_source_distribution_has_what_is_source(built: Distribution) -> None:
    with tarfile.open(built.sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    assert {name.partition("/")[0] for name in names} == TOP
    assert [name for name in names if NOT_SOURCE.search(name)] == []


def test_the_wheel_has_its_packages_alone_typed_and_with_the_licence(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    packages = {"protocontract", "protocontract_compiler", "protocontract_ci"}
    assert {name.partition("/")[0] for name in names} == {*packages, "protocontract-0.1.0.dist-info"}
    assert {f"{package}/py.typed" for package in packages} <= set(names)
    assert [name for name in names if NOT_SOURCE.search(name)] == []
    assert read(wheel, "licenses/LICENSE") == (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_the_metadata_says_what_the_project_says(wheel: Path, project: dict[str, Any]) -> None:
    told: Message = Parser().parsestr(read(wheel, "METADATA"))
    assert told["License-Expression"] == project["license"] == "Apache-2.0"
    assert told.get_all("License-File") == ["LICENSE"]
    assert told["Requires-Python"] == project["requires-python"]
    assert set(told.get_all("Classifier", [])) == set(project["classifiers"])
    assert told["Description-Content-Type"] == "text/markdown"
    assert told.get_payload() == (ROOT / "README.md").read_text(encoding="utf-8")
    extras = {name.lower() for name in project["optional-dependencies"]}
    assert set(told.get_all("Provides-Extra", [])) == extras
    needed = [name for name in told.get_all("Requires-Dist", []) if "extra ==" not in name]
    assert {distribution(name) for name in needed} == {distribution(name) for name in project["dependencies"]}
    assert len(needed) == len(project["dependencies"])


def test_the_entry_points_are_those_of_the_project(installed: Installed, wheel: Path, project: dict[str, Any]) -> None:
    sections = re.findall(r"^\[(.+)\]$", read(wheel, "entry_points.txt"), re.MULTILINE)
    assert set(sections) == {"console_scripts", *project["entry-points"]}
    assert all((installed.folder / "bin" / name).exists() for name in project["scripts"])
    version = installed.run("protocontract --version", installed.folder)
    assert version == f"protocontract {project['version']}\n"
    told = installed.run("protocontract --help", installed.folder)
    assert all(f"  {name} " in told for name in project["entry-points"]["protocontract.commands"])


def read(wheel: Path, name: str) -> str:
    """A file of the wheel's metadata."""
    return zipfile.ZipFile(wheel).read(f"protocontract-0.1.0.dist-info/{name}").decode()


def distribution(requirement: str) -> str:
    """The name of a requirement, as indexes spell it."""
    return re.split(r"[^\w.-]", requirement)[0].lower()
