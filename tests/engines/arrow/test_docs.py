"""The job of docs/arrow.md, as it stands there."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from acme.finance.v1.transaction_contract import TRANSACTION
from protocontract.arrow import ArrowValidator
from tests.engines.arrow.records import expected, table

DOCS = Path(__file__).parents[3] / "docs" / "arrow.md"


def test_the_job_with_pandas_and_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = DOCS.read_text().partition("### A job with pandas and Parquet\n")[2].partition("\n## ")[0]
    monkeypatch.chdir(tmp_path)
    pq.write_table(table().slice(0, 15_000), "payments.parquet")
    names: dict[str, Any] = {"validator": ArrowValidator(TRANSACTION, column="value")}
    exec(textwrap.dedent(text), names)
    ok, rule_ids = expected()["ok"][:15_000], expected()["rule_ids"][:15_000]
    assert names["judged"].num_rows == 15_000
    assert names["good"].num_rows == ok.count(True)
    assert names["counts"]["wire.null"] == sum(found == ["wire.null"] for found in rule_ids)
    assert names["judged"].schema.metadata[b"protocontract.fingerprint"] == TRANSACTION.fingerprint.encode()
