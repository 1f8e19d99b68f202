"""Which models a service has, as they are written on the command line or in a file."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from protocontract.serving.engines import ModelSpec
from protocontract.violations import ContractError

_NAMED: Final = re.compile(r"(?P<name>[A-Za-z0-9_.-]*)(?:@(?P<version>[^=@/\s]+))?=(?P<path>.+)", re.DOTALL)
_ROLES: Final = ("active", "canary", "shadow", "")
_KEYS: Final = {"name": str, "version": str, "path": str, "role": str, "share": float, "labels": str}


def parse_model(text: str, labels: str = "") -> ModelSpec:
    """``[NAME[@VERSION]=]PATH``. Raises ContractError."""
    found = _NAMED.fullmatch(text)
    if found is None:
        if not text:
            raise ContractError("a model without a path; expected [NAME[@VERSION]=]PATH")
        return ModelSpec("", "", text, labels=labels)
    return ModelSpec(found["name"], found["version"] or "", found["path"], labels=labels)


def read_models(file: Path) -> list[ModelSpec]:
    """The models of a TOML or JSON file: a list ``model`` of tables with the keys of ``ModelSpec``.

    Paths are relative to the file. Raises ContractError where it says something else; OSError.
    """
    try:
        text = file.read_text(encoding="utf-8")
        content = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ContractError(f"{file.name} cannot be read: {error}") from error
    tables = content.get("model") if isinstance(content, dict) else None
    if not isinstance(tables, list) or not tables or set(content) != {"model"}:
        raise ContractError(f"{file.name} declares no models; expected a list `model` and nothing else")
    return [_spec(file, number, table) for number, table in enumerate(tables, 1)]


def _spec(file: Path, number: int, table: Any) -> ModelSpec:
    where = f"{file.name}: model {number}"
    if not isinstance(table, Mapping) or not isinstance(table.get("path"), str):
        raise ContractError(f"{where} has no path; expected a table with path, name, version, role, share, labels")
    unknown = sorted(set(table) - set(_KEYS))
    if unknown:
        raise ContractError(f"{where} has {', '.join(unknown)}; expected {', '.join(_KEYS)}")
    held: dict[str, Any] = {"name": "", "version": "", **table}
    for key, kind in _KEYS.items():
        value = held.get(key)
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = held[key] = float(value)
        if value is not None and not isinstance(value, kind):
            raise ContractError(f"{where}: {key} is {type(value).__name__}; expected {kind.__name__}")
    if held.get("role", "") not in _ROLES:
        raise ContractError(f"{where}: unknown role; expected active, canary or shadow")
    for key in ("path", "labels"):
        if held.get(key) and "://" not in held[key]:
            held[key] = str(file.parent / held[key])
    return ModelSpec(**held)
