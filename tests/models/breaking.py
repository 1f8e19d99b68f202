"""A model whose device can fail: a real one, with the failures of a runtime put in front of it. Needs no compiler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from protocontract.models import Attempt, Model, NoProvider, Provider, Ran, RunFailed


class Breaking:
    """An engine on ``provider`` (a name of the test's, or a real one). While ``kind`` is set, runs fail that way.

    ``skew`` is added to what comes out.
    """

    def __init__(self, path: Path, provider: str = "npu", real: str = "cpu", threads: int = 1) -> None:
        self._model = Model(path, (Provider(real),), threads=threads)
        self.name, self.provider = path.name, provider
        self.signature, self.identity = self._model.signature, self._model.identity
        self.kind: Literal["memory", "provider", "runtime"] | None = None
        self.skew = 0.0
        self.runs = 0
        self.closed = False

    def run(self, inputs: Mapping[str, Any], outputs: Sequence[str] | None = None) -> Ran:
        """Run it, or fail."""
        self.runs += 1
        if self.kind is not None:
            raise RunFailed(f"{self.name} failed on {self.provider}", self.kind)
        ran = self._model.run(inputs, outputs)
        found = {name: array + array.dtype.type(self.skew) for name, array in ran.outputs.items()}
        return replace(ran, outputs=found, provider=self.provider, facts={**ran.facts, "provider": self.provider})

    def close(self) -> None:
        """Remember it."""
        self.closed = True


class Factory:
    """Starts ``Breaking`` engines; while ``missing`` is set, there is no such provider."""

    def __init__(self, path: Path, real: str = "cpu") -> None:
        self._path, self._real = path, real
        self.missing = ""
        self.made: list[Breaking] = []
        self.breaks: Literal["memory", "provider", "runtime"] | None = None

    def __call__(self) -> Breaking:
        if self.missing:
            raise NoProvider(self._path.name, [Attempt("npu", self.missing, "install it")])
        made = Breaking(self._path, real=self._real)
        made.kind = self.breaks
        self.made.append(made)
        return made
