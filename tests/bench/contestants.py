"""Who runs: one function a contestant, from bytes to a checked object. ``check`` shows first that all refuse alike."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import fastjsonschema
import msgspec
import protovalidate
from pydantic import ValidationError

from protocontract.violations import ContractViolation
from tests.bench import peers
from tests.bench.measure import Entry
from tests.bench.shapes import Data, to_json, to_message

Run = Callable[[bytes], object]

PARSE, OURS, OURS_PARSE = "parse", "parse + ours", "parse + ours (.parse)"
PROTOVALIDATE, PYDANTIC, MSGSPEC = "parse + protovalidate", "pydantic", "msgspec"
OURS_ALONE, PROTOVALIDATE_ALONE = "ours", "protovalidate"
PIPELINE = "json + fastjsonschema + pydantic"
PIPELINE_TWICE = "the same, rules in both"

_OF_PIPELINE = (fastjsonschema.JsonSchemaValueException, ValidationError)


@dataclass(frozen=True, slots=True)
class Contestant:
    """A way from bytes to a checked object. ``run`` returns or raises; on a broken record it must do the whole work."""

    name: str
    run: Run
    records: list[bytes]
    #: Whether ``run`` of a record says that it is valid.
    accepts: Callable[[bytes], bool]


def contestants(data: Data) -> list[Contestant]:
    """All contestants for a shape, ours second."""
    name = data.shape.message
    from_string: Callable[[bytes], Any] = data.message_type.FromString
    contract = data.contract
    collect = protovalidate.Validator().collect_violations

    def with_protovalidate(raw: bytes) -> object:
        message = from_string(raw)
        return message, collect(message)

    from_json = peers.PYDANTIC[name].model_validate_json
    from_packed = msgspec.json.Decoder(peers.MSGSPEC[name]).decode
    loads = json.loads
    check_schema = fastjsonschema.compile(peers.SCHEMAS[name])
    from_dict = peers.TYPED[name].model_validate

    from_dict_with_rules = peers.PYDANTIC[name].model_validate

    def pipeline(raw: bytes) -> object:
        return from_dict(check_schema(loads(raw)))

    def pipeline_twice(raw: bytes) -> object:
        return from_dict_with_rules(check_schema(loads(raw)))

    def raising(run: Run, *refusals: type[Exception]) -> tuple[Run, Callable[[bytes], bool]]:
        """For records that are refused: the same with the exception caught, as a consumer would."""

        def caught(raw: bytes) -> object:
            try:
                return run(raw)
            except refusals as refusal:
                return refusal

        return (run if data.shape.valid else caught), lambda raw: not isinstance(caught(raw), Exception)

    return [
        Contestant(PARSE, from_string, data.protobuf, lambda raw: True),
        Contestant(OURS, contract.process, data.protobuf, lambda raw: contract.process(raw).ok),
        Contestant(OURS_PARSE, *_with(raising(contract.parse, ContractViolation), data.protobuf)),
        Contestant(PROTOVALIDATE, with_protovalidate, data.protobuf, lambda raw: not collect(from_string(raw))),
        Contestant(PYDANTIC, *_with(raising(from_json, ValidationError), data.json)),
        Contestant(MSGSPEC, *_with(raising(from_packed, msgspec.ValidationError), data.json)),
        Contestant(PIPELINE, *_with(raising(pipeline, *_OF_PIPELINE), data.json)),
        Contestant(PIPELINE_TWICE, *_with(raising(pipeline_twice, *_OF_PIPELINE), data.json)),
    ]


def validators(data: Data) -> list[Entry]:
    """Ours and protovalidate on messages that are parsed already."""
    messages = [data.message_type.FromString(raw) for raw in data.protobuf]
    return [
        Entry(OURS_ALONE, data.contract.validate, messages),
        Entry(PROTOVALIDATE_ALONE, protovalidate.Validator().collect_violations, messages),
    ]


def _with(
    run: tuple[Run, Callable[[bytes], bool]], records: list[bytes]
) -> tuple[Run, list[bytes], Callable[[bytes], bool]]:
    return run[0], records, run[1]


def check(data: Data, made: list[Contestant]) -> int:
    """Runs every contestant on every record, and on records that break one rule each; returns how many of those.

    Raises SystemExit where one accepts what it must refuse, or refuses what it must accept: then a comparison of their
    times would compare different work.
    """
    for contestant in made:
        if contestant.name == PARSE:
            continue
        for raw in contestant.records:
            if contestant.accepts(raw) is not data.shape.valid:
                word = "refuses" if data.shape.valid else "accepts"
                raise SystemExit(f"{data.shape.name}: {contestant.name} {word} {raw!r}")
    whole = data.shape.make(random.Random(0))
    broken = (*data.shape.broken, *data.shape.broken_across)
    for change in broken:
        record = {**whole, **change}
        as_protobuf, as_json = to_message(data.message_type, record).SerializeToString(), to_json(record)
        for contestant in made:
            raw = as_protobuf if contestant.records is data.protobuf else as_json
            if contestant.name != PARSE and contestant.accepts(raw):
                raise SystemExit(f"{data.shape.name}: {contestant.name} accepts {change}")
    return len(broken)
