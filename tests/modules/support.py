"""The example modules of docs/examples/modules, loaded as their users start them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
MODULES = ROOT / "docs" / "examples" / "modules"


def load(path: str) -> ModuleType:
    """A Python file of the example modules."""
    name = f"example_{Path(path).stem}"
    spec = importlib.util.spec_from_file_location(name, MODULES / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and the like look their module up.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
