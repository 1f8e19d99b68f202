"""The report of ``protocontract verify``, as text and as JSON. Values of sensitive fields are in neither."""

from __future__ import annotations

import json
import math
from typing import Any, Final

from protocontract.levels import Verdict, duration_text, share_text
from protocontract.terminal import BROKEN, KEPT, NEUTRAL, Paint, count, pad, plural, width
from protocontract.verify.counting import PromiseTally, RuleTally, Verification
from protocontract.violations import describe

_VALUE_LENGTH: Final = 40
_TEXT_COLUMN: Final = 52
_LONGEST_TEXT: Final = 72


def text_report(result: Verification, source: str, *, unit: str = "record", paint: Paint | None = None) -> str:
    """The report for people. ``unit`` is what record numbers count: ``line`` or ``record``."""
    paint = paint or Paint(False)
    contract = result.contract
    title = f"{contract.full_name} {contract.version}".rstrip()
    lines = [f"{paint(title, 'strong')} · {source} · {plural(result.records, 'record')}"]
    levels = [verdict for verdict in result.levels if verdict.level != "latency"]
    names = [tally.promise.path or "message" for tally in result.promises]
    first = max([width(name) + 2 for name in names] + [len(verdict.level) + 1 for verdict in levels], default=0)
    texts = [width(tally.promise.text) for tally in result.promises]
    second = max([_TEXT_COLUMN, *(length for length in texts if length <= _LONGEST_TEXT)]) + 3
    counts = max((len(count(result.kept_by(tally))) for tally in result.promises), default=0)
    for name, tally in zip(names, result.promises, strict=True):
        # Where no record could be decoded, nobody knows whether a promise of its fields is kept.
        kept = paint(KEPT, "good") if result.kept_by(tally) or not result.records else NEUTRAL
        mark = paint(BROKEN, "bad") if tally.broken else kept
        figures = f"{count(result.kept_by(tally)):>{counts}}"
        if tally.normalised:
            figures += f" ({count(tally.normalised)} normalised)"
        if tally.broken:
            figures += f"   {paint(f'{count(tally.broken)} broken', 'bad')}"
        text = pad(tally.promise.text, second) if width(tally.promise.text) < second else f"{tally.promise.text}   "
        lines.append(f"  {mark} {pad(name, first)}{text}{figures}")
        lines += _rule_lines(tally, " " * (first + 6), unit, paint)
    marks = {"kept": paint(KEPT, "good"), "missed": paint(BROKEN, "bad"), "unjudged": NEUTRAL}
    lines += [f"  {marks[verdict.state]} {pad(verdict.level, first)}{level_text(verdict)}" for verdict in levels]
    lines.append(closing_line(result))
    return "\n".join(lines) + "\n"


def closing_line(result: Verification) -> str:
    """The last line: its first word is the verdict that the exit code tells."""
    promises = f"{count(result.broken_promises)} of {plural(len(result.promises), 'promise')}"
    judged = [verdict for verdict in result.levels if verdict.state != "unjudged"]
    shares = [verdict for verdict in result.levels if verdict.level in {"compliance", "error_rate"}]
    if result.broken:
        parts: list[str] = []
        if result.broken_promises:
            parts.append(promises)
        if result.missed_levels:
            parts.append(plural(result.missed_levels, "service level"))
        elif shares and not result.shares_judged:
            parts.append("too few records to judge a service level")
        return f"broken: {', '.join(parts)}"
    kept = [] if result.broken_promises else [plural(len(result.promises), "promise")]
    if judged:
        kept.append(plural(len(judged), "service level"))
    line = f"kept: {', '.join(kept) or 'nothing was promised'}"
    if result.broken_promises:
        line += f"; {promises} broken by {plural(result.broken_records, 'record')}, which the service level allows"
    elif result.records == 0:
        line += " (there was no record)"
    return line


def level_text(verdict: Verdict) -> str:
    """A level's figures: ``99.44 %, promised 99.90 %``."""
    measured, promised = verdict.measured, verdict.promised
    match verdict.level:
        case "compliance":
            bound = f"promised {share_text(promised, promised)}"
            figure = "" if measured is None else share_text(measured, promised)
        case "error_rate":
            bound = f"promised {share_text(promised, promised)} at most"
            figure = "" if measured is None else share_text(measured, promised)
        case "throughput":
            bound = f"promised {promised:,.4g} at least"
            figure = "" if measured is None else f"{_rounded_down(measured)} records/s"
        case _:
            bound = f"promised {duration_text(promised)} at most"
            figure = "" if measured is None else duration_text(measured)
    parts = [part for part in (figure, bound) if part]
    if verdict.state == "unjudged":
        parts.append(f"not judged: {verdict.detail}")
    elif verdict.detail:
        parts.append(verdict.detail)
    return ", ".join(parts)


def json_report(result: Verification, source: str, encoding: str, *, exit_code: int) -> str:
    """The report for programs: one JSON object, its keys in a fixed order. A value that is hidden is null."""
    contract = result.contract
    report = {
        "contract": contract.full_name,
        "version": contract.version,
        "fingerprint": contract.fingerprint,
        "source": source,
        "encoding": encoding,
        "records": result.records,
        "broken_records": result.broken_records,
        "normalised_records": result.normalised_records,
        "promises": [
            {
                "path": tally.promise.path,
                "text": tally.promise.text,
                "state": "broken" if tally.broken else "kept",
                "kept": result.kept_by(tally),
                "normalised": tally.normalised,
                "broken": tally.broken,
                "rules": [_rule_object(rule) for rule in tally.rules.values()],
            }
            for tally in result.promises
        ],
        "levels": [
            {
                "level": verdict.level,
                "state": verdict.state,
                "promised": verdict.promised,
                "measured": verdict.measured,
                "records": verdict.records,
                "detail": verdict.detail,
            }
            for verdict in result.levels
        ],
        "strict": result.strict,
        "verdict": "broken" if result.broken else "kept",
        "exit_code": exit_code,
    }
    return json.dumps(report, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def shown(value: Any, length: int = _VALUE_LENGTH) -> str:
    """A value as a report shows it: text quoted, free of what would move a terminal's cursor, cut to ``length``."""
    if isinstance(value, str):
        cut = value if len(value) <= length else value[:length] + "…"
        return '"' + "".join(_escaped(character) for character in cut) + '"'
    if isinstance(value, bytes):
        head = value[:8].hex()
        return f"0x{head}" if len(value) <= 8 else f"0x{head}… ({len(value):,} bytes)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return describe(value)


def _rule_lines(tally: PromiseTally, indent: str, unit: str, paint: Paint) -> list[str]:
    rules = sorted(tally.rules.values(), key=lambda rule: (-rule.records, rule.rule_id))
    places = [_numbers(rule, unit) for rule in rules]
    first = max((width(rule.rule_id) for rule in rules), default=0) + 2
    second = max((len(count(rule.records)) for rule in rules), default=0)
    third = max((width(place) for place in places), default=0) + 3
    lines: list[str] = []
    for rule, place in zip(rules, places, strict=True):
        example = _example(rule, tally.promise.text)
        line = f"{indent}{pad(rule.rule_id, first)}{count(rule.records):<{second}}   {pad(place, third)}{example}"
        if rule.severity == "WARNING":
            line = f"{line.rstrip()}  (warning)"
        lines.append(paint(line.rstrip(), "quiet"))
    return lines


def _numbers(rule: RuleTally, unit: str) -> str:
    more = " …" if rule.records > len(rule.first) else ""
    noun = unit if rule.records == 1 else f"{unit}s"
    return f"{noun} {', '.join(str(number) for number in rule.first)}{more}"


def _example(rule: RuleTally, promise: str) -> str:
    """The first offending value, and the message where it says more than promise, kind and length do."""
    # The value says its kind and length itself.
    said = rule.message if rule.value is None else rule.message.removesuffix(f", got {describe(rule.value)}")
    message = "" if said == promise or describe(rule.value) in said else _safe(said)
    if rule.redacted:
        return f"({'; '.join(part for part in ('sensitive', message) if part)})"
    value = "" if rule.value is None else shown(rule.value)
    return f"{value} ({message})".lstrip() if message else value


def _rule_object(rule: RuleTally) -> dict[str, Any]:
    value = rule.value
    if isinstance(value, bytes):
        value = value.hex()
    elif isinstance(value, float) and not math.isfinite(value):
        value = str(value)
    elif value is not None and not isinstance(value, str | int | float | bool):
        value = describe(value)
    return {
        "rule_id": rule.rule_id,
        "code": f"{rule.code:#010x}",
        "severity": rule.severity,
        "records": rule.records,
        "first": list(rule.first),
        "value": value,
        "redacted": rule.redacted,
        "message": rule.message,
    }


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character) or (
        f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"
    )


def _safe(text: str) -> str:
    return "".join(character if character.isprintable() else _escaped(character) for character in text)


def _rounded_down(rate: float) -> str:
    return f"{math.floor(rate):,}" if rate >= 100 else f"{math.floor(rate * 100) / 100:.2f}"
