"""Replaying: each recorded stage runs again on what went into it, and the first that gives something else is named.

The values are in a ``ValueStore``: at least what went into the first stage. Stages must give the very same, but for
those that run a model: where the recorded output is kept too, a declared tolerance is allowed there, and the next stage
is given the recorded output. The model must be the same file, by SHA-256.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from protocontract._files import file_sha256
from protocontract.chain.canonical import CanonicalError
from protocontract.chain.stages import ModelStage, load_stage, version_of
from protocontract.chain.steps import EvidenceError, Step
from protocontract.chain.values import ValueStore, digest
from protocontract.chain.verify import records
from protocontract.steps import StepCall, wants_call
from protocontract.tensors.tolerance import Tolerance, apart

#: The fact that has the SHA-256 of the model, as in ``Ran.facts``.
MODEL_FACT: Final = "model"
#: That which has its name and version, as NAME@VERSION.
VERSION_FACT: Final = "model_version"
#: Those that declare how far the outputs of a run may be apart.
ABSOLUTE_FACT, RELATIVE_FACT = "max_abs", "max_rel"

Outcome = Literal["exact", "within", "differs", "unknown"]


@dataclass(frozen=True, slots=True)
class Replayed:
    """One stage: ``exact``, ``within`` the tolerance, ``differs``, or ``unknown`` where it cannot be judged; why."""

    step: Step
    outcome: Outcome
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReplayedRecord:
    """One request: its stages up to the first that differs or cannot be judged."""

    request: str
    stages: tuple[Replayed, ...]

    @property
    def first(self) -> Replayed | None:
        """The first stage that differs or cannot be judged; None where all are the same."""
        return next((stage for stage in self.stages if stage.outcome in ("differs", "unknown")), None)


class Replay:
    """Replays the records of a log. Stages are found by the ``module:function`` that their steps name."""

    def __init__(
        self, inputs: ValueStore, *, model: Path | Sequence[Path] | None = None, tolerance: Tolerance | None = None
    ) -> None:
        """``model``: the files that ran, several where requests ran different ones; each is known by its SHA-256.
        ``tolerance`` stands for the one that the steps declare. Raises OSError where a model cannot be read.
        """
        self._inputs: Final = inputs
        self._tolerance: Final = tolerance
        files = () if model is None else (model,) if isinstance(model, Path) else model
        self._models: Final = {file_sha256(file): file for file in files}

    def records(self, path: str | Path, request: str | None = None) -> Iterator[ReplayedRecord]:
        """Replay all records of a log, or those of one request. Raises OSError."""
        for entries in records(path, request):
            steps = [entry.step for entry in entries if entry.step.kind == "stage"]
            if steps:
                yield ReplayedRecord(steps[0].request, tuple(self._stages(steps)))

    def _stages(self, steps: list[Step]) -> Iterator[Replayed]:
        value, known = None, None
        for step in steps:
            if step.digest_in is None or step.digest_out is None:
                yield Replayed(step, "unknown", "no digests are recorded")
                return
            if known != step.digest_in:
                # The first stage, or one whose input is not what the stage before gave.
                if not self._inputs.has(step.digest_in):
                    yield Replayed(step, "unknown", f"what went in is not kept ({step.digest_in[:12]}…)")
                    return
                try:
                    # The stage's module knows the messages that are kept.
                    with suppress(EvidenceError):
                        load_stage(step.module)
                    value = self._inputs.get(step.digest_in)
                except EvidenceError as error:
                    yield Replayed(step, "unknown", str(error))
                    return
            replayed, value = self._stage(step, value, steps)
            known = step.digest_out
            yield replayed
            if replayed.outcome in ("differs", "unknown"):
                return

    def _stage(self, step: Step, value: Any, steps: list[Step]) -> tuple[Replayed, Any]:
        try:
            found = load_stage(step.module)
        except EvidenceError as error:
            return Replayed(step, "unknown", str(error)), None
        runs_model = isinstance(found, ModelStage)
        other = _versions(step, found)
        if MODEL_FACT in step.facts:
            reason = self._other_model(step)
            if reason:
                return Replayed(step, "differs" if self._models else "unknown", reason), None
        elif runs_model:
            return Replayed(step, "unknown", f"the step has no {MODEL_FACT}"), None
        try:
            if runs_model:
                found = found.bind(self._models[str(step.facts[MODEL_FACT])], step.facts)
            stage: Any = found
            result = stage(value, self._call(step, steps)) if wants_call(stage) else stage(value)
            name = digest(result)
        except CanonicalError as error:
            return Replayed(step, "differs", f"{error}{other}"), None
        except Exception as error:  # the user's code: its text can quote the data
            return Replayed(step, "differs", f"it failed ({type(error).__name__}){other}"), None
        if name == step.digest_out:
            return Replayed(step, "exact", other.removeprefix("; ")), result
        if not runs_model:
            return Replayed(step, "differs", f"another output ({name[:12]}…){other}"), None
        return self._compared(step, result, other)

    def _compared(self, step: Step, result: Any, other: str) -> tuple[Replayed, Any]:
        tolerance = self._tolerance or _declared(step.facts)
        if tolerance is None:
            return Replayed(step, "differs", f"another output, and no tolerance is declared{other}"), None
        assert step.digest_out is not None
        if not self._inputs.has(step.digest_out):
            reason = f"another output; how far it is off cannot be told, since the recorded one is not kept{other}"
            return Replayed(step, "differs", reason), None
        try:
            recorded = self._inputs.get(step.digest_out)
        except EvidenceError as error:
            return Replayed(step, "unknown", str(error)), None
        reason, far = apart(result, recorded, tolerance)
        if reason:
            return Replayed(step, "differs", f"{reason}{other}"), None
        # The next stage must give what it gave then: it is asked with the output of then.
        return Replayed(step, "within", f"at most {far:.3g} apart{other}"), recorded

    def _call(self, step: Step, steps: list[Step]) -> StepCall:
        """What a service told a step that it is called for, as far as it is recorded: without the evidence itself."""
        valid = next((each for each in steps if each.name == "validate"), steps[0])
        request = self._inputs.get(valid.digest_in) if valid.digest_in and self._inputs.has(valid.digest_in) else None
        # Only what stands behind a run has its facts; a step before it knows which model was chosen, and no more.
        ran = next((each for each in steps if MODEL_FACT in each.facts), None)
        facts = {} if ran is None else {name: each for name, each in ran.facts.items() if isinstance(each, str)}
        model, _, version = str(facts.pop(VERSION_FACT, "")).rpartition("@")
        if ran is None or ran.index > step.index:
            return StepCall(request, model, version)
        return StepCall(request, model, version, facts.get("provider", ""), facts)

    def _other_model(self, step: Step) -> str:
        if not self._models:
            return "it ran a model; add --model FILE"
        recorded = str(step.facts[MODEL_FACT])
        if recorded in self._models:
            return ""
        # Whoever replays names the model that was declared; what ran may be the file that it falls back to.
        kind, _, file = str(step.facts.get("fallback", "")).partition(":")
        what = f" of the fallback {file}: add --model {file}" if kind == "model" else ""
        return f"another model: {', '.join(f'{each[:12]}…' for each in self._models)}; recorded {recorded[:12]}…{what}"


def _versions(step: Step, found: object) -> str:
    now = version_of(found)
    return "" if now == step.version else f"; version {now or 'unknown'} now, {step.version or 'unknown'} recorded"


def _declared(facts: Mapping[str, Any]) -> Tolerance | None:
    given = [facts.get(name) for name in (ABSOLUTE_FACT, RELATIVE_FACT)]
    if all(value is None for value in given):
        return None
    return Tolerance(*(float(value) if isinstance(value, int | float) else 0.0 for value in given))
