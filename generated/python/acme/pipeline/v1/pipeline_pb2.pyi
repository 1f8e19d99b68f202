from buf.validate import validate_pb2 as _validate_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from protocontract.v1 import contract_pb2 as _contract_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TokenizerOutput(_message.Message):
    __slots__ = ("document_id", "input_ids", "attention_mask", "position_ids")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_IDS_FIELD_NUMBER: _ClassVar[int]
    ATTENTION_MASK_FIELD_NUMBER: _ClassVar[int]
    POSITION_IDS_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    input_ids: _containers.RepeatedScalarFieldContainer[int]
    attention_mask: _containers.RepeatedScalarFieldContainer[int]
    position_ids: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, document_id: _Optional[str] = ..., input_ids: _Optional[_Iterable[int]] = ..., attention_mask: _Optional[_Iterable[int]] = ..., position_ids: _Optional[_Iterable[int]] = ...) -> None: ...

class Embedding(_message.Message):
    __slots__ = ("document_id", "encoder", "vector", "encoded_at")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    ENCODER_FIELD_NUMBER: _ClassVar[int]
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    ENCODED_AT_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    encoder: str
    vector: bytes
    encoded_at: _timestamp_pb2.Timestamp
    def __init__(self, document_id: _Optional[str] = ..., encoder: _Optional[str] = ..., vector: _Optional[bytes] = ..., encoded_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class RetrievedChunks(_message.Message):
    __slots__ = ("query_id", "chunks")
    QUERY_ID_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    query_id: str
    chunks: _containers.RepeatedCompositeFieldContainer[Chunk]
    def __init__(self, query_id: _Optional[str] = ..., chunks: _Optional[_Iterable[_Union[Chunk, _Mapping]]] = ...) -> None: ...

class Chunk(_message.Message):
    __slots__ = ("chunk_id", "text", "score", "source_uri")
    CHUNK_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    chunk_id: str
    text: str
    score: float
    source_uri: str
    def __init__(self, chunk_id: _Optional[str] = ..., text: _Optional[str] = ..., score: _Optional[float] = ..., source_uri: _Optional[str] = ...) -> None: ...

class Conversation(_message.Message):
    __slots__ = ("conversation_id", "turns")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    turns: _containers.RepeatedCompositeFieldContainer[ChatTurn]
    def __init__(self, conversation_id: _Optional[str] = ..., turns: _Optional[_Iterable[_Union[ChatTurn, _Mapping]]] = ...) -> None: ...

class ChatTurn(_message.Message):
    __slots__ = ("message_id", "parent_ids", "role", "content")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_IDS_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    parent_ids: _containers.RepeatedScalarFieldContainer[str]
    role: str
    content: str
    def __init__(self, message_id: _Optional[str] = ..., parent_ids: _Optional[_Iterable[str]] = ..., role: _Optional[str] = ..., content: _Optional[str] = ...) -> None: ...
