"""The stage that runs an ONNX model: ``protocontract.chain.infer:infer`` in steps, with the facts of ``Ran``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from protocontract.chain.canonical import Value
from protocontract.chain.stages import Stage


class Infer:
    """Runs a request's own rows alone, unpadded, on the provider that the step names."""

    version = "1"

    def bind(self, model: Path, facts: Mapping[str, Value], /) -> Stage:
        """The stage over a model file. Raises what ``protocontract.models.Model`` raises."""
        from protocontract.models import Model, Provider

        provider = facts.get("provider")
        running = Model(model, [Provider(provider)] if isinstance(provider, str) else [Provider("cpu")])

        def run(arrays: Any, /) -> Any:
            return running.run(arrays).outputs

        return run


#: What steps name.
infer = Infer()
