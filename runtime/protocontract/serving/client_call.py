"""What clients do with a call, the same for both kinds of channel: its deadline, its requests, its responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from google.protobuf.message import Message

from protocontract.contract import Contract
from protocontract.serving.check import ResponseViolation
from protocontract.serving.methods import Method, Methods
from protocontract.violations import ContractViolation


class ClientCalls:
    """The RPCs of contracted services by name, for clients."""

    def __init__(self, contracts: Mapping[str, Contract[Any]] | None, pool: Any, *, check_responses: bool) -> None:
        self._methods = Methods(contracts, pool)
        self._check_responses = check_responses

    def find(self, details: Any) -> ClientCall | None:
        """What is to be done with a call; None where its RPC has no contract, and passes."""
        name = details.method.decode() if isinstance(details.method, bytes) else details.method
        method = self._methods.find(name)
        return None if method is None else ClientCall(method, checks_responses=self._check_responses)


class ClientCall:
    """One call: what was found wrong with its requests is told when its caller asks for the result."""

    def __init__(self, method: Method, *, checks_responses: bool) -> None:
        self._method = method
        #: Whether responses are looked at.
        self.checks = checks_responses and method.response is not None
        #: What is wrong with a message of its request stream.
        self.broken: ContractViolation | None = None

    def details(self, details: Any) -> Any:
        """The call's details with its deadline: as asked for, else as declared, never above the longest declared."""
        timeout = self._method.level.timeout(details.timeout)
        if timeout == details.timeout:
            return details
        if hasattr(details, "_replace"):
            return details._replace(timeout=timeout)
        # Of another interceptor: its class is its own.
        return _Details(timeout=timeout, **{name: getattr(details, name, None) for name in _Details._fields[1:]})

    def request(self, message: Any, index: int | None = None) -> Any:
        """The request as it is sent: normalised, of the caller's class. Raises ContractViolation."""
        contract = self._method.request
        if contract is None or not isinstance(message, Message | bytes):
            return message
        raw = message if isinstance(message, bytes) else message.SerializeToString(deterministic=True)
        outcome = contract.process(raw)
        if outcome.message is None:
            found = ContractViolation(outcome.violations)
            if index is not None:
                found.add_note(f"message {index} of the stream of requests to {self._method.name}")
                self.broken = found
            raise found
        if type(message) is contract.message_type:
            return outcome.message
        changed = outcome.message.SerializeToString(deterministic=True) if outcome.changes else raw
        return changed if isinstance(message, bytes) else type(message).FromString(changed)

    def response(self, message: Any, index: int | None = None) -> None:
        """Hold a response to its contract. Raises ResponseViolation."""
        contract = self._method.response
        if not self.checks or contract is None or not isinstance(message, Message | bytes):
            return
        raw = message if isinstance(message, bytes) else message.SerializeToString(deterministic=True)
        outcome = contract.process(raw)
        if outcome.message is None:
            found = ResponseViolation(outcome.violations)
            if index is not None:
                found.add_note(f"message {index} of the stream of responses of {self._method.name}")
            raise found


class Wrapped:
    """gRPC's own call, of which one thing is done otherwise."""

    def __init__(self, mine: ClientCall, call: Any) -> None:
        self._mine = mine
        self._call = call

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)


class _Details(NamedTuple):
    """As ``grpc.ClientCallDetails`` has them."""

    timeout: float | None
    method: Any = None
    metadata: Any = None
    credentials: Any = None
    wait_for_ready: Any = None
    compression: Any = None
