"""S07: samples of several lengths in one window, filled up with a mask as the contract declares, or kept apart."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from protocontract.chain import EvidenceLog, digest
from protocontract.chain.verify import records
from protocontract.models import Batcher, Ran
from protocontract.models.padding import Padding
from protocontract.serving import ModelSpec
from tests.serving.serve.lab import Engines, contracts, masked, message, serving


def tokens(*ids: float) -> Any:
    return message("Tokens", request_id=str(len(ids)), ids=ids, mask=[1] * len(ids))


def test_lengths_share_a_batch_and_each_gets_what_it_gets_alone(tmp_path: Path) -> None:
    engines = Engines()
    made = [ModelSpec("m", "", str(masked(tmp_path / "masked.onnx")))]
    sent = [tokens(*range(1, 6)), tokens(*range(10, 19)), tokens(4)]
    path = tmp_path / "evidence.jsonl"

    async def main() -> None:
        with EvidenceLog(path) as log:
            async with serving("Lengths", made, open_model=engines, evidence=log) as (_, call):
                engines.only.batches.clear()
                together = await asyncio.gather(*map(call, sent))
        (batch,) = engines.only.batches
        assert batch["ids"].shape == (3, 9)
        # Requests are read on threads: who comes first is not said.
        assert [4] + [9] * 8 in batch["ids"].tolist()
        assert sorted(batch["mask"].sum(axis=1).tolist()) == [1, 5, 9]
        async with serving("Lengths", made, joins=False) as (_, call):
            for request, response in zip(sent, together, strict=True):
                alone = await call(request)
                assert np.allclose(alone.mean, response.mean, atol=1e-6)
                assert list(alone.doubled) == list(response.doubled) == [2 * each for each in request.ids]

    asyncio.run(main())
    # The digests are those of the request's own elements, as if nothing had been filled up.
    (record,) = records(path, "1")
    infer = record[2].step
    assert infer.facts["batch_padded_to"] == "tokens=9"
    assert infer.digest_in == digest({"ids": np.array([[4]], "float32"), "mask": np.array([[1]], "int64")})
    assert infer.digest_out == digest({"mean": np.array([[4]], "float32"), "doubled": np.array([[8]], "float32")})


def test_without_a_mask_nothing_is_filled_up() -> None:
    known = contracts()
    assert Padding.of(known["Unmasked"], known["Reading"]) is None
    assert Padding.of(known["Rows"], known["Same"]) is None
    assert Padding.of(known["Tokens"], None) is None


def test_the_filling_is_at_the_declared_end() -> None:
    known = contracts()
    padding = Padding.of(known["FromLeft"], known["Reading"])
    assert padding is not None
    seen: list[dict[str, Any]] = []

    def run(inputs: Any) -> Ran:
        seen.append({name: array.tolist() for name, array in inputs.items()})
        return Ran({"doubled": inputs["ids"] * 2}, "cpu", {})

    async def main() -> None:
        batcher = Batcher(run, max_size=2, max_wait=50, queue=9, padding=padding)
        sent = [{"ids": np.array([ids], "float32"), "mask": np.ones((1, len(ids)), "bool")} for ids in ([1, 2, 3], [4])]
        answers = await asyncio.gather(*(batcher.submit(each) for each in sent))
        assert [each.outputs["doubled"].tolist() for each in answers] == [[[2, 4, 6]], [[8]]]
        batcher.close()

    asyncio.run(main())
    assert seen == [{"ids": [[1, 2, 3], [9, 9, 4]], "mask": [[True] * 3, [False, False, True]]}]


def test_other_sizes_are_still_other_batches() -> None:
    padding = Padding.of(contracts()["Tokens"], contracts()["Reading"])
    assert padding is not None
    assert padding.kind("ids", (5,)) == padding.kind("ids", (9,)) == (-1,)
    assert padding.kind("other", (5,)) == (5,)


@pytest.mark.parametrize("count", [1, 3])
def test_nothing_is_copied_where_lengths_are_alike(count: int) -> None:
    padding = Padding.of(contracts()["Tokens"], contracts()["Reading"])
    assert padding is not None
    one = {"ids": np.ones((1, 4), "float32"), "mask": np.ones((1, 4), "int64")}
    made, longest = padding.together([one] * count)
    assert longest == {"tokens": 4}
    assert made["ids"].shape == (count, 4)
    assert (made["ids"] is one["ids"]) == (count == 1)
