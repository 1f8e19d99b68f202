"""What readings of many modules against the same states share: the generated modules' names, and stubs on the disk."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from protocontract_ci.usage.python.names import Modules
from protocontract_ci.usage.python.stubs import Stubs, write_stubs
from protocontract_ci.usage.vocabulary import Elements


class Shared:
    """Made once for some states of the contracts. The folder goes when this does."""

    def __init__(self, elements: Elements) -> None:
        self.elements = elements

    @cached_property
    def stubs(self) -> Stubs:
        """Stubs of all files of the contracts."""
        return write_stubs(self.elements)

    @cached_property
    def folder(self) -> Path:
        """The stubs, as the type checker finds them."""
        folder = Path(tempfile.mkdtemp(prefix="protocontract-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        write_files(folder, self.stubs.files)
        return folder

    @cached_property
    def _modules(self) -> Modules:
        return Modules.of(self.elements, {})

    def modules(self) -> Modules:
        """The generated modules; each reading adds its own to them."""
        return Modules(dict(self._modules.held), dict(self._modules.grpc), self._modules.files)


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Files below a folder, by path with slashes."""
    made: set[Path] = set()
    for path, text in files.items():
        target = folder / path
        if target.parent not in made:
            target.parent.mkdir(parents=True, exist_ok=True)
            made.add(target.parent)
        target.write_text(text, encoding="utf-8")
