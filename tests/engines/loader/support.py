"""What the tests of the loader share: files with 5 % bad records, what must come of them, and real ranks."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch.distributed as distributed

from protocontract.torch import ContractDataset, ContractLoader
from tests.support.samples import TEXT_SAMPLE, is_bad, number_of, text_samples, write_jsonl, write_samples

#: Records of ``files``: 1,000, of them 950 good ones.
COUNT = 1_000
GOOD = [number for number in range(COUNT) if not is_bad(number)]
BY_RULE = {"spans.bounds": 25, "string.in": 25}

Batches = list[list[int]]


def files(folder: Path, count: int = COUNT, *, bad: bool = True) -> str:
    """Three files, protobuf and JSON. Returns the pattern that matches them, in the order of the samples."""
    samples = [sample for sample in text_samples(count) if bad or not is_bad(number_of(sample))]
    third = len(samples) // 3
    write_samples(folder / "a.binpb", samples[:third])
    write_jsonl(folder / "b.jsonl", samples[third : 2 * third])
    write_samples(folder / "c.binpb", samples[2 * third :])
    return f"{folder}/[abc].*"


def dataset(folder: Path, policy: str = "skip", **options: Any) -> ContractDataset[Any]:
    """The files of a folder as a data set."""
    quarantine = folder / "rejects.jsonl" if policy == "quarantine" else None
    return ContractDataset.from_files(
        f"{folder}/[abc].*",
        TEXT_SAMPLE,
        on_violation=policy,  # type: ignore[arg-type]  # one of the three
        quarantine=quarantine,
        cache=folder / "cache",
        **options,
    )


def numbers(items: Sequence[Any]) -> list[int]:
    """A batch as the numbers that its samples were made of: a collate function."""
    return [number_of(item) for item in items]


def batches(loader: ContractLoader) -> Batches:
    """All batches of an epoch."""
    return [batch for batch in loader]  # noqa: C416  # list() would ask for the length too


def chunks(of: Sequence[int], size: int) -> Batches:
    return [list(of[at : at + size]) for at in range(0, len(of), size)]


def flat(found: Batches) -> list[int]:
    return [number for batch in found for number in batch]


def in_turns(ranks: Sequence[Batches]) -> Batches:
    """The batches of several ranks in the order of the global batches."""
    return [batch for round_ in zip(*ranks, strict=True) for batch in round_]


def quarantined(folder: Path) -> list[int]:
    """The numbers of the samples in the quarantine files of a folder, by file and line."""
    import base64

    from google.protobuf.json_format import Parse

    found: list[int] = []
    for path in sorted(folder.glob("rejects*.jsonl")):
        for line in map(json.loads, path.read_text().splitlines()):
            raw = base64.b64decode(line["value"])
            sample = TEXT_SAMPLE.message_type()
            if line["encoding"] == "json":
                Parse(raw, sample)
            else:
                sample.ParseFromString(raw)
            found.append(number_of(sample))
    return found


def _rank(function: Callable[..., Any], rank: int, world_size: int, meeting: str, results: Any, arguments: Any) -> None:
    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=world_size)
    try:
        results.put((rank, function(*arguments)))
    except Exception as error:  # it is the result: the test looks at it
        results.put((rank, error))
    finally:
        distributed.destroy_process_group()


def on_ranks(folder: Path, world_size: int, function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """What a function returns, or raises, in each of some processes that have joined a gloo group.

    One that hangs is an error after two minutes.
    """
    context = multiprocessing.get_context("fork")
    results: Any = context.Queue()
    meeting = folder / f"meeting-{len(list(folder.glob('meeting-*')))}"
    processes = [
        context.Process(target=_rank, args=(function, rank, world_size, str(meeting), results, arguments))
        for rank in range(world_size)
    ]
    for process in processes:
        process.start()
    try:
        found = dict(results.get(timeout=120) for _ in processes)
    finally:
        for process in processes:
            process.join(120)
            process.kill()
    return [found[rank] for rank in range(world_size)]
