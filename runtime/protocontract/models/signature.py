"""What a model takes and gives, as its file says: names, dtypes, sizes of axes. Without any runtime."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

#: The contract's dtypes by ONNX Runtime's names of element types.
DTYPES: Final[Mapping[str, str]] = {
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    **{
        f"tensor({name})": name
        for name in (
            "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
        )
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Port:
    """An input or an output. ``dtype`` is the contract's word, or the runtime's where the contract has none.

    An entry of ``dims`` is the size of an axis; of a free one the name that the file gives it, or None. The name is
    somebody's spelling and means nothing.
    """

    name: str
    dtype: str
    dims: tuple[int | str | None, ...]

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join('?' if dim is None else str(dim) for dim in self.dims)}]"

    @classmethod
    def of(cls, argument: Any) -> Port:
        """From a ``NodeArg`` of ONNX Runtime."""
        # Some exporters write -1 for a free axis.
        dims = (None if isinstance(dim, int) and dim < 0 else dim for dim in argument.shape)
        return cls(argument.name, DTYPES.get(argument.type, argument.type), tuple(dims))


@dataclass(frozen=True, slots=True)
class Signature:
    """A model's inputs and outputs in its own order, and the texts that its file carries (``metadata_props``)."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    metadata: Mapping[str, str]

    @classmethod
    def of(cls, session: Any) -> Signature:
        """From an ``InferenceSession``."""
        return cls(
            tuple(map(Port.of, session.get_inputs())),
            tuple(map(Port.of, session.get_outputs())),
            dict(session.get_modelmeta().custom_metadata_map),
        )
