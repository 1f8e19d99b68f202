"""Functions that the gate runs because a mark says so: the marks at run time, in the source, and in a verdict."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from protocontract.testing import reader, writer
from protocontract.testing.marks import Mark, mark_of
from protocontract_ci.execution.entries import entry_points_of
from tests.gate.company import MISC, Company, company
from tests.gate.company import READER as COMPANY_READER

PROTO = """
syntax = "proto3";
package shop.v1;
import "buf/validate/validate.proto";
message Order {
  string kind = 1 [(buf.validate.field).string = {in: [KINDS]}];
}
"""

#: The import of a client is what keeps the gate from running anything here by itself.
READER = """
import socket

from protocontract.testing import reader
from shop.v1 import order_pb2

RATES = {"book": 5, "toy": 19}


class Till:
    def __init__(self):
        self.total = 0


MARK
def take(order: order_pb2.Order, till: Till) -> None:
    till.total += RATES[order.kind]


def serve():
    server = socket.create_server(("", 0))
"""


def verdict(folder: Path, mark: str) -> tuple[str, str]:
    for state, kinds in (("before", '"book", "toy"'), ("after", '"book", "toy", "game"')):
        file = folder / state / "shop/v1/order.proto"
        file.parent.mkdir(parents=True)
        file.write_text(PROTO.replace("KINDS", kinds))
    (folder / "modules").mkdir()
    (folder / "modules/till.py").write_text(READER.replace("MARK", mark))
    done = subprocess.run(
        [sys.executable, "-m", "protocontract.cli", "gate", "--before", "before", "--after", "after", "--modules",
         "modules", "--format", "json"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    (module,) = json.loads(done.stdout)["modules"]
    return module["verdict"], module["proof"]


def test_a_marked_reader_is_run_whatever_its_file_imports(tmp_path: Path) -> None:
    mark = '@reader("shop.v1.Order", arguments=lambda order: (order, Till()))'
    assert verdict(tmp_path, mark) == ("not_adapted", "witness")


def test_without_the_mark_it_is_not_run(tmp_path: Path) -> None:
    assert verdict(tmp_path, "")[1] != "witness"


def test_a_mark_leaves_the_function_as_it_is() -> None:
    def read(message: object) -> object:
        return message

    assert reader("shop.v1.Order")(read) is read
    assert mark_of(read) == Mark("reader", "shop.v1.Order")
    assert mark_of(writer("shop.v1.Order")(lambda: b"")) == Mark("writer", "shop.v1.Order")
    assert mark_of(print) is None


@pytest.mark.parametrize(
    ("entry_points", "file", "found"),
    [
        (["app.ledger:book", "app.ledger:close", "app.other:x"], "src/app/ledger.py", {"book", "close"}),
        (["ledger:book"], "ledger.py", {"book"}),
        (["app:main"], "app/__init__.py", {"main"}),
        (["dger:book"], "app/ledger.py", set()),
    ],
)
def test_entry_points_of_a_file(entry_points: list[str], file: str, found: set[str]) -> None:
    assert entry_points_of(entry_points, file) == found


def test_marks_need_no_hypothesis() -> None:
    script = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "from protocontract.testing import reader, valid\n"
        "from acme.text.v1.text_contract import TEXT_SAMPLE\n"
        "reader('a.B')(lambda message: message)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    refused = subprocess.run(
        [sys.executable, "-c", f"{script}valid(TEXT_SAMPLE)"], capture_output=True, text=True, check=False
    )
    assert 'pip install "protocontract[testing]"' in refused.stderr


def test_entry_points_of_a_module_are_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    acme = company(
        tmp_path, capsys, {"training/labels.py": f"import socket\n{COMPANY_READER}\nSERVER = socket.socket\n"}
    )
    acme.contract(MISC)
    assert proof_of(acme) != "witness"
    modules = acme.root / "contracts/modules.toml"
    before, name, after = modules.read_text().partition('name = "training"\n')
    modules.write_text(f'{before}{name}entry_points = ["training.labels:label_id"]\n{after}')
    assert proof_of(acme) == "witness"
    modules.write_text(f'{before}{name}entry_points = ["training.labels"]\n{after}')
    code, _, err = acme.run("gate")
    assert code == 2
    assert "`training.labels` is no function; expected one as shop.ledger:book" in err


def proof_of(acme: Company) -> str:
    (finding,) = acme.gate()[1]["modules"]["training"]["findings"]
    return str(finding["proof"])
