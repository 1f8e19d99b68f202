"""The evidence of one request as a page for people."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from string import Template
from typing import Final

from protocontract.chain.canonical import Value
from protocontract.chain.steps import Entry
from protocontract.chain.verify import Verification
from protocontract.report.charts import bars
from protocontract.report.page import page

#: What verifying proves, and what it does not.
PROVES: Final = (
    "This proves linkage only: no step was changed, moved, removed or added since it was written. "
    "It does not prove that what the steps say is true."
)
NO_KEY: Final = "Without a key, whoever can write the file can make another chain that holds together."


def render(request: str, records: Sequence[tuple[Entry, ...]], found: Verification) -> str:
    """The page of a request's records, with what verifying the whole log has found."""
    holds = found.problem is None
    body = _BODY.substitute(
        request=escape(request),
        state="kept" if holds else "missed",
        chain=escape(chain_text(found)),
        notes="".join(f'<p class="quiet">{escape(note)}</p>' for note in notes(found)),
        records="".join(_record(entries, number, len(records)) for number, entries in enumerate(records, 1)),
        hash=escape(found.chain or ""),
        entries=f"{found.entries:,}",
    )
    return page(f"Evidence of {request}", body, _STYLE)


def chain_text(found: Verification) -> str:
    """In one sentence whether the chain holds."""
    if found.problem is not None:
        return f"The chain is broken at {found.problem}"
    return f"The chain holds over {found.entries:,} entries"


def notes(found: Verification) -> list[str]:
    """What has to be said of any result."""
    said = [PROVES]
    if not found.key_checked:
        said.append(NO_KEY if found.key is None else f"The HMACs of key {found.key} were not checked; give the key.")
    if not found.anchors:
        said.append("Without an anchor, a tail that was cut off at an end step does not show.")
    return said


def state_text(entries: Sequence[Entry]) -> str:
    """How a record ended."""
    last = entries[-1].step
    lost = last.facts.get("lost")
    gap = f"{shown(lost)} of its steps could not be written" if lost else ""
    if last.kind == "close":
        return f"closed, but {gap}" if gap else "complete"
    if last.kind == "fail":
        return f"failed: {shown(last.facts.get('reason', ''))}{gap and f', and {gap}'}"
    return "it has no end: what became of it is not proven"


def moment(nanoseconds: int) -> str:
    """A time in UTC, to the microsecond."""
    whole = datetime.fromtimestamp(nanoseconds // 1_000_000_000, UTC)
    return f"{whole:%Y-%m-%d %H:%M:%S}.{nanoseconds % 1_000_000_000 // 1000:06d} UTC"


def shown(value: Value) -> str:
    """A fact as people read it."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | tuple):
        return ", ".join(shown(item) for item in value)
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return value if isinstance(value, str) else repr(value)


def _record(entries: Sequence[Entry], number: int, of: int) -> str:
    stages = [entry for entry in entries if entry.step.kind == "stage"]
    last = entries[-1]
    good = last.step.kind == "close" and not last.step.facts.get("lost")
    head = f"Record {number} of {of}" if of > 1 else "Stages"
    total = sum(entry.step.nanoseconds for entry in stages)
    chart = bars([(entry.step.name, entry.step.nanoseconds) for entry in stages], total, "nanoseconds by stage")
    return (
        f'<h2>{head}</h2><p class="quiet">{escape(moment(entries[0].step.at))}, {total / 1e6:,.3f} ms in stages,'
        f' <b class="{"kept" if good else "missed"}">{escape(state_text(entries))}</b></p>'
        f'<div class="plain"><p class="quiet small">nanoseconds</p>{chart}</div>'
        + "".join(_stage(entry) for entry in stages)
        + f'<p class="quiet small">Head <span class="mono wrap">{last.hash}</span></p>'
    )


def _stage(entry: Entry) -> str:
    step = entry.step
    rows = [
        ("in", step.digest_in or "not recorded", True),
        ("out", step.digest_out or "not recorded", True),
        *((name, shown(value), False) for name, value in sorted(step.facts.items())),
        ("step", entry.hash, True),
    ]
    listed = "".join(
        f'<tr><th>{escape(name)}</th><td class="wrap{" mono" if mono else ""}">{escape(value)}</td></tr>'
        for name, value, mono in rows
    )
    version = f' <span class="quiet">version {escape(step.version)}</span>' if step.version else ""
    return (
        f'<section class="stage"><h3>{escape(step.name)} <small>{step.nanoseconds / 1000:,.1f} µs</small></h3>'
        f"<p><code>{escape(step.module)}</code>{version}</p><table>{listed}</table></section>"
    )


_STYLE: Final = """\
.stage { padding: 1rem 0 .6rem; border-top: 1px solid var(--line); break-inside: avoid; }
.stage h3 { margin: 0; font-size: 1rem; }
.stage h3 small { font-weight: 400; color: var(--quiet); margin-left: .5rem; font-variant-numeric: tabular-nums; }
.stage p { margin: .1rem 0 .3rem; }
.stage table { width: auto; }
.stage th, .stage td { border: 0; padding: .08rem 1.1rem .08rem 0; }
.plain svg.bars .bar { fill: var(--changed); }
.plain { margin-bottom: 1rem; }
.kept { color: var(--good); }
.missed { color: var(--bad); }
.small { font-size: .87rem; }
.wrap { overflow-wrap: anywhere; }
"""

_BODY: Final = Template("""\
<header>
<h1>$request<small>evidence</small></h1>
</header>

<section class="summary" aria-label="Verification">
<p><b class="$state">$chain</b></p>
$notes
</section>

$records

<footer>
<p>Log <span class="mono">$hash</span>, $entries entries.</p>
</footer>
""")
