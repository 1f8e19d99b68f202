"""The ids that protocontract itself reports: for each what it means, and what usually helps."""

from __future__ import annotations

from typing import Final

#: Rules that are not buf.validate's.
RULES: Final[dict[str, tuple[str, str]]] = {
    "money.syntax": ("the text is no amount of money", "send a number with at most one currency"),
    "money.currency": (
        "the currency is missing, unknown, or not one that the contract allows",
        "send an ISO 4217 code that `money.allowed` lists, or declare `money.default_currency`",
    ),
    "money.ambiguous": (
        "the amount can be read in two ways: 1.234 is one thousand or a little more than one",
        "send both marks (1.234,00) or none, or declare `money.locale` or `money.decimal` for the field",
    ),
    "money.scale": (
        "the amount has digits beyond the currency's minor unit",
        "send as many digits as the currency has, or declare `money.scale`",
    ),
    "instant.syntax": ("the text is no moment that can be read", "send RFC 3339: 2026-03-09T08:00:00+08:00"),
    "instant.ambiguous": (
        "day and month, or the century, can be read in two ways",
        "send year first, or declare `instant.order`",
    ),
    "instant.zone": (
        "the moment names no zone, or one that is unknown",
        "send an offset, or declare `instant.zone`",
    ),
    "instant.gap": ("the local time never was: a clock change skips it", "send an offset, or declare `instant.gap`"),
    "instant.fold": (
        "the local time was twice: a clock change repeats it",
        "send an offset, or declare `instant.fold`",
    ),
    "instant.range": ("the moment is outside of what the contract allows", "see `instant.min` and `instant.max`"),
    "quantity.syntax": ("the text is no quantity", "send a number and a unit"),
    "quantity.unit": (
        "the unit is unknown, ambiguous, or not one that the contract allows",
        "send a unit that `quantity.allowed` lists",
    ),
    "quantity.dimension": ("the unit measures something else", "send a unit of the dimension of `quantity.unit`"),
    "quantity.ambiguous": (
        "the number can be read in two ways",
        "send both marks or none, or declare `quantity.locale` or `quantity.decimal`",
    ),
    "quantity.scale": (
        "the converted number has more digits than the field may hold",
        "declare `quantity.scale` to round",
    ),
    "quantity.range": ("the converted number does not fit the field's type", "use a wider type"),
    "label.unknown": (
        "the label is none of the declared ones",
        "send a declared label, or add an alias to `label.aliases`",
    ),
    "text.type": ("the value is no text", "send a string"),
    "text.surrogate": ("the text holds half of a surrogate pair", "send well-formed UTF-8"),
    "text.nul": ("the text holds U+0000", "remove it before sending"),
    "text.control": ("the text holds control characters", "remove them, or declare `text.strip_controls`"),
    "text.replacement": (
        "the text holds U+FFFD: it was damaged before it came",
        "decode with the right encoding where the text is first read",
    ),
    "text.noncharacter": ("the text holds code points that are no characters", "remove them before sending"),
    "text.bidi": (
        "the text holds controls of the writing direction, which can hide what it says",
        "remove U+202A to U+202E and U+2066 to U+2069",
    ),
    "text.private_use": ("the text holds private-use characters", "send characters that Unicode assigns"),
    "text.tag": ("the text holds invisible tag characters", "remove U+E0000 to U+E007F"),
    "text.mojibake": (
        "the text looks decoded with the wrong encoding",
        "decode with the right encoding where the text is first read",
    ),
    "text.markup": ("the text holds markup that never ends", "close the markup, or send plain text"),
    "text.empty": ("nothing is left of the text", "send a text"),
    "text.amount": (
        "an amount inside of the text is ambiguous; it stays as it was",
        "send both marks or none, or declare `text.amounts.locale`",
    ),
    "scalar.syntax": ("the text is no number or bool", "send one"),
    "scalar.type": ("the JSON value is of another type than the field", "send the field's type"),
    "scalar.range": ("the number does not fit the field's type", "send a smaller number, or widen the field"),
    "scalar.finite": ("NaN or infinity", "send a finite number, or declare `scalar.finite: false`"),
    "scalar.inexact": (
        "the field's type cannot hold the number exactly",
        "send a number that fits, or widen the field",
    ),
    "scalar.enum": ("the enum has no such value", "send a declared name or number"),
    "scalar.duplicate": ("a JSON object names a field twice", "send each field once"),
    "scalar.required": ("a JSON object lacks a required field", "send it"),
    "scalar.unknown_field": (
        "a JSON object holds a field that the contract does not know",
        "remove it, or use a newer contract",
    ),
    "spans.order": ("a span ends before it starts, or spans are out of order", "sort them; start <= end"),
    "spans.bounds": ("a span points outside of the text", "check the unit: code points, bytes or UTF-16"),
    "spans.boundary": ("a span cuts a character in two", "check the unit: code points, bytes or UTF-16"),
    "spans.surface": (
        "a span's text is not the slice that it points to",
        "offsets and text have come apart: annotate again",
    ),
    "spans.overlap": ("spans overlap", "see `spans.allow_overlap` and `spans.allow_nesting`"),
    "spans.empty": ("a span is empty", "remove it, or declare `spans.allow_empty`"),
    "spans.edge": ("a span begins or ends with white space", "move its ends inwards"),
    "spans.lost": (
        "normalising the text left a span without an exact place",
        "end spans on character boundaries that normalising keeps",
    ),
    "sequence.step": (
        "the numbers do not follow the declared law",
        "see `sequence.first`, `step`, `strictly_increasing`",
    ),
    "sequence.length": ("the list is not as long as its sibling", "send both with the same length"),
    "graph.cycle": ("an item is its own ancestor", "remove one edge of the cycle"),
    "graph.missing": ("a parent is not among the items", "send it, or do not declare `graph.closed`"),
    "graph.duplicate": ("two items have the same identity", "send each once"),
    "tensor.dtype": ("the elements are of another type", "convert to the declared dtype"),
    "tensor.shape": ("the shape is not the declared one", "see `tensor.dims`; equal names must have equal sizes"),
    "tensor.size": (
        "the bytes are no whole number of elements, or not as many as the shape says",
        "send the whole tensor",
    ),
    "tensor.finite": ("an element is NaN or infinite", "find the layer that overflows"),
    "tensor.range": ("an element is outside of the declared bounds", "see `tensor.min` and `tensor.max`"),
    "tensor.norm": ("the vector does not have the declared length", "normalise it before sending"),
    "key.mismatch": ("the record's key is not the value of the contract's key_field", "produce with that field as key"),
    "wire.malformed": (
        "the bytes are no message of this type",
        "check the topic, the encoding and the producer's schema",
    ),
    "schema.unknown": (
        "the schema registry does not have the schema that the record names",
        "register the schema before records are written with it; then replay the dead letters",
    ),
    "schema.type": ("the schema that the record names is not a protobuf schema", "write the topic in protobuf only"),
    "schema.message": (
        "the record is of another message than the contract's, by its schema or by its message indexes",
        "write each message to a topic of its own, or guard the topic with the right contract",
    ),
    "schema.incompatible": (
        "the schema that the record was written with contradicts the contract: a number means another field or type",
        "give changed fields new numbers, and reserve the old ones in the contract",
    ),
    "schema.unusable": (
        "the schema that the record names cannot be read: its source does not compile, or an import is missing",
        "register the schema again with all that it refers to",
    ),
    "wire.framing": (
        "the bytes do not begin as their encoding demands (Confluent: 0x00, schema id, message indexes)",
        "check --encoding: protobuf, confluent or json",
    ),
    "wire.truncated": ("the file ends inside of a record", "copy it again"),
    "wire.duplicate": ("a field that may be set once is set twice", "send it once"),
    "wire.null": ("there is no value", "send a message; Kafka reads a null value as a deletion"),
    "wire.oneof": ("two members of a oneof are set", "send one"),
    "wire.size": ("the record is larger than what is read", "split it"),
    "wire.tombstone": ("a record without a value came where none may be deleted", "see Guard(tombstones=...)"),
    "wire.unknown_field": ("the record holds a field that the contract does not know", "use a newer contract"),
    "rule.evaluation": (
        "a CEL rule has no result on this message: a division by zero, an overflow, an index outside of the list",
        "guard the expression: has(), size(), ternaries",
    ),
    "handler.rejected": (
        "your code rejected the record: record.reject(reason)",
        "the reason is in the dead letter's headers",
    ),
    "handler.failed": (
        'your handler raised on every attempt, and on_failure is "dead_letter"',
        "fix the handler, then replay the dead letter",
    ),
    "sink.too_large": (
        "the sink refused a good record for its size, and --sink-too-large is dead_letter",
        "raise max.message.bytes of the sink, then replay the dead letter",
    ),
    "operator.skipped": (
        "an operator let the guard pass over the record: protocontract guard skip",
        "the reason and who gave it are in the dead letter's headers; replay it, or fix it with dead-letter edit",
    ),
}


#: Reasons in the google.rpc.ErrorInfo of a refused call, where that is not a rule of its message.
REASONS: Final[dict[str, tuple[str, str]]] = {
    "BAD_OUTPUT": ("the model's outputs break their contract", "compare model and contract: protocontract model check"),
    "BATCH_TOO_LARGE": ("the request has more rows than a batch may have", "send fewer, or raise `batch.max_size`"),
    "DEADLINE": ("the call was not answered in time", "give it more time, up to `max_deadline`, or send less"),
    "DEPLOYMENT_FAILED": ("this version is declared, but could not be loaded", "the service's log says how"),
    "DRAINING": ("the service stops and takes no more calls", "send it to another instance"),
    "EVIDENCE": (
        "the evidence cannot be written, and `evidence: REQUIRED` demands it",
        "see the disk of the evidence log",
    ),
    "KSERVE": (
        "the call is none that KServe's protocol v2 knows",
        "see the message; docs/kserve.md says what passes",
    ),
    "MODEL_FAILED": ("the model failed on the request", "the service's log says how"),
    "NO_INPUT": ("none of the inputs is set", "set one of them"),
    "NOT_READY": ("the models are still being loaded", "wait until the service is ready"),
    "QUEUE_FULL": ("as many calls wait as may", "try again later, or raise `queue`"),
    "RATE_LIMIT": ("more calls came than `rate` allows", "send fewer a second, or raise `rate`"),
    "REQUEST_TOO_LARGE": ("the request is larger than `max_request_bytes`", "send less, or raise the bound"),
    "RESPONSE_TOO_LARGE": ("the response is larger than its caller takes", "ask for less, or raise the bound"),
    "SERVICE_FAILED": ("the service itself failed", "its log says how"),
    "SEVERAL_INPUTS": ("more than one of the inputs is set", "set one of them"),
    "STEP_FAILED": ("a step before or after the model failed", "the service's log says how"),
    "UNKNOWN_MODEL": ("the service has no model of that name", "ask for one that it lists"),
    "UPSTREAM": ("the server behind this one refused the call, or did not answer", "see that server"),
    "VERSION_MISMATCH": (
        "another version of the model is there than was asked for",
        "ask for one that is served, or for none",
    ),
    "WRONG_INPUT": ("no inputs of the model can be made of a valid request", "the message says what the model lacks"),
    "WRONG_ROWS": ("the model gave another number of rows than it was asked for", "see the model: its batch axis"),
}
