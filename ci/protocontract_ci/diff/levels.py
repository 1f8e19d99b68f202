"""Changes of what streams and methods promise: the contract option of a message, the service level of a method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields as dataclass_fields
from typing import Any, Final

from protocontract_ci.diff import word_table
from protocontract_ci.diff.annotations import compare_contexts, shown
from protocontract_ci.diff.collector import Collector
from protocontract_ci.diff.fields import FieldPairs
from protocontract_ci.model import Element, Kind, Value
from protocontract_compiler import ir

# Durations, which the IR holds in nanoseconds.
_DURATIONS: Final = frozenset(
    {
        "level.latency", "level.frequency", "level.window", "deadline", "max_deadline", "latency_p99", "batch.max_wait",
        "fallback.probe_every",
    }
)  # fmt: skip


def compare_contracts(collector: Collector, pairs: Sequence[FieldPairs]) -> None:
    """The changes of contract options, but for the version's, which ``versions`` judges with all others in view."""
    for fields in pairs:
        _compare_contract(collector, fields)


def _compare_contract(collector: Collector, fields: FieldPairs) -> None:
    old, new = fields.old.contract or ir.ContractOptions(), fields.new.contract or ir.ContractOptions()
    element = Element(
        "message", fields.old.full_name, fields.new.full_name, fields.old.full_name, fields.new.full_name,
        file=fields.old.file, new_file=fields.new.file,
    )  # fmt: skip
    before, after = dict(_contract_words(old)), dict(_contract_words(new))
    for word in [*before, *(word for word in after if word not in before)]:
        was, now = before.get(word), after.get(word)
        if was == now:
            continue
        kind: Kind = "level_changed" if word.startswith("level.") else "contract_changed"
        _add(collector, kind, element, word, was, now, (fields.old.place, fields.new.place))
    for rule, direction, contexts, now_contexts in compare_contexts(dict(old.contexts), dict(new.contexts)):
        collector.add(
            "contract_changed", f"{element.name}@contexts[{rule}]", direction, element, before=contexts,
            after=now_contexts, old=collector.before.facts.word(element.name, "contexts"),
            new=collector.after.facts.word(element.new_name, "contexts"),
        )  # fmt: skip


def _contract_words(contract: ir.ContractOptions) -> Iterator[tuple[str, Any]]:
    for word in ("owner", "topic", "dead_letter_topic", "key_field", "event_time", "acknowledge_new_fields"):
        yield word, getattr(contract, word) or None
    yield "on_breach", contract.on_breach
    if contract.level is not None:
        for of_level in dataclass_fields(contract.level):
            yield f"level.{of_level.name}", getattr(contract.level, of_level.name)


def compare_service_levels(collector: Collector, methods: Sequence[tuple[Element, ir.Method, ir.Method]]) -> None:
    """The changes of the service levels of methods that are on both sides."""
    for element, old, new in methods:
        before, after = (dict(_flat(ir.keywords(method.level or ()))) for method in (old, new))
        for word in [*before, *(word for word in after if word not in before)]:
            was, now = before.get(word), after.get(word)
            if was == now or {was, now} == {None, "off"}:
                continue
            _add(collector, "service_level_changed", element, word, was, now, (old.place, new.place))


def _flat(options: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in options.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _add(
    collector: Collector, kind: Kind, element: Element, word: str, was: Any, now: Any,
    places: tuple[ir.Place, ir.Place],
) -> None:  # fmt: skip
    collector.add(
        kind, f"{element.name}@{word}", word_table.direction(word, was, now), element,
        before=_shown(word, was), after=_shown(word, now),
        old=(collector.before.facts.word(element.name, word) if was is not None else None) or places[0],
        new=(collector.after.facts.word(element.new_name, word) if now is not None else None) or places[1],
    )  # fmt: skip


def _shown(word: str, value: Any) -> Value:
    if word in _DURATIONS and isinstance(value, int):
        return duration_text(value)
    return shown(value)


def duration_text(nanoseconds: int) -> str:
    """A duration as proto JSON writes it: ``300s``, ``0.250s``."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{seconds}{fraction}s"
