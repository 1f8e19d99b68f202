from buf.validate import validate_pb2 as _validate_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from protocontract.v1 import contract_pb2 as _contract_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TextSample(_message.Message):
    __slots__ = ("id", "raw_text", "entities", "created_at")
    ID_FIELD_NUMBER: _ClassVar[int]
    RAW_TEXT_FIELD_NUMBER: _ClassVar[int]
    ENTITIES_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    raw_text: str
    entities: _containers.RepeatedCompositeFieldContainer[NamedEntity]
    created_at: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., raw_text: _Optional[str] = ..., entities: _Optional[_Iterable[_Union[NamedEntity, _Mapping]]] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class NamedEntity(_message.Message):
    __slots__ = ("text", "label", "start_offset", "end_offset")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    START_OFFSET_FIELD_NUMBER: _ClassVar[int]
    END_OFFSET_FIELD_NUMBER: _ClassVar[int]
    text: str
    label: str
    start_offset: int
    end_offset: int
    def __init__(self, text: _Optional[str] = ..., label: _Optional[str] = ..., start_offset: _Optional[int] = ..., end_offset: _Optional[int] = ...) -> None: ...
