"""Arrow's types by what they hold; how values are laid out (large offsets, views, dictionaries) is no difference."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def stored_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values themselves: of a dictionary's or runs' values, of an extension's storage."""
    while True:
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        elif pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
            kind = kind.value_type
        else:
            return kind


def stored_values(array: pa.Array) -> pa.Array:
    """The array of ``stored_type``, views made plain: slices of it know their size in bytes."""
    while True:
        kind = array.type
        if isinstance(kind, pa.BaseExtensionType):
            array = array.storage
        elif pa.types.is_dictionary(kind):
            array = array.dictionary_decode()
        elif pa.types.is_run_end_encoded(kind):
            array = pc.call_function("run_end_decode", [array])
        elif pa.types.is_binary_view(kind):
            array = array.cast(pa.large_binary())
        elif pa.types.is_string_view(kind):
            array = array.cast(pa.large_string())
        else:
            return array


def is_binary(kind: pa.DataType) -> bool:
    """Whether a type holds bytes."""
    types = pa.types
    return bool(
        types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_fixed_size_binary(kind)
        or types.is_binary_view(kind)
    )


def is_text(kind: pa.DataType) -> bool:
    """Whether a type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_list(kind: pa.DataType) -> bool:
    """Whether a type holds lists; maps are none."""
    types = pa.types
    return bool(
        types.is_list(kind)
        or types.is_large_list(kind)
        or types.is_fixed_size_list(kind)
        or types.is_list_view(kind)
        or types.is_large_list_view(kind)
    )
