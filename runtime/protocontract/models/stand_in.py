"""What a contract declares to run in a model's place, started from files and checked: ``with_fallback``."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final

from protocontract._files import file_sha256
from protocontract.card import read_stamp
from protocontract.models.errors import NoProvider, RefusedToStart
from protocontract.models.fallback import Degrading, Event, Fallback
from protocontract.models.probes import Probes
from protocontract.models.providers import CPU, Provider
from protocontract.models.session import Model
from protocontract.violations import ContractError

if TYPE_CHECKING:
    from protocontract.models.engine import Engine

log: Final = logging.getLogger("protocontract.models")


def with_fallback(
    path: Path,
    fallback: Fallback,
    start: Callable[[], Engine],
    *,
    threads: int | None = None,
    deterministic: bool = False,
    probes: Path | None = None,
    labels: Sequence[str] = (),
    background: bool = True,
    on_event: Callable[[Event], None] | None = None,
) -> Engine:
    """The model of a file with its declared stand-in, both checked on its probes (``probes``, or those beside it).

    ``start`` starts the model as it is declared to run (``lambda: Model(path, providers)``). The stand-in is the same
    file on the declared provider, or the declared file beside it on the CPU, since the device may be gone; ``threads``
    and ``deterministic`` are for it, the rest is as ``Degrading`` has it. A model that runs where its stand-in would
    is returned alone. Raises ContractError (``refused to start: ...``) where the stand-in or the probes are not there,
    of another model, or further apart than declared; NoProvider where the stand-in has no provider either.
    """
    first: Engine | NoProvider
    try:
        first = start()
    except NoProvider as error:
        first = error
    if not isinstance(first, NoProvider) and first.provider == fallback.provider:
        log.info("%s runs on %s, which is its fallback: there is no other", path.name, fallback.provider)
        return first
    opened: list[Engine] = [] if isinstance(first, NoProvider) else [first]
    try:
        sha256 = file_sha256(path)
        stand_in = Model(
            _file(path, fallback, sha256),
            (Provider(fallback.provider or CPU),),
            threads=threads,
            deterministic=deterministic,
        )
        opened.append(stand_in)
        engine = Degrading(
            _Starter(start, first, path.name, sha256),
            stand_in,
            fallback,
            _probes(path, probes or Probes.path_of(path), fallback, sha256),
            name=path.name,
            labels=labels,
            background=background,
            on_event=on_event,
        )
        opened = [engine]
        for checked in engine.check():
            log.info("%s", checked)
    except BaseException:
        for each in opened:
            each.close()
        raise
    return engine


class _Starter:
    """Starts a model; what came of the first time is known already, and later ones are of the same file."""

    def __init__(self, start: Callable[[], Engine], first: Engine | NoProvider, name: str, sha256: str) -> None:
        self._start: Final = start
        self._name: Final = name
        self._sha256: Final = sha256
        self._first: Engine | NoProvider | None = first

    def __call__(self) -> Engine:
        first, self._first = self._first, None
        if isinstance(first, NoProvider):
            raise first
        if first is not None:
            return first
        engine = self._start()
        if engine.identity.sha256 != self._sha256:
            # Nobody has compared it with the contract, whatever it makes of the probes.
            engine.close()
            raise ContractError(
                f"{self._name} is another file than the one that was loaded; expected {self._sha256[:12]}, got"
                f" {engine.identity.sha256[:12]}"
            )
        return engine


def _probes(path: Path, file: Path, fallback: Fallback, sha256: str) -> Probes:
    if not file.exists():
        raise RefusedToStart(
            [
                f"the fallback {fallback.name} of {path.name} cannot be checked, as there is no {file.name}; make it"
                " with `protocontract model probe`"
            ]
        )
    try:
        found = Probes.read(file)
        found.demand_of(path.name, sha256)
    except ContractError as error:
        raise RefusedToStart([str(error)]) from error
    return found


def _file(path: Path, fallback: Fallback, sha256: str) -> Path:
    """The file of the stand-in. Raises ContractError where it is not there, or was calibrated from another model."""
    if not fallback.model:
        return path
    if PurePath(fallback.model).name != fallback.model:
        raise RefusedToStart([f"the fallback {fallback.name} is no name of a file beside {path.name}"])
    file = path.with_name(fallback.model)
    if not file.exists():
        raise RefusedToStart(
            [
                f"the fallback {file.name} is not beside {path.name}; make it with `protocontract calibrate`, or put it"
                " there"
            ]
        )
    stamp = read_stamp(file)
    made_of = None if stamp is None or stamp.calibration is None else stamp.calibration.get("fp32_sha256")
    if made_of is not None and made_of != sha256:
        raise RefusedToStart(
            [
                f"the fallback {file.name} was calibrated from another model than {path.name}; expected {sha256[:12]},"
                f" got {str(made_of)[:12]}; calibrate {path.name} into a folder of its own, with the fallback beside it"
            ]
        )
    return file
