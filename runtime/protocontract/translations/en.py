"""The English messages of buf.validate's standard rules, as protovalidate words them, with ``{}`` for constants.

Rule id -> msgid -> template. A rule with one message has its own id as msgid. A test compares every rule of the
installed validate.proto.
"""

from __future__ import annotations

from typing import Final

NUMBERS: Final = (
    "float", "double", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32",
    "sfixed64",
)  # fmt: skip
ORDERED: Final = (*NUMBERS, "duration", "timestamp")

_BOUNDS: Final = {
    "lt": "must be less than {}",
    "lte": "must be less than or equal to {}",
    "gt": "must be greater than {}",
    "gt_lt": "must be greater than {} and less than {}",
    "gt_lt_exclusive": "must be greater than {} or less than {}",
    "gt_lte": "must be greater than {} and less than or equal to {}",
    "gt_lte_exclusive": "must be greater than {} or less than or equal to {}",
    "gte": "must be greater than or equal to {}",
    "gte_lt": "must be greater than or equal to {} and less than {}",
    "gte_lt_exclusive": "must be greater than or equal to {} or less than {}",
    "gte_lte": "must be greater than or equal to {} and less than or equal to {}",
    "gte_lte_exclusive": "must be greater than or equal to {} or less than or equal to {}",
}
_LISTS: Final = {"in": "must be in list {}", "not_in": "must not be in list {}"}

#: Formats of texts, with and without the name that the message for an empty text uses.
_FORMATS: Final = {
    "email": ("email address", ""),
    "hostname": ("hostname", ""),
    "ip": ("IP address", ""),
    "ipv4": ("IPv4 address", ""),
    "ipv6": ("IPv6 address", ""),
    "uri": ("URI", ""),
    "address": ("hostname, or ip address", ""),
    "uuid": ("UUID", ""),
    "tuuid": ("trimmed UUID", ""),
    "ip_with_prefixlen": ("IP prefix", ""),
    "ipv4_with_prefixlen": ("IPv4 address with prefix length", ""),
    "ipv6_with_prefixlen": ("IPv6 address with prefix length", ""),
    "ip_prefix": ("IP prefix", ""),
    "ipv4_prefix": ("IPv4 prefix", ""),
    "ipv6_prefix": ("IPv6 prefix", ""),
    "host_and_port": ("host (hostname or IP address) and port pair", "host and port pair"),
    "ulid": ("ULID", ""),
    "protobuf_fqn": ("fully-qualified Protobuf name", ""),
    "protobuf_dot_fqn": ("fully-qualified Protobuf name with a leading dot", ""),
    "well_known_regex.header_name": ("HTTP header name", ""),
}


def _one_each() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in ORDERED:
        found.update({f"{name}.{rule}": text for rule, text in (_BOUNDS | _LISTS).items() if _has(name, rule)})
    for name in (*ORDERED, "bool", "enum"):
        found[f"{name}.const"] = "must equal {}"
    for name in ("string", "bytes", "enum"):
        found.update({f"{name}.{rule}": text for rule, text in _LISTS.items()})
    for rule, (word, empty) in _FORMATS.items():
        for name in ("string", "bytes") if rule in ("ip", "ipv4", "ipv6", "uuid") else ("string",):
            found[f"{name}.{rule}"] = f"must be a valid {word}"
            found[f"{name}.{rule}_empty"] = f"value is empty, which is not a valid {empty or word}"
    return found


def _has(name: str, rule: str) -> bool:
    """Moments have no lists of values."""
    return name != "timestamp" or rule not in _LISTS


_ONE_EACH: Final = {
    **_one_each(),
    "float.finite": "must be finite",
    "double.finite": "must be finite",
    "string.const": "must equal `{}`",
    "string.len": "must be {} characters",
    "string.min_len": "must be at least {} characters",
    "string.max_len": "must be at most {} characters",
    "string.len_bytes": "must be {} bytes",
    "string.min_bytes": "must be at least {} bytes",
    "string.max_bytes": "must be at most {} bytes",
    "string.pattern": "does not match regex pattern `{}`",
    "string.prefix": "does not have prefix `{}`",
    "string.suffix": "does not have suffix `{}`",
    "string.contains": "does not contain substring `{}`",
    "string.not_contains": "contains substring `{}`",
    "string.uri_ref": "must be a valid URI Reference",
    "string.well_known_regex.header_value": "must be a valid HTTP header value",
    "bytes.const": "must be {}",
    "bytes.len": "must be {} bytes",
    "bytes.min_len": "must be at least {} bytes",
    "bytes.max_len": "must be at most {} bytes",
    "bytes.pattern": "must match regex pattern `{}`",
    "bytes.prefix": "does not have prefix {}",
    "bytes.suffix": "does not have suffix {}",
    "bytes.contains": "does not contain {}",
    "enum.defined_only": "value must be one of the defined enum values",
    "any.in": "type URL must be in the allow list",
    "any.not_in": "type URL must not be in the block list",
    "repeated.min_items": "must contain at least {} item(s)",
    "repeated.max_items": "must contain no more than {} item(s)",
    "repeated.unique": "repeated value must contain unique items",
    "map.min_pairs": "map must be at least {} entries",
    "map.max_pairs": "map must be at most {} entries",
    "field_mask.const": "must equal paths {}",
    "field_mask.in": "must only contain paths in {}",
    "field_mask.not_in": "must not contain any paths in {}",
    "timestamp.lt_now": "must be less than now",
    "timestamp.gt_now": "must be greater than now",
    "timestamp.within": "must be within {} of now",
}

TEMPLATES: Final[dict[str, dict[str, str]]] = {
    **{rule_id: {rule_id: template} for rule_id, template in _ONE_EACH.items()},
    "required": {"required": "value is required", "required.oneof": "exactly one field is required in oneof"},
    "message.oneof": {
        "message.oneof": "only one of {} can be set",
        "message.oneof.required": "one of {} must be set",
    },
}
