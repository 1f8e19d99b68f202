from buf.validate import validate_pb2 as _validate_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from protocontract.v1 import contract_pb2 as _contract_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STATUS_UNSPECIFIED: _ClassVar[Status]
    STATUS_OK: _ClassVar[Status]
    STATUS_REFUSED: _ClassVar[Status]
    STATUS_FAILED: _ClassVar[Status]
STATUS_UNSPECIFIED: Status
STATUS_OK: Status
STATUS_REFUSED: Status
STATUS_FAILED: Status

class PredictRequest(_message.Message):
    __slots__ = ("request_id", "model_version", "entity_model", "encoder")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_VERSION_FIELD_NUMBER: _ClassVar[int]
    ENTITY_MODEL_FIELD_NUMBER: _ClassVar[int]
    ENCODER_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    model_version: str
    entity_model: EntityModelInput
    encoder: EncoderInput
    def __init__(self, request_id: _Optional[str] = ..., model_version: _Optional[str] = ..., entity_model: _Optional[_Union[EntityModelInput, _Mapping]] = ..., encoder: _Optional[_Union[EncoderInput, _Mapping]] = ...) -> None: ...

class PredictResponse(_message.Message):
    __slots__ = ("request_id", "model_version", "status", "entity_model", "encoder", "evidence", "metrics")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_VERSION_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ENTITY_MODEL_FIELD_NUMBER: _ClassVar[int]
    ENCODER_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    METRICS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    model_version: str
    status: Status
    entity_model: EntityModelOutput
    encoder: EncoderOutput
    evidence: _containers.RepeatedCompositeFieldContainer[EvidenceStep]
    metrics: Metrics
    def __init__(self, request_id: _Optional[str] = ..., model_version: _Optional[str] = ..., status: _Optional[_Union[Status, str]] = ..., entity_model: _Optional[_Union[EntityModelOutput, _Mapping]] = ..., encoder: _Optional[_Union[EncoderOutput, _Mapping]] = ..., evidence: _Optional[_Iterable[_Union[EvidenceStep, _Mapping]]] = ..., metrics: _Optional[_Union[Metrics, _Mapping]] = ...) -> None: ...

class EntityModelInput(_message.Message):
    __slots__ = ("shape", "input_ids", "attention_mask")
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    INPUT_IDS_FIELD_NUMBER: _ClassVar[int]
    ATTENTION_MASK_FIELD_NUMBER: _ClassVar[int]
    shape: _containers.RepeatedScalarFieldContainer[int]
    input_ids: bytes
    attention_mask: bytes
    def __init__(self, shape: _Optional[_Iterable[int]] = ..., input_ids: _Optional[bytes] = ..., attention_mask: _Optional[bytes] = ...) -> None: ...

class EntityModelOutput(_message.Message):
    __slots__ = ("shape", "logits")
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    LOGITS_FIELD_NUMBER: _ClassVar[int]
    shape: _containers.RepeatedScalarFieldContainer[int]
    logits: bytes
    def __init__(self, shape: _Optional[_Iterable[int]] = ..., logits: _Optional[bytes] = ...) -> None: ...

class EncoderInput(_message.Message):
    __slots__ = ("input_ids", "attention_mask")
    INPUT_IDS_FIELD_NUMBER: _ClassVar[int]
    ATTENTION_MASK_FIELD_NUMBER: _ClassVar[int]
    input_ids: _containers.RepeatedScalarFieldContainer[int]
    attention_mask: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, input_ids: _Optional[_Iterable[int]] = ..., attention_mask: _Optional[_Iterable[int]] = ...) -> None: ...

class EncoderOutput(_message.Message):
    __slots__ = ("vector",)
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    vector: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, vector: _Optional[_Iterable[float]] = ...) -> None: ...

class EvidenceStep(_message.Message):
    __slots__ = ("name", "digest", "previous", "provider", "at")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    name: str
    digest: str
    previous: _containers.RepeatedScalarFieldContainer[str]
    provider: str
    at: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., digest: _Optional[str] = ..., previous: _Optional[_Iterable[str]] = ..., provider: _Optional[str] = ..., at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Metrics(_message.Message):
    __slots__ = ("queued", "ran", "batch_size")
    QUEUED_FIELD_NUMBER: _ClassVar[int]
    RAN_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    queued: _duration_pb2.Duration
    ran: _duration_pb2.Duration
    batch_size: int
    def __init__(self, queued: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., ran: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., batch_size: _Optional[int] = ...) -> None: ...
