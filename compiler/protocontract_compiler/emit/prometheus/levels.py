"""What each level becomes: figures that are recorded, and the alert for when it is missed.

The meaning is that of ``protocontract.levels.LiveLevels``, over all processes of a consumer group. Nothing is judged
while nobody has a partition that runs: halted, or without any guard. A silence is then not the stream's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from protocontract.levels import DEFAULT_WINDOW, duration_text, minimum_records
from protocontract_compiler import ir
from protocontract_compiler.emit.names import printable
from protocontract_compiler.emit.prometheus.rules import Rule, duration, number, template_text

LevelName: TypeAlias = Literal["compliance", "error_rate", "latency", "frequency", "throughput"]
#: A title, for a comment, and the rules below it.
Section: TypeAlias = tuple[str, list[Rule]]

_LEVELS: tuple[LevelName, ...] = ("compliance", "error_rate", "latency", "frequency", "throughput")
_ALERTS = {
    "compliance": "DataContractComplianceMissed",
    "error_rate": "DataContractErrorRateMissed",
    "latency": "DataContractLatencyMissed",
    "frequency": "DataContractFrequencyMissed",
    "throughput": "DataContractThroughputMissed",
}

# Names that the rules record: aggregation, metric, operation, as Prometheus advises.
_JUDGED = "contract_group:data_contract_judged_records:window"
_BROKEN = "contract_group:data_contract_broken_records:window"
_LATE = "contract_group:data_contract_late_records:window"
_SILENCE = "contract_group:data_contract_silence_seconds:now"
MEASURED = "contract_group:data_contract_level_measured:window"
KEPT = "contract_group:data_contract_level_kept:window"
PROMISED = "contract:data_contract_level_promised:window"

_BY = "by (contract, group)"
_ON = "on (contract, group)"
#: How long after the last scrape of a guard its absence is told.
_FORGOTTEN_AFTER = 86_400.0
_UNWATCHED_FOR = 300.0
#: How long a deployment may take.
_OUTDATED_FOR = 3600.0


@dataclass(frozen=True, slots=True)
class Promised:
    """A contract's promise in seconds and shares, and what its alerts tell people."""

    name: str
    version: str
    fingerprint: str
    owner: str
    place: str
    dead_letter_topic: str
    event_time: str
    halts: bool
    levels: dict[LevelName, float]
    window: float
    minimum: int

    @classmethod
    def of(cls, message: ir.Message, contract: ir.ContractOptions, fingerprint: str) -> Promised:
        """What a contract with a level promises."""
        level = contract.level or ir.StreamLevel()
        found: dict[LevelName, float] = {}
        for name in _LEVELS:
            value = getattr(level, name)
            if value is not None:
                found[name] = value / 1e9 if name in ("latency", "frequency") else value
        place = contract.place if contract.place.line else message.place
        return cls(
            name=message.full_name,
            version=contract.version,
            fingerprint=fingerprint,
            owner=contract.owner,
            place=printable(f"{place.file or message.file}:{place.line}" if place.line else message.file),
            dead_letter_topic=contract.dead_letter_topic,
            event_time=contract.event_time,
            halts=contract.on_breach == "HALT",
            levels=found,
            window=DEFAULT_WINDOW if level.window is None else level.window / 1e9,
            # The runtime's level and the IR's have the vocabulary's words alike.
            minimum=minimum_records(cast(Any, level)),
        )

    @property
    def frequency(self) -> float | None:
        """The longest silence that is promised, in seconds."""
        return self.levels.get("frequency")

    @property
    def window_words(self) -> str:
        """The window in words."""
        return duration_text(self.window)

    def of_metric(self, metric: str, **labels: str) -> str:
        """The series of this contract of a metric."""
        pairs = ", ".join(f'{name}="{value}"' for name, value in {"contract": self.name, **labels}.items())
        return f"{metric}{{{pairs}}}"


def promise_text(promised: Promised) -> list[str]:
    """The promises, a line each."""
    return [f"{name}: {_words(promised, name)}" for name in promised.levels]


def _words(promised: Promised, level: LevelName) -> str:
    figure = promised.levels[level]
    judged = f"; judged from {promised.minimum:,} records on"
    if level == "compliance":
        return f"at least {number(figure)} of the records keep the contract{judged}"
    if level == "error_rate":
        return f"at most {number(figure)} of the records break the contract{judged}"
    if level == "latency":
        since = f"`{promised.event_time}`" if promised.event_time else "their timestamp"
        return f"records are validated within {duration_text(figure)} of {since}{judged}"
    if level == "frequency":
        return f"no silence is longer than {duration_text(figure)}"
    return f"at least {number(figure)} records a second"


# ----------------------------------------------------------------------------------------------------------------------
# Recording rules


def recordings(promised: Promised) -> list[Section]:
    """Counts of the window, then for each level what was measured, whether it is kept, and the promise."""
    sections = [("Counts of the window", _counts(promised))]
    for level in promised.levels:
        measured, kept = _FIGURES[level](promised)
        labels = (("level", level),)
        sections.append(
            (
                f"{level}: {_words(promised, level)}",
                [
                    Rule(MEASURED, measured, labels),
                    Rule(KEPT, kept, labels),
                    Rule(PROMISED, f"vector({number(promised.levels[level])})", (("contract", promised.name), *labels)),
                ],
            )
        )
    return sections


def _counts(promised: Promised) -> list[Rule]:
    window = duration(promised.window)
    counted = [(_JUDGED, promised.of_metric("data_contract_judged_records_total"))]
    if {"compliance", "error_rate"} & promised.levels.keys():
        counted.append((_BROKEN, promised.of_metric("data_contract_judged_records_total", verdict="broken")))
    if "latency" in promised.levels:
        counted.append((_LATE, promised.of_metric("data_contract_late_records_total")))
    found = [Rule(name, f"round(sum {_BY} (increase({series}[{window}])))") for name, series in counted]
    if promised.frequency is not None:
        last = promised.of_metric("data_contract_last_record_timestamp_seconds")
        since = promised.of_metric("data_contract_watched_since_timestamp_seconds")
        # As of the last scrape, not of now: between two scrapes nobody has heard of the newest record. What a process
        # that is gone by now has seen counts, too.
        remembered = duration(max(promised.window, promised.frequency))
        silence = f"""\
clamp_min(
    min {_BY} (timestamp({since}))
  - max {_BY} (
        max_over_time({last}[{remembered}])
      or
        min {_BY} ({since})
    ),
  0
)"""
        found.append(Rule(_SILENCE, silence))
    return found


def _enough(promised: Promised) -> str:
    return f"and {_ON} {promised.of_metric(_JUDGED)} >= {promised.minimum}"


def _share(promised: Promised) -> str:
    return f"{promised.of_metric(_BROKEN)}\n  / ({promised.of_metric(_JUDGED)} > 0)"


def _compliance(promised: Promised) -> tuple[str, str]:
    kept = promised.of_metric(MEASURED, level="compliance")
    bound = number(promised.levels["compliance"])
    return f"1 - {_share(promised)}", f"{kept} >= bool {bound}\n{_enough(promised)}"


def _error_rate(promised: Promised) -> tuple[str, str]:
    kept = promised.of_metric(MEASURED, level="error_rate")
    bound = number(promised.levels["error_rate"])
    return _share(promised), f"{kept} <= bool {bound}\n{_enough(promised)}"


def _latency(promised: Promised) -> tuple[str, str]:
    # The longest delay is known of the processes that have partitions, from their first record on; the counter also
    # tells of those that are gone. Either of them is a record that came too late.
    since = promised.of_metric("data_contract_watched_since_timestamp_seconds")
    longest = promised.of_metric("data_contract_level_measured", level="latency")
    kept = f"""\
min {_BY} (
    {promised.of_metric(_LATE)} == bool 0
  or
    {longest} <= bool {number(promised.levels["latency"])}
      and ignoring (level, measured_from) {since}
)
{_enough(promised)}"""
    measured = f"""\
max {_BY} (
  {longest}
  and ignoring (level, measured_from) {since}
)"""
    return measured, kept


def _frequency(promised: Promised) -> tuple[str, str]:
    measured = f"max_over_time({promised.of_metric(_SILENCE)}[{duration(promised.window)}])"
    kept = f"{promised.of_metric(MEASURED, level='frequency')} <= bool {number(promised.levels['frequency'])}"
    # Told only while somebody watches.
    return f"{measured}\nand {promised.of_metric(_SILENCE)}", kept


def _throughput(promised: Promised) -> tuple[str, str]:
    since = promised.of_metric("data_contract_watched_since_timestamp_seconds")
    window = number(promised.window)
    measured = f"{promised.of_metric(_JUDGED)} / {window}"
    kept = f"""\
{promised.of_metric(MEASURED, level="throughput")} >= bool {number(promised.levels["throughput"])}
and {_ON} time() - min {_BY} ({since}) >= {window}"""
    return measured, kept


_FIGURES = {
    "compliance": _compliance,
    "error_rate": _error_rate,
    "latency": _latency,
    "frequency": _frequency,
    "throughput": _throughput,
}


# ----------------------------------------------------------------------------------------------------------------------
# Alerts


def alerts(promised: Promised) -> list[Section]:
    """One alert a level, one for when nobody judges the stream any more, one for rules of another contract."""
    missed = [_missed(promised, level) for level in promised.levels]
    counter = promised.of_metric("data_contract_judged_records_total")
    unwatched = Rule(
        "DataContractUnwatched",
        f"count {_BY} (present_over_time({counter}[{duration(_FORGOTTEN_AFTER)}]))\nunless {_ON} {counter}",
        _labels(promised, "warning"),
        (
            ("summary", f"{promised.name}: no guard of group {{{{ $labels.group }}}} is scraped any more"),
            (
                "description",
                _told(promised, "the stream's levels are not judged")
                + " To do: see whether the guards run and are scraped; records wait in the topic meanwhile.",
            ),
        ),
        alert=True,
        pending=duration(_UNWATCHED_FOR),
    )
    return [
        ("A level is missed: at once, since the window is the promise", missed),
        ("Nobody judges the stream", [unwatched]),
        ("Guards apply another contract than these rules", [_outdated(promised)]),
    ]


def _outdated(promised: Promised) -> Rule:
    info = promised.of_metric("data_contract_guard_info")
    other = f'{info.removesuffix("}")}, fingerprint!="{promised.fingerprint}"}}'
    return Rule(
        "DataContractRulesOutdated",
        f"count by (contract, group, version) ({other})",
        _labels(promised, "warning"),
        (
            (
                "summary",
                f"{promised.name}: guards of group {{{{ $labels.group }}}} apply version {{{{ $labels.version }}}}, "
                + template_text(f"these rules are of {promised.version or 'a contract without a version'}"),
            ),
            (
                "description",
                "Contracts are compared by fingerprint. To do: compile the rules from the contract that the guards "
                "apply, `protocontract compile --target prometheus`; or see why a deployment did not end.",
            ),
        ),
        alert=True,
        pending=duration(_OUTDATED_FOR),
    )


def _missed(promised: Promised, level: LevelName) -> Rule:
    measured = promised.of_metric(MEASURED, level=level)
    kept = promised.of_metric(KEPT, level=level)
    if level == "latency":
        # The processes that saw the late record may be gone, and their figure with them.
        measured = f"({measured} or {kept})"
    version = f" {promised.version}" if promised.version else ""
    bound = number(promised.levels[level])
    unit = {"latency": " s", "frequency": " s", "throughput": " records/s"}.get(level, "")
    return Rule(
        _ALERTS[level],
        f"{measured}\nand {kept} == 0",
        _labels(promised, "critical" if promised.halts else "warning"),
        (
            (
                "summary",
                template_text(f"{promised.name}{version}: {level} is missed in group ")
                + '{{ $labels.group }}: {{ printf "%.6g" $value }}'
                + f"{unit}, promised {bound}{unit}",
            ),
            ("description", _told(promised, _words(promised, level)) + f" To do: {_advice(promised, level)}"),
        ),
        alert=True,
    )


def _labels(promised: Promised, severity: str) -> tuple[tuple[str, str], ...]:
    labels = (("severity", severity), ("on_breach", "HALT" if promised.halts else "ALERT"))
    return (*labels, ("owner", template_text(promised.owner))) if promised.owner else labels


def _told(promised: Promised, promise: str) -> str:
    owner = f"Owner: {promised.owner}. " if promised.owner else ""
    return template_text(f"{owner}Contract ({promised.place}), over {promised.window_words}: {promise}.")


def _advice(promised: Promised, level: LevelName) -> str:
    dead = promised.dead_letter_topic
    inspect = template_text(f"look at the records with `protocontract dead-letter inspect {dead or 'TOPIC'} --last 20`")
    what = {
        "compliance": f"see which rules are broken (data_contract_violations_total by rule_id), {inspect}, "
        "and have the producer or the contract mended.",
        "error_rate": f"see which rules are broken (data_contract_violations_total by rule_id), {inspect}, "
        "and have the producer or the contract mended.",
        "latency": "compare data_contract_producer_delay_seconds with data_contract_consumer_delay_seconds: the first "
        "is the producer's, the second is the guards' lag.",
        "frequency": "see whether the producer writes at all, then whether the guards have partitions and lag.",
        "throughput": "see whether the producer writes less, or whether the guards lag behind.",
    }[level]
    if promised.halts:
        return (
            f"{what} on_breach is HALT: guards stop before the record that misses a level; "
            "`protocontract guard status` tells where, `protocontract guard resume --reason` goes on."
        )
    return f"{what} on_breach is ALERT: records go on."
