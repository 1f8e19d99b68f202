"""``ArrowValidator`` in Ray Data, with Ray's own workers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import ray
import ray.data

from acme.finance.v1.transaction_contract import TRANSACTION
from protocontract.arrow import ArrowValidator
from protocontract.contract import Contract
from protocontract.loading import load, resolve
from tests.arrow.support import verdict
from tests.engines.arrow.records import check, compiled, table

pytestmark = [
    # Ray's own, of its processes and of what it imports.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Contract[Any]]:
    """Ray, and a contract whose generated code its workers have from ``py_modules`` only."""
    ours = compiled(tmp_path_factory.mktemp("shipped"), 10, "shipped")
    runtime_env = {"py_modules": [str(ours / "shipped")]}
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error", runtime_env=runtime_env
    )  # fmt: skip
    ray.data.DataContext.get_current().enable_progress_bars = False
    patch = pytest.MonkeyPatch()
    with patch.context() as changed:
        changed.syspath_prepend(ours)
        contract = load("shipped.v1.Reading")
    yield contract
    ray.shutdown()


def collected(dataset: Any) -> pa.Table:
    return pa.concat_tables(ray.get(dataset.to_arrow_refs()))


def test_a_hundred_thousand_records_have_the_verdicts_of_one_process() -> None:
    parts = [table().slice(start, 17_000) for start in range(0, table().num_rows, 17_000)]
    validator = ArrowValidator(TRANSACTION)
    dataset = ray.data.from_arrow(parts).map_batches(validator, batch_format="pyarrow", batch_size=2048)
    result = collected(dataset)
    check(result)
    assert result.schema.equals(validator.schema(table().schema), check_metadata=True)


def test_as_a_class_on_a_pool_of_actors() -> None:
    dataset = ray.data.from_arrow(table().slice(0, 3000)).map_batches(
        ArrowValidator,
        fn_constructor_args=(TRANSACTION,),
        fn_constructor_kwargs={"prefix": "contract_"},
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(size=1),
    )
    result = collected(dataset).sort_by("place")
    raws = table().slice(0, 3000)["value"].to_pylist()
    assert result["contract_ok"].to_pylist() == [verdict(TRANSACTION, raw)["ok"] for raw in raws]


def test_generated_code_that_the_runtime_environment_ships(shipped: Contract[Any]) -> None:
    raws = [shipped.message_type(value=value).SerializeToString() for value in (9, 10)]
    dataset = ray.data.from_arrow(pa.table({"value": raws})).map_batches(
        ArrowValidator(shipped), batch_format="pyarrow"
    )
    assert collected(dataset)["ok"].to_pylist() == [True, False]
    assert dataset.filter(expr="ok").count() == 1


def test_a_contract_compiled_at_run_time_travels_with_its_descriptors(tmp_path: Path) -> None:
    compiled(tmp_path, 10)
    contract = resolve("engines.v1.Reading", proto_path=tmp_path / "protos-10")
    raws = [contract.message_type(value=value).SerializeToString() for value in (1, 9, 10)]
    dataset = ray.data.from_arrow(pa.table({"value": raws})).map_batches(
        ArrowValidator(contract), batch_format="pyarrow"
    )
    assert collected(dataset)["ok"].to_pylist() == [True, True, False]


def test_a_worker_with_another_fingerprint_refuses_and_names_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = compiled(tmp_path, 10, "refused"), compiled(tmp_path, 20, "refused")
    with monkeypatch.context() as changed:
        changed.syspath_prepend(ours)
        contract = load("refused.v1.Reading")
    other = resolve("refused.v1.Reading", proto_path=tmp_path / "protos-20")
    dataset = ray.data.from_arrow(pa.table({"value": [b""]})).map_batches(
        ArrowValidator(contract),
        batch_format="pyarrow",
        runtime_env={"env_vars": {"PYTHONPATH": ":".join([str(theirs), *filter(None, sys.path)])}},
        max_retries=0,
    )
    with pytest.raises(Exception, match="is another contract here") as raised:
        dataset.materialize()
    assert contract.fingerprint in str(raised.value)
    assert other.fingerprint in str(raised.value)
