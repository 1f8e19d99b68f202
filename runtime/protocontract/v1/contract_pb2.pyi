from google.protobuf import descriptor_pb2 as _descriptor_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OnBreach(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ON_BREACH_UNSPECIFIED: _ClassVar[OnBreach]
    ALERT: _ClassVar[OnBreach]
    HALT: _ClassVar[OnBreach]

class Severity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SEVERITY_UNSPECIFIED: _ClassVar[Severity]
    ERROR: _ClassVar[Severity]
    WARNING: _ClassVar[Severity]

class Policy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    POLICY_UNSPECIFIED: _ClassVar[Policy]
    STRICT: _ClassVar[Policy]
    LENIENT: _ClassVar[Policy]

class Normalization(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NORMALIZATION_UNSPECIFIED: _ClassVar[Normalization]
    NFC: _ClassVar[Normalization]
    NFKC: _ClassVar[Normalization]

class RejectClass(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REJECT_CLASS_UNSPECIFIED: _ClassVar[RejectClass]
    NUL: _ClassVar[RejectClass]
    CONTROL: _ClassVar[RejectClass]
    REPLACEMENT: _ClassVar[RejectClass]
    NONCHARACTER: _ClassVar[RejectClass]
    BIDI_CONTROL: _ClassVar[RejectClass]
    PRIVATE_USE: _ClassVar[RejectClass]
    TAG: _ClassVar[RejectClass]
    MOJIBAKE: _ClassVar[RejectClass]

class Scale(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SCALE_UNSPECIFIED: _ClassVar[Scale]
    CURRENCY: _ClassVar[Scale]
    ANY: _ClassVar[Scale]
    ROUND_HALF_EVEN: _ClassVar[Scale]
    ROUND_HALF_UP: _ClassVar[Scale]
ON_BREACH_UNSPECIFIED: OnBreach
ALERT: OnBreach
HALT: OnBreach
SEVERITY_UNSPECIFIED: Severity
ERROR: Severity
WARNING: Severity
POLICY_UNSPECIFIED: Policy
STRICT: Policy
LENIENT: Policy
NORMALIZATION_UNSPECIFIED: Normalization
NFC: Normalization
NFKC: Normalization
REJECT_CLASS_UNSPECIFIED: RejectClass
NUL: RejectClass
CONTROL: RejectClass
REPLACEMENT: RejectClass
NONCHARACTER: RejectClass
BIDI_CONTROL: RejectClass
PRIVATE_USE: RejectClass
TAG: RejectClass
MOJIBAKE: RejectClass
SCALE_UNSPECIFIED: Scale
CURRENCY: Scale
ANY: Scale
ROUND_HALF_EVEN: Scale
ROUND_HALF_UP: Scale
CONTRACT_FIELD_NUMBER: _ClassVar[int]
contract: _descriptor.FieldDescriptor
FIELD_FIELD_NUMBER: _ClassVar[int]
field: _descriptor.FieldDescriptor
SERVICE_LEVEL_FIELD_NUMBER: _ClassVar[int]
service_level: _descriptor.FieldDescriptor
VALUE_FIELD_NUMBER: _ClassVar[int]
value: _descriptor.FieldDescriptor

class Contract(_message.Message):
    __slots__ = ("version", "owner", "topic", "dead_letter_topic", "key_field", "event_time", "level", "on_breach", "acknowledge_new_fields", "contexts")
    class ContextsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Contexts
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Contexts, _Mapping]] = ...) -> None: ...
    VERSION_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    DEAD_LETTER_TOPIC_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_FIELD_NUMBER: _ClassVar[int]
    EVENT_TIME_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    ON_BREACH_FIELD_NUMBER: _ClassVar[int]
    ACKNOWLEDGE_NEW_FIELDS_FIELD_NUMBER: _ClassVar[int]
    CONTEXTS_FIELD_NUMBER: _ClassVar[int]
    version: str
    owner: str
    topic: str
    dead_letter_topic: str
    key_field: str
    event_time: str
    level: StreamLevel
    on_breach: OnBreach
    acknowledge_new_fields: bool
    contexts: _containers.MessageMap[str, Contexts]
    def __init__(self, version: _Optional[str] = ..., owner: _Optional[str] = ..., topic: _Optional[str] = ..., dead_letter_topic: _Optional[str] = ..., key_field: _Optional[str] = ..., event_time: _Optional[str] = ..., level: _Optional[_Union[StreamLevel, _Mapping]] = ..., on_breach: _Optional[_Union[OnBreach, str]] = ..., acknowledge_new_fields: bool = ..., contexts: _Optional[_Mapping[str, Contexts]] = ...) -> None: ...

class StreamLevel(_message.Message):
    __slots__ = ("compliance", "latency", "frequency", "throughput", "error_rate", "window", "minimum_records")
    COMPLIANCE_FIELD_NUMBER: _ClassVar[int]
    LATENCY_FIELD_NUMBER: _ClassVar[int]
    FREQUENCY_FIELD_NUMBER: _ClassVar[int]
    THROUGHPUT_FIELD_NUMBER: _ClassVar[int]
    ERROR_RATE_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_RECORDS_FIELD_NUMBER: _ClassVar[int]
    compliance: float
    latency: _duration_pb2.Duration
    frequency: _duration_pb2.Duration
    throughput: float
    error_rate: float
    window: _duration_pb2.Duration
    minimum_records: int
    def __init__(self, compliance: _Optional[float] = ..., latency: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., frequency: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., throughput: _Optional[float] = ..., error_rate: _Optional[float] = ..., window: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., minimum_records: _Optional[int] = ...) -> None: ...

class Field(_message.Message):
    __slots__ = ("text", "money", "instant", "quantity", "label", "scalar", "spans", "sequence", "graph", "tensor", "sensitive", "severities", "error_class", "since", "sunset", "renamed_from", "unit", "currency", "minor_digits", "acknowledge", "error_codes", "contexts")
    class SeveritiesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Severity
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Severity, str]] = ...) -> None: ...
    class ErrorCodesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class ContextsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Contexts
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Contexts, _Mapping]] = ...) -> None: ...
    TEXT_FIELD_NUMBER: _ClassVar[int]
    MONEY_FIELD_NUMBER: _ClassVar[int]
    INSTANT_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    SCALAR_FIELD_NUMBER: _ClassVar[int]
    SPANS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    GRAPH_FIELD_NUMBER: _ClassVar[int]
    TENSOR_FIELD_NUMBER: _ClassVar[int]
    SENSITIVE_FIELD_NUMBER: _ClassVar[int]
    SEVERITIES_FIELD_NUMBER: _ClassVar[int]
    ERROR_CLASS_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    SUNSET_FIELD_NUMBER: _ClassVar[int]
    RENAMED_FROM_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    MINOR_DIGITS_FIELD_NUMBER: _ClassVar[int]
    ACKNOWLEDGE_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODES_FIELD_NUMBER: _ClassVar[int]
    CONTEXTS_FIELD_NUMBER: _ClassVar[int]
    text: Text
    money: Money
    instant: Instant
    quantity: Quantity
    label: Label
    scalar: Scalar
    spans: Spans
    sequence: Sequence
    graph: Graph
    tensor: Tensor
    sensitive: bool
    severities: _containers.ScalarMap[str, Severity]
    error_class: ErrorClass
    since: str
    sunset: str
    renamed_from: str
    unit: str
    currency: str
    minor_digits: int
    acknowledge: bool
    error_codes: _containers.ScalarMap[str, int]
    contexts: _containers.MessageMap[str, Contexts]
    def __init__(self, text: _Optional[_Union[Text, _Mapping]] = ..., money: _Optional[_Union[Money, _Mapping]] = ..., instant: _Optional[_Union[Instant, _Mapping]] = ..., quantity: _Optional[_Union[Quantity, _Mapping]] = ..., label: _Optional[_Union[Label, _Mapping]] = ..., scalar: _Optional[_Union[Scalar, _Mapping]] = ..., spans: _Optional[_Union[Spans, _Mapping]] = ..., sequence: _Optional[_Union[Sequence, _Mapping]] = ..., graph: _Optional[_Union[Graph, _Mapping]] = ..., tensor: _Optional[_Union[Tensor, _Mapping]] = ..., sensitive: bool = ..., severities: _Optional[_Mapping[str, Severity]] = ..., error_class: _Optional[_Union[ErrorClass, _Mapping]] = ..., since: _Optional[str] = ..., sunset: _Optional[str] = ..., renamed_from: _Optional[str] = ..., unit: _Optional[str] = ..., currency: _Optional[str] = ..., minor_digits: _Optional[int] = ..., acknowledge: bool = ..., error_codes: _Optional[_Mapping[str, int]] = ..., contexts: _Optional[_Mapping[str, Contexts]] = ...) -> None: ...

class Contexts(_message.Message):
    __slots__ = ("names",)
    NAMES_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, names: _Optional[_Iterable[str]] = ...) -> None: ...

class ErrorClass(_message.Message):
    __slots__ = ("source", "remedy")
    class Source(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        SOURCE_UNSPECIFIED: _ClassVar[ErrorClass.Source]
        INPUT: _ClassVar[ErrorClass.Source]
        MODEL: _ClassVar[ErrorClass.Source]
        INFRASTRUCTURE: _ClassVar[ErrorClass.Source]
        DATA: _ClassVar[ErrorClass.Source]
    SOURCE_UNSPECIFIED: ErrorClass.Source
    INPUT: ErrorClass.Source
    MODEL: ErrorClass.Source
    INFRASTRUCTURE: ErrorClass.Source
    DATA: ErrorClass.Source
    class Remedy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        REMEDY_UNSPECIFIED: _ClassVar[ErrorClass.Remedy]
        IMMEDIATE: _ClassVar[ErrorClass.Remedy]
        CONFIGURATION: _ClassVar[ErrorClass.Remedy]
        CODE: _ClassVar[ErrorClass.Remedy]
        RETRAINING: _ClassVar[ErrorClass.Remedy]
    REMEDY_UNSPECIFIED: ErrorClass.Remedy
    IMMEDIATE: ErrorClass.Remedy
    CONFIGURATION: ErrorClass.Remedy
    CODE: ErrorClass.Remedy
    RETRAINING: ErrorClass.Remedy
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    REMEDY_FIELD_NUMBER: _ClassVar[int]
    source: ErrorClass.Source
    remedy: ErrorClass.Remedy
    def __init__(self, source: _Optional[_Union[ErrorClass.Source, str]] = ..., remedy: _Optional[_Union[ErrorClass.Remedy, str]] = ...) -> None: ...

class Text(_message.Message):
    __slots__ = ("strip_bom", "strip_html", "normalize", "fold_width", "strip_controls", "collapse_whitespace", "trim", "reject", "reject_empty", "amounts")
    STRIP_BOM_FIELD_NUMBER: _ClassVar[int]
    STRIP_HTML_FIELD_NUMBER: _ClassVar[int]
    NORMALIZE_FIELD_NUMBER: _ClassVar[int]
    FOLD_WIDTH_FIELD_NUMBER: _ClassVar[int]
    STRIP_CONTROLS_FIELD_NUMBER: _ClassVar[int]
    COLLAPSE_WHITESPACE_FIELD_NUMBER: _ClassVar[int]
    TRIM_FIELD_NUMBER: _ClassVar[int]
    REJECT_FIELD_NUMBER: _ClassVar[int]
    REJECT_EMPTY_FIELD_NUMBER: _ClassVar[int]
    AMOUNTS_FIELD_NUMBER: _ClassVar[int]
    strip_bom: bool
    strip_html: bool
    normalize: Normalization
    fold_width: bool
    strip_controls: bool
    collapse_whitespace: bool
    trim: bool
    reject: _containers.RepeatedScalarFieldContainer[RejectClass]
    reject_empty: bool
    amounts: Money
    def __init__(self, strip_bom: bool = ..., strip_html: bool = ..., normalize: _Optional[_Union[Normalization, str]] = ..., fold_width: bool = ..., strip_controls: bool = ..., collapse_whitespace: bool = ..., trim: bool = ..., reject: _Optional[_Iterable[_Union[RejectClass, str]]] = ..., reject_empty: bool = ..., amounts: _Optional[_Union[Money, _Mapping]] = ...) -> None: ...

class Money(_message.Message):
    __slots__ = ("policy", "default_currency", "allowed", "locale", "decimal", "scale", "currency_field")
    POLICY_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_CURRENCY_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_FIELD_NUMBER: _ClassVar[int]
    LOCALE_FIELD_NUMBER: _ClassVar[int]
    DECIMAL_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_FIELD_NUMBER: _ClassVar[int]
    policy: Policy
    default_currency: str
    allowed: _containers.RepeatedScalarFieldContainer[str]
    locale: str
    decimal: str
    scale: Scale
    currency_field: str
    def __init__(self, policy: _Optional[_Union[Policy, str]] = ..., default_currency: _Optional[str] = ..., allowed: _Optional[_Iterable[str]] = ..., locale: _Optional[str] = ..., decimal: _Optional[str] = ..., scale: _Optional[_Union[Scale, str]] = ..., currency_field: _Optional[str] = ...) -> None: ...

class Instant(_message.Message):
    __slots__ = ("zone", "order", "epoch_unit", "fold", "gap", "leap_second", "hour24", "date_only", "excess_fraction", "min", "max", "instant_field")
    class Order(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ORDER_UNSPECIFIED: _ClassVar[Instant.Order]
        DMY: _ClassVar[Instant.Order]
        MDY: _ClassVar[Instant.Order]
    ORDER_UNSPECIFIED: Instant.Order
    DMY: Instant.Order
    MDY: Instant.Order
    class EpochUnit(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        EPOCH_UNIT_UNSPECIFIED: _ClassVar[Instant.EpochUnit]
        S: _ClassVar[Instant.EpochUnit]
        MS: _ClassVar[Instant.EpochUnit]
        US: _ClassVar[Instant.EpochUnit]
        NS: _ClassVar[Instant.EpochUnit]
    EPOCH_UNIT_UNSPECIFIED: Instant.EpochUnit
    S: Instant.EpochUnit
    MS: Instant.EpochUnit
    US: Instant.EpochUnit
    NS: Instant.EpochUnit
    class Fold(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        FOLD_UNSPECIFIED: _ClassVar[Instant.Fold]
        EARLIER: _ClassVar[Instant.Fold]
        LATER: _ClassVar[Instant.Fold]
    FOLD_UNSPECIFIED: Instant.Fold
    EARLIER: Instant.Fold
    LATER: Instant.Fold
    class Gap(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        GAP_UNSPECIFIED: _ClassVar[Instant.Gap]
        SHIFT_FORWARD: _ClassVar[Instant.Gap]
    GAP_UNSPECIFIED: Instant.Gap
    SHIFT_FORWARD: Instant.Gap
    class LeapSecond(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        LEAP_SECOND_UNSPECIFIED: _ClassVar[Instant.LeapSecond]
        NEXT_SECOND: _ClassVar[Instant.LeapSecond]
    LEAP_SECOND_UNSPECIFIED: Instant.LeapSecond
    NEXT_SECOND: Instant.LeapSecond
    class Hour24(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        HOUR24_UNSPECIFIED: _ClassVar[Instant.Hour24]
        NEXT_DAY: _ClassVar[Instant.Hour24]
    HOUR24_UNSPECIFIED: Instant.Hour24
    NEXT_DAY: Instant.Hour24
    class DateOnly(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DATE_ONLY_UNSPECIFIED: _ClassVar[Instant.DateOnly]
        START_OF_DAY: _ClassVar[Instant.DateOnly]
    DATE_ONLY_UNSPECIFIED: Instant.DateOnly
    START_OF_DAY: Instant.DateOnly
    class ExcessFraction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        EXCESS_FRACTION_UNSPECIFIED: _ClassVar[Instant.ExcessFraction]
        TRUNCATE: _ClassVar[Instant.ExcessFraction]
    EXCESS_FRACTION_UNSPECIFIED: Instant.ExcessFraction
    TRUNCATE: Instant.ExcessFraction
    ZONE_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    EPOCH_UNIT_FIELD_NUMBER: _ClassVar[int]
    FOLD_FIELD_NUMBER: _ClassVar[int]
    GAP_FIELD_NUMBER: _ClassVar[int]
    LEAP_SECOND_FIELD_NUMBER: _ClassVar[int]
    HOUR24_FIELD_NUMBER: _ClassVar[int]
    DATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    EXCESS_FRACTION_FIELD_NUMBER: _ClassVar[int]
    MIN_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    INSTANT_FIELD_FIELD_NUMBER: _ClassVar[int]
    zone: str
    order: Instant.Order
    epoch_unit: Instant.EpochUnit
    fold: Instant.Fold
    gap: Instant.Gap
    leap_second: Instant.LeapSecond
    hour24: Instant.Hour24
    date_only: Instant.DateOnly
    excess_fraction: Instant.ExcessFraction
    min: str
    max: str
    instant_field: str
    def __init__(self, zone: _Optional[str] = ..., order: _Optional[_Union[Instant.Order, str]] = ..., epoch_unit: _Optional[_Union[Instant.EpochUnit, str]] = ..., fold: _Optional[_Union[Instant.Fold, str]] = ..., gap: _Optional[_Union[Instant.Gap, str]] = ..., leap_second: _Optional[_Union[Instant.LeapSecond, str]] = ..., hour24: _Optional[_Union[Instant.Hour24, str]] = ..., date_only: _Optional[_Union[Instant.DateOnly, str]] = ..., excess_fraction: _Optional[_Union[Instant.ExcessFraction, str]] = ..., min: _Optional[str] = ..., max: _Optional[str] = ..., instant_field: _Optional[str] = ...) -> None: ...

class Quantity(_message.Message):
    __slots__ = ("unit", "allowed", "policy", "locale", "decimal", "scale", "value_field")
    UNIT_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    LOCALE_FIELD_NUMBER: _ClassVar[int]
    DECIMAL_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_FIELD_NUMBER: _ClassVar[int]
    unit: str
    allowed: _containers.RepeatedScalarFieldContainer[str]
    policy: Policy
    locale: str
    decimal: str
    scale: int
    value_field: str
    def __init__(self, unit: _Optional[str] = ..., allowed: _Optional[_Iterable[str]] = ..., policy: _Optional[_Union[Policy, str]] = ..., locale: _Optional[str] = ..., decimal: _Optional[str] = ..., scale: _Optional[int] = ..., value_field: _Optional[str] = ...) -> None: ...

class Label(_message.Message):
    __slots__ = ("aliases", "ignore_index", "num_classes")
    class AliasesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Label.Aliases
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Label.Aliases, _Mapping]] = ...) -> None: ...
    class Aliases(_message.Message):
        __slots__ = ("alias",)
        ALIAS_FIELD_NUMBER: _ClassVar[int]
        alias: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, alias: _Optional[_Iterable[str]] = ...) -> None: ...
    ALIASES_FIELD_NUMBER: _ClassVar[int]
    IGNORE_INDEX_FIELD_NUMBER: _ClassVar[int]
    NUM_CLASSES_FIELD_NUMBER: _ClassVar[int]
    aliases: _containers.MessageMap[str, Label.Aliases]
    ignore_index: int
    num_classes: int
    def __init__(self, aliases: _Optional[_Mapping[str, Label.Aliases]] = ..., ignore_index: _Optional[int] = ..., num_classes: _Optional[int] = ...) -> None: ...

class Scalar(_message.Message):
    __slots__ = ("quoted_numbers", "bool_words", "fold_width", "exact", "finite", "type")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        TYPE_UNSPECIFIED: _ClassVar[Scalar.Type]
        BOOL: _ClassVar[Scalar.Type]
        INT32: _ClassVar[Scalar.Type]
        INT64: _ClassVar[Scalar.Type]
        UINT32: _ClassVar[Scalar.Type]
        UINT64: _ClassVar[Scalar.Type]
        FLOAT: _ClassVar[Scalar.Type]
        DOUBLE: _ClassVar[Scalar.Type]
    TYPE_UNSPECIFIED: Scalar.Type
    BOOL: Scalar.Type
    INT32: Scalar.Type
    INT64: Scalar.Type
    UINT32: Scalar.Type
    UINT64: Scalar.Type
    FLOAT: Scalar.Type
    DOUBLE: Scalar.Type
    class BoolWordsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: bool = ...) -> None: ...
    QUOTED_NUMBERS_FIELD_NUMBER: _ClassVar[int]
    BOOL_WORDS_FIELD_NUMBER: _ClassVar[int]
    FOLD_WIDTH_FIELD_NUMBER: _ClassVar[int]
    EXACT_FIELD_NUMBER: _ClassVar[int]
    FINITE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    quoted_numbers: bool
    bool_words: _containers.ScalarMap[str, bool]
    fold_width: bool
    exact: bool
    finite: bool
    type: Scalar.Type
    def __init__(self, quoted_numbers: bool = ..., bool_words: _Optional[_Mapping[str, bool]] = ..., fold_width: bool = ..., exact: bool = ..., finite: bool = ..., type: _Optional[_Union[Scalar.Type, str]] = ...) -> None: ...

class EnumValue(_message.Message):
    __slots__ = ("code", "aliases", "class_index")
    CODE_FIELD_NUMBER: _ClassVar[int]
    ALIASES_FIELD_NUMBER: _ClassVar[int]
    CLASS_INDEX_FIELD_NUMBER: _ClassVar[int]
    code: str
    aliases: _containers.RepeatedScalarFieldContainer[str]
    class_index: int
    def __init__(self, code: _Optional[str] = ..., aliases: _Optional[_Iterable[str]] = ..., class_index: _Optional[int] = ...) -> None: ...

class Spans(_message.Message):
    __slots__ = ("text", "start", "end", "surface", "unit", "allow_overlap", "allow_nesting", "allow_empty", "no_edge_whitespace", "order")
    class Unit(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNIT_UNSPECIFIED: _ClassVar[Spans.Unit]
        CODE_POINT: _ClassVar[Spans.Unit]
        UTF8_BYTE: _ClassVar[Spans.Unit]
        UTF16: _ClassVar[Spans.Unit]
    UNIT_UNSPECIFIED: Spans.Unit
    CODE_POINT: Spans.Unit
    UTF8_BYTE: Spans.Unit
    UTF16: Spans.Unit
    class Order(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ORDER_UNSPECIFIED: _ClassVar[Spans.Order]
        ANY_ORDER: _ClassVar[Spans.Order]
        BY_START: _ClassVar[Spans.Order]
    ORDER_UNSPECIFIED: Spans.Order
    ANY_ORDER: Spans.Order
    BY_START: Spans.Order
    TEXT_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    SURFACE_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    ALLOW_OVERLAP_FIELD_NUMBER: _ClassVar[int]
    ALLOW_NESTING_FIELD_NUMBER: _ClassVar[int]
    ALLOW_EMPTY_FIELD_NUMBER: _ClassVar[int]
    NO_EDGE_WHITESPACE_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    text: str
    start: str
    end: str
    surface: str
    unit: Spans.Unit
    allow_overlap: bool
    allow_nesting: bool
    allow_empty: bool
    no_edge_whitespace: bool
    order: Spans.Order
    def __init__(self, text: _Optional[str] = ..., start: _Optional[str] = ..., end: _Optional[str] = ..., surface: _Optional[str] = ..., unit: _Optional[_Union[Spans.Unit, str]] = ..., allow_overlap: bool = ..., allow_nesting: bool = ..., allow_empty: bool = ..., no_edge_whitespace: bool = ..., order: _Optional[_Union[Spans.Order, str]] = ...) -> None: ...

class Sequence(_message.Message):
    __slots__ = ("first", "step", "strictly_increasing", "same_length_as")
    FIRST_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    STRICTLY_INCREASING_FIELD_NUMBER: _ClassVar[int]
    SAME_LENGTH_AS_FIELD_NUMBER: _ClassVar[int]
    first: int
    step: int
    strictly_increasing: bool
    same_length_as: str
    def __init__(self, first: _Optional[int] = ..., step: _Optional[int] = ..., strictly_increasing: bool = ..., same_length_as: _Optional[str] = ...) -> None: ...

class Graph(_message.Message):
    __slots__ = ("id", "parents", "acyclic", "closed")
    ID_FIELD_NUMBER: _ClassVar[int]
    PARENTS_FIELD_NUMBER: _ClassVar[int]
    ACYCLIC_FIELD_NUMBER: _ClassVar[int]
    CLOSED_FIELD_NUMBER: _ClassVar[int]
    id: str
    parents: str
    acyclic: bool
    closed: bool
    def __init__(self, id: _Optional[str] = ..., parents: _Optional[str] = ..., acyclic: bool = ..., closed: bool = ...) -> None: ...

class Tensor(_message.Message):
    __slots__ = ("name", "dtype", "dims", "bounds", "shape_field", "batched", "pad", "truncate", "finite", "min", "max", "l2_norm")
    class DType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DTYPE_UNSPECIFIED: _ClassVar[Tensor.DType]
        BOOL: _ClassVar[Tensor.DType]
        INT8: _ClassVar[Tensor.DType]
        INT16: _ClassVar[Tensor.DType]
        INT32: _ClassVar[Tensor.DType]
        INT64: _ClassVar[Tensor.DType]
        UINT8: _ClassVar[Tensor.DType]
        UINT16: _ClassVar[Tensor.DType]
        UINT32: _ClassVar[Tensor.DType]
        UINT64: _ClassVar[Tensor.DType]
        FLOAT16: _ClassVar[Tensor.DType]
        FLOAT32: _ClassVar[Tensor.DType]
        FLOAT64: _ClassVar[Tensor.DType]
        BFLOAT16: _ClassVar[Tensor.DType]
    DTYPE_UNSPECIFIED: Tensor.DType
    BOOL: Tensor.DType
    INT8: Tensor.DType
    INT16: Tensor.DType
    INT32: Tensor.DType
    INT64: Tensor.DType
    UINT8: Tensor.DType
    UINT16: Tensor.DType
    UINT32: Tensor.DType
    UINT64: Tensor.DType
    FLOAT16: Tensor.DType
    FLOAT32: Tensor.DType
    FLOAT64: Tensor.DType
    BFLOAT16: Tensor.DType
    class BoundsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Tensor.Bounds
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Tensor.Bounds, _Mapping]] = ...) -> None: ...
    class Bounds(_message.Message):
        __slots__ = ("min", "max")
        MIN_FIELD_NUMBER: _ClassVar[int]
        MAX_FIELD_NUMBER: _ClassVar[int]
        min: int
        max: int
        def __init__(self, min: _Optional[int] = ..., max: _Optional[int] = ...) -> None: ...
    class Pad(_message.Message):
        __slots__ = ("value", "side")
        class Side(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            SIDE_UNSPECIFIED: _ClassVar[Tensor.Pad.Side]
            RIGHT: _ClassVar[Tensor.Pad.Side]
            LEFT: _ClassVar[Tensor.Pad.Side]
        SIDE_UNSPECIFIED: Tensor.Pad.Side
        RIGHT: Tensor.Pad.Side
        LEFT: Tensor.Pad.Side
        VALUE_FIELD_NUMBER: _ClassVar[int]
        SIDE_FIELD_NUMBER: _ClassVar[int]
        value: float
        side: Tensor.Pad.Side
        def __init__(self, value: _Optional[float] = ..., side: _Optional[_Union[Tensor.Pad.Side, str]] = ...) -> None: ...
    class Norm(_message.Message):
        __slots__ = ("value", "tolerance")
        VALUE_FIELD_NUMBER: _ClassVar[int]
        TOLERANCE_FIELD_NUMBER: _ClassVar[int]
        value: float
        tolerance: float
        def __init__(self, value: _Optional[float] = ..., tolerance: _Optional[float] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    DIMS_FIELD_NUMBER: _ClassVar[int]
    BOUNDS_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_FIELD_NUMBER: _ClassVar[int]
    BATCHED_FIELD_NUMBER: _ClassVar[int]
    PAD_FIELD_NUMBER: _ClassVar[int]
    TRUNCATE_FIELD_NUMBER: _ClassVar[int]
    FINITE_FIELD_NUMBER: _ClassVar[int]
    MIN_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    L2_NORM_FIELD_NUMBER: _ClassVar[int]
    name: str
    dtype: Tensor.DType
    dims: _containers.RepeatedScalarFieldContainer[str]
    bounds: _containers.MessageMap[str, Tensor.Bounds]
    shape_field: str
    batched: bool
    pad: Tensor.Pad
    truncate: bool
    finite: bool
    min: float
    max: float
    l2_norm: Tensor.Norm
    def __init__(self, name: _Optional[str] = ..., dtype: _Optional[_Union[Tensor.DType, str]] = ..., dims: _Optional[_Iterable[str]] = ..., bounds: _Optional[_Mapping[str, Tensor.Bounds]] = ..., shape_field: _Optional[str] = ..., batched: bool = ..., pad: _Optional[_Union[Tensor.Pad, _Mapping]] = ..., truncate: bool = ..., finite: bool = ..., min: _Optional[float] = ..., max: _Optional[float] = ..., l2_norm: _Optional[_Union[Tensor.Norm, _Mapping]] = ...) -> None: ...

class ServiceLevel(_message.Message):
    __slots__ = ("deadline", "max_deadline", "latency_p99", "availability", "max_request_bytes", "queue", "model_version_field", "evidence", "retry", "rate", "batch", "fallback")
    class Evidence(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        EVIDENCE_UNSPECIFIED: _ClassVar[ServiceLevel.Evidence]
        OFF: _ClassVar[ServiceLevel.Evidence]
        BEST_EFFORT: _ClassVar[ServiceLevel.Evidence]
        REQUIRED: _ClassVar[ServiceLevel.Evidence]
    EVIDENCE_UNSPECIFIED: ServiceLevel.Evidence
    OFF: ServiceLevel.Evidence
    BEST_EFFORT: ServiceLevel.Evidence
    REQUIRED: ServiceLevel.Evidence
    class Retry(_message.Message):
        __slots__ = ("attempts", "codes")
        ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
        CODES_FIELD_NUMBER: _ClassVar[int]
        attempts: int
        codes: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, attempts: _Optional[int] = ..., codes: _Optional[_Iterable[str]] = ...) -> None: ...
    class Rate(_message.Message):
        __slots__ = ("per_second", "burst")
        PER_SECOND_FIELD_NUMBER: _ClassVar[int]
        BURST_FIELD_NUMBER: _ClassVar[int]
        per_second: float
        burst: int
        def __init__(self, per_second: _Optional[float] = ..., burst: _Optional[int] = ...) -> None: ...
    class Batch(_message.Message):
        __slots__ = ("max_size", "max_wait")
        MAX_SIZE_FIELD_NUMBER: _ClassVar[int]
        MAX_WAIT_FIELD_NUMBER: _ClassVar[int]
        max_size: int
        max_wait: _duration_pb2.Duration
        def __init__(self, max_size: _Optional[int] = ..., max_wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...
    class Fallback(_message.Message):
        __slots__ = ("provider", "model", "max_abs", "max_rel", "label_agreement", "sticky", "probe_every")
        PROVIDER_FIELD_NUMBER: _ClassVar[int]
        MODEL_FIELD_NUMBER: _ClassVar[int]
        MAX_ABS_FIELD_NUMBER: _ClassVar[int]
        MAX_REL_FIELD_NUMBER: _ClassVar[int]
        LABEL_AGREEMENT_FIELD_NUMBER: _ClassVar[int]
        STICKY_FIELD_NUMBER: _ClassVar[int]
        PROBE_EVERY_FIELD_NUMBER: _ClassVar[int]
        provider: str
        model: str
        max_abs: float
        max_rel: float
        label_agreement: float
        sticky: bool
        probe_every: _duration_pb2.Duration
        def __init__(self, provider: _Optional[str] = ..., model: _Optional[str] = ..., max_abs: _Optional[float] = ..., max_rel: _Optional[float] = ..., label_agreement: _Optional[float] = ..., sticky: bool = ..., probe_every: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...
    DEADLINE_FIELD_NUMBER: _ClassVar[int]
    MAX_DEADLINE_FIELD_NUMBER: _ClassVar[int]
    LATENCY_P99_FIELD_NUMBER: _ClassVar[int]
    AVAILABILITY_FIELD_NUMBER: _ClassVar[int]
    MAX_REQUEST_BYTES_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    MODEL_VERSION_FIELD_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    RETRY_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    BATCH_FIELD_NUMBER: _ClassVar[int]
    FALLBACK_FIELD_NUMBER: _ClassVar[int]
    deadline: _duration_pb2.Duration
    max_deadline: _duration_pb2.Duration
    latency_p99: _duration_pb2.Duration
    availability: float
    max_request_bytes: int
    queue: int
    model_version_field: str
    evidence: ServiceLevel.Evidence
    retry: ServiceLevel.Retry
    rate: ServiceLevel.Rate
    batch: ServiceLevel.Batch
    fallback: ServiceLevel.Fallback
    def __init__(self, deadline: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., max_deadline: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., latency_p99: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., availability: _Optional[float] = ..., max_request_bytes: _Optional[int] = ..., queue: _Optional[int] = ..., model_version_field: _Optional[str] = ..., evidence: _Optional[_Union[ServiceLevel.Evidence, str]] = ..., retry: _Optional[_Union[ServiceLevel.Retry, _Mapping]] = ..., rate: _Optional[_Union[ServiceLevel.Rate, _Mapping]] = ..., batch: _Optional[_Union[ServiceLevel.Batch, _Mapping]] = ..., fallback: _Optional[_Union[ServiceLevel.Fallback, _Mapping]] = ...) -> None: ...
