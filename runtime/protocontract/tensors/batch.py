"""``Batch``: what ``Collate`` makes of a list of messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from google.protobuf import message_factory
from google.protobuf.message import Message

if TYPE_CHECKING:
    from protocontract.contract import Contract

A = TypeVar("A")


class Batch(Mapping[str, A], Generic[A]):
    """Arrays by name: the tensors and labels of some messages, one row a sample.

    The mapping holds the arrays. ``masks`` has a bool array for each one that may be filled up, True where a value is
    real: its axes are the rows and the free dims. ``fields`` has everything else of the messages by field path, a list
    with an item a message (None where a field is not set). ``rows`` says how many rows each message has, for the arrays
    where that is not one: those of batched tensors, and of messages in repeated fields. ``dtypes`` are those that the
    contract declares (NumPy holds bfloat16 as its 16 bits, uint16). ``size`` is the number of messages.

    It pickles, also where the contract was compiled at run time.
    """

    __slots__ = ("_contract", "_values", "dtypes", "fields", "masks", "rows", "size")

    def __init__(
        self,
        values: dict[str, A],
        *,
        masks: dict[str, A],
        dtypes: dict[str, str],
        fields: dict[str, list[Any]],
        rows: dict[str, tuple[int, ...]],
        size: int,
        contract: Contract[Any] | None = None,
    ) -> None:
        self._values = values
        self.masks: Mapping[str, A] = masks
        self.dtypes: Mapping[str, str] = dtypes
        self.fields: Mapping[str, list[Any]] = fields
        self.rows: Mapping[str, tuple[int, ...]] = rows
        self.size = size
        # Set where `fields` holds messages: their classes are found through it.
        self._contract = contract

    def __getitem__(self, key: str) -> A:
        try:
            return self._values[key]
        except KeyError:
            if key in self.fields:
                raise KeyError(f"{key} is no tensor of this batch; expected it in batch.fields") from None
            raise

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        # Names and shapes only: a value never shows.
        shown = [f"{key} {self.dtypes[key]}{list(getattr(value, 'shape', ()))}" for key, value in self.items()]
        others = f"; fields {', '.join(self.fields)}" if self.fields else ""
        return f"<Batch of {self.size}: {', '.join(shown) or 'no tensors'}{others}>"

    def arrays(self) -> Batch[Any]:
        """The same as NumPy arrays: what ``digest`` reads."""
        return self

    def _as(self, kind: Any, change: Callable[[Any, str], Any]) -> Any:
        """The same batch as another kind: each array, and each mask, as ``change`` of it and its dtype."""
        return kind(
            {key: change(value, self.dtypes[key]) for key, value in self.items()},
            masks={key: change(mask, "bool") for key, mask in self.masks.items()},
            dtypes=dict(self.dtypes),
            fields=dict(self.fields),
            rows=dict(self.rows),
            size=self.size,
            contract=self._contract,
        )

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        fields: dict[str, Any] = dict(self.fields)
        if self._contract is not None:
            fields = {path: _packed(values) for path, values in fields.items()}
        parts = (self._values, dict(self.masks), dict(self.dtypes), fields, dict(self.rows), self.size, self._contract)
        return _unpickled, (type(self), *parts)


class _Packed:
    """A message on its way between processes: a class of a private pool has no name to find it by."""

    __slots__ = ("name", "raw")

    def __init__(self, name: str, raw: bytes) -> None:
        self.name = name
        self.raw = raw

    def __reduce__(self) -> tuple[Any, tuple[str, bytes]]:
        return _Packed, (self.name, self.raw)


def _packed(value: Any) -> Any:
    if isinstance(value, Message):
        # Required fields of proto2 may be missing in messages that were not validated.
        return _Packed(value.DESCRIPTOR.full_name, value.SerializePartialToString(deterministic=True))
    if isinstance(value, list):
        return [_packed(item) for item in value]
    if isinstance(value, dict):
        return {key: _packed(item) for key, item in value.items()}
    return value


def _unpacked(value: Any, pool: Any) -> Any:
    if isinstance(value, _Packed):
        return message_factory.GetMessageClass(pool.FindMessageTypeByName(value.name)).FromString(value.raw)
    if isinstance(value, list):
        return [_unpacked(item, pool) for item in value]
    if isinstance(value, dict):
        return {key: _unpacked(item, pool) for key, item in value.items()}
    return value


def _unpickled(
    kind: type[Batch[Any]],
    values: dict[str, Any],
    masks: dict[str, Any],
    dtypes: dict[str, str],
    fields: dict[str, list[Any]],
    rows: dict[str, tuple[int, ...]],
    size: int,
    contract: Contract[Any] | None,
) -> Batch[Any]:
    if contract is not None:
        descriptor: Any = contract.message_type.DESCRIPTOR
        fields = {path: _unpacked(found, descriptor.file.pool) for path, found in fields.items()}
    return kind(values, masks=masks, dtypes=dtypes, fields=fields, rows=rows, size=size, contract=contract)
