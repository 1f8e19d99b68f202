"""Draws, quantises, compares, and writes the model only where it agrees as declared."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from protocontract._files import file_sha256, replacing
from protocontract.calibrate.inputs import Inputs
from protocontract.calibrate.quantize import Agreement, Model, Recipe, Sample, agreement, quantize
from protocontract.calibrate.reservoir import Drawn
from protocontract.card import Card, Stamp, read_stamp, write_stamp
from protocontract.contract import Contract, StreamLevel
from protocontract.evidence import data_versions
from protocontract.levels import minimum_records
from protocontract.tensors import Batch, digest
from protocontract.violations import ContractError

#: First line of what the hash of a calibration set is taken of.
_SET: Final = b"protocontract calibration set 1\n"


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What came out. ``kept`` says whether the models agree as declared; only then the model was written."""

    set_sha256: str
    records: int
    held_out: int
    agreement: Agreement
    declared: float
    recipe: Recipe
    bytes_before: int
    bytes_after: int
    sha256: str | None

    @property
    def kept(self) -> bool:
        """Whether the models agree as declared."""
        # In decimals: 0.99 of 100 labels are 99, whatever double is nearest to 0.99.
        return self.agreement.same >= Fraction(repr(self.declared)) * self.agreement.labels


def calibrate(
    model: Path,
    out: Path,
    drawn: Drawn,
    inputs: Inputs,
    *,
    recipe: Recipe,
    declared: float,
    seed: int,
    output: str | None = None,
    card: Card | None = None,
) -> Calibrated:
    """Quantise ``model`` on the drawn records, and write ``out`` where it agrees on those that are held out.

    ``declared`` is the least share of equal labels, 0 to 1. Raises ContractError where inputs, model and contract do
    not fit together, or too few records are held out to show that share; OSError.
    """
    contract = inputs.contract
    stamp = _trained(model, contract, card)
    needed = minimum_records(StreamLevel(compliance=declared))
    if not drawn.calibration or len(drawn.held_out) < needed:
        raise ContractError(
            f"too few valid records: {len(drawn.calibration):,} to calibrate on and {len(drawn.held_out):,} held out;"
            f" expected at least {needed:,} held out to judge an agreement of {declared:g}"
        )
    original = Model(model)
    named = original.labelled_by(output)
    made = f"step {inputs.step.name}" if inputs.step is not None else contract.full_name
    _demand_not_sensitive(original, inputs)
    batches = [inputs.of(contract.message_type.FromString(record)) for record in drawn.calibration]
    samples = [original.fitting(batch, made) for batch in batches]
    probes = [original.fitting(inputs.of(contract.message_type.FromString(record)), made) for record in drawn.held_out]
    with tempfile.TemporaryDirectory(prefix="protocontract-calibrate-") as folder:
        light = Path(folder) / "int8.onnx"
        quantize(model, samples, recipe, light)
        found = agreement(original, Model(light), probes, named)
        result = Calibrated(
            set_hash(batches), len(samples), len(probes), found, declared, recipe, model.stat().st_size,
            light.stat().st_size, None,
        )  # fmt: skip
        if not result.kept:
            return result
        facts = {
            **_facts(result, inputs),
            "seed": seed,
            "output": named,
            "fp32_sha256": file_sha256(model),
            "onnxruntime": version("onnxruntime"),
        }
        write_stamp(replace(stamp, calibration=facts), light)
        size, digest_of_model = light.stat().st_size, file_sha256(light)
        _publish(light, out)
    return replace(result, bytes_after=size, sha256=digest_of_model)


def _demand_not_sensitive(model: Model, inputs: Inputs) -> None:
    for name in model.inputs:
        if inputs.step is None and (path := inputs.hidden(name)):
            raise ContractError(
                f"{model.name} takes {name}, which is the sensitive field {path} of {inputs.contract.full_name}: its"
                " range would be written into the model; expected inputs that are not sensitive"
            )


def _facts(result: Calibrated, inputs: Inputs) -> dict[str, Any]:
    """What a stamp says of a calibration, as far as the result tells."""
    contract, step = inputs.contract, inputs.step
    return {
        "set_sha256": result.set_sha256,
        "records": result.records,
        "held_out": result.held_out,
        "contract": contract.full_name,
        "version": contract.version,
        "fingerprint": contract.fingerprint,
        "steps": None if step is None else step.name,
        "steps_version": None if step is None else step.version,
        "quantization": result.recipe.as_dict(),
        "same_labels": result.agreement.same,
        "labels": result.agreement.labels,
        "declared_agreement": result.declared,
    }


def set_hash(batches: Sequence[Batch[Any]]) -> str:
    """The calibration set's hash: SHA-256 of a first line, and of each sample's digest (hex, LF) in order."""
    found = hashlib.sha256(_SET)
    for batch in batches:
        found.update(f"{digest(batch)}\n".encode())
    return found.hexdigest()


def _trained(model: Path, contract: Contract[Any], card: Card | None) -> Stamp:
    """The stamp of the training side: the card's, else the model's own, else none but the contract that calibrates.

    Raises ContractError where it names another version of the same contract.
    """
    own = read_stamp(model)
    stamp = Stamp.of(card) if card is not None else own
    if stamp is None:
        return Stamp(contract.full_name, contract.version, contract.fingerprint, dict(data_versions()))
    if card is not None and own is not None and own.card_sha256 not in (None, card.sha256):
        raise ContractError(
            f"{model.name} was trained on another card; expected {own.card_sha256 or ''}, got {card.sha256}"
        )
    if stamp.contract == contract.full_name and stamp.fingerprint != contract.fingerprint:
        raise ContractError(
            f"{model.name} was trained under another version of {contract.full_name}: {stamp.version or 'unversioned'}"
            f" {stamp.fingerprint[:12]}; expected {contract.version or 'unversioned'} {contract.fingerprint[:12]}"
        )
    return stamp


def _publish(made: Path, out: Path) -> None:
    """Put the model in its place at once: a service that loads it finds the old one or the new one."""
    with replacing(out) as stream:
        stream.write(made.read_bytes())


__all__ = ["Calibrated", "Sample", "calibrate", "set_hash"]
