"""The command ``protocontract model``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protocontract._files import file_sha256
from protocontract.arguments import Parser, add_sources
from protocontract.card import Card
from protocontract.cli import BROKEN, KEPT
from protocontract.commands import model_probe
from protocontract.contract import Contract
from protocontract.terminal import BROKEN as CROSS
from protocontract.terminal import KEPT as TICK
from protocontract.terminal import NEUTRAL, Paint, plural

if TYPE_CHECKING:
    from protocontract.models import Comparison, Expected

_DESCRIPTION = """\
Compare a model with the contracts of a service, as it is done before serving: inputs and outputs with the tensors that
are declared (dtype, sizes of axes, names), labels of classes with class_index, and what the model was trained under
(its stamp) with the contracts and data versions here. Whatever does not fit is told, with both sides.
"""
_EPILOG = """\
exit codes: 0 it fits; 1 it does not; 2 could not be compared

example: protocontract model check --contract acme.inference.v1.EntityModelInput \\
           --response acme.inference.v1.EntityModelOutput model.onnx
"""


def model_command(argv: list[str]) -> int:
    """Compare a model with the contracts of a service; make the probes that a fallback is held to."""
    options = _parser().parse_args(argv)
    return int(options.action_of(options))


def _check(options: argparse.Namespace) -> int:
    from protocontract.loading import resolve
    from protocontract.models import Expected, compare, read_labels, read_signature
    from protocontract.models.onnx_file import files

    def find(name: str) -> Contract[Any]:
        return resolve(name, proto_path=options.proto_path, descriptors=options.descriptors)

    model: Path = options.model
    model.stat()  # a wrong name should not wait until contracts are compiled
    expected = Expected(
        find(options.contract),
        find(options.response),
        None if options.answer is None else find(options.answer),
        None if options.card is None else Card.read(options.card).sha256,
        find,
        options.require_stamp,
    )
    labels = None if options.labels is None else read_labels(options.labels)
    signature = read_signature(model)
    found = compare(model, signature, expected, labels)
    hashes = {name: file_sha256(file) for name, file in files(model).items()}
    if options.format == "json":
        report = {
            "model": {"name": model.name, "sha256": hashes[model.name], "files": hashes},
            "inputs": {port.name: str(port) for port in signature.inputs},
            "outputs": {port.name: str(port) for port in signature.outputs},
            "contracts": {contract.full_name: contract.fingerprint for contract in expected.contracts},
            "fits": not found.differences,
            "differences": [
                {"kind": each.kind, "model": each.model, "contract": each.contract, "where": each.where}
                for each in found.differences
            ],
            "notes": list(found.notes),
        }
        sys.stdout.write(json.dumps(report, ensure_ascii=False, indent=2) + "\n")
    else:
        _tell(model, hashes[model.name], expected, found)
    return BROKEN if found.differences else KEPT


def _tell(model: Path, digest: str, expected: Expected, found: Comparison) -> None:
    paint = Paint.on(sys.stdout)
    for each in found.differences:
        print(f"{paint(CROSS, 'bad')} {each}")
    for note in found.notes:
        print(f"{paint(NEUTRAL, 'quiet')} {note}")
    names = " and ".join(contract.full_name for contract in expected.contracts)
    if found.differences:
        print(f"{paint(model.name, 'strong')} does not fit {names}: {plural(len(found.differences), 'difference')}")
    else:
        print(f"{paint(TICK, 'good')} {paint(model.name, 'strong')} fits {names}")
    print(f"  {paint(f'sha256 {digest}', 'quiet')}")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="protocontract model")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    check = actions.add_parser(
        "check", description=_DESCRIPTION, epilog=_EPILOG, help="compare a model with contracts",
    )  # fmt: skip
    check.add_argument("model", type=Path, metavar="MODEL", help="the model (.onnx)")
    check.add_argument("--contract", required=True, metavar="NAME", help="the message with the model's inputs")
    check.add_argument("--response", required=True, metavar="NAME", help="the message with the model's outputs")
    check.add_argument(
        "--answer", metavar="NAME", help="the message whose enum names the classes, where that is not the response"
    )
    check.add_argument(
        "--labels", metavar="FILE[#KEY]", help="where the model's labels are: JSON, a key of it, or a text file"
    )
    check.add_argument("--card", metavar="FILE", help="the data card that the model has to be of")
    check.add_argument("--require-stamp", action="store_true", help="a model without a stamp does not fit")
    add_sources(check, "the contracts")
    check.add_argument("--format", choices=("text", "json"), default="text", help="how the result is told")
    check.set_defaults(action_of=_check)
    model_probe.add_parser(actions)
    return parser
