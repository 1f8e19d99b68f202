"""Pages as HTML: one file without any outside resource, for screens wide and narrow, light and dark, and for paper."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape as _escape
from typing import Final

from protocontract.report.page import page as framed
from protocontract_compiler.emit.documents.blocks import (
    Block,
    Code,
    Facts,
    Heading,
    Link,
    Listing,
    Page,
    Paragraph,
    Points,
    Quiet,
    Row,
    Table,
    Text,
    parts_of,
    plain,
    visible,
)
from protocontract_compiler.emit.documents.words import WORDS, Words


def escape(text: str) -> str:
    """A text on one line for HTML."""
    return _escape(visible(text))


#: Ending of a page's file, by language: English is the one without.
ENDINGS: Final = {"en": ".html", "zh": ".zh.html"}


def render(page: Page) -> str:
    """The file of a page."""
    say = Words(page.language)
    package, _, name = page.title.rpartition(".")
    version = f" <small>{escape(page.version)}</small>" if page.version else ""
    head = f'<span class="package">{_breakable(package)}.<wbr></span>' if package else ""
    body = [
        top(say, page.name, home=True),
        f"<header><h1>{head}{_breakable(name)}{version}</h1>",
        f'<p class="lead">{_inline(page.lead, page.language)}</p>' if parts_of(page.lead) else "",
        "</header>",
        _contents(page),
        *(_block(block, page.language) for block in page.blocks),
        f"<footer>{_inline(page.foot, page.language)}</footer>\n",
    ]
    title = f"{page.title} {page.version}".rstrip()
    return framed(title, "\n".join(part for part in body if part), STYLE, language=TAGS[page.language])


#: Code of more characters breaks anywhere; a shorter one keeps a column as wide as it is.
_LONG: Final = 26

#: Language tags of HTML.
TAGS: Final = {"en": "en", "zh": "zh-Hans"}


def top(say: Words, name: str, *, home: bool) -> str:
    """The line above a page: to the index, and to the page in the other languages."""
    others = " ".join(
        f'<a lang="{TAGS[language]}" hreflang="{TAGS[language]}" href="{escape(name + ending)}">'
        f"{escape(WORDS[language]['language'])}</a>"
        for language, ending in ENDINGS.items()
        if language != say.language
    )
    index = f'<a href="index{ENDINGS[say.language]}">{escape(say("all_contracts"))}</a>' if home else "<span></span>"
    return f'<nav class="top">{index}<span>{others}</span></nav>'


def _contents(page: Page) -> str:
    found = [block for block in page.blocks if isinstance(block, Heading) and block.level == 2]
    links = "".join(f'<a href="#{escape(block.anchor)}">{escape(plain(block.text))}</a>' for block in found)
    return f'<nav class="contents">{links}</nav>' if len(found) > 2 else ""


def _block(block: Block, language: str) -> str:
    match block:
        case Heading(text, anchor, level):
            return f'<h{level} id="{escape(anchor)}">{_inline(text, language)}</h{level}>'
        case Paragraph(text):
            return f"<p>{_inline(text, language)}</p>"
        case Points(items):
            inner = "".join(f"<li>{_inline(item, language)}</li>" for item in items)
            return f'<ul class="sentences">{inner}</ul>'
        case Facts(pairs):
            inner = "".join(
                f"<div><dt>{escape(name)}</dt><dd>{_inline(text, language)}</dd></div>" for name, text in pairs
            )
            return f'<dl class="facts">{inner}</dl>'
        case Listing(text):
            lines = "\n".join(map(escape, text.split("\n")))
            return f"<pre><code>{lines}</code></pre>"
        case Table(head, rows, hidden, more):
            shown = _table(head, rows, language)
            if not hidden:
                return shown
            return f"{shown}\n<details><summary>{escape(more)}</summary>{_table(head, hidden, language)}</details>"


def _table(titles: Sequence[str], rows: Sequence[Row], language: str) -> str:
    cells = "".join(f"<th>{escape(title)}</th>" for title in titles)
    lines = "\n".join(_row(titles, row, language) for row in rows)
    return (
        f'<div class="scroll"><table class="of{len(titles)}"><thead><tr>{cells}</tr></thead>\n<tbody>\n{lines}\n'
        "</tbody></table></div>"
    )


def _row(titles: Sequence[str], row: Row, language: str) -> str:
    anchor = f' id="{escape(row.anchor)}"' if row.anchor else ""
    cells = "".join(
        f'<td data-title="{escape(title)}"><div>{inner}</div></td>'
        if (inner := _inline(cell, language))
        else '<td class="empty"></td>'
        for title, cell in zip(titles, row.cells, strict=True)
    )
    return f"<tr{anchor}>{cells}</tr>"


def _inline(text: Text, language: str) -> str:
    found: list[str] = []
    for part in parts_of(text):
        match part:
            case str():
                found.append(escape(part))
            case Code(inner):
                long = ' class="long"' if len(inner) > _LONG else ""
                found.append(f"<code{long}>{_breakable(inner)}</code>")
            case Quiet(inner):
                found.append(f'<span class="quiet">{escape(inner)}</span>')
            case Link(inner, page, anchor):
                target = (f"{page}{ENDINGS[language]}" if page else "") + (f"#{anchor}" if anchor else "")
                found.append(f'<a href="{escape(target)}">{_inline(inner, language)}</a>')
    return "".join(found)


def _breakable(text: str) -> str:
    """A name or a value that may go on in the next line behind a dot or an underscore."""
    return escape(text).replace(".", ".<wbr>").replace("_", "_<wbr>") if len(text) > 16 else escape(text)


STYLE: Final = """\
main { max-width: 68rem; }
:root { --link: #1f5f99; --mark: #f4f5f6; }
@media (prefers-color-scheme: dark) { :root { --link: #86b8e6; --mark: #20252a; } }
a { color: var(--link); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
html { scroll-padding-top: 1rem; }
:lang(zh-Hans) body { font-family: system-ui, -apple-system, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC",
  "Noto Sans SC", sans-serif; line-height: 1.65; }
nav.top { display: flex; justify-content: space-between; gap: 1rem; font-size: .9rem; margin-bottom: 1.6rem; }
h1 { font-size: 1.9rem; letter-spacing: -.01em; }
h1 .package { color: var(--quiet); font-weight: 400; font-size: 1.15rem; letter-spacing: 0; }
h1 small { font-variant-numeric: tabular-nums; }
h2 { font-size: 1.3rem; margin-top: 3rem; letter-spacing: -.005em; }
h3 { font-size: 1.02rem; margin: 2rem 0 .4rem; font-weight: 650; overflow-wrap: anywhere; }
.lead { font-size: 1.1rem; max-width: 46rem; margin: .6rem 0 0; color: var(--ink); }
p { max-width: 46rem; }
dl.facts { margin: 1.4rem 0 0; padding: .9rem 0; border: solid var(--line); border-width: 1px 0;
  gap: .4rem 2.2rem; font-size: .94rem; }
nav.contents { display: flex; flex-wrap: wrap; gap: .3rem 1.3rem; margin: 1rem 0 0; font-size: .92rem; }
ul.sentences { padding-left: 1.1rem; margin: .7rem 0; max-width: 50rem; }
ul.sentences li { margin: .42rem 0; }
ul.sentences li::marker { color: var(--good); }
code { background: var(--code); padding: .08em .32em; border-radius: 3px; overflow-wrap: break-word;
  white-space: break-spaces; }
code.long { overflow-wrap: anywhere; }
h1 code, h2 code, h3 code { background: none; padding: 0; font-size: 1em; }
pre { background: var(--sheet); border: 1px solid var(--line); border-radius: 6px; padding: 1rem 1.1rem;
  overflow-x: auto; font-size: .92rem; line-height: 1.5; }
pre code { background: none; padding: 0; white-space: pre-wrap; }
table { margin: .6rem 0 0; }
td { padding-top: .5rem; padding-bottom: .5rem; min-width: 2.2rem; }
td:last-child, th:last-child { padding-right: 0; }
tbody tr:target { background: var(--mark); }
@media (min-width: 44rem) { .of4 td:nth-child(3) { min-width: 14rem; } }
details { margin: .6rem 0; }
summary { cursor: pointer; color: var(--link); font-size: .92rem; }
@media screen and (max-width: 44rem) {
  main { padding: 1.4rem 1rem 2.5rem; }
  h1 { font-size: 1.5rem; }
  .scroll { overflow: visible; }
  table, tbody, tr, td { display: block; }
  thead { display: none; }
  tr { padding: .7rem 0; border-bottom: 1px solid var(--line); }
  td { display: grid; grid-template-columns: 6.2rem minmax(0, 1fr); gap: .2rem .7rem; padding: .16rem 0; border: 0; }
  td.empty { display: none; }
  td::before { content: attr(data-title); color: var(--quiet); font-size: .86rem; padding-top: .08rem; }
  code { overflow-wrap: anywhere; }
}
@media print {
  :root { --link: #000; --mark: #fff; }
  a { color: inherit; }
  details > * { display: block; }
  details::details-content { content-visibility: visible; display: block; }
  nav.top, nav.contents, details > summary { display: none; }
  pre, dl.facts > div { break-inside: avoid; }
  h2, h3, h2 + p, h3 + p { break-after: avoid; }
}
"""
