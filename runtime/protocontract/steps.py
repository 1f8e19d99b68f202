"""Versioned steps between messages and models: the same functions for the loader, calibration, the service, a replay.

    @step(version="2")
    def features(request: IdentifyRequest) -> ContentTypeInput: ...

    @step(version="1")
    def label(output: ContentTypeOutput) -> IdentifyResponse: ...

What a step takes and gives is said by its annotations: messages, or arrays by name (a mapping). A step of a service may
have a second parameter ``call``, which says what it is called for. Needs neither NumPy nor gRPC.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, get_origin, get_type_hints

from google.protobuf.message import Message

from protocontract.violations import ContractError

if TYPE_CHECKING:
    from protocontract.chain.recorder import Recorder

F = TypeVar("F", bound=Callable[..., object])

#: The name of the parameter by which a step is told what it is called for.
CALL: Final = "call"


def step(*, version: str) -> Callable[[F], F]:
    """Give a function its version, which evidence, data cards and calibrations name."""

    def mark(function: F) -> F:
        function.version = version  # type: ignore[attr-defined]
        return function

    return mark


class Step(NamedTuple):
    """A step: ``module:function``, its ``version`` attribute (empty without one), and the function.

    A preprocess step takes a valid message and returns a message of another contract, whose tensors are the inputs, or
    a mapping of arrays by the model's names, the first axis counting samples. A postprocess step takes the message of
    the model's outputs, or arrays, and returns the response.
    """

    name: str
    version: str
    run: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class StepCall:
    """What a step of a service is told by its parameter ``call``.

    ``model`` and ``version`` are those that were chosen. ``provider`` and ``facts`` (of batch and run) are known to
    postprocess steps; before the run ``provider`` is empty. ``evidence`` records the request, None where none is kept.
    """

    request: Any
    model: str
    version: str
    provider: str = ""
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    evidence: Recorder | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """What a step takes and gives: a class of messages, or None for arrays by name. ``call``: it wants a StepCall."""

    takes: type[Message] | None
    gives: type[Message] | None
    call: bool

    def __str__(self) -> str:
        return f"({_said(self.takes)}) -> {_said(self.gives)}"


def import_if_there(name: str) -> ModuleType | None:
    """The module of a name, None where there is none. What it misses itself is raised."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        return None


def load_step(name: str) -> Step:
    """The step that ``module:function`` names. Raises ContractError."""
    module_name, _, attribute = name.partition(":")
    if not attribute:
        raise ContractError(f"{name} names no step; expected module:function")
    module = import_if_there(module_name)
    if module is None:
        here = Path(*module_name.split(".")).with_suffix(".py")
        advice = f"; {here} is here: put this folder on PYTHONPATH" if here.exists() else ""
        raise ContractError(f"no module {module_name}; expected a step in a module of PYTHONPATH{advice}")
    function = getattr(module, attribute, None)
    if not callable(function):
        near = get_close_matches(attribute, (name for name, found in vars(module).items() if callable(found)), 1)
        advice = f"; did you mean `{near[0]}`?" if near else ""
        raise ContractError(f"{module_name} has no function {attribute}{advice}")
    return Step(name, str(getattr(function, "version", "")), function)


def wants_call(function: object) -> bool:
    """Whether a step has the parameter ``call``."""
    try:
        return CALL in [*inspect.signature(function).parameters][1:]  # type: ignore[arg-type]
    except (TypeError, ValueError):  # of what is written in C nobody knows the parameters
        return False


def shape_of(found: Step) -> Shape:
    """What the annotations of a step say. Raises ContractError where they do not say enough."""
    function: Any = found.run if inspect.isroutine(found.run) else type(found.run).__call__
    if inspect.iscoroutinefunction(function):
        raise ContractError(f"{found.name} is a coroutine; expected a plain function, which runs on a thread")
    parameters = [each for each in inspect.signature(found.run).parameters.values() if each.kind in _POSITIONAL]
    others = [each for each in parameters[1:] if each.name != CALL and each.default is each.empty]
    if not parameters or others:
        raise ContractError(
            f"{found.name} takes {len(parameters)} parameters; expected a message or arrays, and `{CALL}` at most"
        )
    try:
        hints = get_type_hints(function)
    except NameError as error:
        raise ContractError(
            f"the annotations of {found.name} name {error.name}, which its module does not have at run time;"
            " expected it imported outside of TYPE_CHECKING"
        ) from error
    return Shape(
        _kind(found, f"parameter `{parameters[0].name}`", hints.get(parameters[0].name)),
        _kind(found, "result", hints.get("return")),
        any(each.name == CALL for each in parameters[1:]),
    )


_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _kind(found: Step, what: str, hint: Any) -> type[Message] | None:
    plain = get_origin(hint) or hint
    if isinstance(plain, type):
        if issubclass(plain, Message) and plain is not Message:
            return plain
        if issubclass(plain, Mapping):
            return None
    got = "has no annotation" if hint is None else f"is annotated with {getattr(plain, '__name__', str(plain))}"
    raise ContractError(f"{found.name}: {what} {got}; expected a message or a mapping of arrays")


def _said(kind: type[Message] | None) -> str:
    return "arrays" if kind is None else str(kind.DESCRIPTOR.full_name)
