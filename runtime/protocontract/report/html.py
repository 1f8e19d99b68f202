"""Renders a StreamReport as a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from string import Template
from typing import Any, Final

from protocontract.levels import Verdict
from protocontract.report.charts import bars, split
from protocontract.report.data import ChangeTally, Reject, StreamReport
from protocontract.report.page import page
from protocontract.verify.report import level_text, shown

_UNSET: Final = '<span class="quiet">unset</span>'
_WHOLE: Final = '<span class="quiet">whole record</span>'


def render(report: StreamReport, *, made: str) -> str:
    """The page. ``made`` says when and from what it was made, in the caller's words."""
    contract = report.contract
    untouched = report.accepted - report.normalised
    rejects = sorted(report.rejects, key=lambda reject: (-report.by_rule[reject.rule_id], reject.rule_id))
    changes = sorted(report.changes.values(), key=lambda tally: (-tally.count, tally.path))
    rate = report.records / report.seconds if report.seconds else 0.0
    body = _BODY.substitute(
        name=escape(contract.full_name),
        version=escape(contract.version or "unversioned"),
        facts=_facts(report),
        split=split(
            [
                ("accepted as they came", "untouched", untouched),
                ("accepted, normalised", "normalised", report.normalised),
                ("dead-lettered", "rejected", report.rejected),
            ]
        ),
        untouched=f"{untouched:,}",
        normalised=f"{report.normalised:,}",
        rejected=f"{report.rejected:,}",
        records=f"{report.records:,}",
        rate=f"{rate:,.0f}",
        seconds=f"{report.seconds:.2f}",
        levels=_levels(report.levels),
        chart=bars(
            sorted(report.by_rule.items(), key=lambda row: (-row[1], row[0])), report.records, "violations by rule"
        )
        or '<p class="quiet">No record was rejected.</p>',
        rejects="".join(_reject(reject) for reject in rejects) or _none(5, "No record was rejected."),
        changes="".join(_change(tally) for tally in changes) or _none(4, "Nothing was changed."),
        promises="".join(
            f"<tr><td>{f'<code>{escape(promise.path)}</code>' if promise.path else _WHOLE}</td>"
            f"<td>{escape(promise.text)}</td></tr>"
            for promise in contract.promises
        ),
        made=escape(made),
        fingerprint=escape(contract.fingerprint),
    )
    return page(f"{contract.full_name} {contract.version}".rstrip(), body, _STYLE)


def _facts(report: StreamReport) -> str:
    contract = report.contract
    facts = [
        ("stream", report.source),
        ("topic", contract.topic),
        ("dead letters", contract.dead_letter_topic),
        ("owner", contract.owner),
        ("contract", contract.source),
    ]
    return "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts if value)


def _levels(verdicts: Sequence[Verdict]) -> str:
    if not verdicts:
        return '<p class="quiet">The contract declares no service level.</p>'
    return f'<table class="levels">{"".join(_level(verdict) for verdict in verdicts)}</table>'


def _level(verdict: Verdict) -> str:
    mark, word = {"kept": ("✓", "kept"), "missed": ("✗", "missed"), "unjudged": ("·", "not judged")}[verdict.state]
    # The state has a column of its own here.
    figures = level_text(verdict).replace("not judged: ", "")
    return (
        f'<tr class="{verdict.state}"><td class="mark" aria-hidden="true">{mark}</td>'
        f'<td class="nowrap">{escape(verdict.level.replace("_", " "))}</td><td class="state nowrap">{word}</td>'
        f"<td>{escape(figures)}</td></tr>"
    )


def _reject(reject: Reject) -> str:
    if reject.sensitive:
        value = '<span class="quiet">sensitive, not shown</span>'
    else:
        value = _value(reject.value) if reject.path and reject.value is not None else ""
    path = f"<code>{escape(reject.path)}</code>" if reject.path else _WHOLE
    return (
        f'<tr><td class="nowrap">{escape(reject.position)}</td><td>{path}</td>'
        f"<td>{value}</td><td>{escape(reject.message)}</td>"
        f'<td class="nowrap"><code>{escape(reject.rule_id)}</code><br>'
        f'<span class="quiet mono">{reject.code:#010x}</span></td></tr>'
    )


def _change(tally: ChangeTally) -> str:
    if tally.hidden:
        examples = '<tr class="pair"><td colspan="3" class="quiet">sensitive, not shown</td></tr>'
    else:
        examples = "".join(
            f'<tr class="pair"><td>{_value(before)}</td><td class="arrow">→</td><td>{_value(after)}</td></tr>'
            for before, after in tally.examples
        )
    return (
        f"<tr><td><code>{escape(tally.path)}</code></td><td>{escape(tally.rule_id)}</td>"
        f'<td class="number">{tally.count:,}</td><td><table class="pairs">{examples}</table></td></tr>'
    )


def _value(value: Any) -> str:
    if value is None or value == "":
        return _UNSET
    return f'<code class="value">{escape(shown(value, 48))}</code>'


def _none(columns: int, words: str) -> str:
    return f'<tr><td colspan="{columns}" class="quiet">{words}</td></tr>'


_STYLE: Final = """\
table.levels { width: auto; font-size: inherit; }
table.levels td { border: 0; padding: .1rem 1.1rem .1rem 0; font-variant-numeric: tabular-nums; }
table.levels .mark { padding-right: .6rem; }
.kept .mark, .kept .state { color: var(--good); }
.missed .mark, .missed .state { color: var(--bad); }
table.pairs { width: auto; font-size: inherit; }
table.pairs td { border: 0; padding: 0 .6rem .15rem 0; }
table.pairs .arrow { color: var(--quiet); }
"""

_BODY: Final = Template("""\
<header>
<h1>$name<small>$version</small></h1>
<dl>$facts</dl>
</header>

<section class="summary" aria-label="Summary">
<div class="figures-row">
<div><b>$records</b><span>records, $rate a second</span></div>
<div><b>$untouched</b><span><i class="untouched"></i>accepted as they came</span></div>
<div><b>$normalised</b><span><i class="normalised"></i>accepted, normalised</span></div>
<div><b>$rejected</b><span><i class="rejected"></i>dead-lettered</span></div>
</div>
$split
</section>

<h2>Service level</h2>
$levels

<h2>Violations by rule</h2>
<p class="quiet">Records that broke each rule, and their share of all. A record that broke several counts for each.</p>
$chart

<h2>Sample rejects</h2>
<p class="quiet">The first dead letters of each rule.</p>
<div class="scroll"><table>
<thead><tr><th>record</th><th>field</th><th>value</th><th>what is wrong</th><th>rule and code</th></tr></thead>
<tbody>$rejects</tbody>
</table></div>

<h2>What normalising changed</h2>
<p class="quiet">Accepted records only: how often each field was rewritten, and some forms that it came in.</p>
<div class="scroll"><table>
<thead><tr><th>field</th><th>normalizer</th><th class="number">changed</th><th>before and after</th></tr></thead>
<tbody>$changes</tbody>
</table></div>

<h2>What the contract promises</h2>
<div class="scroll"><table>
<thead><tr><th>field</th><th>promise</th></tr></thead>
<tbody>$promises</tbody>
</table></div>

<footer><p>$made</p><p>Fingerprint <span class="mono">$fingerprint</span></p></footer>
""")
