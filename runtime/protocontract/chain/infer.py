"""The stage that runs an ONNX model: ``protocontract.chain.infer:infer`` in steps, with the facts of ``Ran``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from protocontract.chain.canonical import Value
from protocontract.chain.stages import Stage


class Infer:
    """Runs a request's own rows alone, unpadded, on the provider that the step names."""

    version = "1"

    def bind(self, model: Path, facts: Mapping[str, Value], /) -> Stage:
        """The stage over a model file. Raises what ``protocontract.models.Model`` raises."""
        provider = facts.get("provider")
        running = _running(model, provider if isinstance(provider, str) else "cpu", str(facts.get("model")))

        def run(arrays: Any, /) -> Any:
            return running.run(arrays).outputs

        return run


@lru_cache(maxsize=4)
def _running(path: Path, provider: str, sha256: str) -> Any:
    """A model that is started once for all requests. ``sha256`` only tells apart what a path has held."""
    from protocontract.models import Model, Provider

    # One thread, so that sums have one order.
    return Model(path, [Provider(provider)], threads=1)


#: What steps name.
infer = Infer()
