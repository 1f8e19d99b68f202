"""Which package an optional part needs, and what to type to get it."""

from __future__ import annotations

from typing import Final

from protocontract.violations import MissingExtra

# Module -> (distribution on PyPI, extra of ours): a missing module cannot be asked where it comes from.
_PROVIDERS: Final[dict[str, tuple[str, str]]] = {
    "kafka": ("kafka-python", "kafka"),
    "grpc_tools": ("grpcio-tools", "compiler"),
    "cel_expr_python": ("cel-expr-python", "compiler"),
    "jinja2": ("jinja2", "compiler"),
    "prometheus_client": ("prometheus-client", "metrics"),
    "opentelemetry": ("opentelemetry-api", "otel"),
    "grpc": ("grpcio", "serving"),
    # In googleapis-common-protos, which grpcio-status brings.
    "google.rpc": ("grpcio-status", "serving"),
    "grpc_health": ("grpcio-health-checking", "serving"),
    "grpc_reflection": ("grpcio-reflection", "serving"),
    # Both, with tritonclient's own extras.
    "tritonclient": ("tritonclient", "triton"),
    "aiohttp": ("tritonclient", "triton"),
    "hypothesis": ("hypothesis", "testing"),
    "numpy": ("numpy", "tensors"),
    "torch": ("torch", "torch"),
    "torchdata": ("torchdata", "torch"),
    "pyarrow": ("pyarrow", "arrow"),
    "onnx": ("onnx", "calibrate"),
    "onnxruntime": ("onnxruntime", "calibrate"),
}


def missing_extra(part: str, error: ImportError, extra: str | None = None) -> MissingExtra | None:
    """What to say about a failed import in ``part`` (``protocontract.kafka``), or None where no extra would help.

    ``extra`` is the part's own, where several of ours bring the module.
    """
    if isinstance(error, MissingExtra):
        return error
    name = error.name or ""
    provider = _PROVIDERS.get(name) or _PROVIDERS.get(name.partition(".")[0])
    return None if provider is None else MissingExtra(part, provider[0], extra or provider[1])
