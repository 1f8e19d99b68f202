"""The frame of our pages: one HTML file without any outside resource, light and dark, on screen and on paper."""

from __future__ import annotations

from html import escape
from string import Template
from typing import Final


def page(title: str, body: str, style: str = "", *, language: str = "en") -> str:
    """A page. ``body`` is HTML, ``style`` the CSS that only this page needs, ``language`` the tag of its language."""
    return _PAGE.substitute(title=escape(title), body=body, style=style, language=escape(language))


_PAGE: Final = Template("""\
<!doctype html>
<html lang="$language">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<style>
:root {
  --paper: #fbfbfa; --sheet: #ffffff; --ink: #1d2126; --quiet: #68707a; --line: #e2e4e7;
  --good: #2f7d5b; --changed: #7fb59a; --bad: #b8442f; --bar: #b8442f; --code: #f1f2f4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171a; --sheet: #1b1f23; --ink: #e4e7ea; --quiet: #949da7; --line: #2d3339;
    --good: #57b98b; --changed: #37705a; --bad: #e0745d; --bar: #cf6650; --code: #262b31;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main { max-width: 60rem; margin: 0 auto; padding: 2.5rem 1.25rem 3rem; }
h1 { font-size: 1.5rem; line-height: 1.2; margin: 0; font-weight: 650; overflow-wrap: anywhere; }
h1 small { font-size: 1rem; font-weight: 400; color: var(--quiet); margin-left: .4rem; white-space: nowrap; }
h2 { font-size: 1.05rem; margin: 2.6rem 0 .3rem; font-weight: 650; }
h2 + p.quiet { margin: 0 0 .8rem; }
p { margin: .4rem 0; }
.quiet { color: var(--quiet); }
dl { display: flex; flex-wrap: wrap; gap: .35rem 2rem; margin: .8rem 0 0; }
dl div { display: flex; gap: .5rem; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
.summary { margin-top: 1.8rem; padding: 1.3rem 1.4rem; background: var(--sheet); border: 1px solid var(--line);
  border-radius: 6px; }
.figures-row { display: flex; flex-wrap: wrap; gap: .8rem 2.6rem; margin-bottom: 1.1rem; }
.figures-row div { min-width: 7.5rem; }
.figures-row b { display: block; font-size: 1.6rem; line-height: 1.15; font-weight: 600;
  font-variant-numeric: tabular-nums; }
.figures-row span { color: var(--quiet); font-size: .9rem; }
.figures-row i { display: inline-block; width: .65rem; height: .65rem; border-radius: 2px; margin-right: .4rem; }
svg { display: block; width: 100%; }
svg.split { height: 14px; border-radius: 3px; }
.untouched { fill: var(--good); background: var(--good); }
.normalised { fill: var(--changed); background: var(--changed); }
.rejected { fill: var(--bad); background: var(--bad); }
svg.bars { margin-top: .6rem; max-width: 760px; }
svg.bars text { fill: var(--ink); font-size: 13.5px; dominant-baseline: central; }
svg.bars .name { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
  font-size: 12.5px; }
svg.bars .figure { fill: var(--quiet); font-variant-numeric: tabular-nums; }
svg.bars .bar { fill: var(--bar); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .45rem .9rem .45rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--quiet); font-weight: 500; white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.nowrap { white-space: nowrap; }
code, .mono { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; font-size: .88em; }
code.value { background: var(--code); padding: .1em .35em; border-radius: 3px; overflow-wrap: anywhere; }
footer { margin-top: 3rem; padding-top: .9rem; border-top: 1px solid var(--line); color: var(--quiet);
  font-size: .85rem; overflow-wrap: anywhere; }
@media print {
  :root { --paper: #fff; --sheet: #fff; --ink: #000; --quiet: #555; --line: #ccc; --good: #2f7d5b; --changed: #9cc8b2;
    --bad: #b8442f; --bar: #b8442f; --code: #f1f2f4; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  body { font-size: 11pt; }
  tr, svg, .summary { break-inside: avoid; }
  h2 { break-after: avoid; }
  .scroll { overflow: visible; }
}
$style</style>
</head>
<body>
<main>
$body</main>
</body>
</html>
""")
