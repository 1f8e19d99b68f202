"""``Engine``: what runs a model for a service, wherever it runs.

``Model`` (ONNX Runtime here), ``Degrading`` (with a declared stand-in) and ``RemoteModel`` (another server) are
engines; a ``Batcher`` and a service know no more of them than this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from protocontract.models.identity import Identity
from protocontract.models.signature import Signature

if TYPE_CHECKING:
    from protocontract.models.session import Ran


class Engine(Protocol):
    """A model that can be run. Runs may come from several threads at once."""

    @property
    def name(self) -> str:
        """What it is called in logs, metrics and errors: the file's name, or the remote model's."""
        ...

    @property
    def signature(self) -> Signature:
        """Its inputs and outputs."""
        ...

    @property
    def identity(self) -> Identity:
        """What it is and what it runs on; evidence names its hash."""
        ...

    @property
    def provider(self) -> str:
        """Where it runs now, by the short name: ``cpu``."""
        ...

    def run(self, inputs: Mapping[str, Any], outputs: Sequence[str] | None = None) -> Ran:
        """Run it on arrays by input name. ``outputs`` are those to compute; None: all.

        Raises WrongInput before anything is run, RunFailed with its ``kind`` where the run gave nothing.
        """
        ...

    def close(self) -> None:
        """Give up what it holds (memory, connections). No run comes after it; one that is running may end."""
        ...
