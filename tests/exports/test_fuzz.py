"""JSON Schemas of random contracts (proto2, proto3, editions; rules and CEL of all kinds) accept what these accept."""

from __future__ import annotations

import json
from random import Random

from google.protobuf import json_format

from protocontract_compiler.diagnostics import Diagnostics
from protocontract_compiler.emit.jsonschema import document
from protocontract_compiler.passes import pass_rules
from tests.examples import examples
from tests.exports.support import Validator
from tests.fuzz.messages import random_message
from tests.fuzz.run import compiled


def test_what_random_contracts_accept_passes() -> None:
    accepted = 0
    for seed in range(100, 100 + examples(6)):
        loaded, contracts, *_ = compiled(seed)
        if not contracts:
            continue
        schema = pass_rules.lower(loaded, loaded.schema, Diagnostics())
        random = Random(seed)
        for message in schema.requested_messages():
            contract = contracts[message.full_name]
            read = json.loads(document(schema, message, normalized=False))
            Validator.check_schema(read)
            validator = Validator(read)
            for _ in range(25):
                try:
                    text = json_format.MessageToJson(random_message(random, contract.message_type))
                except (TypeError, ValueError, json_format.Error):
                    continue  # a moment, path or type that JSON cannot write
                if contract.process(text.encode(), encoding="json").ok:
                    assert validator.is_valid(json.loads(text)), f"seed {seed}, {message.full_name}: {text}"
                    accepted += 1
    assert accepted > 20
