"""The command ``protocontract model probe``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from protocontract._files import file_sha256
from protocontract._options import service_levels
from protocontract.calibrate.reservoir import Reservoir, Size
from protocontract.card.command import add_contract, open_sources
from protocontract.cli import BROKEN, KEPT
from protocontract.contract import Contract
from protocontract.records.sources import find_files
from protocontract.terminal import BROKEN as CROSS
from protocontract.terminal import KEPT as CHECK
from protocontract.terminal import NEUTRAL, Paint, plural
from protocontract.violations import ContractError

if TYPE_CHECKING:
    from protocontract.calibrate.inputs import Inputs
    from protocontract.models import Fallback, Model, Probes

_DESCRIPTION = """\
Make the probes of a model: inputs of recorded records that keep the contract, with the outputs that the model gives
for them. They are written beside the model (MODEL.probes.npz) and ship with it. A service compares what its contract
declares as fallback with them before it starts, and a device that failed has to give them again before it serves once
more.
"""
_EPILOG = """\
Records are drawn by content and seed, as `protocontract calibrate` does; with another seed, so that a calibrated model
is held to other records than its own. Sensitive fields are cleared before a step sees a record; all else of the drawn
records is in the file. Fallbacks that are declared and whose files are here are compared at once, as a service will.
exit codes: 0 written; 1 written, and a declared fallback is further apart than declared; 2 could not be made

example: protocontract model probe --contract acme.inference.v1.IdentifyRequest --steps features:content_type \\
           content_type.onnx traffic.binpb
"""


#: Rows of one run where nothing is declared.
_MOST_ROWS: Final = 32


def probe(options: argparse.Namespace) -> int:
    """Make the probes of a model from recorded records."""
    # onnxruntime and NumPy: what is missing is said before any record is read.
    from protocontract.calibrate.inputs import Inputs
    from protocontract.loading import resolve
    from protocontract.models import Model, Probes, Provider, WrongInput
    from protocontract.steps import load_step

    find_files(options.files)  # a wrong name should not wait until the contract is compiled
    contract = resolve(options.contract, proto_path=options.proto_path, descriptors=options.descriptors)
    inputs = Inputs(contract, None if options.steps is None else load_step(options.steps))
    model = Model(options.model, Provider.parse(options.providers))
    drawn, read, valid = _drawn(contract, inputs, options)
    if not drawn:
        raise ContractError(f"none of {plural(read, 'record')} keeps {contract.full_name}; expected one at least")
    samples = [_sample(model, inputs, contract.message_type.FromString(record)) for record in drawn]
    about = {
        "contract": contract.full_name,
        "version": contract.version,
        "fingerprint": contract.fingerprint,
        "steps": None if inputs.step is None else inputs.step.name,
        "steps_version": None if inputs.step is None else inputs.step.version,
        "seed": options.seed,
        "records": len(drawn),
    }
    try:
        made = Probes.make(model, _runs(model, samples, options.batch or _most_rows(contract)), about)
    except WrongInput as error:
        raise ContractError(str(error)) from error
    out: Path = options.out or Probes.path_of(options.model)
    made.write(out)
    compared = [(method, fallback, *_beside(options, out, fallback)) for method, fallback in _declared(contract)]
    if options.format == "json":
        told = {
            "model": {"name": model.name, "sha256": made.model_sha256},
            "probes": {"file": str(out), "sha256": file_sha256(out), "rows": made.rows, "runs": len(made.probes)},
            "read": read,
            "valid": valid,
            **made.about,
            "fallbacks": [
                {"method": method, "fallback": fallback.name, "verdict": verdict, "found": text}
                for method, fallback, verdict, text in compared
            ],
        }
        sys.stdout.write(json.dumps(told, ensure_ascii=False, indent=2) + "\n")
    else:
        _tell(contract, model, made, out, (read, valid), compared)
    return BROKEN if any(verdict == "broken" for _, _, verdict, _ in compared) else KEPT


def _drawn(contract: Contract[Any], inputs: Inputs, options: argparse.Namespace) -> tuple[list[bytes], int, int]:
    """Valid records without what is sensitive in them; how many were read, and how many of them are valid."""
    from protocontract.calibrate.inputs import draw

    reservoir = Reservoir(Size(options.take, None), Size(0, None), options.seed)
    sources = open_sources(options.files, options.encoding, contract, options.column)
    read, valid = draw(sources, inputs, reservoir)
    return reservoir.drawn().calibration, read, valid


def _sample(model: Model, inputs: Inputs, message: Any) -> Mapping[str, Any]:
    """Those of a message's arrays that the model takes. Raises ContractError."""
    arrays = inputs.of(message)
    found = {}
    for port in model.signature.inputs:
        if inputs.step is None and (path := inputs.hidden(port.name)):
            raise ContractError(
                f"{model.name} takes {port.name}, which is the sensitive field {path} of {inputs.contract.full_name}:"
                " it would be written into the probes; expected inputs that are not sensitive"
            )
        if port.name not in arrays:
            made_by = inputs.contract.full_name if inputs.step is None else f"step {inputs.step.name}"
            raise ContractError(f"{model.name} takes {port.name} {port}; {made_by} has {', '.join(arrays) or 'none'}")
        found[port.name] = arrays[port.name]
    return found


def _runs(model: Model, samples: list[Mapping[str, Any]], batch: int) -> list[Mapping[str, Any]]:
    """What is run together: rows of one shape, where the model's first axes are free."""
    from protocontract.models.probes import stacked

    free = all(port.dims and not isinstance(port.dims[0], int) for port in model.signature.inputs)
    return list(stacked(samples, batch)) if free else samples


def _most_rows(contract: Contract[Any]) -> int:
    """As many rows as the smallest batch that is declared for the message, or a few."""
    found = [int(level.batch.max_size) for _, takes, level in service_levels(contract.message_type.DESCRIPTOR) if takes]
    return min([_MOST_ROWS, *(size for size in found if size)])


def _declared(contract: Contract[Any]) -> list[tuple[str, Fallback]]:
    """The fallbacks that methods of the contract's own file declare: of those that take the message, or else of all."""
    from protocontract.models import Fallback

    taking: list[tuple[str, Fallback]] = []
    others: list[tuple[str, Fallback]] = []
    for method, takes, level in service_levels(contract.message_type.DESCRIPTOR):
        found = Fallback.of(level.fallback) if level.HasField("fallback") else None
        if found is not None:
            (taking if takes else others).append((method, found))
    return taking or others


def _beside(options: argparse.Namespace, probes: Path, fallback: Fallback) -> tuple[str, str]:
    """How a declared fallback compares: ``kept``, ``broken`` or ``not compared``, and what was found."""
    from protocontract.models import Degrading, Model, NoProvider, Provider, with_fallback
    from protocontract.models.errors import told

    path: Path = options.model
    providers = Provider.parse(options.providers)
    if fallback.model and not path.with_name(fallback.model).exists():
        return "not compared", f"{fallback.model} is not beside {path.name}"
    try:
        engine = with_fallback(path, fallback, lambda: Model(path, providers), probes=probes, background=False)
    except NoProvider as error:
        return "not compared", "; ".join(str(each) for each in error.attempts)
    except ContractError as error:
        return "broken", told(error).strip()
    if not isinstance(engine, Degrading):
        return "not compared", f"{path.name} runs on {engine.provider} itself"
    return "kept", str(engine.checked[-1])


def _tell(
    contract: Contract[Any],
    model: Model,
    made: Probes,
    out: Path,
    records: tuple[int, int],
    compared: list[tuple[str, Fallback, str, str]],
) -> None:
    paint = Paint.on(sys.stdout)
    title = f"{contract.full_name} {contract.version}".rstrip()
    print(f"{paint(title, 'strong')} · {model.name} · {plural(records[0], 'record')}, {records[1]:,} valid")
    runs = f"{plural(made.rows, 'row')} in {plural(len(made.probes), 'run')}"
    print(f"    probes  {runs} on {model.provider}, seed {made.about['seed']}")
    marks = {"kept": paint(CHECK, "good"), "broken": paint(CROSS, "bad"), "not compared": paint(NEUTRAL, "quiet")}
    for method, fallback, verdict, text in compared:
        print(f"  {marks[verdict]} {fallback.name} of {method}: {verdict}: {text}")
    print(f"written: {out}, sha256 {file_sha256(out)}")


def add_parser(actions: Any) -> None:
    """The action ``probe``."""
    parser: argparse.ArgumentParser = actions.add_parser(
        "probe", description=_DESCRIPTION, epilog=_EPILOG, help="make the probes of a model",
    )  # fmt: skip
    parser.add_argument("model", type=Path, metavar="MODEL", help="the model (.onnx)")
    parser.add_argument("files", nargs="+", metavar="FILE", help="files of records, or patterns: 'traffic/*.binpb'")
    add_contract(parser)
    parser.add_argument(
        "--steps", metavar="MODULE:FUNCTION",
        help="turns a valid message into the model's inputs; by default the contract's tensors are the inputs",
    )  # fmt: skip
    parser.add_argument("--providers", default="cpu", metavar="NAMES", help="where the model runs: cpu (default), cuda")
    parser.add_argument("--take", type=_count, default=100, metavar="N", help="records to draw (default 100)")
    parser.add_argument(
        "--batch",
        type=_count,
        metavar="N",
        help="most rows of a run (default 32, or what a method's batch.max_size allows)",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="which records are drawn (default 1)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the file to write (default MODEL.probes.npz)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how the result is told")
    parser.set_defaults(action_of=probe)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError("expected a number of 1 or more")
    return int(text)
