"""Which package an optional part needs, and what to type to get it."""

from __future__ import annotations

from typing import Final

from protocontract.violations import MissingExtra

PROVIDERS: Final[dict[str, tuple[str, str]]] = {
    "kafka": ("kafka-python", "kafka"),
    "grpc_tools": ("grpcio-tools", "compiler"),
    "cel_expr_python": ("cel-expr-python", "compiler"),
    "jinja2": ("jinja2", "compiler"),
    "tomlkit": ("tomlkit", "gate"),
    "sqlglot": ("sqlglot", "gate"),
    "z3": ("z3-solver", "gate"),
    "confluent_kafka": ("confluent-kafka", "confluent"),
    "aiokafka": ("aiokafka", "aiokafka"),
    "greenlet": ("greenlet", "aiokafka"),
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
"""Module -> (distribution on PyPI, extra of ours): a missing module cannot be asked where it comes from."""


def missing_extra(part: str, error: ImportError, extra: str | None = None) -> MissingExtra | None:
    """What to say about a failed import in ``part`` (``protocontract.kafka``), or None where no extra would help.

    ``extra`` is the part's own, where several of ours bring the module.
    """
    if isinstance(error, MissingExtra):
        return error
    name = error.name or ""
    provider = PROVIDERS.get(name) or PROVIDERS.get(name.partition(".")[0])
    return None if provider is None else MissingExtra(part, provider[0], extra or provider[1])
