"""Between messages and arrays, on one way of an RPC: what a model gets of a request, and a response of what it gives.

What a step makes is checked by its contract before a model or a caller sees it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.message import Message

from protocontract.contract import Contract
from protocontract.serving.call import log
from protocontract.serving.plan import Route
from protocontract.serving.rejection import Rejected, facts_of, refused
from protocontract.serving.trail import Trail
from protocontract.steps import Step, StepCall
from protocontract.tensors import Collate, CollateError
from protocontract.tensors.reading import count_nonfinite, np
from protocontract.tensors.writing import Writer
from protocontract.violations import ContractError, RuleEvaluationError


class Reader:
    """Makes a model's inputs of a request, on one way."""

    def __init__(self, route: Route) -> None:
        self._route: Final = route
        self._collate: Final = None if route.inputs is None else Collate(route.inputs, fields=())
        fields = () if route.inputs is None else route.inputs.tensors
        self._bfloat16: Final = frozenset(each.name for each in fields if each.dtype == "bfloat16")
        self._paths: Final = {each.name: f"{route.field}.{each.path}".lstrip(".") for each in fields}

    def inputs(self, request: Any, call: StepCall, trail: Trail) -> tuple[Any, Mapping[str, Any]]:
        """What the model's inputs are read from, and the arrays. Raises Rejected."""
        route, step = self._route, self._route.preprocess
        source = getattr(request, route.field) if route.field else request
        if step is not None:
            before = trail.keep(source)
            began = time.perf_counter_ns()
            made = _stepped(step, source, call if route.preprocess_call else None)
            took = time.perf_counter_ns() - began
            source = self._kept(step, made)
            trail.stage(
                "preprocess",
                module=step.name,
                version=step.version,
                nanoseconds=took,
                before=before,
                after=trail.keep(source),
            )
        if self._collate is None:
            return source, dict(source)
        try:
            arrays = dict(self._collate([source]))
        except CollateError as error:
            raise self.wrong(str(error)) from error
        absent = [path for name, path in self._paths.items() if name not in arrays]
        if absent:
            raise self.wrong(f"{', '.join(absent)} not set; expected all inputs of the model")
        return source, arrays

    def nonfinite(self, inputs: Mapping[str, Any]) -> dict[str, int]:
        """How many elements of each input are NaN or infinite: where the contract lets them pass, that is told."""
        found = {name: count_nonfinite(array, bfloat16=name in self._bfloat16) for name, array in inputs.items()}
        return {name: count for name, count in found.items() if count}

    def wrong(self, what: str) -> Rejected:
        """The status of a valid request of which no inputs can be made: its caller's fault, unless a step made them."""
        step = self._route.preprocess
        if step is None:
            return refused("INVALID_ARGUMENT", what, reason="WRONG_INPUT")
        return refused("INTERNAL", f"{step.name}: {what}", reason="STEP_FAILED", step=step.name)

    def _kept(self, step: Step, made: Any) -> Any:
        """What a step made, if it is what it says. Raises Rejected."""
        contract = self._route.inputs
        if contract is not None:
            return _valid(contract, made, f"{step.name} made a message that")
        if not isinstance(made, Mapping) or not all(isinstance(each, np.ndarray) for each in made.values()):
            raise refused("INTERNAL", f"{step.name} gave no arrays by name", reason="STEP_FAILED", step=step.name)
        return made


class ResponseWriter:
    """Makes the response of a model's outputs, on one way."""

    def __init__(self, response: Contract[Any], route: Route) -> None:
        self._response: Final = response
        self._route: Final = route
        contract = route.outputs
        self._writer: Final = None if contract is None else Writer(contract.message_type.DESCRIPTOR, contract.tensors)

    def response(self, outputs: Mapping[str, Any], response: Any, call: StepCall, trail: Trail) -> Any:
        """The response, filled or made by the step. Raises Rejected."""
        route, step, contract = self._route, self._route.postprocess, self._route.outputs
        value: Any = outputs
        if self._writer is not None and contract is not None:
            filled = response
            if route.target:
                filled = getattr(response, route.target)
                filled.SetInParent()
            elif step is not None:
                filled = contract.message_type()
            try:
                self._writer.fill(filled, outputs)
            except ContractError as error:
                raise refused("INTERNAL", f"the model's outputs: {error}", reason="BAD_OUTPUT") from error
            if step is not None:
                value = _valid(contract, filled, "the model's output")
        if step is None:
            return response
        before = trail.keep(value)
        began = time.perf_counter_ns()
        made = _stepped(step, value, call if route.postprocess_call else None)
        took = time.perf_counter_ns() - began
        if not isinstance(made, Message) or made.DESCRIPTOR.full_name != self._response.full_name:
            raise refused(
                "INTERNAL",
                f"{step.name} returned {type(made).__name__}; expected {self._response.full_name}",
                reason="STEP_FAILED",
                step=step.name,
            )
        trail.stage(
            "postprocess",
            module=step.name,
            version=step.version,
            nanoseconds=took,
            before=before,
            after=trail.keep(made),
        )
        return made


def _stepped(step: Step, value: Any, call: StepCall | None) -> Any:
    try:
        return step.run(value) if call is None else step.run(value, call)
    except Rejected:
        raise
    except BaseException as error:
        # The user's code, on a thread: whatever it raises, its text can quote the data, and sys.exit() is not for it to
        # end the service by.
        log.error("%s failed (%s)", step.name, type(error).__name__, exc_info=log.isEnabledFor(logging.DEBUG))
        raise refused(
            "INTERNAL", f"{step.name} failed ({type(error).__name__})", reason="STEP_FAILED", step=step.name
        ) from error


def _valid(contract: Contract[Any], made: Any, what: str) -> Any:
    """A message of a contract that it keeps, as the contract's own class. Raises Rejected (INTERNAL)."""
    if not isinstance(made, Message) or made.DESCRIPTOR.full_name != contract.full_name:
        raise refused("INTERNAL", f"{what.removesuffix(' that')} is no {contract.full_name}", reason="STEP_FAILED")
    message: Any = made
    if made.DESCRIPTOR is not contract.message_type.DESCRIPTOR:
        message = contract.message_type.FromString(made.SerializeToString(deterministic=True))
    try:
        broken = [each for each in contract.validate(message) if each.severity == "ERROR"]
    except RuleEvaluationError as error:
        raise refused("INTERNAL", f"{what} has no verdict under its contract", reason="BAD_OUTPUT") from error
    if not broken:
        return message
    first = broken[0]
    rejected = refused(
        "INTERNAL",
        f"{what} breaks its contract: {first}" + (f"; {len(broken)} violations in all" if len(broken) > 1 else ""),
        reason="BAD_OUTPUT",
        **facts_of(contract, first, len(broken)),
    )
    log.error("%s", rejected.status.message)
    raise rejected
