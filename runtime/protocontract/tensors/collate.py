"""``Collate``: messages in, one batch of typed arrays out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from protocontract._options import entry_fields, is_map, is_repeated
from protocontract.contract import Contract
from protocontract.tensors.batch import Batch
from protocontract.tensors.columns import (
    CollateError,
    Column,
    Found,
    Label,
    Labels,
    Problem,
    label_column,
    tensor_column,
)
from protocontract.tensors.reading import np, owners
from protocontract.violations import Refusal

Sizes = Mapping[str, "int | Collection[int]"]


class Collate:
    """Makes a ``Batch`` of messages of one contract, from what its annotations declare.

    - Every field with ``tensor``, and every repeated number with ``sequence``, is an array of the declared dtype under
      the tensor's name (its field path where two tensors have one name). Samples are stacked along a new first axis;
      those of a ``batched`` tensor, and of messages in repeated fields, follow each other along the first axis, and
      ``Batch.rows`` says how many each message has.
    - Every integer with ``label`` and every enum with ``class_index`` is an int64 array of class indices under its
      field path.
    - A named dim has one size in a batch: the longest one's, where the tensor declares ``pad`` (labels: where
      there is an ``ignore_index``), with a mask that is True where values are real. Without, samples of several sizes
      are refused.
    - All other fields come as lists under their paths in ``Batch.fields``.

    ``tensors``: names or paths of the arrays to make (default: all). ``fields``: paths of the other fields to bring
    along (default: all that are neither). ``sizes``: the sizes that a free dim may have in a batch, by its name
    (``encoder.tokens`` where messages inside of others have one of the same name): the smallest that fits is taken, and
    where none does, samples are cut to the largest if their tensor declares ``truncate``. ``128`` is always 128,
    ``(64, 128)`` one of two, ``range(8, 513, 8)`` a multiple of 8 up to 512. Values are filled up, and cut, at the side
    of ``pad``. The number of rows of a batched tensor may be given like that too; rows are never cut. ``ignore_index``
    stands for unset labels, and for enum values without a class, where the contract declares none.

    Messages are taken as valid: shapes, sizes and dtypes are checked, bounds of elements are the contract's work.
    Raises ValueError for an option that does not fit the contract.
    """

    def __init__(
        self,
        contract: Contract[Any],
        *,
        tensors: Collection[str] | None = None,
        fields: Collection[str] | None = None,
        sizes: Sizes | None = None,
        ignore_index: int | None = None,
    ) -> None:
        self.contract: Final = contract
        self._options: Final = {
            "tensors": None if tensors is None else tuple(tensors),
            "fields": None if fields is None else tuple(fields),
            "sizes": None if sizes is None else dict(sizes),
            "ignore_index": ignore_index,
        }
        self._descriptor: Final[Any] = contract.message_type.DESCRIPTOR
        columns = _selected(_columns(contract, self._descriptor, ignore_index), tensors)
        self._scopes: Final = _scopes(self._descriptor, columns)
        self._fields: Final = _fields(contract, self._descriptor, fields)
        self._sizes: Final = _checked_sizes(sizes or {}, self._scopes)
        self._keeps_messages: Final = any(described.keeps_messages for described in self._fields)

    @property
    def keys(self) -> tuple[str, ...]:
        """The arrays that a batch may hold; those of a oneof's members only where they are set."""
        return tuple(column.key for scope in self._scopes for column in scope.columns)

    def __call__(self, messages: Iterable[Any], records: Sequence[object] | None = None) -> Batch[Any]:
        """The batch of these messages. ``records`` say what each is called in errors (default: its place in the batch).

        Raises CollateError where they make none, TypeError for a message of another type.
        """
        batch = list(messages)
        if not batch:
            raise CollateError("no messages; expected at least one")
        for message in batch:
            if getattr(message, "DESCRIPTOR", None) is not self._descriptor:
                self._check_type(message)
        values: dict[str, Any] = {}
        masks: dict[str, Any] = {}
        rows: dict[str, tuple[int, ...]] = {}
        dtypes: dict[str, str] = {}
        try:
            for scope in self._scopes:
                scope.collate(batch, self._sizes, values, masks, rows)
                dtypes.update({column.key: column.dtype for column in scope.columns if column.key in values})
        except Problem as problem:
            raise self._error(problem, records) from None
        return Batch(
            values,
            masks=masks,
            dtypes=dtypes,
            fields={described.path: [described.read(message) for message in batch] for described in self._fields},
            rows=rows,
            size=len(batch),
            contract=self.contract if self._keeps_messages else None,
        )

    def _check_type(self, message: Any) -> None:
        name = getattr(getattr(message, "DESCRIPTOR", None), "full_name", type(message).__name__)
        if name != self.contract.full_name:
            raise TypeError(f"a message of another type; expected {self.contract.full_name}, got {name}")

    def _error(self, problem: Problem, records: Sequence[object] | None) -> CollateError:
        path, at = problem.column.path, problem.record
        place = ""
        if at is not None:
            place = f" ({records[at]})" if records is not None else f" (record {at} of the batch)"
        return CollateError(f"{self.contract.full_name} {path}: {problem.text}{place}", path, at)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _made_again, (type(self), self.contract, self._options)


def _made_again(kind: type[Collate], contract: Contract[Any], options: dict[str, Any]) -> Collate:
    return kind(contract, **options)


# ----------------------------------------------------------------------------------------------------------------------
# Arrays


class _Scope:
    """The columns of one message in the record: their named dims are equal in each of its messages."""

    def __init__(self, root: Any, path: str) -> None:
        self.path: Final = path
        self.columns: list[Column] = []
        self._owners, self.descriptor, self._many = owners(root, path)

    def collate(
        self,
        messages: list[Any],
        sizes: Mapping[str, tuple[int, ...]],
        values: dict[str, Any],
        masks: dict[str, Any],
        rows: dict[str, tuple[int, ...]],
    ) -> None:
        """Adds what the columns make of the messages. Raises Problem."""
        found = [Found() for _ in self.columns]
        for record, message in enumerate(messages):
            there = self._owners(message)
            if not there and not self._many:
                for each in found:
                    each.absent.append(record)
            for owner in there:
                self._read(owner, record, found)
        present = [
            (column, each)
            for column, each in zip(self.columns, found, strict=True)
            if self._is_there(column, each, len(messages))
        ]
        targets = self._targets(present, sizes)
        for column, each in present:
            if isinstance(column, Label):
                values[column.key] = np.array(each.arrays, dtype="int64")
            else:
                choices = self._choices(column.dims[0].name, sizes) if column.batched else None
                values[column.key], mask = column.together(each, targets, choices)
                if mask is not None:
                    masks[column.key] = mask
            if column.batched or self._many:
                counts = [0] * len(messages)
                for array, record in zip(each.arrays, each.records, strict=True):
                    counts[record] += len(array) if column.batched else 1
                rows[column.key] = tuple(counts)

    def _read(self, owner: Any, record: int, found: list[Found]) -> None:
        bound: dict[str, int] = {}
        for column, each in zip(self.columns, found, strict=True):
            array = column.read(owner, bound)
            if isinstance(array, Refusal):
                at = "" if array.index is None else f", at index {array.index}"
                raise Problem(column, record, f"{array.message}{at}")
            if array is None and isinstance(column, Label) and column.ignore_index is not None:
                array = column.ignore_index
            if array is None:
                each.absent.append(record)
            else:
                each.arrays.append(array)
                each.records.append(record)

    def _is_there(self, column: Column, found: Found, count: int) -> bool:
        """Whether the column is part of this batch: not where no message has it. Raises Problem where some have."""
        if not found.absent:
            return True
        if not found.arrays:
            return False
        record = found.absent[0]
        if isinstance(column, Label) and column.ignore_index is not None and not self._many:
            # A label of a message that is not there.
            by_record = dict(zip(found.records, found.arrays, strict=True))
            found.records = list(range(count))
            found.arrays = [by_record.get(record, column.ignore_index) for record in found.records]
            return True
        raise Problem(column, record, "not set, and others of the batch are; expected it in all of them, or in none")

    def _targets(self, present: list[tuple[Column, Found]], sizes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
        """The size of each free dim in this batch."""
        longest: dict[str, int] = {}
        for column, found in present:
            if not isinstance(column, Label):
                for at, dim in column.free():
                    longest[dim.name] = max([longest.get(dim.name, 0), *(array.shape[at] for array in found.arrays)])
        targets: dict[str, int] = {}
        for name, size in longest.items():
            choices = self._choices(name, sizes)
            targets[name] = size if choices is None else next((each for each in choices if each >= size), choices[-1])
        return targets

    def _choices(self, dim: str, sizes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...] | None:
        return sizes.get(f"{self.path}.{dim}", sizes.get(dim))


def _columns(contract: Contract[Any], descriptor: Any, ignore_index: int | None) -> list[Column]:
    tensors = {tensor.path: tensor for tensor in contract.tensors}
    labels = [label for label in contract.labels if label.path not in tensors]
    ignored = {label.path: label.ignore_index for label in contract.labels}
    # A name that stands for one thing only is a key; else the path is, which always does.
    known = Counter([*(tensor.name for tensor in contract.tensors), *(label.path for label in labels)])
    paths = Counter([*tensors, *(label.path for label in labels)])
    columns: list[Column] = []
    for tensor in contract.tensors:
        taken = known[tensor.name] > 1 or (paths[tensor.name] and tensor.name != tensor.path)
        _, owner, _ = owners(descriptor, tensor.path.rpartition(".")[0])
        key = tensor.path if taken else tensor.name
        columns.append(tensor_column(owner, tensor, key, ignored.get(tensor.path)))
    for label in labels:
        _, owner, _ = owners(descriptor, label.path.rpartition(".")[0])
        given = label.ignore_index if label.ignore_index is not None else ignore_index
        columns.append(label_column(owner, label, given))
    _agree_on_sides(columns)
    return columns


def _agree_on_sides(columns: list[Column]) -> None:
    """Lists of labels are filled up, and cut, where the tensors beside them are."""
    for column in columns:
        if isinstance(column, Labels):
            for other in columns:
                if not isinstance(other, Labels) and other.pad is not None and _share_a_dim(column, other):
                    column.side, column.truncate = other.side, other.truncate
                    break


def _share_a_dim(left: Column, right: Column) -> bool:
    if left.path.rpartition(".")[0] != right.path.rpartition(".")[0]:
        return False
    return not {dim.name for dim in left.dims if dim.name}.isdisjoint(dim.name for dim in right.dims)


def _selected(columns: list[Column], names: Collection[str] | None) -> list[Column]:
    if names is None:
        return columns
    unknown = sorted({*names} - {name for column in columns for name in (column.key, column.path)})
    if unknown:
        there = ", ".join(column.key for column in columns) or "none"
        raise ValueError(f"no tensor or label {', '.join(unknown)}; the contract has: {there}")
    return [column for column in columns if column.key in names or column.path in names]


def _scopes(descriptor: Any, columns: list[Column]) -> list[_Scope]:
    scopes: dict[str, _Scope] = {}
    for column in columns:
        path = column.path.rpartition(".")[0]
        if path not in scopes:
            scopes[path] = _Scope(descriptor, path)
        scopes[path].columns.append(column)
    for scope in scopes.values():
        # In the order in which the contract's own check reads them: earlier dims settle later ones.
        scope.columns.sort(key=lambda column: scope.descriptor.fields_by_name[column.name].index)
    return list(scopes.values())


def _checked_sizes(sizes: Sizes, scopes: list[_Scope]) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    dims: dict[str, list[tuple[Column, int]]] = {}
    for scope in scopes:
        for column in scope.columns:
            for at, dim in enumerate(column.dims):
                if dim.size is None:
                    for name in (dim.name, f"{scope.path}.{dim.name}"):
                        dims.setdefault(name, []).append((column, at))
    for name, given in sizes.items():
        if name not in dims:
            free = ", ".join(sorted(dim for dim in dims if not dim.startswith("."))) or "none"
            raise ValueError(f"sizes: no free dim {name}; the contract has: {free}")
        choices = tuple(sorted({given} if isinstance(given, int) else {*given}))
        if not choices or choices[0] < 1:
            raise ValueError(f"sizes: expected sizes of {name} from 1")
        for column, at in dims[name]:
            most = column.dims[at].max
            if most is not None and choices[-1] > most and not (column.batched and at == 0):
                raise ValueError(f"sizes: {name} is at most {most} in {column.path}, got {choices[-1]}")
        found[name] = choices
    return found


# ----------------------------------------------------------------------------------------------------------------------
# All other fields


@dataclass(frozen=True, slots=True)
class _FieldReader:
    path: str
    read: Callable[[Any], Any]
    keeps_messages: bool


def _fields(contract: Contract[Any], descriptor: Any, wanted: Collection[str] | None) -> list[_FieldReader]:
    if wanted is not None:
        return [_reader(descriptor, path) for path in wanted]
    arrays = {tensor.path for tensor in contract.tensors} | {label.path for label in contract.labels}
    shapes = {
        f"{tensor.path.rpartition('.')[0]}.{tensor.shape_field}".lstrip(".")
        for tensor in contract.tensors
        if tensor.shape_field
    }
    return [_reader(descriptor, path) for path in _others(descriptor, arrays | shapes, "")]


def _others(descriptor: Any, arrays: set[str], prefix: str) -> list[str]:
    """Paths of the fields that are no arrays, and hold none; into messages that do and are not repeated."""
    found: list[str] = []
    for field in descriptor.fields:
        path = f"{prefix}{field.name}"
        below = [array for array in arrays if array.startswith((f"{path}.", f"{path}[]"))]
        if below and not is_repeated(field):
            found += _others(field.message_type, arrays, f"{path}.")
        elif not below and path not in arrays:
            found.append(path)
    return found


def _reader(descriptor: Any, path: str) -> _FieldReader:
    head, _, name = path.rpartition(".")
    unknown = ValueError(f"fields: {descriptor.full_name} has no field {path}; expected paths such as user.name")
    try:
        find, owner, many = owners(descriptor, head)
        field: Any = owner.fields_by_name[name]
    except (KeyError, AttributeError):
        raise unknown from None
    if many:
        raise unknown

    def read(message: Any) -> Any:
        there = find(message)
        return _plain(there[0], field) if there else None

    element = entry_fields(field)[1] if is_map(field) else field
    return _FieldReader(path, read, element.message_type is not None)


def _plain(message: Any, field: Any) -> Any:
    value = getattr(message, field.name)
    if is_map(field):
        return {key: value[key] for key in sorted(value)}
    if is_repeated(field):
        return list(value)
    return value if not field.has_presence or message.HasField(field.name) else None
