"""Declared degradation: what runs where a model's device is gone, held to the model before anything is served.

Nothing degrades unless the contract declares it (``service_level.fallback``), and nothing is silent: a run on the
stand-in says so in its facts, an event and a log line tell when it began and ended. The model comes back when it gives
its probes' outputs again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from protocontract.models.agreement import Agreement, bfloat16_outputs, compare_runs, labelled_outputs
from protocontract.models.errors import ModelError, NoProvider, RefusedToStart, RunFailed, told
from protocontract.models.identity import Identity
from protocontract.models.probes import Probes
from protocontract.models.providers import short_name
from protocontract.models.signature import Signature
from protocontract.tensors.tolerance import Tolerance
from protocontract.violations import ContractError

if TYPE_CHECKING:
    from protocontract.models.engine import Engine
    from protocontract.models.session import Ran

log: Final = logging.getLogger("protocontract.models")

Kind = Literal["degraded", "retried", "recovered", "probe_failed"]

#: Facts of a run that was not the model's own.
FALLBACK_FACT: Final = "fallback"
ATTEMPTS_FACT: Final = "attempts"
_EVENTS: Final = 1000


@dataclass(frozen=True, slots=True)
class Fallback:
    """What a contract declares. One of ``provider`` and ``model`` is set; numbers that are 0 are not declared.

    ``probe_every``: seconds between two tries to come back; None: not declared.
    """

    provider: str = ""
    model: str = ""
    max_abs: float = 0.0
    max_rel: float = 0.0
    label_agreement: float = 0.0
    sticky: bool = False
    probe_every: float | None = None

    @property
    def name(self) -> str:
        """As evidence and metadata have it: ``provider:cpu``, ``model:content_type_int8.onnx``."""
        return f"provider:{self.provider}" if self.provider else f"model:{self.model}"

    @property
    def tolerance(self) -> Tolerance | None:
        """How far numbers may be apart; None where nothing is declared of them."""
        return Tolerance(self.max_abs, self.max_rel) if self.max_abs or self.max_rel else None

    @property
    def promise(self) -> str:
        """What is declared, for a message."""
        found = [] if self.tolerance is None else [str(self.tolerance)]
        if self.label_agreement:
            found.append(f"{self.label_agreement:.4g} of labels alike")
        return ", ".join(found)

    @classmethod
    def of(cls, option: Any) -> Fallback | None:
        """From ``service_level.fallback`` as the option has it; None where there is none.

        Raises ContractError where it names nothing to run, or nothing that it is held to.
        """
        if option is None or not (option.provider or option.model):
            return None
        every = option.probe_every.seconds + option.probe_every.nanos / 1e9 if option.HasField("probe_every") else None
        found = cls(
            short_name(option.provider),
            option.model,
            option.max_abs,
            option.max_rel,
            option.label_agreement,
            option.sticky,
            every or None,
        )
        if not found.promise:
            raise ContractError(
                f"the fallback {found.name} declares nothing that it is held to; expected max_abs, max_rel or"
                " label_agreement"
            )
        return found


@dataclass(frozen=True, slots=True)
class Event:
    """What happened, and when by the engine's clock: ``degraded``, ``retried`` (one batch alone), ``recovered``,
    ``probe_failed``. ``reason`` holds nothing of the data."""

    at: float
    kind: Kind
    reason: str


@dataclass(frozen=True, slots=True)
class Checked:
    """One comparison of a check: which engine, with what, and what came out."""

    engine: str
    against: str
    found: Agreement

    def __str__(self) -> str:
        labels = f", {self.found.same:,} of {self.found.labels:,} labels alike" if self.found.labels else ""
        return f"{self.engine} beside {self.against}: up to {self.found.max_abs:.3g} apart{labels}"


class Degrading:
    """An engine with a declared stand-in. Runs may come from several threads at once.

    A run that fails for want of memory, or by its provider, is tried once more on the stand-in. With ``sticky`` those
    that follow go there at once, until a probe succeeds; without, each next run is the model's own again.
    """

    def __init__(
        self,
        primary: Callable[[], Engine],
        stand_in: Engine,
        fallback: Fallback,
        probes: Probes,
        *,
        name: str = "",
        labels: Sequence[str] = (),
        clock: Callable[[], float] = time.time,
        background: bool = True,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        """``primary`` starts the model, now and whenever it has to be started anew; it may raise NoProvider, and then
        the stand-in runs from the start on.

        ``name``: what the model is called where it cannot be started (default: as the stand-in). ``labels``: the
        outputs that have labels (default: ``labelled_outputs``). ``clock`` gives the seconds of events.
        ``background``: look every ``probe_every`` whether the model is back, on a thread; else nobody does but who
        calls ``probe``. ``on_event`` is called with each event, on whichever thread it happens.
        Raises ContractError where the model cannot be started for another reason than its provider.
        """
        self.fallback: Final = fallback
        self.probes: Final = probes
        self.stand_in: Final = stand_in
        #: The last events, oldest first.
        self.events: Final[deque[Event]] = deque(maxlen=_EVENTS)
        self._start: Final = primary
        self._labels: Final = tuple(labels)
        self._clock: Final = clock
        self._background: Final = background
        self._on_event: Final = on_event
        self._lock: Final = threading.Lock()
        self._probing: Final = threading.Lock()
        self._stop: Final = threading.Event()
        self._watch: threading.Thread | None = None
        self._primary: Engine | None = None
        #: What ran when it was closed: reports that are written behind it still name that.
        self._last: Engine | None = None
        #: Why the stand-in runs; empty where it does not.
        self._reason = ""
        #: What ``check`` compared; empty before it.
        self.checked: tuple[Checked, ...] = ()
        missing = ""
        try:
            self._primary = primary()
        except NoProvider as error:
            missing = "; ".join(f"{each.provider}: {each.reason}" for each in error.attempts)
        self.name: Final = (name or stand_in.name) if self._primary is None else self._primary.name
        if missing:
            self._degrade(missing)

    # -- as an engine

    @property
    def signature(self) -> Signature:
        """The model's; the stand-in's where the model could not be started."""
        return (self._primary or self.stand_in).signature

    @property
    def identity(self) -> Identity:
        """Of what runs now, or ran when it was closed."""
        return self._running.identity

    @property
    def provider(self) -> str:
        """Of what runs now, or ran when it was closed."""
        return self._running.provider

    def run(self, inputs: Mapping[str, Any], outputs: Sequence[str] | None = None) -> Ran:
        """Run on the model, or on what stands in for it; the facts say which.

        Raises WrongInput; RunFailed where both fail, or the model for a reason that another device does not mend.
        """
        primary = self._primary if not self._reason else None
        if primary is None:
            return self._instead(inputs, outputs, "")
        try:
            return primary.run(inputs, outputs)
        except RunFailed as error:
            if error.kind == "runtime":
                raise
            failed = f"{primary.provider} failed ({error.kind})"
        if self.fallback.sticky:
            self._degrade(failed)
        else:
            self._tell("retried", failed)
        return self._instead(inputs, outputs, failed)

    def close(self) -> None:
        """Close both, and stop looking. It does not wait for a probe that runs: what that starts, it closes."""
        self._stop.set()
        with self._lock:
            self._last, primary, self._primary = self._running, self._primary, None
        if primary is not None:
            primary.close()
        self.stand_in.close()

    # -- what it does besides

    @property
    def degraded(self) -> bool:
        """Whether the stand-in runs at present."""
        return bool(self._reason)

    @property
    def reason(self) -> str:
        """Why the stand-in runs; empty where it does not."""
        return self._reason

    @property
    def engines(self) -> tuple[Engine, ...]:
        """The model, where it could be started, and the stand-in: each has to fit the contract."""
        return (self.stand_in,) if self._primary is None else (self._primary, self.stand_in)

    def check(self) -> tuple[Checked, ...]:
        """Before serving: the model against its recorded outputs, and the stand-in against the model (or against the
        recorded outputs, where the model's device is gone).

        Raises ContractError, which begins with ``refused to start:`` and has all that is further apart than declared.
        """
        checked: list[Checked] = []
        wrong: list[str] = []
        reference: list[Mapping[str, Any]] = [probe.outputs for probe in self.probes.probes]
        against = "its probes"
        primary = self._primary
        if primary is not None:
            try:
                own = self._outputs(primary)
            except RunFailed as error:
                if error.kind == "runtime":
                    raise RefusedToStart([str(error)]) from error
                self._degrade(f"{primary.provider} failed ({error.kind})")
            else:
                checked.append(Checked(_called(primary), against, self._compare(primary, own, reference)))
                reference, against = own, _called(primary)
        try:
            instead = self._outputs(self.stand_in)
        except ModelError as error:
            wrong.append(f"the fallback {self.fallback.name} does not run the probes: {error}")
        else:
            found = self._compare(self.stand_in, instead, reference)
            checked.append(Checked(_called(self.stand_in), against, found))
        wrong += [line for each in checked for line in self._broken(each)]
        if wrong:
            raise RefusedToStart(wrong)
        self.checked = tuple(checked)
        return self.checked

    def probe(self) -> bool:
        """Whether the model runs, or can again: it is tried on its probes, started anew if need be. Never raises."""
        with self._probing:
            if not self._reason or self._stop.is_set():
                return not self._reason
            primary: Engine | None = None
            try:
                primary, why = self._tried()
            except (ContractError, ModelError, OSError) as error:
                why = told(error)
            except Exception as error:  # a runtime's or a driver's: whatever it is, the next probe tries again
                why = type(error).__name__
            if primary is None:
                self._tell("probe_failed", why)
                return False
            before = self._reason
            with self._lock:
                closed = self._stop.is_set()
                if not closed:
                    self._primary, self._reason = primary, ""
            if closed:
                primary.close()
                return False
            self._tell("recovered", f"after {before}")
            return True

    # -- inside

    @property
    def _running(self) -> Engine:
        if self._last is not None:
            return self._last
        return self.stand_in if self._reason or self._primary is None else self._primary

    def _instead(self, inputs: Mapping[str, Any], outputs: Sequence[str] | None, failed: str) -> Ran:
        try:
            ran = self.stand_in.run(inputs, outputs)
        except RunFailed as error:
            if not failed:
                raise
            raise RunFailed(f"{failed}, and in its place {error}", error.kind) from error
        attempts = f"{failed}; {ran.provider}" if failed else ran.provider
        return replace(ran, facts={**ran.facts, FALLBACK_FACT: self.fallback.name, ATTEMPTS_FACT: attempts})

    def _degrade(self, reason: str) -> None:
        with self._lock:
            if self._reason:
                return
            self._reason = reason
            every = self.fallback.probe_every
            if self._background and every is not None and not self._stop.is_set():
                self._watch = threading.Thread(
                    target=self._look, args=(every,), name="protocontract-probes", daemon=True
                )
                self._watch.start()
        self._tell("degraded", reason)

    def _look(self, every: float) -> None:
        """On a thread of its own while the stand-in runs."""
        while not self._stop.wait(every):
            if self.probe():
                return

    def _tried(self) -> tuple[Engine | None, str]:
        """The model, if it gives the outputs of its probes again; else why not. Raises what starting it raises."""
        primary = self._primary
        if primary is not None:
            if not self._wrong(primary):
                return primary, ""
            # A device that failed may need a new start. The old one's memory has to be free for that.
            with self._lock:
                self._primary = None
            primary.close()
        primary = self._start()
        why = self._wrong(primary)
        if why:
            primary.close()
            return None, why
        return primary, ""

    def _wrong(self, engine: Engine) -> str:
        """Why an engine does not give the probes' outputs; empty where it does."""
        try:
            found = self._compare(engine, self._outputs(engine), [probe.outputs for probe in self.probes.probes])
        except ModelError as error:
            return str(error)
        return "; ".join(self._broken(Checked(_called(engine), "its probes", found)))

    def _outputs(self, engine: Engine) -> list[Mapping[str, Any]]:
        return [engine.run(probe.inputs, tuple(probe.outputs)).outputs for probe in self.probes.probes]

    def _compare(
        self, engine: Engine, outputs: Sequence[Mapping[str, Any]], reference: Sequence[Mapping[str, Any]]
    ) -> Agreement:
        labelled = labelled_outputs(engine.signature, self._labels) if self.fallback.label_agreement else ()
        if self.fallback.label_agreement and not labelled:
            raise RefusedToStart(
                [
                    f"the fallback {self.fallback.name} declares label_agreement, and {engine.name} has no output with"
                    " classes on its last axis; expected max_abs or max_rel"
                ]
            )
        return compare_runs(
            zip(outputs, reference, strict=True),
            tolerance=self.fallback.tolerance,
            labelled=labelled,
            bfloat16=bfloat16_outputs(engine.signature),
        )

    def _broken(self, checked: Checked) -> list[str]:
        """What is further apart than declared."""
        found = checked.found
        lines = [f"{checked.engine} beside {checked.against}: {found.reason}"] if found.reason else []
        share = self.fallback.label_agreement
        if share and not found.at_least(share):
            lines.append(
                f"{checked.engine} beside {checked.against}: {found.same:,} of {found.labels:,} labels are alike;"
                f" expected {share:.4g} of them"
            )
        return lines

    def _tell(self, kind: Kind, reason: str) -> None:
        event = Event(self._clock(), kind, reason)
        self.events.append(event)
        texts: dict[Kind, str] = {
            "degraded": f"runs on {self.fallback.name} from now on: {reason}",
            "retried": f"ran one batch on {self.fallback.name}: {reason}",
            "recovered": f"runs on {self.provider} again {reason}",
            "probe_failed": f"stays with {self.fallback.name}: {reason}",
        }
        log.warning("%s %s", self.name, texts[kind])
        if self._on_event is not None:
            self._on_event(event)


def _called(engine: Engine) -> str:
    return f"{engine.name} on {engine.provider}"
