"""Renders a data card as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from string import Template
from typing import TYPE_CHECKING, Any, Final

from protocontract.levels import duration_text
from protocontract.report.charts import bars, columns, split
from protocontract.report.page import page

if TYPE_CHECKING:
    from protocontract.card.card import Card

#: Labels and classes of one field that the page shows; the JSON has all.
_SHOWN: Final = 24

_KINDS: Final = {
    "text": "text", "label": "label", "bool": "bool", "integer": "integer", "number": "number", "moment": "moment",
    "duration": "seconds", "bytes": "bytes", "tensor": "tensor", "message": "message", "sensitive": "sensitive",
}  # fmt: skip

# General categories by their first letter (The Unicode Standard, table 4-4).
_CATEGORIES: Final = {
    "L": "letters", "M": "marks", "N": "numbers", "P": "punctuation", "S": "symbols", "Z": "separators",
    "C": "controls and others",
}  # fmt: skip


def render(card: Card) -> str:
    """The page of a card."""
    data = card.data
    contract, records = data["contract"], data["records"]
    as_is = records["used"] - records["normalised"]
    body = _BODY.substitute(
        name=escape(contract["name"]),
        version=escape(contract["version"] or "unversioned"),
        read=_count(records["read"]),
        as_is=_count(as_is),
        normalised=_count(records["normalised"]),
        dropped=_count(records["dropped"]),
        left_out=_left_out(data["left_out"]),
        split=split(
            [
                ("used as they came", "untouched", as_is),
                ("used, normalised", "normalised", records["normalised"]),
                ("dropped", "rejected", records["dropped"]),
            ]
        ),
        why=_why(data, card.dropped_by_rule()),
        fields="".join(_field(field) for field in data["fields"]),
        changed=_changed(data["normalised"], records["used"]),
        sources=_sources(data["sources"]),
        versions=", ".join(f"{escape(name)} {escape(version)}" for name, version in data["data_versions"].items()),
        fingerprint=escape(contract["fingerprint"]),
        sha256=card.sha256,
        schema=escape(data["schema"]),
    )
    return page(f"{contract['name']} {contract['version']} data card", body, _STYLE)


def _left_out(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return ""
    reasons = ", ".join(f"{_count(row['records'])} {escape(row['reason'])}" for row in rows)
    return f'<p class="quiet">Left out although they keep the contract: {reasons}.</p>'


def _why(data: Mapping[str, Any], by_rule: Sequence[tuple[str, int]]) -> str:
    if not data["dropped"] and not data["warnings"]:
        return '<p class="quiet">No record was dropped.</p>'
    read = data["records"]["read"]
    rows = "".join(_broken(row, read, "") for row in data["dropped"])
    rows += "".join(_broken(row, read, ' <span class="quiet">warning, used</span>') for row in data["warnings"])
    return (
        f"{bars(by_rule, read, 'dropped records by rule')}"
        '<div class="scroll"><table><thead><tr><th>field</th><th>rule</th><th>code</th><th class="number">records</th>'
        f'<th class="number">of all</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _broken(row: Mapping[str, Any], read: int, note: str) -> str:
    path = f"<code>{escape(row['path'])}</code>" if row["path"] else '<span class="quiet">whole record</span>'
    return (
        f"<tr><td>{path}</td><td><code>{escape(row['rule'])}</code>{note}</td>"
        f'<td class="quiet mono">{escape(row["code"])}</td><td class="number">{_count(row["records"])}</td>'
        f'<td class="number">{_share(row["records"], read, 2)}</td></tr>'
    )


def _changed(rows: Sequence[Mapping[str, Any]], used: int) -> str:
    if not rows:
        return '<p class="quiet">Nothing was changed.</p>'
    body = "".join(
        f"<tr><td><code>{escape(row['path'])}</code></td><td>{escape(row['normalizer'])}</td>"
        f'<td class="number">{_count(row["records"])}</td>'
        f'<td class="number">{_share(row["records"], used, 2)}</td></tr>'
        for row in rows
    )
    return (
        '<div class="scroll"><table><thead><tr><th>field</th><th>normalizer</th><th class="number">records</th>'
        f'<th class="number">of used</th></tr></thead><tbody>{body}</tbody></table></div>'
    )


def _sources(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return '<p class="quiet">None was named.</p>'
    body = "".join(
        f"<tr><td>{escape(row['name'])}</td>"
        f'<td class="number">{"" if row["records"] is None else _count(row["records"])}</td>'
        f'<td class="mono wrap">{escape(row["sha256"] or "no content of its own")}</td></tr>'
        for row in rows
    )
    return (
        '<div class="scroll"><table><thead><tr><th>source</th><th class="number">records</th><th>SHA-256</th></tr>'
        f"</thead><tbody>{body}</tbody></table></div>"
    )


# ----------------------------------------------------------------------------------------------------------------------
# Fields


def _field(field: Mapping[str, Any]) -> str:
    around, dot, name = field["path"].rpartition(".")
    nested = f'<span class="quiet">{escape(around + dot)}</span>' if around else ""
    kind = _KINDS[field["kind"]]
    if "list" in field:
        kind = f"list of {kind}s"
    elif "map" in field:
        kind = f"map of {kind}s"
    parts = [_shape(field)] if "list" in field or "map" in field else []
    values = field.get("values")
    if values is not None and values.get("count", values.get("length", {}).get("count")):
        parts.append(_values(field["kind"], values))
    if field["kind"] == "sensitive":
        parts.append('<p class="quiet">Sensitive: only its presence is counted.</p>')
    if not field["of"]:
        parts = ['<p class="quiet">No message that has it was seen.</p>']
    return (
        f'<section class="field"><div class="about"><h3>{nested}{escape(name)}</h3><p class="quiet">{kind}</p>'
        f"{_presence(field)}</div><div>{''.join(parts)}</div></section>"
    )


def _presence(field: Mapping[str, Any]) -> str:
    of, present = field["of"], field["present"]
    if not of:
        return ""
    default = field.get("default")
    noted = f", {_share(default, of)} at its default" if default else ""
    word = "filled" if "list" in field or "map" in field else "set"
    return (
        f'<div class="presence" role="img" aria-label="{word} in {_share(present, of)}"><i style="width:'
        f'{100 * present / of:.2f}%"></i></div><p class="quiet small">{word} in {_share(present, of)} of'
        f" {_count(of)}{noted}</p>"
    )


def _shape(field: Mapping[str, Any]) -> str:
    lengths = field.get("list") or field.get("map")
    noun = "entries" if "map" in field else "items"
    return _numbers(lengths, f"{noun} each", whole=True) if lengths and lengths["count"] else ""


def _values(kind: str, values: Mapping[str, Any]) -> str:
    match kind:
        case "text":
            return _text(values)
        case "label" | "bool":
            return _labels(values)
        case "tensor":
            return _tensor(values)
        case "moment":
            return _numbers(values, "moments in UTC", whole=False, moments=True)
        case "bytes":
            return _numbers(values, "sizes in bytes", whole=True)
        case "duration":
            return _numbers(values, "seconds", whole=False)
        case _:
            return _numbers(values, "values", whole=kind == "integer")


def _numbers(values: Mapping[str, Any], unit: str, *, whole: bool, moments: bool = False) -> str:
    special = [
        f"{_count(values[key])} {word}"
        for key, word in (("nan", "NaN"), ("infinite", "+infinity"), ("negative_infinite", "-infinity"))
        if values.get(key)
    ]
    note = f'<p class="quiet small">{", ".join(special)}</p>' if special else ""
    if "min" not in values:
        return note

    def shown(value: Any) -> str:
        return _moment(value) if moments else _figure(value)

    def rounded(value: Any) -> str:
        # Seconds of a moment that is hours off would only look precise.
        return _moment(value[:16]) if values.get("resolution_seconds", 0) >= 60 else shown(value)

    bins = values["histogram"]
    if values["min"] == values["max"]:
        return f'<p><b>{escape(shown(values["min"]))}</b> <span class="quiet">always ({escape(unit)})</span></p>{note}'
    widths = [_width(low, high) for low, high, _ in bins[1:-1]] or [0.0]
    drawn = columns(
        [
            (
                shown(low) if low == high else f"{shown(low)} to {shown(high)}",
                number,
                # A tail is wider than the bins between.
                place in (0, len(bins) - 1) and not moments and _width(low, high) > 1.5 * max(widths),
            )
            for place, (low, high, number) in enumerate(bins)
        ],
        f"histogram of {unit}",
    )
    quantiles = values["quantiles"]
    figures = [
        (name, rounded(quantiles[share])) for name, share in (("5 %", "0.05"), ("median", "0.5"), ("95 %", "0.95"))
    ]
    figures = [("min", shown(values["min"])), *figures, ("max", shown(values["max"]))]
    if "mean" in values:
        figures.insert(3, ("mean", shown(values["mean"])))
    row = "".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in figures)
    exact = "" if values["exact"] else _rounded(values)
    return f'<p class="quiet small">{escape(unit)}{exact}</p>{drawn}<dl class="quantiles">{row}</dl>{note}'


def _rounded(values: Mapping[str, Any]) -> str:
    if "resolution_seconds" in values:
        return f"; quantiles within {duration_text(values['resolution_seconds'])}"
    error = 100 * values["relative_error"]
    return f"; quantiles within {error:.1g} %" if error >= 1e-6 else ""


def _text(values: Mapping[str, Any]) -> str:
    length = values["length"]
    groups: dict[str, int] = {}
    for row in values["categories"]:
        name = _CATEGORIES[row["class"][0]]
        groups[name] = groups.get(name, 0) + row["characters"]
    total = sum(groups.values())
    listed = [f"{escape(name)} {_share(number, total)}" for name, number in sorted(groups.items(), key=_by_count)]
    letters = sum(row["characters"] for row in values["alphabets"])
    alphabets = sorted(((row["class"].lower(), row["characters"]) for row in values["alphabets"]), key=_by_count)
    shown = [f"{escape(name)} {_share(number, letters)}" for name, number in alphabets[:_SHOWN]]
    ascii_only = f"{_share(values['ascii'], length['count'])} of the texts are ASCII"
    lines = [_line("characters", listed), _line("letters", shown), _line("texts", [ascii_only])]
    return _numbers(length, "lengths in characters", whole=True) + "".join(lines)


def _line(name: str, parts: Sequence[str]) -> str:
    return f'<p class="small"><span class="quiet">{name}</span> {" · ".join(parts)}</p>' if parts else ""


def _labels(values: Mapping[str, Any]) -> str:
    rows = [(name, number) for name, number in values["labels"]]
    if len(rows) > _SHOWN:
        rows.sort(key=_by_count)
        rest = rows[_SHOWN - 1 :]
        rows = [*rows[: _SHOWN - 1], (f"{len(rest):,} more labels", sum(number for _, number in rest))]
    if values["other"]:
        rows.append(("not declared", values["other"]))
    missing = values["declared"] - len(values["labels"])
    note = f"{_count(values['declared'])} declared" + (f", {_count(missing)} never seen" if missing else "")
    return f'<p class="quiet small">{note}</p><div class="plain">{bars(rows, values["count"], "labels")}</div>'


def _tensor(values: Mapping[str, Any]) -> str:
    axes = " × ".join(_axis(axis) for axis in values["axes"])
    special = f"{_share(values['zeros'], values['elements'])} zeros"
    for key, word in (("nan", "NaN"), ("infinite", "infinite")):
        if values[key]:
            special += f", {_count(values[key])} {word}"
    span = "" if values["min"] is None else f"{_figure(values['min'])} to {_figure(values['max'])}, "
    elements = _line("elements", [f"{_count(values['elements'])}: {span}{special}"])
    return (_line("axes", [axes]) if axes else "") + elements


def _axis(axis: Mapping[str, Any]) -> str:
    size = axis["size"]
    if axis["dim"].isdigit() or "min" not in size:
        return escape(axis["dim"])
    span = _count(size["min"]) if size["min"] == size["max"] else f"{_count(size['min'])} to {_count(size['max'])}"
    return f"{escape(axis['dim'])} {span}"


def _by_count(row: tuple[str, int]) -> tuple[int, str]:
    return -row[1], row[0]


def _width(low: Any, high: Any) -> float:
    return float(high) - float(low) if not isinstance(low, str) else 0.0


def _count(number: float) -> str:
    return f"{number:,}"


def _share(part: int, whole: int, digits: int = 1) -> str:
    if not whole:
        return "0 %"
    if part in (0, whole):
        return f"{100 * part // whole} %"
    share = 100 * part / whole
    # Neither all nor nothing is what rounding may say of a part.
    if share < 0.01:
        return "&lt;0.01 %"
    if share > 99.99:
        return "&gt;99.99 %"
    return f"{share:.{digits if 1 <= share <= 99 else 2}f} %"


def _figure(number: float) -> str:
    if isinstance(number, int) and abs(number) < 10**12:
        return f"{number:,}"
    return f"{number:,.2f}" if 1000 <= abs(number) < 1e12 else f"{number:.4g}"


def _moment(text: str) -> str:
    """A moment as people read it: without seconds that are zero, or a fraction."""
    date, _, clock = text.removesuffix("Z").partition("T")
    clock = clock.partition(".")[0]
    if clock == "00:00:00":
        return date
    return f"{date} {clock.removesuffix(':00')}".rstrip()


_STYLE: Final = """\
.field { display: grid; grid-template-columns: 17rem minmax(0, 1fr); gap: .4rem 2.2rem; padding: 1.2rem 0 1.1rem;
  border-top: 1px solid var(--line); break-inside: avoid; }
.field h3 { margin: 0; font: 600 .95rem/1.35 ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
  overflow-wrap: anywhere; }
.field h3 .quiet { font-weight: 400; }
.field p { margin: .1rem 0; }
.small { font-size: .87rem; }
.about > p { font-size: .9rem; }
.presence { height: 4px; margin: .55rem 0 .3rem; border-radius: 2px; background: var(--line); overflow: hidden; }
.presence i { display: block; height: 100%; background: var(--good); }
svg.columns { height: 64px; max-width: 30rem; margin: .45rem 0 .3rem; }
.column, .plain svg.bars .bar { fill: var(--changed); }
.column.tail { opacity: .5; }
.axis { fill: var(--line); }
dl.quantiles { gap: .2rem 1.6rem; margin: .2rem 0 .5rem; font-size: .87rem; font-variant-numeric: tabular-nums; }
dl.quantiles div { gap: .4rem; }
.plain svg.bars { margin-top: .2rem; max-width: 36rem; }
.wrap { overflow-wrap: anywhere; }
@media (max-width: 44rem) { .field { grid-template-columns: minmax(0, 1fr); } }
@media print { .field { grid-template-columns: 13rem minmax(0, 1fr); } }
"""

_BODY: Final = Template("""\
<header>
<h1>$name<small>$version</small></h1>
<dl><div><dt>data card</dt><dd class="mono">$sha256</dd></div></dl>
</header>

<section class="summary" aria-label="Summary">
<div class="figures-row">
<div><b>$read</b><span>records read</span></div>
<div><b>$as_is</b><span><i class="untouched"></i>used as they came</span></div>
<div><b>$normalised</b><span><i class="normalised"></i>used, normalised</span></div>
<div><b>$dropped</b><span><i class="rejected"></i>dropped</span></div>
</div>
$split
$left_out
</section>

<h2>Why records were dropped</h2>
<p class="quiet">Records that broke each rule, and their share of all that were read. A record that broke several counts
for each.</p>
$why

<h2>Fields</h2>
<p class="quiet">Of the records that were used, as they are after normalising.</p>
$fields

<h2>What normalising changed</h2>
$changed

<h2>Sources</h2>
$sources

<footer>
<p>Contract fingerprint <span class="mono">$fingerprint</span></p>
<p>Data versions: $versions. Form: $schema.</p>
</footer>
""")
