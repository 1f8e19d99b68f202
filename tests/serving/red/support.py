"""The services of red.proto: contracts, servers, calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

import grpc.aio
import numpy as np

from protocontract.contract import Contract
from protocontract.serving import InferenceServer, ModelSpec
from tests.serving.serve.lab import OPTIONS

PROTOS: Final = Path(__file__).parent / "protos"


@cache
def contracts() -> Mapping[str, Contract[Any]]:
    """The contracts of red.proto by the last part of their names."""
    from protocontract_compiler.dynamic import load_protos

    return {name.rpartition(".")[2]: each for name, each in load_protos([PROTOS], proto_path=PROTOS).items()}


def message(name: str, **fields: Any) -> Any:
    """A message of red.proto."""
    return contracts()[name].message_type(**fields)


def asked(*numbers: float, **fields: Any) -> Any:
    """A request with a row for each number."""
    return message("Asked", x=np.repeat(np.array(numbers, "<f4"), 4).tobytes(), **fields)


def _bytes(sent: Any) -> bytes:
    raw: bytes = sent if isinstance(sent, bytes) else sent.SerializeToString()
    return raw


class Caller:
    """Calls a method: ``await call("Rated/Run", request)``; bytes go as they are."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.channel = channel

    def __call__(self, path: str, request: Any, *, timeout: float | None = 120) -> Any:
        reply = "Back" if path.startswith("Kinds") else "Told"
        method = self.channel.unary_unary(
            f"/red.v1.{path}",
            request_serializer=_bytes,
            response_deserializer=contracts()[reply].message_type.FromString,
        )
        return method(request, timeout=timeout)


@asynccontextmanager
async def serving(
    name: str, models: Sequence[ModelSpec], **options: Any
) -> AsyncIterator[tuple[InferenceServer, Caller]]:
    """A server of a service of red.proto, and what calls it."""
    known = {each.full_name: each for each in contracts().values()}
    pool: Any = contracts()["Asked"].message_type.DESCRIPTOR.file.pool
    server = InferenceServer(
        f"red.v1.{name}",
        models,
        service_descriptor=pool.FindServiceByName(f"red.v1.{name}"),
        contracts=known,
        **{"options": OPTIONS, **options},
    )
    await server.start()
    try:
        async with grpc.aio.insecure_channel(server.address) as channel:
            yield server, Caller(channel)
    finally:
        await server.stop(0)
