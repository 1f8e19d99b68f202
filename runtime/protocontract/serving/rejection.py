"""What a caller is told: google.rpc.Status with the violations, within what HTTP/2 trailers can carry, without values.

gRPC cuts trailers off at 16 KiB by default (the client then sees RESOURCE_EXHAUSTED instead of the reason), and proxies
at less. So all details together take at most 4 KiB: the first violations, and how many there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from google.rpc import code_pb2, error_details_pb2, status_pb2

from protocontract.contract import Contract
from protocontract.violations import Violation, rule_label

#: Domain of ``ErrorInfo``: whose reasons these are.
DOMAIN: Final = "protocontract"
#: Bytes of the encoded status.
MAX_STATUS: Final = 4096
#: Trailing metadata that says by which contract a call was refused.
CONTRACT_KEY: Final = "protocontract-contract"
VERSION_KEY: Final = "protocontract-version"
FINGERPRINT_KEY: Final = "protocontract-fingerprint"
#: Where gRPC's own tools look for the details.
DETAILS_KEY: Final = "grpc-status-details-bin"
# Bytes of one text. As gRPC's own message it is percent-encoded besides: each byte that is not ASCII takes three.
_MAX_TEXT: Final = 400
_MAX_REFUSAL: Final = 1000
_MAX_VALUE: Final = 256
_IN_HEADERS: Final = "".join(mark for mark in map(chr, range(0x21, 0x7F)) if mark != "%")


class Rejected(Exception):
    """A call ends here, with ``status``."""

    def __init__(self, status: status_pb2.Status, contract: Contract[Any] | None = None, error_class: str = "") -> None:
        """``error_class``: ``SOURCE/REMEDY`` of the first violation; empty where it is none."""
        super().__init__(status.message)
        self.status = status
        self.contract = contract
        self.error_class = error_class

    @property
    def code(self) -> str:
        """The name of the gRPC status: ``INVALID_ARGUMENT``."""
        return str(code_pb2.Code.Name(self.status.code))

    @property
    def reason(self) -> str:
        """The reason in its ErrorInfo: ``STRING_MIN_LEN``, ``QUEUE_FULL``."""
        info = error_details_pb2.ErrorInfo()
        return str(info.reason) if any(detail.Unpack(info) for detail in self.status.details) else self.code

    def metadata(self) -> tuple[tuple[str, str | bytes], ...]:
        """The trailing metadata of the call."""
        found: list[tuple[str, str | bytes]] = [(DETAILS_KEY, self.status.SerializeToString())]
        if self.contract is not None:
            found += [
                (CONTRACT_KEY, self.contract.full_name),
                (VERSION_KEY, self.contract.version),
                (FINGERPRINT_KEY, self.contract.fingerprint),
            ]
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Found:
    """Violations of one rule at one place, the subscripts aside: a tensor's bad elements are one thing to tell."""

    first: Violation
    count: int

    @property
    def text(self) -> str:
        """What was expected and what came; with several, how many and where the first is."""
        text = _cut(str(self.first), _MAX_TEXT)
        return text if self.count == 1 else f"{text}; {self.count} times"


def grouped(violations: Iterable[Violation]) -> list[Found]:
    """Violations by rule and declared place, in the order of the first of each. Warnings are left out."""
    groups: dict[tuple[str, ...], list[Violation]] = {}
    for violation in violations:
        if violation.severity == "ERROR":
            names = tuple(element.name for element, _ in violation.elements())
            groups.setdefault((violation.rule_id or violation.rule.rule_text, *names), []).append(violation)
    return [Found(found[0], len(found)) for found in groups.values()]


def facts_of(contract: Contract[Any], first: Violation, total: int) -> dict[str, str]:
    """What ErrorInfo holds of a broken contract: which one, and the first of so many violations."""
    return {
        "contract": contract.full_name,
        "version": contract.version,
        "fingerprint": contract.fingerprint,
        "field": _cut(first.redacted_path, _MAX_VALUE),
        "rule_id": _cut(rule_label(first), _MAX_VALUE),
        "code": f"{first.code:#010x}",
        "total": str(total),
    }


def bad_message(
    contract: Contract[Any], violations: Sequence[Violation], *, request: bool, index: int | None = None
) -> Rejected:
    """The status of a message that breaks its contract: INVALID_ARGUMENT for a request, INTERNAL for a response.

    ``index``: the message's place in its stream, from 0; None where there is only one.
    """
    found = grouped(violations)
    total = sum(each.count for each in found)
    first = found[0].first
    what = "the request" if request else "the response"
    if index is not None:
        what += f"'s message {index}"
    rest = f"; {total} violations in all" if total > 1 else ""
    status = status_pb2.Status(
        code=code_pb2.INVALID_ARGUMENT if request else code_pb2.INTERNAL,
        message=f"{what} breaks its contract: {found[0].text}{rest}",
    )
    metadata = facts_of(contract, first, total)
    if index is not None:
        metadata["index"] = str(index)
    _pack(status, error_details_pb2.ErrorInfo(reason=_reason(first), domain=DOMAIN, metadata=metadata))
    told = error_details_pb2.BadRequest()
    room = MAX_STATUS - status.ByteSize() - 64
    for each in found:
        entry = error_details_pb2.BadRequest.FieldViolation(
            field=_cut(each.first.redacted_path, _MAX_VALUE), description=each.text, reason=_reason(each.first)
        )
        size = entry.ByteSize() + 4
        if size > room:
            break
        room -= size
        told.field_violations.append(entry)
    if told.field_violations:
        _pack(status, told)
    return Rejected(status, contract, f"{first.error_class.source}/{first.error_class.remedy}")


def refused(code: str, message: str, /, **metadata: str) -> Rejected:
    """The status of a call that is refused for something else than its message: ``code`` is gRPC's name for it."""
    status = status_pb2.Status(code=code_pb2.Code.Value(code), message=_cut(message, _MAX_REFUSAL))
    reason = metadata.pop("reason", code)
    held = {key: _cut(value, _MAX_VALUE) for key, value in metadata.items()}
    _pack(status, error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN, metadata=held))
    return Rejected(status)


def header_text(text: str) -> str:
    """A text for metadata, which carry printable ASCII alone: gRPC fails a call with any other.

    All else, spaces and ``%`` are percent-encoded as UTF-8, as gRPC does it with its own texts.
    """
    return quote(text, safe=_IN_HEADERS, errors="replace")


def _cut(text: str, limit: int) -> str:
    """A text of at most ``limit`` bytes: contracts may have long names, and paths as deep as protobuf lets them be."""
    raw = text.encode()
    return text if len(raw) <= limit else raw[: limit - 3].decode(errors="ignore") + "..."


def _reason(violation: Violation) -> str:
    """An ErrorInfo reason: capitals, digits and underscores. ``string.min_len`` is STRING_MIN_LEN."""
    text = "".join(mark if mark.isalnum() and mark.isascii() else "_" for mark in rule_label(violation)).upper()
    return text[:63]


def _pack(status: status_pb2.Status, detail: error_details_pb2.ErrorInfo | error_details_pb2.BadRequest) -> None:
    status.details.add().Pack(detail)
