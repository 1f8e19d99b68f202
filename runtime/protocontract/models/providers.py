"""Which execution provider a model is to run on, as it is declared. Without any runtime."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from protocontract.violations import ContractError

#: What people call providers, by ONNX Runtime's names.
_NAMES: Final[Mapping[str, str]] = {
    "cpu": "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
    "rocm": "ROCMExecutionProvider",
    "migraphx": "MIGraphXExecutionProvider",
    "directml": "DmlExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
    "qnn": "QNNExecutionProvider",
    "webgpu": "WebGpuExecutionProvider",
    "xnnpack": "XnnpackExecutionProvider",
    "dnnl": "DnnlExecutionProvider",
    "azure": "AzureExecutionProvider",
}
_SHORT: Final = {name: short for short, name in _NAMES.items()}

CPU: Final = "cpu"


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider that may run a model.

    ``name`` is ``cpu``, ``cuda``, ``tensorrt``, ``openvino`` and so on, or ONNX Runtime's own name. ``options`` are the
    provider's. ``elsewhere`` declares what may run on another provider than this one: by provider, the operators
    (``Shape``) or names of nodes. Whatever runs elsewhere undeclared is a reason not to start.
    """

    name: str
    options: Mapping[str, str] = field(default_factory=dict)
    elsewhere: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def runtime_name(self) -> str:
        """ONNX Runtime's name."""
        return runtime_name(self.name)

    @property
    def declared(self) -> tuple[str, ...]:
        """ONNX Runtime's names of all providers that may be in the session, this one first."""
        others = (runtime_name(each) for each in self.elsewhere)
        return tuple(dict.fromkeys((self.runtime_name, *others)))

    def allows(self, provider: str, operator: str, node: str) -> bool:
        """Whether a node may run on a provider (ONNX Runtime's name)."""
        if provider == self.runtime_name:
            return True
        return any(
            runtime_name(each) == provider and (operator in allowed or node in allowed)
            for each, allowed in self.elsewhere.items()
        )

    @classmethod
    def parse(cls, text: str) -> tuple[Provider, ...]:
        """The providers of a command line, in order: ``tensorrt,cuda``. Raises ContractError where none is named."""
        names = [name.strip() for name in text.split(",")]
        if not all(names):
            raise ContractError("a provider without a name; expected names with commas between, such as cuda,cpu")
        return tuple(cls(short_name(name)) for name in dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class Attempt:
    """A provider that does not run the model as declared: which one, why, and what to do."""

    provider: str
    reason: str
    advice: str

    def __str__(self) -> str:
        return f"cannot run on {self.provider}: {self.reason}; {self.advice}"


def runtime_name(name: str) -> str:
    """ONNX Runtime's name of a provider."""
    return _NAMES.get(name.lower(), name)


def short_name(name: str) -> str:
    """What people call a provider; its own name where there is no shorter one."""
    return _SHORT.get(name, name)


def some(names: Iterable[str]) -> str:
    """Names in a row, for a message."""
    return ", ".join(names) or "none"
