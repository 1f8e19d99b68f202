"""How contracts reach other processes: by name and fingerprint, also out of a zip file, or with their descriptors."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa

from protocontract.arrow import ArrowValidator
from protocontract.cli import main
from tests.arrow.tables import PROTOS, SHAPE

_WORKER = """
import pickle, sys
validator = pickle.load(sys.stdin.buffer)
print(validator.contract.fingerprint, validator(pickle.load(sys.stdin.buffer))["ok"].to_pylist())
"""
_DRIVER = """
import pickle, sys
from protocontract.arrow import ArrowValidator
from protocontract.loading import load
sys.stdout.buffer.write(pickle.dumps(ArrowValidator(load("shapes.Shape"))))
"""


def run(script: str, path: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    code = f"import sys; sys.path.insert(0, {path!r})\n{script}"
    return subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, check=False)


def rows() -> bytes:
    messages = [SHAPE.message_type(i64=1), SHAPE.message_type(i64=10**6)]
    return pickle.dumps(pa.table({"value": [message.SerializeToString() for message in messages]}))


def test_generated_code_in_a_zip_file_is_found(tmp_path: Path) -> None:
    assert main(["compile", str(PROTOS), "--out", str(tmp_path / "gen")]) == 0
    archive = shutil.make_archive(str(tmp_path / "contracts"), "zip", tmp_path / "gen", "shapes")
    sent = run(_DRIVER, str(tmp_path / "gen"))
    assert sent.returncode == 0, sent.stderr
    got = run(_WORKER, archive, sent.stdout + rows())
    assert got.stdout.decode().split(" ", 1) == [SHAPE.fingerprint, "[True, False]\n"], got.stderr


def test_a_worker_with_other_generated_code_refuses_and_names_both(tmp_path: Path) -> None:
    assert main(["compile", str(PROTOS), "--out", str(tmp_path / "gen")]) == 0
    other = shutil.copytree(PROTOS, tmp_path / "protos") / "shapes" / "shapes.proto"
    other.write_text(other.read_text().replace("int64.lt = 1000000", "int64.lt = 2000000"))
    assert main(["compile", str(tmp_path / "protos"), "--out", str(tmp_path / "other")]) == 0
    got = run(_WORKER, str(tmp_path / "other"), run(_DRIVER, str(tmp_path / "gen")).stdout + rows())
    assert got.returncode != 0
    assert b"shapes.Shape is another contract here; expected fingerprint " + SHAPE.fingerprint.encode() in got.stderr


def test_a_contract_compiled_at_run_time_needs_no_generated_code() -> None:
    got = run(_WORKER, "", pickle.dumps(ArrowValidator(SHAPE)) + rows())
    assert got.stdout.decode().split(" ", 1) == [SHAPE.fingerprint, "[True, False]\n"], got.stderr
