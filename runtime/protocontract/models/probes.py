"""Probes: inputs with the outputs that a model gave for them, which ship beside the model.

They are what a stand-in is compared with before a service starts, and what a device that failed has to give again
before it serves once more. One file, ``MODEL.probes.npz``, names the model that they are of by its SHA-256.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zipfile import BadZipFile

import numpy as np

from protocontract._files import replacing
from protocontract.violations import ContractError

if TYPE_CHECKING:
    from protocontract.models.engine import Engine

#: Schema of the file. Within a version keys may be added.
SCHEMA: Final = "protocontract.probes/1"
_ABOUT: Final = "about"
_SUFFIX: Final = ".probes.npz"


@dataclass(frozen=True, slots=True)
class Probe:
    """One run: arrays by input, and those that came out."""

    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]

    @property
    def rows(self) -> int:
        """How many rows its first axes have."""
        return max((int(array.shape[0]) for array in self.inputs.values() if array.ndim), default=0)


@dataclass(frozen=True, slots=True)
class Probes:
    """Probes of one model. ``about`` says how they were made: the provider, the runtime, the contract, the seed."""

    model_sha256: str
    probes: tuple[Probe, ...]
    about: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def rows(self) -> int:
        """Rows of all probes."""
        return sum(probe.rows for probe in self.probes)

    @staticmethod
    def path_of(model: Path) -> Path:
        """Where the probes of a model are: ``content_type.onnx.probes.npz`` beside ``content_type.onnx``."""
        return model.with_name(f"{model.name}{_SUFFIX}")

    @classmethod
    def make(cls, engine: Engine, inputs: Iterable[Mapping[str, Any]], about: Mapping[str, Any]) -> Probes:
        """Run each of ``inputs`` and keep what comes out. Raises ContractError without inputs; what ``run`` raises."""
        probes = tuple(Probe(dict(each), dict(engine.run(each).outputs)) for each in inputs)
        if not probes:
            raise ContractError(f"no inputs to make probes of {engine.name} of; expected one at least")
        identity = engine.identity
        made = {
            "provider": engine.provider,
            "runtime": identity.runtime,
            "runtime_version": identity.runtime_version,
            "identity": identity.digest,
        }
        return cls(identity.sha256, probes, {**made, **about})

    @classmethod
    def read(cls, path: Path) -> Probes:
        """Read a file of probes. Raises ContractError where it is none; OSError."""
        data = path.read_bytes()
        try:
            # Arrays of numbers only: what would have to be unpickled is refused.
            with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
                about = json.loads(str(arrays[_ABOUT][()]))
                probes = _of_arrays({name: arrays[name] for name in arrays.files if name != _ABOUT})
            schema, sha256 = about.pop("schema"), str(about.pop("model"))
        except (AttributeError, BadZipFile, EOFError, KeyError, OSError, TypeError, ValueError) as error:
            raise ContractError(
                f"{path.name} holds no probes ({type(error).__name__}); expected what `protocontract model probe` makes"
            ) from error
        if schema != SCHEMA:
            raise ContractError(f"{path.name} has the schema {schema}; expected {SCHEMA}")
        if not probes:
            raise ContractError(f"{path.name} holds no probe; expected one at least")
        return cls(sha256, probes, about)

    def write(self, path: Path) -> None:
        """Write the file, at once: whoever reads finds the old one or the new one. Raises OSError."""
        about = {"schema": SCHEMA, "model": self.model_sha256, **self.about}
        text = json.dumps(about, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        arrays: dict[str, Any] = {_ABOUT: np.array(text)}
        for number, probe in enumerate(self.probes):
            arrays |= {f"{number}/in/{name}": array for name, array in probe.inputs.items()}
            arrays |= {f"{number}/out/{name}": array for name, array in probe.outputs.items()}
        made = io.BytesIO()
        np.savez_compressed(made, **arrays)
        with replacing(path) as stream:
            stream.write(made.getvalue())

    def demand_of(self, model: str, sha256: str) -> None:
        """Raises ContractError where these are the probes of another model than the one with this SHA-256."""
        if self.model_sha256 != sha256:
            raise ContractError(
                f"the probes are of another model than {model}; expected those of {sha256[:12]}, got those of"
                f" {self.model_sha256[:12]}: make them anew with `protocontract model probe`"
            )


def stacked(samples: Iterable[Mapping[str, Any]], most: int) -> list[dict[str, Any]]:
    """Samples put together along their first axis where all else is alike, ``most`` rows together at most.

    For models whose first axes are free: fewer runs tell the same.
    """
    open_groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    found: list[dict[str, Any]] = []

    def close(group: Sequence[Mapping[str, Any]]) -> None:
        found.append({name: np.concatenate([each[name] for each in group]) for name in group[0]})

    for sample in samples:
        kind = tuple(sorted((name, str(array.dtype), array.shape[1:]) for name, array in sample.items()))
        group = open_groups.setdefault(kind, [])
        rows = sum(_rows(each) for each in group)
        if group and rows + _rows(sample) > most:
            close(group)
            group.clear()
        group.append(sample)
    for group in open_groups.values():
        close(group)
    return found


def _rows(sample: Mapping[str, Any]) -> int:
    return max((int(array.shape[0]) for array in sample.values() if array.ndim), default=1)


def _of_arrays(arrays: Mapping[str, Any]) -> tuple[Probe, ...]:
    """Probes of arrays by ``NUMBER/in/NAME`` and ``NUMBER/out/NAME``. Raises ValueError."""
    found: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
    for key, array in arrays.items():
        number, side, name = key.split("/", 2)
        inputs, outputs = found.setdefault(int(number), ({}, {}))
        {"in": inputs, "out": outputs}[side][name] = array
    return tuple(Probe(*found[number]) for number in sorted(found))
