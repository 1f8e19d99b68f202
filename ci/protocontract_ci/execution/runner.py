"""Runs jobs in processes of their own, one for each module file and state of the contracts."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from protocontract.violations import ContractError
from protocontract_ci.compiled import contract_modules
from protocontract_ci.sources import Contracts
from protocontract_compiler.generated_names import module_of

#: The longest that one process may take, in seconds on the clock: what computes has far less (worker.py).
_SECONDS: Final = 180


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a call: a message's bytes (by itself, or as the one in a list), bytes, or a plain value."""

    kind: str
    value: Any
    message: str = ""

    def spec(self) -> dict[str, Any]:
        """As the worker reads it."""
        value = base64.b64encode(self.value).decode() if isinstance(self.value, bytes) else self.value
        return {"kind": self.kind, "value": value, "message": self.message}


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the module and its arguments."""

    function: str
    arguments: tuple[Argument, ...]

    def spec(self) -> dict[str, Any]:
        """As the worker reads it."""
        return {"function": self.function, "arguments": [each.spec() for each in self.arguments]}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a call: a result, an exception with the module's lines on its way, or neither.

    ``data`` is the result where it is a message (``message``) or bytes; ``text`` where it is something plain.
    """

    error: str = ""
    lines: tuple[int, ...] = ()
    message: str = ""
    data: bytes | None = None
    text: str = ""
    ran: bool = True

    @property
    def failed(self) -> bool:
        """Whether the function raised."""
        return bool(self.error)


@dataclass(frozen=True, slots=True)
class Ran:
    """All outcomes of a job, in the order of its calls; or why the module could not be imported."""

    outcomes: tuple[Outcome, ...] = ()
    import_error: str = ""
    import_lines: tuple[int, ...] = ()
    #: Why nothing is known: the process did not end, or not as it should.
    broken: str = ""


@dataclass
class Runner:
    """Runs functions against one state of the contracts."""

    contracts: Contracts
    roots: Sequence[Path] = ()

    @cached_property
    def _files(self) -> FileDescriptorSet:
        return files_of(self.contracts)

    @cached_property
    def _contract_modules(self) -> dict[str, str]:
        return contract_modules(self.contracts)

    def run(self, path: Path, calls: Sequence[Call]) -> Ran:
        """Run calls of a module's functions, one after the other in one process."""
        try:
            # Making them takes time, so only where somebody may import them.
            asked = "_contract" in path.read_text(encoding="utf-8", errors="replace")
            contracts = self._contract_modules if asked else {}
        except ContractError:
            return Ran(broken="imports contracts that do not compile")
        job = {
            "contracts": contracts,
            "files": base64.b64encode(self._files.SerializeToString()).decode(),
            "modules": {each.name: module_of(each.name) for each in self._files.file},
            "roots": [str(root) for root in self.roots],
            "path": str(path),
            "calls": [call.spec() for call in calls],
        }
        return ran_of([*without_network(), sys.executable, "-I", "-m", "protocontract_ci.execution.worker"], job)


def ran_of(command: Sequence[str], job: Mapping[str, Any]) -> Ran:
    """What a worker answers to a job. Its environment is empty."""
    try:
        done = subprocess.run(
            command, input=json.dumps(job), capture_output=True, text=True, timeout=_SECONDS, check=False, env={}
        )
        answer = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return Ran(broken=f"did not end within {_SECONDS} s")
    except ValueError:
        return Ran(broken="ended without an answer")
    if "import" in answer:
        return Ran(import_error=answer["import"]["class"], import_lines=tuple(answer["import"]["lines"]))
    return Ran(tuple(_outcome(each) for each in answer["calls"]))


def _outcome(answer: dict[str, Any]) -> Outcome:
    if "unfit" in answer:
        return Outcome(ran=False)
    if "error" in answer:
        return Outcome(error=answer["error"]["class"], lines=tuple(answer["error"]["lines"]))
    # A function that returns nothing may have changed a message that it was given.
    shown = answer["result"]
    if shown.get("nothing"):
        shown = next((each for each in answer["arguments"] if "message" in each), shown)
    data = shown.get("data", shown.get("bytes"))
    return Outcome(
        message=shown.get("message", ""),
        data=None if data is None else base64.b64decode(data),
        text=shown.get("text", ""),
    )


def files_of(contracts: Contracts) -> FileDescriptorSet:
    """All files of a state, those that are imported first."""
    found: dict[str, FileDescriptorProto] = {}

    def add(name: str) -> None:
        if name in found:
            return
        descriptor = contracts.loaded.pool.FindFileByName(name)
        for dependency in descriptor.dependencies:
            add(dependency.name)
        proto = FileDescriptorProto()
        descriptor.CopyToProto(proto)
        found[name] = proto

    for name in contracts.schema.files:
        add(name)
    return FileDescriptorSet(file=found.values())


@lru_cache(maxsize=1)
def without_network() -> tuple[str, ...]:
    """What starts a process in a network of its own, with nobody in it, where the system allows that."""
    program = shutil.which("unshare")
    if program is None:
        return ()
    command = (program, "--map-root-user", "--net")
    tried = subprocess.run([*command, "true"], capture_output=True, check=False)
    return command if tried.returncode == 0 else ()
