"""Which of how many ranks this process is."""

# pyright: reportMissingImports=false

from __future__ import annotations

import os

import torch.distributed as distributed


def ranks(rank: int | None = None, world_size: int | None = None) -> tuple[int, int]:
    """Rank and number of ranks: those given, else those of ``torch.distributed``, else 0 of 1.

    Raises ValueError for one without the other, for a rank that there is not, and where a launcher has started several
    processes (``WORLD_SIZE``) that have not joined a group yet: each would take all of the data.
    """
    if rank is None and world_size is None:
        if distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank(), distributed.get_world_size()
        launched = os.environ.get("WORLD_SIZE", "1")
        if launched != "1":
            raise ValueError(
                f"WORLD_SIZE is {launched}, but torch.distributed is not initialised: call init_process_group first, or"
                " give rank= and world_size="
            )
        return 0, 1
    if rank is None or world_size is None or not 0 <= rank < world_size:
        raise ValueError(f"no rank {rank} of {world_size}; expected rank= from 0 and world_size= above it")
    return rank, world_size
