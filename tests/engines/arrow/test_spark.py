"""``ArrowValidator`` in Spark's ``mapInArrow``, with Spark's own workers."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import BooleanType, LongType, StringType, StructField, StructType

from acme.finance.v1.transaction_contract import TRANSACTION
from protocontract import ContractError
from protocontract.arrow import VERDICTS, ArrowValidator
from protocontract.loading import load, resolve
from tests.engines.arrow.records import check, compiled, expected, table

pytestmark = [
    # Spark's own: its view of pandas, and the sockets to its workers.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    patch = pytest.MonkeyPatch()
    with patch.context() as changed:
        changed.setenv("PYSPARK_PYTHON", sys.executable)
        changed.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.log.level", "ERROR")
            .getOrCreate()
        )
        yield session
        session.stop()


def test_a_hundred_thousand_records_have_the_verdicts_of_one_process(spark: SparkSession) -> None:
    frame = spark.createDataFrame(table()).repartition(6, "place")
    validator = ArrowValidator(TRANSACTION)
    result = frame.mapInArrow(validator.map_in_arrow, validator.spark_schema(frame.schema))
    assert result.schema == validator.spark_schema(frame.schema)
    check(result.toArrow())


def test_verdicts_are_filtered_exploded_and_counted(spark: SparkSession) -> None:
    frame = spark.createDataFrame(table().slice(0, 5_000))
    validator = ArrowValidator(TRANSACTION)
    result = frame.mapInArrow(validator.map_in_arrow, validator.spark_schema(frame.schema)).filter("not ok").cache()
    assert result.count() == expected()["ok"][:5_000].count(False)
    counts = {
        row["rule_id"]: row["count"]
        for row in result.selectExpr("explode(rule_ids) as rule_id").groupBy("rule_id").count().collect()
    }
    assert counts == Counter(rule_id for rule_ids in expected()["rule_ids"][:5_000] for rule_id in rule_ids)


def test_the_schema_declares_types_and_refuses_clashes() -> None:
    given = StructType([StructField("value", StringType()), StructField("OK", LongType())])
    validator = ArrowValidator(TRANSACTION, prefix="c_")
    declared = validator.spark_schema(given)
    assert declared.names == ["value", "OK", *(f"c_{name}" for name in VERDICTS.names)]
    assert declared["c_ok"] == StructField("c_ok", BooleanType(), False)
    assert declared["c_error_codes"].dataType.elementType == LongType()
    with pytest.raises(ContractError, match="names of verdict columns: ok"):
        ArrowValidator(TRANSACTION).spark_schema(given)
    with pytest.raises(ContractError, match="no column named 'raw'"):
        ArrowValidator(TRANSACTION, "raw").spark_schema(given)


def judged(spark: SparkSession, validator: ArrowValidator, rows: list[tuple[Any]]) -> pa.Table:
    frame = spark.createDataFrame(rows, "value binary")
    return frame.mapInArrow(validator.map_in_arrow, validator.spark_schema(frame.schema)).toArrow()


def test_generated_code_in_a_zip_file_as_py_files_ship_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = compiled(tmp_path, 10, "zipped")
    archive = shutil.make_archive(str(tmp_path / "contracts"), "zip", ours, "zipped")
    with monkeypatch.context() as changed:
        changed.syspath_prepend(ours)
        contract = load("zipped.v1.Reading")
    monkeypatch.setattr(sys, "path", list(sys.path))  # the driver puts the file on its own path too
    spark.sparkContext.addPyFile(archive)
    rows = [(contract.message_type(value=value).SerializeToString(),) for value in (9, 10)]
    assert judged(spark, ArrowValidator(contract), rows)["ok"].to_pylist() == [True, False]


def test_a_contract_compiled_at_run_time_travels_with_its_descriptors(spark: SparkSession, tmp_path: Path) -> None:
    compiled(tmp_path, 10)
    contract = resolve("engines.v1.Reading", proto_path=tmp_path / "protos-10")
    rows = [(contract.message_type(value=value).SerializeToString(),) for value in (1, 9, 10)]
    assert judged(spark, ArrowValidator(contract), rows)["ok"].to_pylist() == [True, True, False]


def test_a_worker_with_another_fingerprint_refuses_and_names_both(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = compiled(tmp_path, 10, "refused"), compiled(tmp_path, 20, "refused")
    with monkeypatch.context() as changed:
        changed.syspath_prepend(ours)
        contract = load("refused.v1.Reading")
    other = resolve("refused.v1.Reading", proto_path=tmp_path / "protos-20")
    # What spark.executorEnv.PYTHONPATH says, for the workers of this job.
    monkeypatch.setitem(spark.sparkContext.environment, "PYTHONPATH", str(theirs))
    with pytest.raises(Exception, match="is another contract here") as raised:
        judged(spark, ArrowValidator(contract), [(b"",)])
    assert contract.fingerprint in str(raised.value)
    assert other.fingerprint in str(raised.value)
