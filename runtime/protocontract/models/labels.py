"""The labels of a model's classes, by index: from its metadata, or from a file beside it.

There is no standard place, so these are looked at, in this order, and the first that is there counts:

- metadata_props ``labels``, ``classes``, ``class_names``, ``names`` or ``id2label``;
- ``model.onnx.labels.json``, ``model.labels.json``, or the same as ``.txt`` (a label a line), beside the model;
- ``id2label`` in ``config.json`` beside the model, as Hugging Face's exporters write it.

JSON is a list, or an object of labels by index. ``LABEL_0``, ``LABEL_1`` and so on are what exporters write where
nobody gave labels: they count as none.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from protocontract.tensors.fields import ClassLabel
from protocontract.violations import ContractError

_KEYS: Final = ("labels", "classes", "class_names", "names", "id2label")
_PLACEHOLDER: Final = re.compile(r"label_\d+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels by index, and where they stand (``model.onnx metadata names``)."""

    names: Mapping[int, str]
    place: str


def find_labels(model: Path, metadata: Mapping[str, str]) -> Labels | None:
    """The labels of a model; None where nothing says them. Raises ContractError where they cannot be read; OSError."""
    for key in _KEYS:
        if key in metadata:
            found = _labels(_parsed(metadata[key], f"{model.name} metadata {key}"), f"{model.name} metadata {key}")
            return None if _placeholders(found) else found
    for name in (model.name, model.stem):
        for suffix in (".labels.json", ".labels.txt"):
            sidecar = model.with_name(name + suffix)
            if sidecar.exists():
                return read_labels(str(sidecar))
    config = model.with_name("config.json")
    if config.exists():
        content = _json(config)
        if isinstance(content, dict) and "id2label" in content:
            found = _labels(content["id2label"], "config.json id2label")
            return None if _placeholders(found) else found
    return None


def read_labels(place: str) -> Labels:
    """The labels in ``FILE``, or of an object's key: ``FILE#KEY``. Raises ContractError where it has none; OSError."""
    name, _, key = place.partition("#")
    file = Path(name)
    if file.suffix == ".txt":
        lines = file.read_text(encoding="utf-8").splitlines()
        return _labels([line.strip() for line in lines if line.strip()], file.name)
    content = _json(file)
    if key:
        if not isinstance(content, dict) or key not in content:
            raise ContractError(f"{file.name} has no key {key}; expected labels there")
        content = content[key]
    return _labels(content, f"{file.name} {key}".rstrip())


def same(label: str, known: ClassLabel, prefix: str) -> bool:
    """Whether a model's label names a class: its code, its name, or its name without the enum's prefix.

    Case, and whether words are parted by space, hyphen or underscore, is spelling.
    """
    return _plain(label) in {_plain(known.code), _plain(known.name), _plain(known.name.removeprefix(prefix))} - {""}


def prefix_of(classes: tuple[ClassLabel, ...]) -> str:
    """What the names of all classes begin with, up to an underscore: the enum's prefix."""
    if len(classes) < 2:
        return ""
    low, high = min(each.name for each in classes), max(each.name for each in classes)
    shared = 0
    while shared < min(len(low), len(high)) and low[shared] == high[shared]:
        shared += 1
    return low[: low.rfind("_", 0, shared) + 1]


def _plain(text: str) -> str:
    return re.sub(r"[\s_-]+", "_", text.strip()).casefold()


def _placeholders(labels: Labels) -> bool:
    return all(_PLACEHOLDER.fullmatch(name) for name in labels.names.values())


def _parsed(text: str, place: str) -> Any:
    for read in (json.loads, ast.literal_eval):  # Ultralytics writes the text of a Python dict
        try:
            return read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    separated = [part.strip() for part in text.split(",")]
    if len(separated) > 1 and all(separated):
        return separated
    raise ContractError(f"{place} cannot be read; expected a JSON list of labels, or an object of labels by index")


def _labels(content: Any, place: str) -> Labels:
    pairs = enumerate(content) if isinstance(content, list | tuple) else content.items() if _is_object(content) else ()
    try:
        names = {int(index): name for index, name in pairs}
    except (TypeError, ValueError):
        names = {}
    if not names or not all(isinstance(name, str) for name in names.values()):
        raise ContractError(f"{place} holds no labels; expected a list of texts, or an object of texts by index")
    return Labels(names, place)


def _is_object(content: Any) -> bool:
    return isinstance(content, dict)


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ContractError(f"{file.name} is not JSON; expected labels") from error
