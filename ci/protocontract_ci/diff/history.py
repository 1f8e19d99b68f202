"""The versions of contracts as files: ``history/<full name>.toml``, one a contract, the newest version first.

``protocontract diff BEFORE AFTER --record DIR`` adds to them; documents show them. A version that is recorded again,
from the same state before, takes the place of its own entry, so that a branch can be recorded as often as it changes.
Entries of other versions stay as they are: people may say in a ``text`` why something changed.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from protocontract._files import replacing
from protocontract.violations import ContractError
from protocontract_ci.diff.compare import Diff
from protocontract_ci.diff.wording import sentence
from protocontract_ci.model import DIRECTIONS, Change
from protocontract_compiler import ir

#: What a change of which nobody can tell in records or code is not worth.
_QUIET: Final = ("comment_changed", "fields_reordered", "values_reordered", "declarations_reordered")


@dataclass(frozen=True, slots=True)
class Recorded:
    """A version that was written into a contract's history."""

    contract: str
    version: str
    path: Path


def record(diff: Diff, folder: Path, day: str) -> tuple[list[Recorded], list[str]]:
    """Writes the versions of a comparison into ``folder``, with ``day`` (YYYY-MM-DD) as their date.

    Recorded is each contract of the files after whose version is not in its history yet, or changed in the comparison;
    a version that does not fit the changes is not. Returns what was written, and why other versions were not. Raises
    ContractError for a history that cannot be read, OSError.
    """
    written: list[Recorded] = []
    notes: list[str] = []
    refused = {change.element.new_message: change.demand for change in diff.demands if change.path.endswith("@version")}
    needs = {diff.pairs.new_names.get(need.message, need.message): need for need in diff.versions}
    for message in _messages(diff):
        name, version = message.full_name, message.contract.version if message.contract is not None else ""
        if not version:
            continue
        need = needs.get(name)
        path = folder / f"{name}.toml"
        old = next((before for before, after in diff.pairs.new_names.items() if after == name), name)
        kept = _read(path if path.is_file() else folder / f"{old}.toml")
        changed = need is not None and need.before != need.after
        if name in refused:
            notes.append(f"{name} {version} is not recorded: {refused[name]}")
            continue
        if not changed and any(each["version"] == version for each in kept):
            continue
        entry = _entry(
            version, day, diff.after.fingerprint(name), need.changes if need is not None and need.before else ()
        )
        others = [each for each in kept if each["version"] != version]
        same = next((each for each in kept if each["version"] == version), None)
        if same is not None:
            # What is as it was keeps its day.
            entry["date"] = same["date"] if {**same, "date": day} == {**entry, "date": day} else day
        text = _text(name, [entry, *others])
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(path) as stream:
            stream.write(text.encode())
        if old != name:
            (folder / f"{old}.toml").unlink(missing_ok=True)
        written.append(Recorded(name, version, path))
    return written, notes


def _messages(diff: Diff) -> Iterator[ir.Message]:
    """The messages of the files that were named, by name."""
    schema = diff.after.schema
    names = sorted(name for file in diff.after.requested for name in schema.files[file].messages)
    yield from (schema.messages[name] for name in names)


def _entry(version: str, day: str, fingerprint: str, changes: Sequence[Change]) -> dict[str, Any]:
    told = [change for change in changes if change.kind not in _QUIET]
    told.sort(key=lambda change: (DIRECTIONS.index(change.direction), change.path))
    return {
        "version": version,
        "date": day,
        "fingerprint": fingerprint,
        "change": [{"path": change.path, "direction": change.direction, "text": sentence(change)} for change in told],
    }


def _read(path: Path) -> list[dict[str, Any]]:
    """The entries of a file as they are written; none where there is no file."""
    if not path.is_file():
        return []
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        return [_plain(each) for each in table.get("version", [])]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError):
        raise ContractError(
            f"{path}: not a history of versions; expected what `protocontract diff --record` writes"
        ) from None


def _plain(entry: Mapping[str, Any]) -> dict[str, Any]:
    changes = [{key: str(change[key]) for key in ("path", "direction", "text")} for change in entry.get("change", [])]
    return {
        "version": str(entry["version"]), "date": str(entry["date"]),
        "fingerprint": str(entry.get("fingerprint", "")), "change": changes,
    }  # fmt: skip


def _text(name: str, entries: Sequence[Mapping[str, Any]]) -> str:
    lines = [f"# The versions of {name}, the newest first. `protocontract diff --record` adds to them."]
    for entry in entries:
        lines += ["", "[[version]]"]
        lines += [f"{key} = {_quoted(entry[key])}" for key in ("version", "date", "fingerprint") if entry[key]]
        for change in entry["change"]:
            lines += ["", "[[version.change]]", *(f"{key} = {_quoted(value)}" for key, value in change.items())]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A basic string of TOML: one of JSON, but for U+007F."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
