from buf.validate import validate_pb2 as _validate_pb2
from protocontract.v1 import contract_pb2 as _contract_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Currency(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CURRENCY_UNSPECIFIED: _ClassVar[Currency]
    CURRENCY_CNY: _ClassVar[Currency]
    CURRENCY_USD: _ClassVar[Currency]
CURRENCY_UNSPECIFIED: Currency
CURRENCY_CNY: Currency
CURRENCY_USD: Currency

class Transaction(_message.Message):
    __slots__ = ("id", "amount", "currency", "booked_at", "account", "kind", "refund_of", "memo")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[Transaction.Kind]
        KIND_PAYMENT: _ClassVar[Transaction.Kind]
        KIND_REFUND: _ClassVar[Transaction.Kind]
    KIND_UNSPECIFIED: Transaction.Kind
    KIND_PAYMENT: Transaction.Kind
    KIND_REFUND: Transaction.Kind
    ID_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    BOOKED_AT_FIELD_NUMBER: _ClassVar[int]
    ACCOUNT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    REFUND_OF_FIELD_NUMBER: _ClassVar[int]
    MEMO_FIELD_NUMBER: _ClassVar[int]
    id: str
    amount: str
    currency: Currency
    booked_at: str
    account: str
    kind: Transaction.Kind
    refund_of: str
    memo: str
    def __init__(self, id: _Optional[str] = ..., amount: _Optional[str] = ..., currency: _Optional[_Union[Currency, str]] = ..., booked_at: _Optional[str] = ..., account: _Optional[str] = ..., kind: _Optional[_Union[Transaction.Kind, str]] = ..., refund_of: _Optional[str] = ..., memo: _Optional[str] = ...) -> None: ...
