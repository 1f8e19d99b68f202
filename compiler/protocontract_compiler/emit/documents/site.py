"""The index of all pages, with a search that needs no server: it works on a page that was opened from a folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from protocontract.report.page import page as framed
from protocontract_compiler.emit.documents import html, markdown
from protocontract_compiler.emit.documents.blocks import Page, plain
from protocontract_compiler.emit.documents.contract import Entry
from protocontract_compiler.emit.documents.html import escape
from protocontract_compiler.emit.documents.words import Words
from protocontract_compiler.emit.python import tool_version


@dataclass(frozen=True)
class Listed:
    """A page in the index. ``owner`` and ``about`` stand below its name; ``entries`` are what a search finds in it."""

    page: Page
    is_service: bool
    owner: str = ""
    about: str = ""
    entries: tuple[Entry, ...] = ()


def index_html(listed: Sequence[Listed], language: str) -> str:
    """The index as HTML."""
    say = Words(language)
    ending = html.ENDINGS[language]
    found: list[str] = [
        html.top(say, "index", home=False),
        f"<header><h1>{escape(say('contracts'))}</h1>",
        f'<p class="lead">{escape(say("index_lead"))}</p></header>',
        f'<p class="search"><input id="search" type="search" autocomplete="off" spellcheck="false" '
        f'aria-label="{escape(say("search"))}" placeholder="{escape(say("search"))}"></p>',
        '<ul id="hits" class="hits" aria-live="polite" hidden></ul>',
        f'<p id="nothing" class="quiet" hidden>{escape(say("search_none"))}</p>',
        '<div id="all">',
    ]
    for title, group in _grouped(say, listed):
        found.append(f"<h2>{escape(title)}</h2>")
        found.append('<ul class="cards">')
        found += [_card(each, ending) for each in group]
        found.append("</ul>")
    found.append("</div>")
    found.append(f"<footer>{escape(say('foot_index', tool_version()))}</footer>")
    found.append(f"<script>\nconst entries = {_data(say, listed, ending)};\n{_SCRIPT}</script>\n")
    return framed(say("contracts"), "\n".join(found), html.STYLE + _STYLE, language=html.TAGS[language])


def index_markdown(listed: Sequence[Listed], language: str) -> str:
    """The index as Markdown."""
    say = Words(language)
    ending = markdown.ENDINGS[language]
    lines = [f"# {say('contracts')}", "", markdown.above(say, "index"), "", say("index_lead"), ""]
    for title, group in _grouped(say, listed):
        lines += [f"## {title}", ""]
        for each in group:
            owner = f" · {markdown.escaped(each.owner)}" if each.owner else ""
            lead = plain(each.page.lead)
            lines.append(
                f"- [{markdown.escaped(each.page.title)}]({each.page.name}{ending}) {each.page.version}{owner}".rstrip()
                + (f"  \n  {markdown.escaped(lead)}" if lead else "")
            )
        lines.append("")
    lines += ["---", "", markdown.escaped(say("foot_index", tool_version()))]
    return "\n".join(lines) + "\n"


def _grouped(say: Words, listed: Sequence[Listed]) -> list[tuple[str, list[Listed]]]:
    """Contracts by package, then services."""
    packages: dict[str, list[Listed]] = {}
    for each in sorted(listed, key=lambda each: each.page.title):
        if not each.is_service:
            packages.setdefault(each.page.title.rpartition(".")[0] or say("contracts"), []).append(each)
    groups = list(packages.items())
    services = [each for each in sorted(listed, key=lambda each: each.page.title) if each.is_service]
    return [*groups, (say("services"), services)] if services else groups


def _card(each: Listed, ending: str) -> str:
    name = each.page.title.rpartition(".")[2]
    version = f" <small>{escape(each.page.version)}</small>" if each.page.version else ""
    about = " · ".join(escape(text) for text in (each.owner, each.about) if text)
    lead = plain(each.page.lead)
    return (
        f'<li><a href="{escape(each.page.name + ending)}"><b>{escape(name)}</b></a>{version}'
        + (f"<p>{escape(lead)}</p>" if lead else "")
        + (f'<p class="quiet">{about}</p>' if about else "")
        + "</li>"
    )


def _data(say: Words, listed: Sequence[Listed], ending: str) -> str:
    """What the search looks through: what is shown, what is searched, where it leads."""
    rows: list[list[str]] = []
    for each in listed:
        name = each.page.title
        where = each.page.name + ending
        rows.append([say("hit_contract"), name, f"{plain(each.page.lead)} {each.owner}".strip(), where, name])
        for entry in each.entries:
            target = f"{where}#{entry.anchor}"
            rows.append([say(f"hit_{entry.kind}"), entry.name, entry.text, target, name])
    # Nothing in the text can end the script or begin another one.
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).replace("],[", "],\n[")
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


_SCRIPT: Final = """\
const field = document.getElementById("search"), hits = document.getElementById("hits");
const all = document.getElementById("all"), nothing = document.getElementById("nothing");
const texts = entries.map(([, name, text, , contract]) => `${name} ${text} ${contract}`.toLowerCase());
const most = 60;

function hit([kind, name, text, target, contract]) {
  const item = document.createElement("li"), link = document.createElement("a");
  link.href = target;
  link.textContent = name;
  const about = document.createElement("span");
  about.className = "quiet";
  about.textContent = name === contract ? kind : `${kind} · ${contract}`;
  const more = document.createElement("p");
  more.textContent = text;
  item.append(link, " ", about, more);
  return item;
}

function rank(entry, words) {
  const name = entry[1].toLowerCase(), wanted = words.join(" ");
  return name === wanted ? 0 : name.startsWith(wanted) ? 1 : name.includes(wanted) ? 2 : 3;
}

function show() {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const found = words.length
    ? entries.filter((_, place) => words.every((word) => texts[place].includes(word)))
        .map((entry) => [rank(entry, words), entry]).sort((one, other) => one[0] - other[0]).slice(0, most)
    : [];
  hits.replaceChildren(...found.map(([, entry]) => hit(entry)));
  hits.hidden = !found.length;
  nothing.hidden = !words.length || found.length > 0;
  all.hidden = words.length > 0;
}

field.addEventListener("input", show);
field.value = decodeURIComponent(location.hash.slice(1));
show();
"""

_STYLE: Final = """\
.search { max-width: none; margin: 1.6rem 0 0; }
.search input { width: 100%; font: inherit; font-size: 1.05rem; color: var(--ink); background: var(--sheet);
  border: 1px solid var(--line); border-radius: 6px; padding: .65rem .85rem; }
.search input:focus-visible { outline: 2px solid var(--link); outline-offset: 1px; }
ul.cards { list-style: none; padding: 0; margin: .8rem 0 0; display: grid; gap: .9rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); }
ul.cards li { background: var(--sheet); border: 1px solid var(--line); border-radius: 6px; padding: .85rem 1rem;
  overflow-wrap: anywhere; break-inside: avoid; }
ul.cards small { color: var(--quiet); font-variant-numeric: tabular-nums; }
ul.cards p { margin: .3rem 0 0; font-size: .93rem; }
ul.hits { list-style: none; padding: 0; margin: 1.2rem 0; }
ul.hits li { padding: .55rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
ul.hits p { margin: .1rem 0 0; font-size: .92rem; max-width: none; }
ul.hits a { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; font-size: .92rem; }
h2 { font-size: 1.05rem; color: var(--quiet); font-weight: 500; }
[hidden] { display: none; }
@media print { .search, script { display: none; } }
"""
