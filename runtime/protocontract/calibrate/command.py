"""The command ``protocontract calibrate``."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protocontract._options import service_levels
from protocontract.arguments import Parser
from protocontract.calibrate.reservoir import Reservoir, Size
from protocontract.card.card import Card
from protocontract.card.command import add_contract, open_sources
from protocontract.cli import BROKEN, KEPT, UsageError
from protocontract.contract import Contract
from protocontract.records.sources import find_files
from protocontract.terminal import BROKEN as CROSS
from protocontract.terminal import KEPT as CHECK
from protocontract.terminal import Paint, plural

if TYPE_CHECKING:
    from protocontract.calibrate.calibration import Calibrated
    from protocontract.calibrate.inputs import Inputs

#: The options that --help shows.
_USUAL = (
    "--contract", "--model", "--out", "--steps", "--take", "--hold-out",
    "--agreement", "--method", "--card", "--format",
)  # fmt: skip
_DESCRIPTION = """\
Make an INT8 model of an ONNX model, calibrated on recorded records that keep the contract, and hold it to a declared
agreement of labels on other records of theirs. A model that agrees less is not written.
"""
_EPILOG = """\
Records are drawn by content and seed: the same files give the same model, byte for byte, on the same machine. Sensitive
fields are cleared before a step sees a record. `protocontract sample` makes a file of a topic's records.
exit codes: 0 written; 1 the models agree on fewer labels than declared, nothing was written; 2 could not be made

example: protocontract calibrate --contract acme.inference.v1.IdentifyRequest --steps features:content_type \\
           --model content_type.onnx --out content_type_int8.onnx traffic.binpb
"""


def calibrate_command(argv: list[str]) -> int:
    """Quantise a model to INT8 on recorded traffic, and hold it to its declared agreement."""
    options = _parser().parse_args(argv)
    # onnxruntime, onnx and NumPy: what is missing is said before any record is read.
    from protocontract.calibrate.calibration import calibrate
    from protocontract.calibrate.inputs import Inputs, draw
    from protocontract.calibrate.quantize import Recipe
    from protocontract.loading import resolve
    from protocontract.steps import load_step

    find_files(options.files)  # a wrong name should not wait until the contract is compiled
    contract = resolve(options.contract, proto_path=options.proto_path, descriptors=options.descriptors)
    sources = open_sources(options.files, options.encoding, contract, options.column)
    declared = _declared(contract, options)
    inputs = Inputs(contract, None if options.steps is None else load_step(options.steps))
    try:
        reservoir = Reservoir(options.take, options.hold_out, options.seed)
    except ValueError as error:
        raise UsageError(f"--take and --hold-out: {error}") from error
    card = None if options.card is None else Card.read(options.card)
    read, valid = draw(sources, inputs, reservoir)
    recipe = Recipe(
        tuple(options.operators),
        not options.per_tensor,
        not options.full_range,
        options.ranges,
        options.format_of_model,
    )
    result = calibrate(
        options.model, options.out, reservoir.drawn(), inputs, recipe=recipe, declared=declared, seed=options.seed,
        output=options.output, card=card,
    )  # fmt: skip
    _tell(result, inputs, options, read, valid)
    return KEPT if result.kept else BROKEN


def _declared(contract: Contract[Any], options: argparse.Namespace) -> float:
    """The least agreement: as given, else what the contract of the method declares for its fallback model."""
    if options.agreement is not None:
        return float(options.agreement)
    found = dict(_fallbacks(contract))
    if options.method is not None:
        found = {name: share for name, share in found.items() if name == options.method}
    if len(set(found.values())) == 1:
        return next(iter(found.values()))
    which = f"method {options.method}" if options.method is not None else contract.full_name
    if found:
        raise UsageError(f"{which} has several declared agreements; name one of {', '.join(found)} with --method")
    raise UsageError(f"no fallback model with label_agreement is declared for {which}; declare one, or add --agreement")


def _fallbacks(contract: Contract[Any]) -> list[tuple[str, float]]:
    """Methods of the contract's own file that declare a fallback model with an agreement: those that take it or all."""
    taking: list[tuple[str, float]] = []
    others: list[tuple[str, float]] = []
    for method, takes, level in service_levels(contract.message_type.DESCRIPTOR):
        if level.fallback.model and level.fallback.label_agreement:
            (taking if takes else others).append((method, level.fallback.label_agreement))
    return taking or others


def _tell(result: Calibrated, inputs: Inputs, options: argparse.Namespace, read: int, valid: int) -> None:
    contract, found = inputs.contract, result.agreement
    if options.format == "json":
        told = {
            "contract": contract.full_name,
            "version": contract.version,
            "fingerprint": contract.fingerprint,
            "read": read,
            "valid": valid,
            "calibration_records": result.records,
            "held_out_records": result.held_out,
            "set_sha256": result.set_sha256,
            "quantization": result.recipe.as_dict(),
            "same_labels": found.same,
            "labels": found.labels,
            "agreement": found.share,
            "declared_agreement": result.declared,
            "model_sha256": result.sha256,
            "verdict": "kept" if result.kept else "broken",
            "exit_code": KEPT if result.kept else BROKEN,
        }
        sys.stdout.write(json.dumps(told, ensure_ascii=False, indent=2) + "\n")
        return
    paint = Paint.on(sys.stdout)
    title = f"{contract.full_name} {contract.version}".rstrip()
    mark = paint(CHECK, "good") if result.kept else paint(CROSS, "bad")
    print(f"{paint(title, 'strong')} · {options.model.name} · {plural(read, 'record')}, {valid:,} valid")
    print(f"    calibrated on   {plural(result.records, 'record')}, set {result.set_sha256[:12]}, seed {options.seed}")
    print(f"    quantised       {result.recipe}, {_bytes(result.bytes_before)} to {_bytes(result.bytes_after)}")
    print(
        f"  {mark} same labels     {_percent(found.share)}, declared {_percent(result.declared)}:"
        f" {found.same:,} of {found.labels:,}, on {plural(result.held_out, 'record')} held out"
    )
    if result.kept:
        print(f"kept: {options.out}, sha256 {result.sha256}")
    else:
        print("broken: fewer labels are the same than declared; nothing was written")


def _percent(share: float) -> str:
    # Rounded down: 99.996 % of labels is not all of them.
    return f"{math.floor(share * 10_000 + 1e-9) / 100:.2f} %"


def _bytes(size: int) -> str:
    return f"{size / 1e6:.2f} MB" if size >= 100_000 else f"{size / 1e3:.2f} kB"


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="protocontract calibrate",
        usage="protocontract calibrate --contract NAME --model FILE --out FILE [options] FILE [FILE ...]",
        usual=_USUAL,
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="files of records, or patterns: 'traffic/*.binpb'")
    add_contract(parser)
    parser.add_argument("--model", required=True, type=Path, metavar="FILE", help="the ONNX model in floats")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="the INT8 model")
    parser.add_argument(
        "--steps", metavar="MODULE:FUNCTION",
        help="turns a valid message into the model's inputs; by default the contract's tensors are the inputs",
    )  # fmt: skip
    parser.add_argument(
        "--take", type=_size, default=Size(100, None), metavar="N",
        help="records to calibrate on, or a share: 100 (default), 1%%",
    )  # fmt: skip
    parser.add_argument(
        "--hold-out", type=_size, default=Size(400, None), metavar="N",
        help="other records to compare labels on, or a share: 400 (default), 4%%",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="which records are drawn (default 0)")
    parser.add_argument(
        "--agreement", type=_share, metavar="SHARE",
        help="least share of equal labels, 0 to 1; by default label_agreement of the fallback model in the contract",
    )  # fmt: skip
    parser.add_argument(
        "--method", metavar="SERVICE/METHOD", help="the method whose declared agreement counts, where it is unclear"
    )
    parser.add_argument(
        "--output", metavar="NAME", help="the output with the scores of classes, where there are several"
    )
    parser.add_argument("--card", type=Path, metavar="FILE", help="card.json of the training data: its hash goes along")
    parser.add_argument(
        "--operators",
        nargs="+",
        default=["Conv", "MatMul"],
        metavar="OP",
        help="what to quantise (default Conv MatMul)",
    )
    parser.add_argument("--per-tensor", action="store_true", help="one scale a tensor instead of one a channel")
    parser.add_argument(
        "--full-range", action="store_true", help="all eight bits of the weights: for CPUs with VNNI only"
    )
    parser.add_argument(
        "--ranges", choices=("minmax", "entropy", "percentile"), default="minmax", help="how ranges are found"
    )
    parser.add_argument(
        "--quantized-format", dest="format_of_model", choices=("qdq", "qoperator"), default="qdq",
        help="how the INT8 model says what is quantised",
    )  # fmt: skip
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how the result is told")
    return parser


def _size(text: str) -> Size:
    try:
        return Size.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError("expected a share above 0 and up to 1, such as 0.99")
    return share
