"""Generated contract modules (``*_contract.py``) for the process in which a module's functions run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType


class ContractModules(MetaPathFinder, Loader):
    """Finds contract modules by their dotted names and makes them of their sources when they are imported."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """See MetaPathFinder."""
        del path, target
        return spec_from_loader(name, self) if name in self._sources else None

    def exec_module(self, module: ModuleType) -> None:
        """See Loader."""
        exec(compile(self._sources[module.__name__], module.__name__, "exec"), vars(module))  # noqa: S102
