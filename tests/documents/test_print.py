"""Pages on paper, in a real browser that prefers dark: all is shown, nothing that only a screen can use, on white."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import unescape
from pathlib import Path

import pytest

from tests.documents.support import BROWSER, dumped

pytestmark = pytest.mark.skipif(BROWSER is None, reason="CHROMIUM names no browser (.ci/chromium installs one)")

#: What each of these looks like: of every element that a selector finds, "shown" or "hidden", and colours.
_LOOK = """
<script>
const look = (selector) => [...new Set([...document.querySelectorAll(selector)].map((each) =>
  each.checkVisibility({ contentVisibilityAuto: true }) && each.getClientRects().length ? "shown" : "hidden"))];
const colour = (selector, name) => getComputedStyle(document.querySelector(selector))[name];
document.body.innerHTML = `<pre id="look">${JSON.stringify({
  "nav.top": look("nav.top"), "nav.contents": look("nav.contents"), summary: look("summary"), table: look("table"),
  "details tr": look("details tr"), ".search": look(".search"), "ul.cards a": look("ul.cards a"),
  paper: colour("body", "backgroundColor"), ink: colour("body", "color"), link: colour("main a", "color"),
})}</pre>`;
</script>"""


def printed(site: Mapping[str, str], name: str, folder: Path) -> dict[str, object]:
    """How the parts of a page look in print: rules for paper hold on the screen here, and those for screens do not."""
    page = site[name]
    assert "@media print {" in page
    page = page.replace("@media screen", "@media speech").replace("@media print", "@media screen")
    file = folder / name
    file.write_text(page.replace("</body>", f"{_LOOK}</body>"), encoding="utf-8")
    found = dumped(folder, file.as_uri(), "--blink-settings=preferredColorScheme=0")
    told: dict[str, object] = json.loads(unescape(found.partition('<pre id="look">')[2].partition("</pre>")[0]))
    return told


BLACK_ON_WHITE = {"paper": "rgb(255, 255, 255)", "ink": "rgb(0, 0, 0)", "link": "rgb(0, 0, 0)"}


def test_a_page_in_print(site: Mapping[str, str], tmp_path: Path) -> None:
    """The rows behind "191 more" are printed, and the words that open them are not."""
    assert printed(site, "acme.inference.v1.IdentifyResponse.html", tmp_path) == {
        "nav.top": ["hidden"], "nav.contents": ["hidden"], "summary": ["hidden"], "table": ["shown"],
        "details tr": ["shown"], ".search": [], "ul.cards a": [], **BLACK_ON_WHITE,
    }  # fmt: skip


def test_the_index_in_print(site: Mapping[str, str], tmp_path: Path) -> None:
    assert printed(site, "index.html", tmp_path) == {
        "nav.top": ["hidden"], "nav.contents": [], "summary": [], "table": [],
        "details tr": [], ".search": ["hidden"], "ul.cards a": ["shown"], **BLACK_ON_WHITE,
    }  # fmt: skip
