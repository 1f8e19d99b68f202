"""One side of a KServe model: its tensors as the fields of a contract's message, and whether they keep the contract.

A tensor's place is the field whose ``tensor`` has its name. BYTES go to string and bytes fields by the field's name,
where a contract can normalise them. KServe states a shape with each tensor, so it is compared with the declared dims
before the elements become a field, which alone would not show it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor

from protocontract._options import is_repeated
from protocontract._sites import Site, refuse_all
from protocontract.contract import Contract
from protocontract.models.comparison import stacked, tensors
from protocontract.relations.tensor import Axes
from protocontract.serving.kserve.datatypes import BYTES, DATATYPES, count_of
from protocontract.serving.rejection import Rejected, bad_message
from protocontract.tensors.fields import Dim, TensorField
from protocontract.tensors.reading import count_nonfinite
from protocontract.tensors.writing import Writer
from protocontract.violations import ContractError, FieldElement, Refusal, RuleEvaluationError, Violation

#: The longest axis of a tensor without elements: nothing else bounds how many empty rows somebody writes down.
_MOST_EMPTY: Final = 4096


@dataclass(frozen=True, slots=True)
class Given:
    """A tensor as it came: its datatype, its shape, and its elements (an array of one axis; bytes for BYTES)."""

    datatype: str
    shape: tuple[int, ...]
    elements: Any


@dataclass(frozen=True, slots=True)
class Kept:
    """Tensors that keep their contract: texts that normalizers changed, by name, and how many samples there are.

    ``rows`` is None where no axis counts samples. ``nonfinite`` counts NaN and infinities that the contract lets pass,
    by tensor.
    """

    texts: Mapping[str, list[bytes]]
    rows: int | None
    nonfinite: Mapping[str, int] = field(default_factory=dict[str, int])


class Binding:
    """The tensors of a message, both ways. Thread safe."""

    def __init__(self, contract: Contract[Any], *, request: bool) -> None:
        """Raises ContractError where the message is none that a KServe model takes or gives: tensors below its top,
        several of one name, batched ones beside others, or nothing at all that KServe has a place for."""
        self.contract: Final = contract
        self._request: Final = request
        descriptor: Any = contract.message_type.DESCRIPTOR
        fields = tensors(contract) if contract.tensors else ()
        below = [field.path for field in fields if "." in field.path or "[" in field.path]
        if below:
            raise ContractError(f"{contract.full_name} has a tensor at {below[0]}; expected tensors at its top")
        texts = [field for field in descriptor.fields if _is_text(field) and not _among(field, fields)]
        self._texts: Final = {field.name: _Text(contract, field) for field in texts}
        if not fields and not texts:
            raise ContractError(f"{contract.full_name} has neither tensors nor texts; expected a model's message")
        if len({field.batched for field in fields}) > 1:
            raise ContractError(
                f"{contract.full_name} has tensors that are batched beside some that are not; expected one of the two"
            )
        #: A message is one sample, so that there are as many messages as rows.
        self.stacked: Final = (
            not fields[0].batched if fields else all(not text.repeated for text in self._texts.values())
        )
        self._batched: Final = bool(fields) and not self.stacked
        self._tensors: Final = {field.name: _Tensor(contract, field) for field in fields}
        shared = self._tensors.keys() & self._texts.keys()
        if shared:
            raise ContractError(f"{contract.full_name} has a tensor and a text of the name {min(shared)}")

    @property
    def fields(self) -> tuple[TensorField, ...]:
        """The tensors of numbers, as the contract has them."""
        return tuple(each.field for each in self._tensors.values())

    @property
    def texts(self) -> tuple[str, ...]:
        """The names of BYTES tensors."""
        return tuple(self._texts)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tensors."""
        return (*self._tensors, *self._texts)

    def datatype(self, name: str) -> str | None:
        """The datatype that a tensor must have; None for a name that the contract does not know."""
        if name in self._texts:
            return BYTES
        found = self._tensors.get(name)
        return None if found is None else DATATYPES[found.field.dtype]

    def violation(self, name: str, refusal: Refusal) -> Rejected:
        """The status of a tensor that cannot be read. ``name`` is one that the contract knows."""
        found = self._texts.get(name) or self._tensors[name]
        return self._rejected(refuse_all(None, found.site, [refusal], None, None) or [], None)

    def check(self, given: Mapping[str, Given]) -> Kept:
        """Hold tensors to the contract. All names and datatypes are known ones. Raises Rejected."""
        violations: list[Violation] = []
        bound: dict[str, int] = {}
        arrays: dict[str, Any] = {}
        rows: set[int] = set()
        for name, tensor in given.items():
            place = self._texts.get(name) or self._tensors[name]
            found = place.shaped(tensor, bound, rows, self.stacked)
            if isinstance(found, Refusal):
                refuse_all(violations, place.site, [found], None, None)
            else:
                arrays[name] = found
        if violations:
            raise self._rejected(violations, None)
        odd = {
            name: count for name, each in self._tensors.items() if name in arrays and (count := each.odd(arrays[name]))
        }
        if not self.stacked:
            return Kept(self._whole(arrays), rows.pop() if self._batched and len(rows) == 1 else None, odd)
        if len(rows) > 1:
            name = max(given)
            place = self._texts.get(name) or self._tensors[name]
            text = f"tensors of one request have several numbers of samples: {', '.join(map(str, sorted(rows)))}"
            raise self._rejected(refuse_all(None, place.site, [Refusal("tensor.shape", text)], None, None) or [], None)
        return Kept(self._samples(arrays, max(rows, default=0)), max(rows, default=None), odd)

    # -- messages

    def _whole(self, arrays: Mapping[str, Any]) -> dict[str, list[bytes]]:
        message = self.contract.message_type()
        for name, array in arrays.items():
            (self._texts.get(name) or self._tensors[name]).put(message, array)
        kept = self._kept(message, None)
        return {} if kept is None else self._changed(arrays, [kept])

    def _samples(self, arrays: Mapping[str, Any], rows: int) -> dict[str, list[bytes]]:
        kept: list[Any] = []
        # Without samples the contract still has a say: of a message with nothing in it.
        for row in range(max(rows, 1)):
            message = self.contract.message_type()
            if rows:
                for name, array in arrays.items():
                    (self._texts.get(name) or self._tensors[name]).put(message, array[row : row + 1])
            found = self._kept(message, row)
            if found is not None:
                kept.append(found)
        return self._changed(arrays, kept) if kept and rows else {}

    def _kept(self, message: Any, row: int | None) -> Any | None:
        """The normalised message; None where there is nothing that a normalizer could change. Raises Rejected."""
        if not self._texts:
            try:
                violations = self.contract.validate(message)
            except RuleEvaluationError:
                pass  # the longer way tells it as a violation
            else:
                if any(violation.severity == "ERROR" for violation in violations):
                    raise self._rejected(violations, row)
                return None
        outcome = self.contract.process(message.SerializeToString(deterministic=True))
        if outcome.message is None:
            raise self._rejected(outcome.violations, row)
        return outcome.message

    def _changed(self, arrays: Mapping[str, Any], kept: Sequence[Any]) -> dict[str, list[bytes]]:
        found: dict[str, list[bytes]] = {}
        for name, text in self._texts.items():
            if name in arrays:
                now = [each for message in kept for each in text.get(message)]
                if now != [each for part in arrays[name] for each in part]:
                    found[name] = now
        return found

    def _rejected(self, violations: Sequence[Violation], row: int | None) -> Rejected:
        return bad_message(self.contract, violations, request=self._request, index=row)


class _Tensor:
    """A tensor of numbers."""

    def __init__(self, contract: Contract[Any], field: TensorField) -> None:
        self.field: Final = field
        descriptor: Any = contract.message_type.DESCRIPTOR
        self.site: Final = _site(contract, descriptor.fields_by_name[field.path])
        self._writer: Final = Writer(descriptor, (field,))
        dims = stacked(field)
        self._batch: Final = not field.batched
        bounds = {dim.name: (dim.min, dim.max) for dim in field.dims if dim.size is None}
        self._axes: Final = Axes([_word(dim) for dim in dims[self._batch :]], bounds, False)

    def shaped(self, given: Given, bound: dict[str, int], rows: set[int], is_stacked: bool) -> Any:
        """The elements in their shape, or a Refusal where it is none that the contract declares."""
        del is_stacked
        shape = given.shape
        axes = len(self.field.dims) + self._batch
        if len(shape) != axes:
            return Refusal("tensor.shape", f"another number of axes; expected {axes}, got {len(shape)}")
        misfit = _misfit(shape, len(given.elements))
        if misfit is not None:
            return misfit
        own = shape[self._batch :]
        found = self._axes.sizes(count_of(own), own, bound)
        if isinstance(found, Refusal):
            return found
        if axes:
            rows.add(shape[0])
        return given.elements.reshape(shape)

    def odd(self, array: Any) -> int:
        """How many elements are NaN or infinite."""
        return count_nonfinite(array, bfloat16=self.field.dtype == "bfloat16")

    def put(self, message: Any, array: Any) -> None:
        """Set the field."""
        self._writer.fill(message, {self.field.name: array})


class _Text:
    """A BYTES tensor: a string or bytes field, one or repeated."""

    def __init__(self, contract: Contract[Any], described: Any) -> None:
        self.site: Final = _site(contract, described)
        self.repeated: Final = is_repeated(described)
        self._name: Final[str] = described.name
        self._string: Final[bool] = described.type == FieldDescriptor.TYPE_STRING

    def shaped(self, given: Given, bound: dict[str, int], rows: set[int], is_stacked: bool) -> Any:
        """A list of texts for each row, or a Refusal."""
        del bound
        shape, texts = given.shape, given.elements
        misfit = _misfit(shape, len(texts))
        if misfit is not None:
            return misfit
        if not shape:
            return Refusal("tensor.shape", "no axis; expected one at least")
        if self._string:
            for at, text in enumerate(texts):
                if not _is_utf8(text):
                    return Refusal("tensor.dtype", f"text {at} is not UTF-8; expected UTF-8")
        if is_stacked:
            width = count_of(shape[1:])
            if not self.repeated and width != 1:
                return Refusal("tensor.shape", f"{width} texts in a sample; expected 1")
            rows.add(shape[0])
            return [texts[row * width : (row + 1) * width] for row in range(shape[0])]
        if count_of(shape[1:]) != 1 or (not self.repeated and shape[0] != 1):
            wanted = "one axis of texts" if self.repeated else "one text"
            return Refusal("tensor.shape", f"another shape; expected {wanted}")
        return [texts]

    def put(self, message: Any, parts: Any) -> None:
        """Set the field."""
        texts = [text.decode() if self._string else text for part in parts for text in part]
        if self.repeated:
            getattr(message, self._name).extend(texts)
        elif texts:
            setattr(message, self._name, texts[0])

    def get(self, message: Any) -> list[bytes]:
        """What the field holds."""
        found = getattr(message, self._name)
        texts = list(found) if self.repeated else [found]
        return [text.encode() if self._string else text for text in texts]


def _misfit(shape: tuple[int, ...], elements: int) -> Refusal | None:
    """What is wrong with a shape, whatever the contract says of it."""
    if any(size < 0 for size in shape):
        return Refusal("tensor.shape", "a shape with a negative size; expected sizes from 0")
    count = count_of(shape)
    if count != elements:
        return Refusal("tensor.size", f"not as many elements as the shape says; expected {count}, got {elements}")
    if not count and any(size > _MOST_EMPTY for size in shape):
        return Refusal("tensor.shape", f"an axis of a tensor without elements; expected at most {_MOST_EMPTY}")
    return None


def _site(contract: Contract[Any], described: Any) -> Site:
    sensitive = described.name in contract.sensitive
    element = FieldElement(described.number, described.name, described.type, sensitive=sensitive)
    return Site(contract.full_name, element, "tensor", sensitive=sensitive)


def _word(dim: Dim) -> str | int:
    return dim.name if dim.size is None else dim.size


def _is_text(field: Any) -> bool:
    return field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)


def _among(field: Any, tensors: Sequence[TensorField]) -> bool:
    return any(field.name in (each.path, each.shape_field) for each in tensors)


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
