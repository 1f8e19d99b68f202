"""Each back end of protobuf has errors of its own; a contract gives the same verdicts with all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

RECORDS = """
import json
from google.protobuf.internal import api_implementation
from acme.finance.v1.transaction_contract import TRANSACTION
from protocontract import ContractViolation

records = [b"\\xff", b"\\x0a\\x05ab", b"\\x0a\\x02\\xff\\xfe", b"\\x0b" * 10_000, b"\\x0a" * 3, b"\\x30\\xff" * 9]
verdicts = []
for raw in records:
    outcome = TRANSACTION.process(raw)
    try:
        TRANSACTION.parse(raw)
        parsed = None
    except ContractViolation as violation:
        parsed = [found.rule_id for found in violation.violations]
    verdicts.append([[found.rule_id for found in outcome.violations], parsed])
print(json.dumps([api_implementation.Type(), verdicts]))
"""


@pytest.mark.parametrize("backend", ["upb", "python"])
def test_bytes_that_are_no_message_never_raise(backend: str) -> None:
    environment = {
        **os.environ,
        "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": backend,
        "PYTHONPATH": str(ROOT / "generated" / "python"),
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RECORDS], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    implementation, verdicts = json.loads(done.stdout)
    assert implementation == backend
    assert verdicts == [[["wire.malformed"]] * 2] * 6
