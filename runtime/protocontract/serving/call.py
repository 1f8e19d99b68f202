"""One RPC's two directions, the same for every kind of server: bytes in, messages for the handler, and back."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, TypeVar

from google.protobuf.message import Message

from protocontract.contract import Contract, Outcome
from protocontract.serving.door import Door, demand_response_size
from protocontract.serving.methods import Method, Methods
from protocontract.serving.rejection import Rejected, bad_message, refused
from protocontract.violations import Violation

log: Final = logging.getLogger("protocontract.serving")

M = TypeVar("M", bound=Message)


class Checked(Generic[M]):
    """A message type on one side of an RPC."""

    def __init__(self, contract: Contract[M] | None, *, request: bool) -> None:
        self.contract = contract
        self.request = request

    def read(self, raw: bytes, deserialize: Callable[[bytes], Any] | None, index: int | None) -> Any:
        """The normalised, valid message in ``raw``, as the handler's own type. Raises Rejected."""
        contract = self.contract
        if contract is None:
            return raw if deserialize is None else deserialize(raw)
        message: Any = self.demand(contract.process(raw), index)
        if deserialize is None or getattr(deserialize, "__self__", None) is contract.message_type:
            return message
        # The handler's class is another one than the contract's: generated twice, or compiled at run time.
        return deserialize(message.SerializeToString(deterministic=True))

    def demand(self, outcome: Outcome[M], index: int | None) -> M:
        """The message of an outcome. Raises Rejected where there is none."""
        if outcome.message is None:
            raise self._rejected(outcome.contract, outcome.violations, index)
        return outcome.message

    def write(self, message: Any, serialize: Callable[[Any], bytes] | None, index: int | None) -> bytes:
        """The bytes of a message that keeps its contract, normalised. Raises Rejected."""
        contract = self.contract
        if contract is None:
            return message if serialize is None else serialize(message)
        if not isinstance(message, Message | bytes):
            raise refused("INTERNAL", f"the handler returned {type(message).__name__}; expected {contract.full_name}")
        raw = message if isinstance(message, bytes) else message.SerializeToString(deterministic=True)
        outcome = contract.process(raw)
        if outcome.message is None:
            raise self._rejected(contract, outcome.violations, index)
        return outcome.message.SerializeToString(deterministic=True) if outcome.changes else raw

    def _rejected(self, contract: Contract[Any], violations: tuple[Violation, ...], index: int | None) -> Rejected:
        found = bad_message(contract, violations, request=self.request, index=index)
        if not self.request:
            # The caller cannot mend it: whoever runs the service has to hear of it.
            log.error("%s", found.status.message)
        return found


class Call:
    """What is done at the door and in both directions of one RPC; shared by all its calls."""

    def __init__(self, method: Method, max_response_bytes: int | None = None) -> None:
        self.method = method
        self._max_response_bytes = max_response_bytes
        self.door = Door(method)
        self.request: Checked[Any] = Checked(method.request, request=True)
        self.response: Checked[Any] = Checked(method.response, request=False)

    def outgoing(self, message: Any, serialize: Callable[[Any], bytes] | None, index: int | None) -> bytes:
        """The bytes of a response that keeps its contract and is not too large. Raises Rejected."""
        raw = self.response.write(message, serialize, index)
        demand_response_size(len(raw), self._max_response_bytes, self.method.name, index)
        return raw

    def timeout(self, remaining: float | None) -> float | None:
        """The seconds that a call may take at most, given what its caller's deadline leaves."""
        return self.method.level.timeout(remaining)


class Calls:
    """The RPCs of contracted services by name: what both interceptors ask."""

    def __init__(
        self, contracts: Mapping[str, Contract[Any]] | None, pool: Any, max_response_bytes: int | None = None
    ) -> None:
        self._max_response_bytes = max_response_bytes
        self._methods = Methods(contracts, pool)
        self._calls: dict[str, Call] = {}

    def find(self, name: str) -> Call | None:
        """The RPC of a name as gRPC has it; None where it has no contract and passes."""
        method = self._methods.find(name)
        if method is None:
            return None
        # Two threads may meet here: the call that was entered first is everybody's, with its bucket.
        return self._calls.get(name) or self._calls.setdefault(name, Call(method, self._max_response_bytes))


def remaining(context: Any) -> float | None:
    """The seconds that a caller's deadline leaves; None without one.

    Without a deadline gRPC tells of one that is ages away.
    """
    left = context.time_remaining()
    return None if left is None or left > _AGES else float(left)


#: Ten years, in seconds.
_AGES: Final = 315_576_000.0


def out_of_time(call: Call, seconds: float) -> Rejected:
    """The status of a call that took longer than its level allows."""
    return refused(
        "DEADLINE_EXCEEDED", f"not answered within {round(seconds, 3):g} s", reason="DEADLINE", method=call.method.name
    )


def failed(error: Exception, what: str = "a call") -> Rejected:
    """The status of a mistake of ours, which is logged: gRPC would send its text, which can quote the data."""
    name = type(error).__name__
    log.error("%s failed (%s)", what, name, exc_info=error if log.isEnabledFor(logging.DEBUG) else None)
    return refused("INTERNAL", f"the service failed ({name})", reason="SERVICE_FAILED")
