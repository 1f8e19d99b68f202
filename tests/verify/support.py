"""Contracts compiled on the spot, and the command run in this process."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

from protocontract.cli import main
from protocontract.contract import Contract
from protocontract.loading import resolve

HERE = Path(__file__).parent
PROTOS = HERE / "protos"
TRANSACTION = "acme.finance.v1.Transaction"
LEDGER = "acme.finance.v1.Ledger"


@functools.cache
def contract(name: str) -> Contract[Any]:
    return resolve(name, proto_path=PROTOS)


def verify(capsys: pytest.CaptureFixture[str], name: str, *arguments: object) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of ``protocontract verify``."""
    code = main(["verify", "--contract", name, "--proto-path", str(PROTOS), *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def transaction(number: int = 0, **fields: object) -> dict[str, Any]:
    """A clean transaction, as JSON has it."""
    return {
        "id": f"00000000-0000-4000-8000-{number:012d}",
        "amount": "10.00",
        "currency": "CURRENCY_CNY",
        "booked_at": f"2026-03-09T{8 + number // 3600 % 2:02d}:{number // 60 % 60:02d}:{number % 60:02d}Z",
        "account": "6222020200112233445",
        **fields,
    }
