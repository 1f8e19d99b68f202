"""A real model behind its contract: `protocontract serve` with magika's, its own answer as the judge.

The service and the training loader run in processes of their own, and have the same features by digest.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import grpc
import magika
import pytest

from acme.inference.v1.content_type_pb2 import IdentifyRequest, IdentifyResponse
from protocontract.chain import digest
from protocontract.cli import main
from protocontract.wire_stream import write_delimited
from tests.engines.calibrate.test_magika import MODEL, ROOT, contents

METHOD = "/acme.inference.v1.ContentTypeService/Identify"
#: Of contents in which nothing but white space is, magika asks no model.
UNASKED = "undefined"

# What a training does, and tells of the features of each sample.
TRAINING = """
import sys
from acme.inference.v1.content_type_contract import CONTENT_TYPE_INPUT, IDENTIFY_REQUEST
from acme_steps import features
from protocontract.chain import digest
from protocontract.torch import ContractDataset, ContractLoader
from protocontract.torch.collate import Collate

if __name__ == "__main__":
    train = ContractDataset.from_files(sys.argv[1], IDENTIFY_REQUEST, transform=features, cache=sys.argv[2])
    for batch in ContractLoader(train, batch_size=16, num_workers=2, collate_fn=Collate(CONTENT_TYPE_INPUT)):
        for row in batch["bytes"].split(1):
            print(digest({"bytes": row.numpy()}))
"""


class Served(NamedTuple):
    """What the service said to each content, and the folder with its evidence."""

    contents: list[bytes]
    answers: list[IdentifyResponse]
    metadata: list[dict[str, str]]
    folder: Path


def environment() -> dict[str, str]:
    """With the generated contracts and the example's steps."""
    folders = ROOT / "generated" / "python", ROOT / "docs" / "examples" / "serving"
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    command = [
        sys.executable, "-m", "protocontract.cli", "serve", "--contract", "acme.inference.v1.ContentTypeService",
        "--model", f"content_type={MODEL}", "--labels", f"{MODEL.parent / 'config.min.json'}#target_labels_space",
        "--steps", "acme_steps:features", "--steps", "acme_steps:label", "--providers", "cpu", "--no-fallback",
        "--threads", "1",
        "--listen", "127.0.0.1:0", "--evidence", str(folder / "evidence.jsonl"), "--inputs", str(folder / "values"),
        "--format", "json",
    ]  # fmt: skip
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        if not line:
            pytest.fail(server.communicate()[1])
        address = json.loads(line)["address"]
        asked = contents(480)
        with grpc.insecure_channel(address) as channel, ThreadPoolExecutor(24) as callers:
            identify = channel.unary_unary(
                METHOD,
                request_serializer=IdentifyRequest.SerializeToString,
                response_deserializer=IdentifyResponse.FromString,
            )

            def ask(content: bytes) -> tuple[IdentifyResponse, dict[str, str]]:
                answer, call = identify.with_call(IdentifyRequest(content=content), timeout=180)
                return answer, {key: str(value) for key, value in call.trailing_metadata()}

            told = list(callers.map(ask, asked))
        server.send_signal(signal.SIGTERM)
        assert server.wait(180) == 0
        yield Served(asked, [answer for answer, _ in told], [metadata for _, metadata in told], folder)


def test_the_service_answers_as_magika_does(served: Served) -> None:
    judge = magika.Magika()
    names: dict[int, str] = {
        value.number: value.name.removeprefix("CONTENT_TYPE_").lower()
        for value in IdentifyResponse.DESCRIPTOR.fields_by_name["content_type"].enum_type.values
    }
    compared = 0
    for content, answer in zip(served.contents, served.answers, strict=True):
        verdict: Any = judge.identify_bytes(content).prediction
        if verdict.dl.label.value == UNASKED:
            continue
        assert names[answer.content_type] == verdict.dl.label.value
        assert answer.score == pytest.approx(verdict.score, abs=1e-3)
        compared += 1
    print(f"{compared} of {compared} labels equal magika's own")
    assert compared >= 400
    assert {metadata["protocontract-provider"] for metadata in served.metadata} == {"cpu"}


def test_requests_were_put_together(served: Served) -> None:
    """Else it would be no proof that rows come apart again."""
    sizes = [step["facts"]["batch_rows"] for step in steps(served) if step["name"] == "infer"]
    assert len(sizes) == len(served.contents)
    assert max(int(size.removeprefix("i:")) if isinstance(size, str) else size for size in sizes) > 1


def test_the_loader_and_the_service_have_the_same_features(served: Served, tmp_path: Path) -> None:
    with open(tmp_path / "train.binpb", "wb") as stream:
        for content in served.contents:
            write_delimited(stream, IdentifyRequest(content=content))
    script = tmp_path / "training.py"
    script.write_text(TRAINING)
    trained = subprocess.run(
        [sys.executable, script, tmp_path / "train.binpb", tmp_path / "cache"],
        env=environment(), capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    by_request: dict[str, dict[str, Any]] = {}
    for step in steps(served):
        by_request.setdefault(step["request"], {})[step["name"]] = step
    in_service = {found["normalize"]["digest_out"]: found["infer"]["digest_in"] for found in by_request.values()}
    expected = [in_service[digest(IdentifyRequest(content=content))] for content in served.contents]
    assert len(set(expected)) > 400
    assert trained == expected


def test_the_evidence_of_all_requests_holds_and_can_be_run_again(
    served: Served, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = str(served.folder / "evidence.jsonl")
    assert main(["evidence", "verify", log, "--complete"]) == 0
    told = capsys.readouterr().out
    assert f"{len(served.contents)} requests with all steps" in told
    monkeypatch.syspath_prepend(ROOT / "docs" / "examples" / "serving")
    replay = ["evidence", "replay", log, "--inputs", str(served.folder / "values"), "--model", str(MODEL)]
    # The order of sums differs with the company in a batch: the contract's service level says by how much at most.
    assert main([*replay, "--max-abs", "1e-3"]) == 0


def steps(served: Served) -> list[dict[str, Any]]:
    """The stages of all requests, as the log has them."""
    lines = (served.folder / "evidence.jsonl").read_text().splitlines()
    found = [plain(json.loads(line)["step"]) for line in lines]
    return [step for step in found if step["kind"] == "stage"]


def plain(value: Any) -> Any:
    """A canonical value without its type marks."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, str) and value[1:2] == ":":
        return value[2:]
    return value
