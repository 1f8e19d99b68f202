"""What a model is, and what it runs on: what evidence names, and what has to be the same for the same answers."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

#: Schema of the JSON form. Within a version keys may be added.
SCHEMA: Final = "protocontract.model-identity/1"

# Options of providers, by the beginning of their names, that change what comes out for the same numbers.
_PRECISION: Final = (
    "trt_fp16", "trt_bf16", "trt_int8", "trt_tf32", "trt_strict", "trt_layer_norm_fp32", "use_tf32", "precision",
    "cudnn_conv_algo_search", "fp16", "enable_float16", "prefer_nhwc", "enable_skip_layer_norm_strict_mode",
)  # fmt: skip
# The same, of the process.
_VARIABLES: Final = (
    "NVIDIA_TF32_OVERRIDE",
    "CUBLAS_WORKSPACE_CONFIG",
    "ORT_TENSORRT_FP16_ENABLE",
    "ORT_TENSORRT_INT8_ENABLE",
)


@dataclass(frozen=True, slots=True)
class Identity:
    """A model file and what runs it.

    ``sha256`` is that of the model's file, ``files`` those of all files that it consists of (weights may stand beside
    it). ``providers`` are those of the session with their options, the one that runs it first. ``devices`` are versions
    of driver, CUDA and TensorRT and the device, as far as they can be read; ``precision`` are the settings that change
    results.
    """

    name: str
    sha256: str
    files: Mapping[str, str]
    format: str
    runtime: str
    runtime_version: str
    runtime_build: str
    providers: tuple[tuple[str, Mapping[str, str]], ...]
    devices: Mapping[str, str]
    precision: Mapping[str, str]

    @property
    def provider(self) -> str:
        """The provider that runs it."""
        return self.providers[0][0]

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        found = asdict(self)
        found["providers"] = [{"name": name, "options": dict(options)} for name, options in self.providers]
        return {"schema": SCHEMA, **found}

    def to_json(self) -> str:
        """The canonical form: UTF-8, keys sorted, no space between."""
        return json.dumps(self.as_dict(), ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the canonical form: one text for model, runtime, provider, device and precision."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()


def precision_flags(
    options: Mapping[str, str], session: Mapping[str, str], environment: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The settings that change results: of the provider's ``options``, the ``session``, the process's environment."""
    variables = os.environ if environment is None else environment
    return {
        **{name: value for name, value in sorted(options.items()) if name.lower().startswith(_PRECISION)},
        **dict(sorted(session.items())),
        **{name: variables[name] for name in _VARIABLES if name in variables},
    }
