"""Which execution provider a model is to run on, as it is declared. Without any runtime."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

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
        """The providers of a command line, in order: ``tensorrt,cuda``, or a JSON file that declares them in full.

        Such a file (``.json``) is a list of names, or of objects with the keys of this class: ``name``, ``options``,
        ``elsewhere``. Raises ContractError where it names none or says something else; OSError.
        """
        if text.endswith(".json"):
            return _read(Path(text))
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


def _read(file: Path) -> tuple[Provider, ...]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        given: list[dict[str, Any]] = [{"name": each} if isinstance(each, str) else dict(each) for each in content]
        found = tuple(
            Provider(
                short_name(_text(each.pop("name"))),
                {_text(name): _text(value) for name, value in each.pop("options", {}).items()},
                {_text(name): tuple(map(_text, nodes)) for name, nodes in each.pop("elsewhere", {}).items()},
            )
            for each in given
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ContractError(
            f"{file.name} declares no providers; expected a list of objects with name, options and elsewhere, in texts"
        ) from error
    unknown = sorted({key for each in given for key in each})
    if not found or unknown:
        odd = some(unknown) if unknown else "no provider"
        raise ContractError(f"{file.name} has {odd}; expected name, options, elsewhere")
    return found


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("expected a text")
    return value


def runtime_name(name: str) -> str:
    """ONNX Runtime's name of a provider."""
    return _NAMES.get(name.lower(), name)


def short_name(name: str) -> str:
    """What people call a provider; its own name where there is no shorter one."""
    return _SHORT.get(name, name)


def some(names: Iterable[str]) -> str:
    """Names in a row, for a message."""
    return ", ".join(names) or "none"
