"""The proxy of KServe v2, told what HTTP and gRPC do not tell alike."""

from __future__ import annotations

import http.client
import json
from typing import Any

from tests.serving.kserve.support import SCALE, ModelServer, declared, doubled, proxied, served

ASKED = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4]}]}).encode()


def test_headers_that_grpc_cannot_carry(caplog: Any) -> None:
    """HTTP takes any byte in a header; a request id of our caller's goes on as it is, or not at all."""
    with (
        served(ModelServer({"scale": (*SCALE, doubled)})) as server,
        proxied(server.address, [declared("scale", "ScaleIn", "ScaleOut")]) as proxy,
    ):
        for value in (b"plain", b"gr\xc3\xb6\xc3\x9fe", b"\xff\xfe", b"tab\there", b""):
            connection = http.client.HTTPConnection(proxy.rest, timeout=120)
            connection.putrequest("POST", "/v2/models/scale/infer")
            connection.putheader("Content-Length", str(len(ASKED)))
            connection.putheader("X-Request-Id", value)
            connection.endheaders(ASKED)
            answer = connection.getresponse()
            told = json.loads(answer.read())
            connection.close()
            assert (answer.status, told.get("error")) == (200, None), value
            assert told["outputs"][0]["data"] == [2, 4, 6, 8]
