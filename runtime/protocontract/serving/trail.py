"""The evidence of one request, as the service records it: stages with digests, written or not as the RPC declares."""

from __future__ import annotations

import itertools
import logging
import sys
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

from protocontract.chain import CanonicalError, EvidenceError, EvidenceLog, Level, Record, Recorder, ValueStore, digest
from protocontract.contract import Contract
from protocontract.serving.rejection import header_text, refused

log: Final = logging.getLogger("protocontract.serving")

#: Trailing metadata that has the id under which evidence holds a request.
REQUEST_KEY: Final = "protocontract-request"
#: The field of a request that has its id, where it is a text.
_ID_FIELD: Final = "request_id"
_ID_LENGTH: Final = 128


class Trail:
    """Records one request's stages; without a log, or at the level OFF, it does nothing."""

    def __init__(self, log: EvidenceLog | None, level: Level, store: ValueStore | None) -> None:
        self._log: Final = log
        self._level: Final = level
        self._store: Final = store
        self._lock: Final = threading.Lock()
        self._ended = False
        self.recorder: Recorder | None = None

    @property
    def on(self) -> bool:
        """Whether anything is recorded."""
        return self._log is not None and self._level is not Level.OFF

    def begin(self, message: Any, contract: Contract[Any]) -> None:
        """Begin the record of a request; None where its bytes are no message. Nothing where it has ended already."""
        with self._lock:
            if self._log is not None and self._level is not Level.OFF and not self._ended:
                self.recorder = self._log.record(_id_of(message, contract), self._level)

    def keep(self, value: Any) -> str | None:
        """The digest of a value, which is kept where values are. Raises Rejected where evidence is required.

        A value that cannot be kept is logged and no more: the evidence has its digest all the same.
        """
        if self.recorder is None:
            return None
        with self._held():
            if self._store is not None:
                try:
                    return self._store.put(value)
                except OSError as error:
                    _not_kept(error)
            return digest(value)
        return None

    def stage(
        self,
        name: str,
        *,
        module: str,
        version: str = "",
        nanoseconds: int = 0,
        before: str | None = None,
        after: str | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        """Record a stage; ``before`` and ``after`` are what ``keep`` gave. Raises Rejected."""
        if self.recorder is None:
            return
        with self._held():
            self.recorder.step(
                name,
                module=module,
                version=version,
                nanoseconds=nanoseconds,
                digest_in=before,
                digest_out=after,
                facts=facts,
            )

    def close(self) -> Record | None:
        """End the record of a request that is answered. Raises Rejected."""
        if self.recorder is None:
            return None
        with self._held():
            return self.recorder.close()
        return None

    def fail(self, reason: str) -> None:
        """End the record of a request that is not. Nothing where it was ended before.

        The request may still be read on a thread, when its caller has gone.
        """
        with self._lock:
            self._ended = True
        if self.recorder is not None:
            # The request fails already, and the log tells the gap.
            with suppress(EvidenceError, CanonicalError):
                self.recorder.fail(reason)

    def metadata(self, record: Record | None) -> tuple[tuple[str, str], ...]:
        """What the trailing metadata say."""
        if record is None or self.recorder is None:
            return ()
        return ((REQUEST_KEY, header_text(self.recorder.request)), *record.metadata())

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Where evidence is required, a request without it fails; elsewhere the recorder has counted what is lost."""
        try:
            yield
        except (EvidenceError, CanonicalError, OSError) as error:
            if self._level is Level.REQUIRED:
                raise refused(
                    "INTERNAL",
                    f"the evidence of the request could not be written ({type(error).__name__}), and is required",
                    reason="EVIDENCE",
                ) from error


_lost: Final = itertools.count(1)


def _not_kept(error: OSError) -> None:
    count = next(_lost)
    # The first, the second, the fourth and so on: a disk that is full stays so for a while.
    if count & (count - 1) == 0:
        log.error("%d values could not be kept so far: %s", count, error.strerror or type(error).__name__)


def _id_of(message: Any, contract: Contract[Any]) -> str:
    """The request's own id where it has one that may be told, else a new one."""
    found = getattr(message, _ID_FIELD, "") if message is not None and _ID_FIELD not in contract.sensitive else ""
    return found[:_ID_LENGTH] if isinstance(found, str) and found else uuid.uuid4().hex


def stage_of(contract: Contract[Any], method: str) -> str:
    """``module:NAME.method`` of a generated contract, by which a replay finds it; of others the message's name."""
    # Classes that were compiled at run time are in no module.
    module_name = (contract.message_type.__module__ or "").removesuffix("_pb2") + "_contract"
    module = sys.modules.get(module_name)
    for name, value in vars(module).items() if module is not None else ():
        if value is contract:
            return f"{module_name}:{name}.{method}"
    return f"{contract.full_name}:{method}"
