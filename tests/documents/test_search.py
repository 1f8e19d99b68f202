"""The index in a real browser, opened from a folder: what its search finds, and that nothing else is needed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.documents.support import BROWSER, dumped, read

pytestmark = pytest.mark.skipif(BROWSER is None, reason="CHROMIUM names no browser (.ci/chromium installs one)")


@pytest.fixture(scope="module")
def folder(site: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages as files."""
    folder = tmp_path_factory.mktemp("site")
    for name, text in site.items():
        if name.endswith(".html"):
            (folder / name).write_text(text, encoding="utf-8")
    return folder


def searched(folder: Path, words: str, index: str = "index.html") -> list[tuple[str, str]]:
    """What the index shows for words in its address: links and their text, in order."""
    page = dumped(folder, f"{(folder / index).as_uri()}#{words}")
    hits = page.partition('<ul id="hits"')[2].partition("</ul>")[0].partition(">")[2]
    found = [item.partition("</a>")[0] for item in hits.split("<li>")[1:]]
    return [(read(f"{item}</a>").links[0], read(f"{item}</a>").text) for item in found]


def test_the_search(folder: Path) -> None:
    # A rule: each place of it, with the page and the row that explain it.
    ambiguous = searched(folder, "money.ambiguous")
    assert ambiguous == [("acme.finance.v1.Transaction.html#xb93db785", "0xb93db785")]
    # A code, a field of one contract (both words count), nothing.
    assert searched(folder, "0xB93DB785") == ambiguous
    assert searched(folder, "raw_text%20textsample", "index.zh.html")[0] == (
        "acme.text.v1.TextSample.zh.html#guarantees", "raw_text",
    )  # fmt: skip
    assert searched(folder, "no-such-thing") == []
