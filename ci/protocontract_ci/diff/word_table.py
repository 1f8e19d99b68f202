"""The table of directions for protocontract's own words: normalizers, relations, governance, levels.

What a word changes is told by two sets: the records that are accepted, and the records that leave a guard. A change is
``tightened`` where neither grows, ``loosened`` where neither shrinks, and ``breaking`` where the same record becomes
another value, or where both happen. A word that has no line here is breaking. docs/gate.md shows the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from protocontract_ci.model import Direction

Judge: TypeAlias = Callable[[Any, Any], Direction]
"""From the value before and the value after (None where it is not declared) to a direction; they are not equal."""


def _breaks(before: Any, after: Any) -> Direction:
    return "breaking"


def _says_nothing(before: Any, after: Any) -> Direction:
    return "neutral"


def _demands(before: Any, after: Any) -> Direction:
    """Its presence refuses more; another value of it is another demand."""
    return "tightened" if before is None else "loosened" if after is None else "breaking"


def _allows(before: Any, after: Any) -> Direction:
    """Its presence accepts more; another value of it reads the same record otherwise."""
    return "loosened" if before is None else "tightened" if after is None else "breaking"


def _at_least(before: Any, after: Any) -> Direction:
    """A lower bound, or a promise that is the better the higher it is."""
    if before is None or after is None:
        return _demands(before, after)
    return "tightened" if after > before else "loosened"


def _at_most(before: Any, after: Any) -> Direction:
    """An upper bound, or a promise that is the better the lower it is."""
    if before is None or after is None:
        return _demands(before, after)
    return "tightened" if after < before else "loosened"


def _switch_tightens(before: Any, after: Any) -> Direction:
    return "tightened" if after else "loosened"


def _switch_loosens(before: Any, after: Any) -> Direction:
    return "loosened" if after else "tightened"


def _declares(before: Any, after: Any) -> Direction:
    """A word about what a value is: to say it, or to say it no more, changes no value; to say another thing does."""
    return "neutral" if not before or not after else "breaking"


def _refused_kinds(before: Any, after: Any) -> Direction:
    """A list of what is refused."""
    old, new = set(before or ()), set(after or ())
    return "tightened" if old < new else "loosened" if new < old else "breaking"


def _allowed_kinds(before: Any, after: Any) -> Direction:
    """A list of what may occur; none means all."""
    if not before or not after:
        return "tightened" if after else "loosened"
    old, new = set(before), set(after)
    return "loosened" if old < new else "tightened" if new < old else "breaking"


def _normal_form(before: Any, after: Any) -> Direction:
    """NFC writes the same text with other code points; NFKC writes another text."""
    return _switch_tightens(before, after) if {before, after} == {None, "nfc"} else "breaking"


def _money_scale(before: Any, after: Any) -> Direction:
    """Rounding accepts what ``currency`` refuses, and writes the same for the rest; ``any`` writes other text."""
    rounding = {"round_half_even", "round_half_up"}
    if before == "currency" and after in rounding:
        return "loosened"
    if before in rounding and after == "currency":
        return "tightened"
    return "breaking"


def _policy(before: Any, after: Any) -> Direction:
    """Lenient reads all that strict reads, the same way, and more."""
    return "loosened" if after == "lenient" else "tightened"


def _words(before: Any, after: Any) -> Direction:
    """Words with what they mean: more words accept more; another meaning breaks."""
    old, new = before or {}, after or {}
    if any(old[word] != new[word] for word in old.keys() & new.keys()):
        return "breaking"
    return "loosened" if old.keys() <= new.keys() else "tightened" if new.keys() <= old.keys() else "breaking"


def _label_aliases(before: Any, after: Any) -> Direction:
    """Labels with the other ways to write them."""

    def meanings(aliases: Any) -> dict[str, str]:
        return {
            written: label for label, others in (aliases or {}).items() for written in (label, *_listed(others))
        }  # fmt: skip

    return _words(meanings(before), meanings(after))


def _listed(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else tuple(value.items()) if value else ()


def _dims(before: Any, after: Any) -> Direction:
    """Axes: a number where a name was accepts fewer shapes; a name in the place of another must be as free."""
    if before is None or after is None or len(before) != len(after):
        return "breaking"
    tightened = loosened = False
    names: dict[str, str] = {}
    for old, new in zip(before, after, strict=True):
        if old.isdigit() and new.isdigit():
            if old != new:
                return "breaking"
        elif new.isdigit():
            tightened = True
        elif old.isdigit():
            loosened = True
        elif names.setdefault(old, new) != new:
            loosened = True  # one name became two
    if len(set(names.values())) < len(names):
        tightened = True  # two names became one
    if tightened and loosened:
        return "breaking"
    return "tightened" if tightened else "loosened" if loosened else "neutral"


def _dim_bounds(before: Any, after: Any) -> Direction:
    """Bounds of free axes, by name."""
    directions: set[Direction] = set()
    old, new = before or {}, after or {}
    for name in old.keys() | new.keys():
        for end, judge in (("min", _at_least), ("max", _at_most)):
            was, now = ((bounds.get(name) or {}).get(end) for bounds in (old, new))
            if was != now:
                directions.add(judge(was, now))
    return combined(directions)


def _norm(before: Any, after: Any) -> Direction:
    if before is None or after is None:
        return _demands(before, after)
    if before.get("value") != after.get("value"):
        return "breaking"
    return _at_most(before.get("tolerance"), after.get("tolerance"))


def _ordered(*values: str) -> Judge:
    """Values from the one that demands least to the one that demands most."""

    def judge(before: Any, after: Any) -> Direction:
        ranks = [values.index(value) if value in values else 0 for value in (before, after)]
        return "tightened" if ranks[1] > ranks[0] else "loosened" if ranks[1] < ranks[0] else "neutral"

    return judge


def combined(directions: set[Direction]) -> Direction:
    """The direction of several changes together."""
    told = directions - {"neutral"}
    if not told:
        return "neutral"
    return next(iter(told)) if len(told) == 1 else "breaking"


TABLE: Final[Mapping[str, Judge]] = {
    # text: steps that write the same text more uniformly, then those that write another one
    **dict.fromkeys(
        ("text.strip_bom", "text.strip_controls", "text.collapse_whitespace", "text.trim"), _switch_tightens
    ),
    "text.normalize": _normal_form,
    **dict.fromkeys(("text.strip_html", "text.fold_width", "text.amounts"), _breaks),
    "text.reject": _refused_kinds,
    "text.reject_empty": _switch_tightens,
    "money.policy": _policy,
    "money.default_currency": _allows,
    "money.allowed": _allowed_kinds,
    **dict.fromkeys(("money.locale", "money.decimal", "money.currency_field"), _breaks),
    "money.scale": _money_scale,
    **dict.fromkeys(
        ("instant.zone", "instant.order", "instant.epoch_unit", "instant.fold", "instant.gap", "instant.leap_second",
         "instant.hour24", "instant.date_only", "instant.excess_fraction"), _allows
    ),
    "instant.min": _at_least,
    "instant.max": _at_most,
    "instant.instant_field": _breaks,
    "quantity.policy": _policy,
    "quantity.allowed": _allowed_kinds,
    **dict.fromkeys(
        ("quantity.unit", "quantity.locale", "quantity.decimal", "quantity.scale", "quantity.value_field"), _breaks
    ),
    "label.aliases": _label_aliases,
    "label.ignore_index": _allows,
    "label.num_classes": _at_most,
    "scalar.quoted_numbers": _switch_loosens,
    "scalar.bool_words": _words,
    "scalar.fold_width": _switch_loosens,
    "scalar.exact": _switch_tightens,
    "scalar.finite": _switch_tightens,
    "scalar.type": _breaks,
    # relations
    **dict.fromkeys(("spans.text", "spans.start", "spans.end", "spans.unit"), _breaks),
    "spans.surface": _demands,
    **dict.fromkeys(("spans.allow_overlap", "spans.allow_nesting", "spans.allow_empty"), _switch_loosens),
    "spans.no_edge_whitespace": _switch_tightens,
    "spans.order": _ordered("any", "by_start"),
    **dict.fromkeys(("sequence.first", "sequence.step", "sequence.same_length_as"), _demands),
    "sequence.strictly_increasing": _switch_tightens,
    **dict.fromkeys(("graph.id", "graph.parents"), _breaks),
    **dict.fromkeys(("graph.acyclic", "graph.closed"), _switch_tightens),
    **dict.fromkeys(("tensor.name", "tensor.dtype", "tensor.shape_field", "tensor.batched", "tensor.pad"), _breaks),
    "tensor.dims": _dims,
    "tensor.bounds": _dim_bounds,
    "tensor.truncate": _switch_loosens,
    "tensor.finite": _switch_tightens,
    "tensor.min": _at_least,
    "tensor.max": _at_most,
    "tensor.l2_norm": _norm,
    # governance of a field
    **dict.fromkeys(("unit", "currency"), _declares),
    "severities": _ordered("WARNING", "ERROR"),
    "error_codes": _breaks,
    **dict.fromkeys(("sensitive", "error_class", "since", "sunset", "renamed_from"), _says_nothing),
    # values of an enum
    "code": _breaks,
    "aliases": _refused_kinds,  # turned around by who asks: more aliases accept more
    "class_index": _declares,
    # the contract of a message
    **dict.fromkeys(("topic", "dead_letter_topic", "key_field", "event_time"), _declares),
    **dict.fromkeys(("owner", "on_breach", "acknowledge_new_fields", "version"), _says_nothing),
    **dict.fromkeys(("level.compliance", "level.throughput"), _at_least),
    **dict.fromkeys(("level.latency", "level.frequency", "level.error_rate"), _at_most),
    **dict.fromkeys(("level.window", "level.minimum_records"), _says_nothing),
    # the service level of a method: what it promises, then what it takes
    "availability": _at_least,
    **dict.fromkeys(("latency_p99", "batch.max_wait", "fallback.max_abs", "fallback.max_rel"), _at_most),
    "fallback.label_agreement": _at_least,
    **dict.fromkeys(
        ("deadline", "max_deadline", "max_request_bytes", "queue", "rate.per_second", "rate.burst"), _at_most
    ),
    "evidence": _ordered("off", "best_effort", "required"),
    "model_version_field": _breaks,
    **dict.fromkeys(("fallback.provider", "fallback.model"), _allows),
    **dict.fromkeys(
        ("retry.attempts", "retry.codes", "batch.max_size", "fallback.sticky", "fallback.probe_every"), _says_nothing
    ),
}  # fmt: skip


def direction(word: str, before: Any, after: Any) -> Direction:
    """The direction in which a word went from one value to another (None: not declared)."""
    if before == after:
        return "neutral"
    return TABLE.get(word, _breaks)(before, after)
