"""Notebooks: each row cells with a verdict and the cells' lines that it names; lines are those of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from protocontract.cli import main
from protocontract_ci.model import ModuleVerdict
from protocontract_ci.sources import read
from protocontract_ci.usage.notebooks import NotebookError, read_notebook
from protocontract_ci.verdicts.folder import Folder

BEFORE = """
syntax = "proto3";
package shop.v1;
message Order { string id = 1; string coupon = 2; }
"""
AFTER = """
syntax = "proto3";
package shop.v1;
message Order { string id = 1; reserved 2; reserved "coupon"; }
"""
IMPORT = "from shop_pb2 import Order\norder = Order.FromString(raw)\n"
ACK = "# contract-ack: shop.v1.Order.coupon removed (an old experiment)\n"
#: Cells as source, or as (type, source); the verdict and the places that its reason names.
ROWS: dict[str, tuple[list[str | tuple[str, str]], str, str]] = {
    "a removed field in a later cell": (
        [IMPORT, ("markdown", "# Coupons"), "x = 1\nprint(order.coupon)\n"], "not_adapted", "(cell 3 line 2)",
    ),
    "in two cells": (
        [IMPORT, "order.coupon\n", "y = order.coupon\n"], "not_adapted", "(cell 2 line 1, cell 3 line 1)",
    ),
    "another field": ([IMPORT, "order.id\n"], "unaffected", ""),
    "in markdown alone": ([IMPORT, ("markdown", "`order.coupon`")], "unaffected", ""),
    "among magics": (
        ["%load_ext autoreload\n!pip install shop\nfiles = !ls\n" + IMPORT, "%%time\nfor x in [1]:\n    !echo $x\n    "
         "order.coupon\n"],
        "not_adapted", "(cell 2 line 4)",
    ),
    "a cell of another language": (
        [IMPORT, "%%bash\necho order.coupon\nif [ x ]; then\n fi\n", "order.id\n"], "unaffected", "",
    ),
    "a remainder over two lines": ([IMPORT, "z = (7\n% len(order.coupon))\n"], "not_adapted", "(cell 2 line 2)"),
    "an inspection": ([IMPORT, "order.coupon?\n"], "unaffected", ""),
    "acknowledged in a cell": ([IMPORT, ACK + "order.coupon\n"], "adapted", ""),
    "a broken cell": ([IMPORT, "x = 1\norder.coupon = = 2\n"], "unverified", "cell 2 line 2"),
    "no use of the contract": (["import json\n", "coupon = {}\ncoupon.coupon = 1\n"], "unaffected", ""),
}  # fmt: skip


def notebook(cells: list[str | tuple[str, str]], language: str = "python") -> dict[str, Any]:
    """A notebook as nbformat 4 has it."""
    pairs = [("code", cell) if isinstance(cell, str) else cell for cell in cells]
    return {
        "cells": [
            {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)}
            | ({"outputs": [{"text": ["order.coupon\n"]}], "execution_count": None} if kind == "code" else {})
            for kind, text in pairs
        ],
        "metadata": {"kernelspec": {"language": language, "name": "k", "display_name": "K"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def contracts(root: Path) -> None:
    for side, text in (("before", BEFORE), ("after", AFTER)):
        (root / side).mkdir()
        (root / side / "shop.proto").write_text(text)


def judged(root: Path, files: dict[str, str]) -> dict[str, ModuleVerdict]:
    """The verdicts on files by name."""
    for name, text in files.items():
        (root / name).write_text(text)
    folder = Folder(root, sorted(files), read(str(root / "before")), read(str(root / "after")))
    return {each.file: each for each in folder.verdicts()}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[ModuleVerdict, list[str]]]:
    """All rows, judged at once, with the lines of their files."""
    root = tmp_path_factory.mktemp("notebooks")
    contracts(root)
    texts = {f"{name}.ipynb": json.dumps(notebook(cells), indent=1) for name, (cells, _, _) in ROWS.items()}
    found = judged(root, texts)
    return {name.removesuffix(".ipynb"): (found[name], text.split("\n")) for name, text in texts.items()}


@pytest.mark.parametrize("name", ROWS)
def test_verdicts(name: str, verdicts: dict[str, tuple[ModuleVerdict, list[str]]]) -> None:
    _, expected, places = ROWS[name]
    verdict, lines = verdicts[name]
    assert verdict.verdict == expected
    assert places in verdict.because
    # True lines of the file: the name stands there, in the source of a cell and not in an output.
    assert bool(verdict.lines) == (expected == "not_adapted")
    assert all("order.coupon" in lines[line - 1] and "x = 1" not in lines[line - 1] for line in verdict.lines)


def test_lines_of_a_file_without_line_breaks_and_of_one_text_a_cell(tmp_path: Path) -> None:
    contracts(tmp_path)
    held = notebook([IMPORT, "x = 1\norder.coupon\n"])
    whole = {**held, "cells": [{**cell, "source": "".join(cell["source"])} for cell in held["cells"]]}
    found = judged(tmp_path, {"a.ipynb": json.dumps(held), "b.ipynb": json.dumps(whole, indent=1)})
    assert (found["a.ipynb"].lines, found["a.ipynb"].verdict) == ((1,), "not_adapted")
    (line,) = found["b.ipynb"].lines
    assert r"x = 1\norder.coupon" in (tmp_path / "b.ipynb").read_text().split("\n")[line - 1]
    assert "(cell 2 line 2)" in found["b.ipynb"].because


def test_a_notebook_of_another_language_is_none_of_python() -> None:
    assert read_notebook(json.dumps(notebook(["order$coupon <- 1\n"], "R"))).text == ""


@pytest.mark.parametrize(
    ("text", "said"), [("{", "no JSON"), ("[]", "no notebook of nbformat 4; expected a list of cells")]
)
def test_what_is_no_notebook(text: str, said: str) -> None:
    with pytest.raises(NotebookError, match=said):
        read_notebook(text)


def test_the_command_reads_notebooks_below_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contracts(tmp_path)
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "report.ipynb").write_text(json.dumps(notebook([IMPORT, "order.coupon\n"]), indent=1))
    arguments = [f"--before={tmp_path}/before", f"--after={tmp_path}/after", f"--modules={tmp_path}/modules"]
    assert main(["gate", *arguments, "--format", "json"]) == 1
    (module,) = json.loads(capsys.readouterr().out)["modules"]
    assert (Path(module["file"]).name, module["verdict"]) == ("report.ipynb", "not_adapted")
