"""Checks service levels of methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import MethodDescriptor

from protocontract_compiler import ir
from protocontract_compiler.descriptors import Loaded
from protocontract_compiler.diagnostics import Diagnostics, did_you_mean, one_of
from protocontract_compiler.passes.checking import kind_of, short, singular
from protocontract_compiler.passes.pass_annotations import SERVICE_LEVEL

# https://grpc.github.io/grpc/core/md_doc_statuscodes.html
_CODES = (
    "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
    "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
    "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
)  # fmt: skip


def check(loaded: Loaded, schema: ir.Schema, diagnostics: Diagnostics) -> None:
    """Notes the mistakes in the service levels of all methods."""
    for service in schema.services.values():
        descriptor = loaded.pool.FindServiceByName(service.full_name)
        for method in service.methods:
            if method.level is not None:
                level = _Level(loaded, schema, diagnostics, method, descriptor.methods_by_name[method.name])
                level.check(ir.keywords(method.level))


@dataclass(frozen=True)
class _Level:
    loaded: Loaded
    schema: ir.Schema
    diagnostics: Diagnostics
    method: ir.Method
    descriptor: MethodDescriptor

    def check(self, level: dict[str, Any]) -> None:
        for name in ("deadline", "max_deadline", "latency_p99"):
            self._positive(level, (name,), f"`{name}` is no time; expected more than 0 seconds")
        if "deadline" in level and level["deadline"] > level.get("max_deadline", level["deadline"]):
            self._error("service-level", ("deadline",), "`deadline` is above `max_deadline`; expected at most that")
        if "availability" in level and not 0 < level["availability"] <= 1:
            self._error("service-level", ("availability",), "`availability` is a share; expected 0 to 1")
        self._check_model_version(level.get("model_version_field"))
        if "retry" in level:
            self._check_retry(dict(level["retry"] or {}))
        if "rate" in level:
            self._check_rate(dict(level["rate"] or {}))
        if "batch" in level:
            self._check_batch(dict(level["batch"] or {}))
        if "fallback" in level:
            self._check_fallback(dict(level["fallback"] or {}))

    def _check_model_version(self, name: str | None) -> None:
        if name is None:
            return
        request = self.schema.messages[self.method.request]
        names = [field.name for field in request.fields]
        if name not in names:
            self._error(
                "service-field", ("model_version_field",), f"`{name}` is not a field of {short(request.full_name)}",
                one_of(name, names),
            )  # fmt: skip
        elif not singular(request.field(name), ir.TYPE_STRING):
            self._error(
                "service-field", ("model_version_field",),
                f"`{name}` cannot hold a version; expected string, got {kind_of(request.field(name))}",
            )  # fmt: skip

    def _check_retry(self, retry: dict[str, Any]) -> None:
        if retry.get("attempts", 0) < 2:
            self._error(
                "service-retry", ("retry", "attempts"),
                f"`attempts` counts the first call; expected 2 or more, got {retry.get('attempts', 0)}",
            )  # fmt: skip
        for index, code in enumerate(retry.get("codes", ())):
            steps = ("retry", "codes", index)
            if code == "INVALID_ARGUMENT":
                self._error("service-retry", steps, "`INVALID_ARGUMENT` stays invalid; expected a code that can pass")
            elif code not in _CODES:
                self._error(
                    "service-retry", steps, f"`{code}` is no status of gRPC; expected a name such as UNAVAILABLE",
                    did_you_mean(code, _CODES),
                )  # fmt: skip

    def _check_rate(self, rate: dict[str, Any]) -> None:
        self._positive(rate, ("rate", "per_second"), "a rate without `per_second`; expected more than 0", needed=True)
        self._positive(
            rate, ("rate", "burst"), "a bucket without `burst` never lets one pass; expected 1 or more", needed=True
        )

    def _check_batch(self, batch: dict[str, Any]) -> None:
        for name, wanted in (("max_size", "1 or more"), ("max_wait", "more than 0 seconds")):
            if batch.get(name, 0) <= 0:
                self._error("service-batch", ("batch",), f"`batch` has no {name}; expected {wanted}")

    def _check_fallback(self, fallback: dict[str, Any]) -> None:
        if not fallback.get("provider") and not fallback.get("model"):
            self._error(
                "service-fallback", ("fallback",), "`fallback` names nothing to run; expected provider or model"
            )
        for name in ("max_abs", "max_rel", "probe_every"):
            if fallback.get(name, 0) < 0:
                self._error("service-fallback", ("fallback", name), f"`{name}` is negative; expected 0 or more")
        if not 0 <= fallback.get("label_agreement", 0) <= 1:
            self._error(
                "service-fallback", ("fallback", "label_agreement"), "`label_agreement` is a share; expected 0 to 1"
            )
        if fallback.get("sticky") and not fallback.get("probe_every"):
            self._error(
                "service-fallback", ("fallback", "sticky"), "a sticky fallback never ends; expected probe_every"
            )

    def _positive(self, values: dict[str, Any], steps: tuple[str, ...], message: str, *, needed: bool = False) -> None:
        value = values.get(steps[-1])
        if (value is None and needed) or (value is not None and not 0 < value < float("inf")):
            self._error("service-level", steps, message)

    def _error(self, id_: str, steps: tuple[str | int, ...], message: str, hint: str | None = None) -> None:
        self.diagnostics.error(id_, self.loaded.places.option(self.descriptor, SERVICE_LEVEL, *steps), message, hint)
