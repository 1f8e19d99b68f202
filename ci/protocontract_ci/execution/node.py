"""Runs functions of TypeScript modules in processes of Node.js: without network, files, children, and with limits.

The reader of TypeScript has made JavaScript of the modules; the worker beside it loads that over the descriptors of one
state.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from protocontract_ci.execution.runner import Call, Ran, files_of, ran_of, without_network
from protocontract_ci.sources import Contracts
from protocontract_ci.usage.typescript.declarations import exported_names
from protocontract_ci.usage.typescript.prepare import PROGRAM, NotPreparedError, packages

#: The most memory that a module's objects may take, in MiB.
_MEMORY: Final = 512


@dataclass
class NodeRunner:
    """Runs functions against one state of the contracts. ``modules`` are the files as JavaScript, by path."""

    contracts: Contracts
    modules: Mapping[str, Any]
    #: The functions that return something whatever they are given, by file: nothing is a wrong answer of theirs.
    full: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @cached_property
    def _state(self) -> dict[str, Any]:
        files = base64.b64encode(files_of(self.contracts).SerializeToString()).decode()
        return {"files": files, "exports": exported_names(self.contracts.schema)}

    def run(self, file: str, calls: Sequence[Call]) -> Ran:
        """Run calls of a file's functions, one after the other in one process."""
        try:
            node, where = packages()
        except NotPreparedError as error:
            return Ran(broken=str(error))
        full = self.full.get(file, frozenset())
        job = {
            **self._state,
            "modules": self._reached(file),
            "path": file,
            "functions": sorted({call.function for call in calls}),
            "calls": [{**call.spec(), "full": call.function in full} for call in calls],
        }
        # Code from texts is refused, so that nothing can be made anew of what the worker took away.
        command = [
            *without_network(), node, "--no-warnings", "--experimental-permission", f"--allow-fs-read={PROGRAM}/*",
            f"--allow-fs-read={where}/*", "--disallow-code-generation-from-strings", f"--max-old-space-size={_MEMORY}",
            str(PROGRAM / "worker.mjs"), str(where),
        ]  # fmt: skip
        return ran_of(command, job)

    def _reached(self, file: str) -> dict[str, Any]:
        """The file and all that it imports, directly or through others."""
        found: dict[str, Any] = {}
        waiting = [file]
        while waiting:
            name = waiting.pop()
            if name in found or name not in self.modules:
                continue
            found[name] = self.modules[name]
            waiting += [each["file"] for each in self.modules[name]["imports"].values() if "file" in each]
        return found
