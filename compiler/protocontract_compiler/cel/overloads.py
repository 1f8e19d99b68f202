"""Every function of the language with the operation that it means for given operand kinds.

The reference is what protovalidate 2.1 evaluates (its engine resolves overloads by the run-time kinds of operands);
the same table declares protovalidate's own functions to the checker.
"""

from __future__ import annotations

from typing import Final

from protocontract_compiler.ir_cel import BOOL, BYTES, DOUBLE, DURATION, INT, STRING, TIMESTAMP, UINT, Type, list_of

Signature = tuple[str, Type, bool]
"""The operation's name, the type of its result, whether it can raise."""

_STRINGS: Final = list_of(STRING)

_KINDS: Final = {
    "bool": BOOL,
    "int": INT,
    "uint": UINT,
    "double": DOUBLE,
    "string": STRING,
    "bytes": BYTES,
    "timestamp": TIMESTAMP,
    "duration": DURATION,
    "strings": _STRINGS,
}

# "function operands -> result operation", operands by kind; "!" marks an operation that can raise.
_TABLE: Final = """
_+_ int int -> int add_int!
_+_ uint uint -> uint add_uint!
_+_ double double -> double add_double
_+_ string string -> string concat
_+_ bytes bytes -> bytes concat
_+_ duration duration -> duration add_duration!
_+_ timestamp duration -> timestamp add_timestamp!
_+_ duration timestamp -> timestamp add_duration_timestamp!
_-_ int int -> int sub_int!
_-_ uint uint -> uint sub_uint!
_-_ double double -> double sub_double
_-_ duration duration -> duration sub_duration!
_-_ timestamp duration -> timestamp sub_timestamp!
_-_ timestamp timestamp -> duration sub_timestamps!
_*_ int int -> int mul_int!
_*_ uint uint -> uint mul_uint!
_*_ double double -> double mul_double
_/_ int int -> int div_int!
_/_ uint uint -> uint div_uint!
_/_ double double -> double div_double
_%_ int int -> int mod_int!
_%_ uint uint -> uint mod_uint!
-_ int -> int neg_int!
-_ double -> double neg_double
size string -> int size
size bytes -> int size
contains string string -> bool contains
contains bytes bytes -> bool contains
startsWith string string -> bool starts_with
startsWith bytes bytes -> bool starts_with
endsWith string string -> bool ends_with
endsWith bytes bytes -> bool ends_with
matches string string -> bool matches
bool bool -> bool same
bool string -> bool bool_of_string!
int bool -> int int_of_bool
int int -> int same
int uint -> int int_of_uint!
int double -> int int_of_double!
int string -> int int_of_string!
int timestamp -> int int_of_timestamp
uint uint -> uint same
uint int -> uint uint_of_int!
uint double -> uint uint_of_double!
uint string -> uint uint_of_string!
double double -> double same
double int -> double double_of_int
double uint -> double double_of_int
double string -> double double_of_string!
string string -> string same
string bool -> string string_of_bool
string int -> string string_of_int
string uint -> string string_of_int
string double -> string string_of_double
string bytes -> string string_of_bytes!
string timestamp -> string string_of_timestamp!
string duration -> string string_of_duration!
bytes bytes -> bytes same
bytes string -> bytes bytes_of_string
timestamp timestamp -> timestamp same
timestamp string -> timestamp timestamp_of_string!
timestamp int -> timestamp timestamp_of_int!
duration duration -> duration same
duration string -> duration duration_of_string!
getHours duration -> int duration_hours
getMinutes duration -> int duration_minutes
getSeconds duration -> int duration_seconds
getMilliseconds duration -> int duration_milliseconds
charAt string int -> string char_at!
indexOf string string -> int index_of
indexOf string string int -> int index_of_from!
lastIndexOf string string -> int last_index_of
lastIndexOf string string int -> int last_index_of_from!
join strings -> string join
join strings string -> string join
lowerAscii string -> string lower_ascii
upperAscii string -> string upper_ascii
replace string string string -> string replace
replace string string string int -> string replace_limit
reverse string -> string reverse
split string string -> strings split
split string string int -> strings split_limit
substring string int -> string substring_from!
substring string int int -> string substring!
trim string -> string trim
isNan double -> bool is_nan
isInf double -> bool is_inf
isInf double int -> bool is_inf
isEmail string -> bool is_email
isHostname string -> bool is_hostname
isHostAndPort string bool -> bool is_host_and_port
isIp string -> bool is_ip
isIp string int -> bool is_ip
isIpPrefix string -> bool is_ip_prefix
isIpPrefix string int -> bool is_ip_prefix
isIpPrefix string bool -> bool is_ip_prefix_strict
isIpPrefix string int bool -> bool is_ip_prefix
isUri string -> bool is_uri
isUriRef string -> bool is_uri_ref
"""

TIMESTAMP_PARTS: Final = {
    "getFullYear": "year",
    "getMonth": "month",
    "getDayOfYear": "day_of_year",
    "getDayOfMonth": "day_of_month",
    "getDate": "date",
    "getDayOfWeek": "day_of_week",
    "getHours": "hours",
    "getMinutes": "minutes",
    "getSeconds": "seconds",
    "getMilliseconds": "milliseconds",
}
"""Accessors of a timestamp, in UTC or in a zone, and the part's name in the runtime's function."""

PROTOVALIDATE: Final[dict[str, tuple[tuple[tuple[Type, ...], Type], ...]]] = {
    "isNan": (((DOUBLE,), BOOL),),
    "isInf": (((DOUBLE,), BOOL), ((DOUBLE, INT), BOOL)),
    "isEmail": (((STRING,), BOOL),),
    "isHostname": (((STRING,), BOOL),),
    "isHostAndPort": (((STRING, BOOL), BOOL),),
    "isIp": (((STRING,), BOOL), ((STRING, INT), BOOL)),
    "isIpPrefix": (
        ((STRING,), BOOL),
        ((STRING, INT), BOOL),
        ((STRING, BOOL), BOOL),
        ((STRING, INT, BOOL), BOOL),
    ),
    "isUri": (((STRING,), BOOL),),
    "isUriRef": (((STRING,), BOOL),),
}
"""Methods that protovalidate adds to the language: operand types (the receiver first) and result."""

BYTES_METHODS: Final = ("contains", "startsWith", "endsWith")
"""Methods of strings that protovalidate also gives to bytes."""


def _parse() -> dict[tuple[str, tuple[str, ...]], Signature]:
    table: dict[tuple[str, tuple[str, ...]], Signature] = {}
    for line in _TABLE.strip().splitlines():
        head, _, tail = line.partition(" -> ")
        function, *kinds = head.split()
        result, operation = tail.split()
        table[function, tuple(kinds)] = (operation.rstrip("!"), _KINDS[result], operation.endswith("!"))
    return table


_OVERLOADS: Final = _parse()


def find(function: str, operands: tuple[Type, ...]) -> Signature | None:
    """What ``function`` means for operands of these types, or ``None`` where no overload takes them."""
    kinds = tuple("strings" if operand == _STRINGS else operand.kind for operand in operands)
    return _OVERLOADS.get((function, kinds))
