"""How an RPC runs its models: found from types, before anything is loaded, or refused with all that does not fit.

The request's tensors are what a model takes, and the response's what it gives: of the messages themselves, of the
messages in them (one model each), or of the messages that steps make and take. Nothing is guessed: what several steps
could do is refused, and so is a response that nobody fills.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from protocontract._options import is_repeated
from protocontract.chain import Level
from protocontract.contract import Contract
from protocontract.models.errors import RefusedToStart
from protocontract.serving.methods import Method
from protocontract.steps import Shape, Step, shape_of
from protocontract.violations import ContractError

#: How a contract is found by the full name of its message. Raises ContractError.
Find = Callable[[str], Contract[Any]]


class DoesNotFit(RefusedToStart):
    """Models, steps or contracts do not go together: that was looked at, and is no fault of looking."""


@dataclass(frozen=True, slots=True)
class Route:
    """One way through an RPC: what is made of the request for one model, and of its outputs for the response.

    ``field`` is the request's field that chooses this way; empty where there is only one. ``inputs`` and ``outputs``
    are the contracts of the messages that hold the model's tensors; None where a step makes or takes arrays. Without a
    ``postprocess`` step the outputs fill the response's field ``target``, or the response itself.
    """

    field: str
    inputs: Contract[Any] | None
    outputs: Contract[Any] | None
    preprocess: Step | None = None
    postprocess: Step | None = None
    preprocess_call: bool = False
    postprocess_call: bool = False
    target: str = ""


@dataclass(frozen=True, slots=True)
class MethodPlan:
    """One RPC with all its ways.

    ``copied`` are the request's fields that the response has too, for ways without a postprocess step;
    ``version_field`` and ``evidence_field`` are those of the response that the service fills, empty without one.
    """

    method: Method
    request: Contract[Any]
    response: Contract[Any]
    routes: tuple[Route, ...]
    copied: tuple[str, ...] = ()
    version_field: str = ""
    evidence_field: str = ""

    @property
    def name(self) -> str:
        """``Identify``."""
        return self.method.name.rpartition("/")[2]


@dataclass(slots=True)
class Plan:
    """What a service does, or what keeps it from it (``problems``, each with what was expected)."""

    service: str
    methods: list[MethodPlan] = field(default_factory=list["MethodPlan"])
    problems: list[str] = field(default_factory=list[str])

    def demand(self, *, recorded: bool) -> None:
        """Raises DoesNotFit with all problems; one is an RPC that requires evidence, where none is ``recorded``."""
        unrecorded = [
            f"{method.method.name} requires evidence; expected a log to write it to (--evidence)"
            for method in self.methods
            if not recorded and Level.of(method.method.level.evidence) is Level.REQUIRED
        ]
        if problems := [*self.problems, *unrecorded]:
            raise DoesNotFit(problems)

    @property
    def models(self) -> tuple[str, ...]:
        """The names of models that are asked for, the empty one where a way needs just any."""
        return tuple(dict.fromkeys(route.field for method in self.methods for route in method.routes))


def plan(service: Any, find_method: Callable[[str], Method | None], find: Find, steps: Sequence[Step] = ()) -> Plan:
    """The plan of a service (its descriptor) with steps. What does not fit is in ``Plan.problems``."""
    found = Plan(service.full_name)
    shapes: list[tuple[Step, Shape]] = []
    for step in steps:
        try:
            shapes.append((step, shape_of(step)))
        except ContractError as error:
            found.problems.append(str(error))
    used: set[str] = set()
    for descriptor in service.methods:
        name = f"/{service.full_name}/{descriptor.name}"
        if descriptor.client_streaming or descriptor.server_streaming:
            found.problems.append(f"{name} is a stream; expected an RPC with one request and one response")
            continue
        method = find_method(name)
        if method is None or method.request is None or method.response is None:
            found.problems.append(f"a message of {name} has no contract; expected contracts of request and response")
            continue
        made = _Planned(method, method.request, method.response, shapes, find)
        found.methods.append(made.plan())
        found.problems += made.problems
        used |= made.used
    if not service.methods:
        found.problems.append(f"{service.full_name} has no RPC; expected one at least")
    for step, shape in shapes:
        if step.name not in used and not found.problems:
            found.problems.append(
                f"{step.name} {shape} fits no RPC of {service.full_name}; expected a step that takes a request,"
                " or gives a response"
            )
    return found


class _Planned:
    """One RPC: collects what is wrong with it."""

    def __init__(
        self,
        method: Method,
        request: Contract[Any],
        response: Contract[Any],
        steps: list[tuple[Step, Shape]],
        find: Find,
    ) -> None:
        self._method: Final = method
        self._request: Final = request
        self._response: Final = response
        self._steps: Final = steps
        self._find: Final = find
        self.problems: list[str] = []
        self.used: set[str] = set()
        self._said: set[str] = set()

    def plan(self) -> MethodPlan:
        routes = self._routes()
        version = self._method.level.model_version_field
        if version and not _is_text(self._request, version):
            self.problems.append(
                f"{self._request.full_name} has no text field {version}; expected one (model_version_field)"
            )
        copied = _shared(self._request, self._response)
        evidence = _evidence_field(self._response)
        version = version if version and _is_text(self._response, version) else ""
        # A step that returns the response answers for all of it.
        for route in routes:
            if route.postprocess is None:
                self._demand_sources({*copied, evidence, version, *map(_top, _filled(route))})
        return MethodPlan(self._method, self._request, self._response, tuple(routes), tuple(copied), version, evidence)

    # -- the ways

    def _routes(self) -> list[Route]:
        descriptor: Any = self._request.message_type.DESCRIPTOR
        whole = self._chosen("takes", self._request.full_name, self._before(self._request.full_name))
        if whole is not None or _own(self._request):
            return self._kept([self._route("", self._request, whole)])
        routes: list[Route | None] = []
        for each in descriptor.fields:
            inner = each.message_type
            if inner is None or is_repeated(each):
                continue
            contract = self._contract(inner.full_name)
            step = self._chosen("takes", inner.full_name, self._before(inner.full_name))
            if contract is not None and (step is not None or contract.tensors):
                routes.append(self._route(each.name, contract, step))
        if not routes and not self.problems:
            self.problems.append(
                f"nothing makes a model's inputs of {self._request.full_name}; expected `tensor` fields, or a step that"
                " takes it"
            )
        return self._kept(routes)

    def _kept(self, routes: Iterable[Route | None]) -> list[Route]:
        return [route for route in routes if route is not None]

    def _before(self, taken: str) -> list[tuple[Step, Shape]]:
        return [
            (step, shape)
            for step, shape in self._steps
            if _name(shape.takes) == taken and _name(shape.gives) != self._response.full_name
        ]

    def _chosen(self, what: str, name: str, found: list[tuple[Step, Shape]]) -> tuple[Step, Shape] | None:
        self.used |= {step.name for step, _ in found}
        if len(found) > 1:
            names = " and ".join(step.name for step, _ in found)
            self.problems.append(f"{names}: each {what} {name}; expected one step")
            return None
        return found[0] if found else None

    def _route(self, field: str, source: Contract[Any], step: tuple[Step, Shape] | None) -> Route | None:
        inputs: Contract[Any] | None = source
        if step is not None:
            given = step[1].gives
            inputs = None if given is None else self._contract(given.DESCRIPTOR.full_name)
            if given is not None and (inputs is None or not inputs.tensors):
                self.problems.append(
                    f"{step[0].name} gives {_name(given)}, which has no `tensor` fields; expected some"
                )
                return None
        own = self._field_of_response(field)
        after = self._after(field, own)
        target, outputs = "", None
        if after is not None:
            taken = after[1].takes
            outputs = None if taken is None else self._contract(taken.DESCRIPTOR.full_name)
            if taken is not None and (outputs is None or not outputs.tensors):
                self.problems.append(
                    f"{after[0].name} takes {_name(taken)}, which has no `tensor` fields; expected some"
                )
                return None
        elif field and own is not None and own.tensors:
            target, outputs = field, own
        elif not field and _own(self._response):
            outputs = self._response
        else:
            if not self.problems:
                wanted = f"a message field {field} with `tensor` fields" if field else "`tensor` fields"
                self.problems.append(
                    f"nothing makes {self._response.full_name} of a model's outputs; expected {wanted}, or a step that"
                    " returns it"
                )
            return None
        return Route(
            field,
            inputs,
            outputs,
            None if step is None else step[0],
            None if after is None else after[0],
            step is not None and step[1].call,
            after is not None and after[1].call,
            target,
        )

    def _after(self, field: str, own: Contract[Any] | None) -> tuple[Step, Shape] | None:
        """The step that makes the response of this way's outputs."""
        found = [pair for pair in self._steps if _name(pair[1].gives) == self._response.full_name]
        direct = [pair for pair in found if _name(pair[1].takes) == self._request.full_name]
        if direct:
            self.used |= {step.name for step, _ in direct}
            self.problems.append(
                f"{direct[0][0].name} makes the response of the request itself; expected a model's outputs between them"
            )
            return None
        if field and own is not None:
            exact = [pair for pair in found if _name(pair[1].takes) == own.full_name]
            found = exact or [pair for pair in found if pair[1].takes is None]
        return self._chosen("gives", self._response.full_name, found)

    def _field_of_response(self, field: str) -> Contract[Any] | None:
        known: Any = self._response.message_type.DESCRIPTOR.fields_by_name
        described = known.get(field) if field else None
        return (
            None
            if described is None or described.message_type is None
            else self._contract(described.message_type.full_name)
        )

    def _contract(self, name: str) -> Contract[Any] | None:
        try:
            return self._find(name)
        except ContractError:
            return None

    # -- the response

    def _demand_sources(self, sources: set[str]) -> None:
        """Say which fields of the response have to be set, and are by nobody: what an empty one lacks."""
        for violation in self._response.validate(self._response.message_type()):
            names = [element.name for element, _ in violation.elements()]
            top = names[0] if names else ""
            if violation.severity != "ERROR" or not top or top in self._said or top in sources | self._oneofs(sources):
                continue
            self._said.add(top)
            self.problems.append(
                f"{self._response.full_name}.{top} has to be set ({violation.rule_id}), and nothing does; expected a"
                f" step that returns {self._response.full_name}"
            )

    def _oneofs(self, sources: set[str]) -> set[str]:
        known: Any = self._response.message_type.DESCRIPTOR.oneofs
        return {oneof.name for oneof in known if any(each.name in sources for each in oneof.fields)}


def _own(contract: Contract[Any]) -> bool:
    """Whether a message has tensors itself, and not only messages in it."""
    return any("." not in each.path for each in contract.tensors)


def _filled(route: Route) -> Iterable[str]:
    if route.target:
        yield route.target
    elif route.postprocess is None and route.outputs is not None:
        yield from _paths(route.outputs)


def _paths(contract: Contract[Any]) -> Iterable[str]:
    """What of a message is its tensors: they, and their shapes."""
    for each in contract.tensors:
        yield each.path
        if each.shape_field:
            yield f"{each.path.rpartition('.')[0]}.{each.shape_field}".lstrip(".")


def _top(path: str) -> str:
    return path.partition(".")[0]


def _name(kind: Any) -> str:
    return "" if kind is None else str(kind.DESCRIPTOR.full_name)


def _shared(request: Contract[Any], response: Contract[Any]) -> tuple[str, ...]:
    """Plain fields that both messages have, by name and type: an id that comes back. Tensors are the model's."""
    theirs: Any = request.message_type.DESCRIPTOR.fields_by_name
    tensors = {_top(path) for contract in (request, response) for path in _paths(contract)}
    found: list[str] = []
    ours: Any = response.message_type.DESCRIPTOR.fields
    for each in ours:
        other = theirs.get(each.name)
        if other is None or each.name in tensors or each.message_type is not None or other.message_type is not None:
            continue
        if each.type == other.type and is_repeated(each) == is_repeated(other) and each.enum_type == other.enum_type:
            found.append(each.name)
    return tuple(found)


def _is_text(contract: Contract[Any], name: str) -> bool:
    known: Any = contract.message_type.DESCRIPTOR.fields_by_name
    described = known.get(name)
    return described is not None and described.type == described.TYPE_STRING and not is_repeated(described)


def _evidence_field(contract: Contract[Any]) -> str:
    """The repeated field whose messages have ``name`` and ``digest``: there a request's record goes."""
    known: Any = contract.message_type.DESCRIPTOR.fields
    for each in known:
        inner = each.message_type
        if inner is not None and is_repeated(each) and {"name", "digest"} <= set(inner.fields_by_name):
            return str(each.name)
    return ""
