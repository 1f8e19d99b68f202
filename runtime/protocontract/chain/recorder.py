"""The steps of one request, and the record of them that goes into its response."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final

from protocontract.chain.canonical import Value
from protocontract.chain.log import EvidenceLog, Level, NotWritten
from protocontract.chain.stages import Stage, version_of
from protocontract.chain.steps import Entry, EvidenceError
from protocontract.chain.values import ValueStore, digest

#: The key of the trailing metadata that has the head hash, and that of a request whose evidence has a gap.
HEAD_KEY: Final = "protocontract-evidence"
GAP_KEY: Final = "protocontract-evidence-gap"


@dataclass(frozen=True, slots=True)
class Record:
    """What a request's evidence is. ``head`` is the hash of its last step, None where there is no proof."""

    request: str
    entries: tuple[Entry, ...]
    #: How many steps could not be written.
    lost: int
    head: str | None

    @property
    def proven(self) -> bool:
        """Whether every step of the request is in the log."""
        return self.head is not None

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """For the trailing metadata: the head hash, or how many steps are missing; nothing where evidence is OFF."""
        if self.head is not None:
            return ((HEAD_KEY, self.head),)
        return ((GAP_KEY, str(self.lost)),) if self.lost else ()

    def lines(self) -> tuple[str, ...]:
        """The steps as the log has them; ``verify_record`` takes them."""
        return tuple(entry.line.decode() for entry in self.entries)

    def fill(self, steps: Any) -> None:
        """Add a message for each step to a repeated field, into those of its fields that are called ``name``,
        ``digest``, ``previous`` (a text, or repeated), ``provider``, ``at`` (a Timestamp). Others stay unset.
        """
        for entry in self.entries:
            step = entry.step
            message = steps.add()
            known = message.DESCRIPTOR.fields_by_name
            provider = step.facts.get("provider")
            texts = {
                "name": step.name or step.kind,
                "digest": entry.hash,
                "provider": provider if isinstance(provider, str) else "",
            }
            for name, text in texts.items():
                if name in known:
                    setattr(message, name, text)
            if step.parent is not None and "previous" in known:
                if isinstance(message.previous, str):
                    message.previous = step.parent
                else:
                    message.previous.append(step.parent)
            if "at" in known:
                message.at.FromNanoseconds(step.at)


class Recorder:
    """Records the steps of one request; made by ``EvidenceLog.record``. As a context manager it is closed at the end.

    REQUIRED: a step that cannot be written raises EvidenceError, and so does ``close`` from then on: the request must
    fail. BEST_EFFORT: it is logged and counted, and the record is not proven. OFF: nothing is done.
    """

    def __init__(self, evidence: EvidenceLog, request: str, level: Level) -> None:
        self._log: Final = evidence
        self._lock: Final = threading.Lock()
        self._entries: list[Entry] = []
        self._index = 0
        self._lost = 0
        self._record: Record | None = None
        self.request: Final = request
        self.level: Final = level

    def step(
        self,
        name: str,
        *,
        module: str,
        version: str = "",
        nanoseconds: int = 0,
        digest_in: str | None = None,
        digest_out: str | None = None,
        facts: Mapping[str, Value] | None = None,
    ) -> Entry | None:
        """Record a stage. ``digest_in`` and ``digest_out`` are those of the request's own rows, before padding and
        after splitting (``protocontract.chain.digest``). ``facts``: batch size, padding, provider, hash of the model.
        None where nothing was written. Raises EvidenceError under REQUIRED.
        """
        return self._add(
            "stage",
            name=name,
            module=module,
            version=version,
            nanoseconds=nanoseconds,
            digest_in=digest_in,
            digest_out=digest_out,
            facts=dict(facts or {}),
        )

    def run(
        self,
        stage: Stage,
        name: str,
        value: Any,
        *,
        module: str,
        facts: Mapping[str, Value] | None = None,
        keep: ValueStore | None = None,
    ) -> Any:
        """Run a stage on a value, record it, and return what came out. ``keep`` stores both, so that they can be
        replayed. What the stage raises passes, and so does EvidenceError under REQUIRED.
        """
        before = time.perf_counter_ns()
        result = stage(value)
        took = time.perf_counter_ns() - before
        if self.level is not Level.OFF:
            hashed = digest if keep is None else keep.put
            self.step(
                name,
                module=module,
                version=version_of(stage),
                nanoseconds=took,
                digest_in=hashed(value),
                digest_out=hashed(result),
                facts=facts,
            )
        return result

    def close(self, facts: Mapping[str, Value] | None = None) -> Record:
        """Record that the request has all its steps, and return them. A second call returns the same.

        Raises EvidenceError under REQUIRED where a step is missing.
        """
        return self._finish("close", facts)

    def fail(self, reason: str, facts: Mapping[str, Value] | None = None) -> Record:
        """Record that the request ends without a proven response. ``reason`` holds nothing of the data (a status)."""
        return self._finish("fail", {"reason": reason, **(facts or {})})

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            # The request fails already; that its evidence has a gap too is in the log of the application.
            with suppress(EvidenceError):
                self.fail(kind.__name__)

    def _finish(self, kind: str, facts: Mapping[str, Value] | None) -> Record:
        with self._lock:
            if self._record is not None:
                return self._record
        if self._lost and self.level is Level.REQUIRED and kind == "close":
            raise EvidenceError(f"{self._lost} of the request's steps could not be recorded; evidence is required")
        last = self._add(kind, facts={**(facts or {}), "lost": self._lost})
        whole = last is not None and not self._lost and kind == "close"
        record = Record(self.request, tuple(self._entries), self._lost, last.hash if last and whole else None)
        with self._lock:
            self._record = self._record or record
            return self._record

    def _add(self, kind: str, **held: Any) -> Entry | None:
        if self.level is Level.OFF:
            return None
        with self._lock:
            if self._record is not None:
                raise EvidenceError("the request's evidence is closed; expected no step after it")
            index = self._index
            self._index += 1
            parent = self._entries[-1].hash if self._entries else None
            try:
                entry = self._log.append(kind, self.request, index=index, parent=parent, **held)
            except Exception as error:
                # A fact without canonical form, a full disk: under BEST_EFFORT evidence must not stop the request.
                self._lost += 1
                if isinstance(error, NotWritten) and error.entry is not None:
                    self._entries.append(error.entry)
                if self.level is Level.REQUIRED:
                    raise
                return None
            self._entries.append(entry)
            return entry
