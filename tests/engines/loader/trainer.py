"""A training that saves its state every few steps and is killed in between, in a process for each rank.

A rank writes the numbers of each batch that it was given to FOLDER/seen.<rank>.<life>, a line a step, and its state to
FOLDER/state.<rank>.json every SAVE_EVERY steps (renamed, as checkpoints are)."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

from protocontract.torch import ContractLoader, ContractStream
from tests.engines.loader.support import COUNT, dataset, numbers
from tests.support.samples import TEXT_SAMPLE, text_samples

SAVE_EVERY = 5
BATCH = 13


def loader(folder: Path, kind: str, rank: int, ranks: int, workers: int) -> ContractLoader:
    """The loader of one rank; ``kind`` is files or stream."""
    quarantine = folder / "rejects.jsonl"
    if kind == "files":
        train: Any = dataset(folder, "quarantine")
    else:
        train = ContractStream.from_iterable(
            text_samples(COUNT), TEXT_SAMPLE, on_violation="quarantine", quarantine=quarantine, shuffle_buffer=70
        )
    return ContractLoader(
        train,
        BATCH,
        shuffle=kind == "files",
        seed=11,
        num_workers=workers,
        collate_fn=numbers,
        rank=rank,
        world_size=ranks,
        uneven="repeat",
    )


def train(folder: Path, kind: str, rank: int, ranks: int, workers: int, kill_at: int, state: Any) -> None:
    """Train for two epochs, from a state or from the start. ``kill_at`` is a step, or 0 for the end."""
    loading = loader(folder, kind, rank, ranks, workers)
    if state is not None:
        loading.load_state_dict(state)
    life = len(list(folder.glob(f"seen.{rank}.*")))
    steps = 0
    with open(folder / f"seen.{rank}.{life}", "w", buffering=1) as seen:
        while loading.epoch < 2:
            for batch in loading:
                steps += 1
                seen.write(json.dumps([loading.epoch, batch]) + "\n")
                if steps % SAVE_EVERY == 0:
                    aside = folder / f".state.{rank}"
                    aside.write_text(json.dumps(loading.state_dict()))
                    aside.rename(folder / f"state.{rank}.json")
                    seen.write("saved\n")
                if steps == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)
    (folder / f"report.{rank}").write_text(str(loading.report()))
