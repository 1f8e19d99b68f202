"""The example modules do what they say: on an in-memory log, on a file, over gRPC, under tsc and Node.js."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

from protocontract.kafka import Guard
from protocontract.kafka.memory import MemoryLog
from tests.modules.support import MODULES, load

ACCOUNT = "6222020200112233445"


def payment(**fields: Any) -> tuple[bytes, bytes]:
    """Key and value of a record."""
    from acme.finance.v1.transaction_pb2 import Transaction

    made = Transaction(id=str(uuid.uuid4()), account=ACCOUNT, booked_at="2026-03-09T08:00:00Z", **fields)
    return made.id.encode(), made.SerializeToString()


def test_the_ledger_books_what_keeps_its_contract_once() -> None:
    book = load("ledger/book.py")
    log = MemoryLog()
    for topic in ("payments", "payments.dead"):
        log.create_topic(topic)
    again = payment(amount="CNY 12.50", kind=1)
    refunded = str(uuid.uuid4())
    refund = payment(amount="2.50", kind=2, refund_of=refunded)
    for key, value in (again, again, refund, payment(amount="1.234", kind=1)):
        log.append("payments", value, key)
    ledger = book.Ledger()
    consumer = log.consumer("payments")
    with Guard(consumer, book.TRANSACTION, dead_letters=log.producer, stop_at_end=True) as guard:
        guard.run(ledger.book)
    assert ledger.balances == {(ACCOUNT, "CNY"): Decimal("-10.00")}
    assert len(log.records("payments.dead")) == 1


def test_the_trainer_learns_from_a_file_of_samples(tmp_path: Path) -> None:
    text = "Ada of Acme met Ada"
    entities = [
        {"text": "Ada", "label": "PERSON", "startOffset": 0, "endOffset": 3},
        {"text": "Acme", "label": "ORGANIZATION", "startOffset": 7, "endOffset": 11},
    ]
    sample = {"id": str(uuid.uuid4()), "rawText": text, "createdAt": "2026-03-09T08:00:00Z", "entities": entities}
    # The second Ada is not marked in the first sample, and is in the second one.
    second = {**sample, "id": str(uuid.uuid4()), "rawText": "Ada", "entities": entities[:1]}
    broken = {**sample, "entities": [{**entities[0], "label": "PLACE"}]}
    samples = tmp_path / "samples.jsonl"
    samples.write_text("".join(json.dumps(each) + "\n" for each in (sample, second, broken)))
    model = tmp_path / "model.json"
    command = [sys.executable, str(MODULES / "trainer" / "train.py"), str(samples), str(model)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == "4 words; broken rules: {'string.in': 1}\n"
    learned = json.loads(model.read_text())
    assert learned["words"] == {"Acme": 2, "Ada": 0, "met": 3, "of": 3}
    assert subprocess.run(command[:-1], check=False, capture_output=True).returncode == 2


def test_the_encoder_answers_over_grpc() -> None:
    import grpc

    from acme.inference.v1 import model_service_pb2 as pb
    from acme.inference.v1 import model_service_pb2_grpc
    from acme.inference.v1.model_service_contract import PREDICT_RESPONSE

    service = load("encoder/service.py")
    server, port = service.serve("127.0.0.1:0")
    try:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub = model_service_pb2_grpc.ModelServiceStub(channel)
            request = pb.PredictRequest(request_id=str(uuid.uuid4()), model_version="1.2.0")
            request.encoder.input_ids.extend([5, 6, 7])
            request.encoder.attention_mask.extend([1, 1, 1])
            answer = stub.Predict(request, timeout=120)
            assert (answer.status, len(answer.encoder.vector)) == (pb.STATUS_OK, 384)
            assert PREDICT_RESPONSE.validate(answer) == ()
            assert stub.Predict(request, timeout=120).encoder == answer.encoder
            request.ClearField("model_version")
            refused = stub.Predict(request, timeout=120)
            assert (refused.status, refused.WhichOneof("output")) == (pb.STATUS_REFUSED, None)
            assert PREDICT_RESPONSE.validate(refused) == ()
    finally:
        server.stop(0).wait()


_SCRIPT = """\
import { segmentsOfRecord } from "./dist/segments.js";

const record = Buffer.from(process.argv[1], "base64");
console.log(JSON.stringify(segmentsOfRecord(record)));
"""


def test_the_page_cuts_texts_by_code_points(web_module: Path) -> None:
    from acme.text.v1.text_pb2 import NamedEntity, TextSample

    entities = [
        NamedEntity(text="University of Oxford", label="ORGANIZATION", start_offset=2, end_offset=22),
        NamedEntity(text="Oxford", label="LOCATION", start_offset=16, end_offset=22),
        NamedEntity(text="Ada", label="PRODUCT", start_offset=24, end_offset=27),
    ]
    sample = TextSample(raw_text="\U0001f600 University of Oxford, Ada", entities=entities)
    encoded = base64.b64encode(sample.SerializeToString()).decode()
    done = subprocess.run(
        ["node", "--input-type=module", "--eval", _SCRIPT, encoded], cwd=web_module, check=True, capture_output=True,
        text=True,
    )  # fmt: skip
    assert [(each["text"], each["colour"]) for each in json.loads(done.stdout)] == [
        ("\U0001f600 ", ""), ("University of Oxford", "orange"), (", ", ""), ("Ada", "grey"),
    ]  # fmt: skip
