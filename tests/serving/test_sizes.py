"""A response that callers could not take is refused by the name of the limit (S23); requests: test_interceptors.py."""

from __future__ import annotations

import asyncio

import grpc
import grpc.aio
import pytest

from tests.serving.echo import KINDS, STYLES, Seen, ask, call, call_into, serving, status

LIMIT = 8
TABLE = [(kind, style) for kind in KINDS for style in STYLES]


@pytest.mark.parametrize(("kind", "style"), TABLE, ids=[f"{kind}, {style}" for kind, style in TABLE])
def test_s23_a_response_that_is_too_large_fails_its_caller_alone(kind: str, style: str) -> None:
    got: list[str] = []

    async def main() -> None:
        async with serving(style, Seen(), options={"max_response_bytes": LIMIT}) as channel:
            large = ask("good", "7 bytes")  # and two that say so
            large_too = [ask("good", "fine"), large] if kind in ("Client", "Both") else [large]
            others = [asyncio.ensure_future(call(channel, kind, [ask("good", "six by")])) for _ in range(3)]
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call_into(got, channel, kind, large_too)
            assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            info = status(caught.value)[1]
            assert (info.reason, info.metadata["limit"]) == ("RESPONSE_TOO_LARGE", "8")
            where = " in message 1" if kind in ("Server", "Both") else ""
            expected = f"a response of 9 bytes{where}; expected at most 8 (max_response_bytes)"
            assert caught.value.details() == expected
            for answered in await asyncio.gather(*others):
                assert answered[-1] == "six by"

    asyncio.run(main())
    assert got == {"Server": ["first"], "Both": ["fine"]}.get(kind, [])
