"""What callers and operators may write: nothing of it breaks an answer, nothing of it is told to others."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from google.rpc import status_pb2

from protocontract.chain import EvidenceLog, verify
from protocontract.chain.verify import records
from protocontract.serving import ModelSpec
from protocontract.serving.rejection import MAX_STATUS, refused
from tests.serving.red.support import asked, serving
from tests.serving.serve import lab
from tests.serving.serve.lab import refusal, scaled, trailers

NAMES = ("größe", "a\nb", "\x00", " in front ", "☃" * 50, "a\r\ngrpc-status: 0", "50%", "x" * 128)


def test_an_id_of_any_letters_comes_back_in_the_trailers(tmp_path: Path) -> None:
    model = [ModelSpec("same", "1", str(scaled(tmp_path / "same.onnx")))]

    async def main() -> None:
        with EvidenceLog(tmp_path / "evidence.jsonl") as log:
            async with lab.serving("Echo", model, evidence=log) as (_, call):
                for name in NAMES:
                    told = await trailers(call(lab.rows(1, request_id=name)))
                    assert told["protocontract-request"].isascii()
                    assert unquote(told["protocontract-request"]) == name
                long = await trailers(call(lab.rows(1, request_id="x" * 5000)))
                assert long["protocontract-request"] == "x" * 128

    asyncio.run(main())
    found = verify(tmp_path / "evidence.jsonl")
    assert (found.problem, found.closed, found.failed) == (None, len(NAMES) + 1, 0)
    assert {each[0].step.request for each in records(tmp_path / "evidence.jsonl", None)} == set(NAMES)


def test_a_model_of_any_name_answers(tmp_path: Path) -> None:
    path = str(scaled(tmp_path / "größe 2.onnx", 2))

    async def main(spec: ModelSpec, name: str) -> None:
        async with lab.serving("Echo", [spec]) as (_, call):
            told = await trailers(call(lab.rows(1)))
            assert told["protocontract-model"].isascii()
            assert unquote(told["protocontract-model"]) == name
            code, _, metadata, _ = await refusal(call(lab.rows(1, model_version="größe\n" * 100)))
            assert code == "FAILED_PRECONDITION"
            assert metadata["served"] == name.partition("@")[2]

    asyncio.run(main(ModelSpec("", "", path), "größe 2@1"))
    asyncio.run(main(ModelSpec("m", "ü 1", path), "m@ü 1"))


def test_a_sensitive_id_is_nobodys_to_see(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    model = [ModelSpec("same", "1", str(scaled(tmp_path / "same.onnx")))]

    async def main() -> None:
        with EvidenceLog(tmp_path / "evidence.jsonl") as log:
            async with serving("Rated", model, evidence=log) as (_, call):
                told = await trailers(call("Rated/Run", asked(1, request_id="hunter22")))
                assert len(told["protocontract-request"]) == 32
                code, reason, metadata, text = await refusal(
                    call("Rated/Run", asked(1, request_id="hunter22", secret="hunter22"))
                )
                assert (code, metadata["rule_id"]) == ("INVALID_ARGUMENT", "secret.telling")
                assert "hunter22" not in f"{reason} {metadata} {text}"

    asyncio.run(main())
    assert "hunter22" not in (tmp_path / "evidence.jsonl").read_text()
    assert "hunter22" not in caplog.text


def test_details_stay_within_what_trailers_carry(tmp_path: Path) -> None:
    """Paths as deep as protobuf lets them be, of long names; keys of maps, which are data; hundreds of violations."""
    model = [ModelSpec("same", "1", str(scaled(tmp_path / "same.onnx")))]
    (long,) = (each.name for each in asked().DESCRIPTOR.fields if each.number == 6)

    async def main() -> None:
        async with serving("Rated", model) as (_, call):
            deep: Any = asked(secret="much too long")
            for depth in range(90):
                outer = asked()
                getattr(outer, long).CopyFrom(deep)
                deep = outer
                if depth in (0, 3, 20, 89):
                    await judge(call, deep)
            await judge(call, asked(notes={"whose key is data" * 400: "long"}))
            many = asked(float("nan"), mood=9, notes={f"data {each}": "long" for each in range(400)})
            getattr(many, long).CopyFrom(asked(notes=many.notes))
            assert await judge(call, many) >= 800

    async def judge(call: Any, request: Any) -> int:
        started = call("Rated/RunLarge", request)
        code, _, metadata, text = await refusal(started)
        assert code == "INVALID_ARGUMENT", text
        raw = dict(await started.trailing_metadata())["grpc-status-details-bin"]
        assert len(raw) <= MAX_STATUS
        assert "data" not in f"{metadata}{text}"
        assert len(status_pb2.Status.FromString(raw).details) == 2
        return int(metadata["total"])

    asyncio.run(main())


def test_refusals_of_any_length_are_cut() -> None:
    found = refused("UNAVAILABLE", "ü" * 9000, reason="WHY", served="1, " * 9000, asked="☃" * 64)
    assert found.status.ByteSize() <= MAX_STATUS
    assert found.reason == "WHY"
    assert found.status.message.endswith("ü...")


def test_a_thousand_versions_are_not_all_told(tmp_path: Path) -> None:
    path = str(scaled(tmp_path / "same.onnx"))
    models = [ModelSpec("same", f"{each:0200}", path) for each in range(30)]

    async def main() -> None:
        async with lab.serving("Echo", models) as (_, call):
            started = call(lab.rows(1, model_version="none of them"))
            code, reason, _, _ = await refusal(started)
            assert (code, reason) == ("FAILED_PRECONDITION", "VERSION_MISMATCH")
            assert len(dict(await started.trailing_metadata())["grpc-status-details-bin"]) <= MAX_STATUS

    asyncio.run(main())
