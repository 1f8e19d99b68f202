"""KServe's REST form of a request and of a response, with the extension for binary data, as the messages of gRPC.

Numbers of JSON become raw contents: what a datatype cannot hold is refused, never rounded to an infinity. The words NaN
and Infinity are read and written, as Triton does; whether they may pass is the contract's to say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from protocontract.serving.kserve.datatypes import BYTES, DTYPES, count_of, of_json, read, to_json, to_raw
from protocontract.serving.kserve.protocol import messages
from protocontract.serving.rejection import Rejected, refused
from protocontract.violations import Refusal

#: How many bytes of the body are JSON; binary data follow.
LENGTH_HEADER: Final = "Inference-Header-Content-Length"
_BINARY: Final = "binary_data"
_SIZE: Final = "binary_data_size"
_ALL_BINARY: Final = "binary_data_output"
#: Parameters that describe the body and end with it.
_OF_THE_FORM: Final = (_BINARY, _SIZE, _ALL_BINARY)


@dataclass(frozen=True, slots=True)
class Form:
    """How a caller wants its outputs: those that are to be binary, by name, and whether all others are."""

    binary: Mapping[str, bool]
    others: bool


def read_request(body: bytes, header_length: str | None, model: str, version: str) -> tuple[Any, Form]:
    """A ``ModelInferRequest`` from the body of a POST, and how its answer is wanted. Raises Rejected."""
    length = _length(header_length, len(body))
    try:
        told = json.loads(body[:length])
    except (ValueError, RecursionError):
        raise _bad("the body is no JSON; expected an inference request") from None
    if not isinstance(told, dict) or not isinstance(told.get("inputs"), list):
        raise _bad("the body is no inference request; expected an object with inputs")
    try:
        return _request(told, body, length, model, version)
    except UnicodeEncodeError:
        # JSON can write half of a pair of surrogates, which no text of protobuf can hold.
        raise _bad("a text that is no Unicode; expected no lone surrogates") from None


def _request(told: Mapping[str, Any], body: bytes, length: int, model: str, version: str) -> tuple[Any, Form]:
    request = messages.ModelInferRequest(model_name=model, model_version=version, id=_text(told, "id"))
    parameters = _object(told, "parameters")
    _parameters(request.parameters, parameters)
    at = length
    for index, entry in enumerate(told["inputs"]):
        at = _input(request, entry, index, body, at)
    if at != len(body):
        raise _bad(f"{len(body) - at} bytes of binary data that belong to no input")
    binary: dict[str, bool] = {}
    for index, entry in enumerate(_list(told, "outputs")):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise _bad(f"output {index} has no name")
        wanted = _object(entry, "parameters")
        output = request.outputs.add()
        output.name = entry["name"]
        _parameters(output.parameters, wanted)
        if _BINARY in wanted:
            binary[output.name] = wanted[_BINARY] is True
    return request, Form(binary, parameters.get(_ALL_BINARY) is True)


def write_response(response: Any, form: Form) -> tuple[bytes, int | None]:
    """The body of a ``ModelInferResponse``, and how much of it is JSON where binary data follow. Raises Rejected."""
    told: dict[str, Any] = {"model_name": response.model_name, "model_version": response.model_version}
    if response.id:
        told["id"] = response.id
    if response.parameters:
        told["parameters"] = _values(response.parameters)
    outputs: list[dict[str, Any]] = []
    parts: list[bytes] = []
    raws = response.raw_output_contents
    for at, output in enumerate(response.outputs):
        entry: dict[str, Any] = {"name": output.name, "datatype": output.datatype, "shape": list(output.shape)}
        parameters = _values(output.parameters)
        raw = raws[at] if raws else None
        if form.binary.get(output.name, form.others):
            part = raw if raw is not None else to_raw(read(output.datatype, output.contents, None), output.datatype)
            parameters[_SIZE] = len(part)
            parts.append(part)
        else:
            entry["data"] = to_json(read(output.datatype, output.contents, raw), output.datatype)
            if entry["data"] is None:
                text = f"output `{output.name}` has bytes that are no text; expected {_BINARY} to be asked for"
                raise _bad(text)
        if parameters:
            entry["parameters"] = parameters
        outputs.append(entry)
    told["outputs"] = outputs
    header = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
    return b"".join((header, *parts)), len(header) if parts else None


def error_body(rejected: Rejected) -> bytes:
    """What a caller is told: ``error`` as KServe has it, with the reason and the violations beside it."""
    from google.rpc import error_details_pb2

    told: dict[str, Any] = {"error": rejected.status.message, "code": rejected.code}
    for detail in rejected.status.details:
        info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
        if detail.Unpack(info):
            told["reason"] = info.reason
            told["metadata"] = dict(sorted(info.metadata.items()))
        elif detail.Unpack(bad):
            told["violations"] = [
                {"field": each.field, "reason": each.reason, "description": each.description}
                for each in bad.field_violations
            ]
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()


def _input(request: Any, entry: Any, index: int, body: bytes, at: int) -> int:
    """Add an input; returns where the binary data of the next one begin."""
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise _bad(f"input {index} has no name")
    datatype: Any = entry.get("datatype")
    shape = entry.get("shape")
    if not isinstance(datatype, str) or (datatype not in DTYPES and datatype != BYTES):
        raise _bad(f"input {index} has no datatype that KServe knows")
    if not isinstance(shape, list) or not all(type(size) is int and 0 <= size < 1 << 63 for size in shape):
        raise _bad(f"input {index} has no shape; expected a list of sizes from 0")
    parameters = _object(entry, "parameters")
    tensor = request.inputs.add()
    tensor.name, tensor.datatype = entry["name"], datatype
    tensor.shape.extend(shape)
    _parameters(tensor.parameters, parameters)
    size = parameters.get(_SIZE)
    if size is not None:
        if entry.get("data") is not None:
            raise _bad(f"input {index} has data beside binary data; expected one of the two")
        if type(size) is not int or not 0 <= size <= len(body) - at:
            raise _bad(f"input {index}: no such number of bytes follows")
        request.raw_input_contents.append(body[at : at + size])
        return at + size
    elements = of_json(_flat(entry.get("data"), shape, index), datatype)
    if isinstance(elements, Refusal):
        where = "" if elements.index is None else f" (element {elements.index})"
        raise _bad(f"input {index}: {elements.message}{where}")
    request.raw_input_contents.append(to_raw(elements, datatype))
    return at


def _flat(data: Any, shape: Sequence[int], index: int) -> list[Any]:
    """The elements of an array that is flat, or nested as its shape says."""
    if not isinstance(data, list):
        raise _bad(f"input {index} has no data; expected a list")
    nested: list[int] = []
    while data and isinstance(data[0], list):
        nested.append(len(data))
        width = len(data[0])
        if any(not isinstance(part, list) or len(part) != width for part in data):
            raise _bad(f"input {index} has rows of several lengths")
        data = [each for part in data for each in part]
        if not data:
            nested.append(width)
    if nested and data:
        nested.append(len(data) // count_of(nested))
    if nested and nested != list(shape):
        raise _bad(f"input {index} is nested otherwise than its shape says")
    if count_of(shape) != len(data):
        raise _bad(f"input {index} has {len(data)} elements; expected {count_of(shape)}, as its shape says")
    found: list[Any] = data
    return found


def _length(header: str | None, size: int) -> int:
    if header is None:
        return size
    if not header.isascii() or not header.isdigit() or int(header[:20]) > size:
        raise _bad(f"{LENGTH_HEADER} is no length of JSON in the body")
    return int(header)


def _parameters(into: Any, given: Mapping[str, Any]) -> None:
    for key, value in given.items():
        if key in _OF_THE_FORM:
            continue
        if isinstance(value, bool):
            into[key].bool_param = value
        elif isinstance(value, int) and -(1 << 63) <= value < 1 << 63:
            into[key].int64_param = value
        elif isinstance(value, float):
            into[key].double_param = value
        elif isinstance(value, str):
            into[key].string_param = value
        else:
            raise _bad("a parameter that is neither bool, number nor text")


def _values(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: getattr(value, chosen)
        for key, value in sorted(parameters.items())
        if (chosen := value.WhichOneof("parameter_choice")) is not None
    }


def _object(told: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = told.get(key) or {}
    if not isinstance(found, dict):
        raise _bad(f"{key} is no object")
    return found


def _list(told: Mapping[str, Any], key: str) -> Sequence[Any]:
    found = told.get(key) or []
    if not isinstance(found, list):
        raise _bad(f"{key} is no list")
    return found


def _text(told: Mapping[str, Any], key: str) -> str:
    found = told.get(key)
    if found is None:  # some clients write null for what is not there
        return ""
    if not isinstance(found, str):
        raise _bad(f"{key} is no text")
    return found


def _bad(text: str) -> Rejected:
    return refused("INVALID_ARGUMENT", text, reason="KSERVE")
