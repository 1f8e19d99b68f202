"""All of onnxruntime: quantises a model on calibration samples, and labels samples with a model, on the CPU."""

# pyright: reportMissingImports=false
from __future__ import annotations

import io
import logging
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import onnx
import onnxruntime as ort
from onnxruntime import quantization as q

from protocontract.models.signature import DTYPES
from protocontract.violations import ContractError

Sample = Mapping[str, Any]

#: The operators whose weights are nearly all of a model. The others stay in floats: quantised with the rest, they cost
#: more agreement than they save time (magika's model: 100 % of labels equal with these two, 37 % with all).
OPERATORS: Final = ("Conv", "MatMul")

_RANGES: Final = {
    "minmax": q.CalibrationMethod.MinMax,
    "entropy": q.CalibrationMethod.Entropy,
    "percentile": q.CalibrationMethod.Percentile,
}
_FORMATS: Final = {"qdq": q.QuantFormat.QDQ, "qoperator": q.QuantFormat.QOperator}


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model is quantised: weights as int8, activations as uint8.

    ``reduce_range`` uses seven bits of the weights: CPUs without VNNI add up products of eight bits in 16, which
    saturate, so that a model gives other labels there than here.
    """

    operators: tuple[str, ...] = OPERATORS
    per_channel: bool = True
    reduce_range: bool = True
    ranges: Literal["minmax", "entropy", "percentile"] = "minmax"
    format: Literal["qdq", "qoperator"] = "qdq"

    def __str__(self) -> str:
        scope = "per channel" if self.per_channel else "per tensor"
        bits = "int7 weights" if self.reduce_range else "int8 weights"
        return f"int8 {scope}, {bits}, {' '.join(self.operators)}, {self.ranges}, {self.format}"

    def as_dict(self) -> dict[str, Any]:
        """As the model's metadata has it."""
        return {"type": "int8", **asdict(self), "operators": list(self.operators)}


class Agreement(NamedTuple):
    """On how many labels two models agree."""

    same: int
    labels: int

    @property
    def share(self) -> float:
        """0 to 1."""
        return self.same / self.labels if self.labels else 0.0


class Model:
    """A model on the CPU, one thread: the order of sums, and so every result, is the same in each run."""

    def __init__(self, path: Path) -> None:
        """Raises ContractError where the file is no model that onnxruntime can run."""
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self.name: Final = path.name
        try:
            self._session: Final = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's errors share no base class
            raise ContractError(f"{path.name} cannot be run by onnxruntime ({type(error).__name__})") from error
        self.inputs: Final = {each.name: (each.type, list(each.shape)) for each in self._session.get_inputs()}
        self.outputs: Final = {each.name: list(each.shape) for each in self._session.get_outputs()}

    def fitting(self, arrays: Mapping[str, Any], made_by: str) -> Sample:
        """Those of some arrays that the model takes. Raises ContractError, naming both sides, where they do not fit."""
        for name, (kind, shape) in self.inputs.items():
            wanted = f"{DTYPES.get(kind, kind)}[{', '.join(map(str, shape))}]"
            if name not in arrays:
                known = ", ".join(arrays) or "none"
                raise ContractError(f"{self.name} takes {name} {wanted}; {made_by} has {known}")
            array = arrays[name]
            fits = str(array.dtype) == DTYPES.get(kind) and len(array.shape) == len(shape)
            # A free dim is a name or None there.
            if not fits or any(
                isinstance(want, int) and want != got for want, got in zip(shape, array.shape, strict=True)
            ):
                got = f"{array.dtype}[{', '.join(map(str, array.shape))}]"
                raise ContractError(f"{self.name} takes {name} {wanted}; {made_by} gives {got}")
        return {name: arrays[name] for name in self.inputs}

    def labelled_by(self, output: str | None) -> str:
        """The output whose last axis has a score for each class: the named one, else the only one that can be.

        Raises ContractError.
        """
        able = [str(name) for name, shape in self.outputs.items() if len(shape) > 1 and shape[-1] != 1]
        if output is None:
            if len(able) == 1:
                return able[0]
            raise ContractError(
                f"{self.name} has {len(able)} outputs with classes on their last axis; name one with --output:"
                f" {', '.join(able) or 'none'}"
            )
        if output not in able:
            raise ContractError(
                f"{self.name}: no output {output} with classes on its last axis; it has {', '.join(able) or 'none'}"
            )
        return output

    def labels(self, sample: Sample, output: str) -> Any:
        """The class with the highest score, for each row of the last axis. NaN counts as no class: -1."""
        try:
            scores = np.asarray(self._session.run([output], dict(sample))[0])
        except Exception as error:  # onnxruntime's errors share no base class
            raise ContractError(
                f"{self.name} fails on an input of the declared form ({type(error).__name__})"
            ) from error
        found = scores.argmax(axis=-1)
        return np.where(np.isnan(scores).any(axis=-1), -1, found)


def agreement(one: Model, other: Model, samples: Sequence[Sample], output: str) -> Agreement:
    """On how many labels of some samples two models agree. Where neither finds one (NaN), they do not."""
    same = total = 0
    for sample in samples:
        first, second = one.labels(sample, output), other.labels(sample, output)
        same += int(np.count_nonzero((first == second) & (first >= 0)))
        total += first.size
    return Agreement(same, total)


def quantize(model: Path, samples: Sequence[Sample], recipe: Recipe, out: Path) -> None:
    """Write the INT8 model. Raises ContractError where there is nothing to quantise, or it is quantised already."""
    counted = Counter(node.op_type for node in onnx.load(str(model), load_external_data=False).graph.node)
    if "QuantizeLinear" in counted or "DequantizeLinear" in counted:
        raise ContractError(f"{model.name} is quantised already; expected a model in floats")
    if not any(operator in counted for operator in recipe.operators):
        raise ContractError(
            f"{model.name} has no {' and no '.join(recipe.operators)}; name what to quantise with --operators,"
            f" it has {', '.join(sorted(counted))}"
        )
    with tempfile.TemporaryDirectory(prefix="protocontract-calibrate-") as folder, _quiet():
        made = Path(folder) / "int8.onnx"
        try:
            q.quantize_static(
                str(model),
                str(made),
                _Reader(samples),
                quant_format=_FORMATS[recipe.format],
                op_types_to_quantize=list(recipe.operators),
                per_channel=recipe.per_channel,
                reduce_range=recipe.reduce_range,
                activation_type=q.QuantType.QUInt8,
                weight_type=q.QuantType.QInt8,
                calibrate_method=_RANGES[recipe.ranges],
            )
        except Exception as error:  # onnxruntime's and onnx's errors share no base class
            raise ContractError(f"{model.name} cannot be quantised by onnxruntime ({type(error).__name__})") from error
        out.write_bytes(made.read_bytes())


class _Reader(q.CalibrationDataReader):  # type: ignore[misc]  # onnxruntime has no types
    """Hands the samples out one by one, as onnxruntime asks for them."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._samples = iter(samples)

    def get_next(self) -> dict[str, Any] | None:  # pyright: ignore[reportIncompatibleMethodOverride]  # None: the end
        sample = next(self._samples, None)
        return None if sample is None else dict(sample)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep to itself what quantize_static says: advice through the root logger, and progress on standard output."""
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.ERROR)
    try:
        with redirect_stdout(io.StringIO()):
            yield
    finally:
        root.setLevel(before)
