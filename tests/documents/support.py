"""Contracts compiled to pages, and pages read back."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from protocontract_compiler import ir, pipeline, protoc
from protocontract_compiler.descriptors import Loaded, load
from protocontract_compiler.diagnostics import Diagnostics
from tests.compiler.sources import CONTRACTS

#: Elements that have no end.
_VOID = frozenset({"meta", "br", "hr", "wbr", "input", "img", "link"})

#: The browser that opens pages, where there is one.
BROWSER = os.environ.get("CHROMIUM") or shutil.which("chromium")


def dumped(folder: Path, address: str, *flags: str) -> str:
    """The document as a browser with its profile in ``folder`` has it when the page's scripts have run."""
    assert BROWSER is not None
    done = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", f"--user-data-dir={folder / 'profile'}", *flags, "--dump-dom",
         address],
        capture_output=True, text=True, encoding="utf-8", timeout=120, check=True,
    )  # fmt: skip
    return done.stdout


def compiled(folder: Path, *, records: tuple[Path, ...] = (), below: str = "") -> tuple[Loaded, ir.Schema]:
    """The schema of a folder's contracts, with dossiers. Raises Stopped."""
    diagnostics = Diagnostics()
    sources = protoc.find_sources([folder / below], [folder])
    loaded = load(protoc.describe(sources, diagnostics), sources.names, diagnostics, source_roots=sources.roots)
    options = pipeline.CompileOptions(targets=("docs",), source_roots=tuple(sources.roots), records=records)
    return loaded, pipeline.compile_schema(loaded, diagnostics, options)


def pages_of(schema: ir.Schema) -> Mapping[str, str]:
    """The files of a schema's pages, by name."""
    files = pipeline.emit(schema, pipeline.CompileOptions(targets=("docs",)))
    found = {file.name: file.text for file in files}
    assert len(found) == len(files)
    return found


def pages(folder: Path, *, records: tuple[Path, ...] = ()) -> Mapping[str, str]:
    """The files that a folder's contracts are compiled to."""
    return pages_of(compiled(folder, records=records)[1])


def examples() -> tuple[Loaded, ir.Schema]:
    """The example contracts of this repository."""
    return compiled(CONTRACTS, below="acme")


@dataclass
class Read(HTMLParser):
    """A page as a browser sees it: elements that end where they should, anchors, links, text."""

    text: str = ""
    title: str = ""
    elements: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    resources: list[str] = field(default_factory=list)
    handlers: list[str] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        if tag not in _VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name == "href" and tag == "a":
                self.links.append(value or "")
            elif name in ("src", "href", "action", "data"):
                self.resources.append(value or "")
            elif name.startswith("on"):
                self.handlers.append(name)
            elif name == "lang" and tag == "html":
                self.languages.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "title":
            self.title += data
        elif not self.open or self.open[-1] not in ("style", "script"):
            self.text += data


def read(text: str) -> Read:
    """Reads a page. Raises AssertionError where an element ends elsewhere than it should."""
    found = Read()
    found.feed(text)
    found.close()
    assert found.open == []
    return found
