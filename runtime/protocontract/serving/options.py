"""The command line of ``protocontract serve``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from protocontract.arguments import Parser, add_sources
from protocontract.status_http import http_address

#: The options that --help shows.
_USUAL: Final = (
    "--contract", "--proto-path", "--listen", "--check", "--format", "--model",
    "--models", "--steps", "--providers", "--labels", "--no-fallback", "--evidence",
    "--workers", "--grace", "--http",
)  # fmt: skip
_DESCRIPTION: Final = """\
Serve the RPCs of a service with models: each request and response is held to its contract, each model to the contract's
tensors, labels and training before it serves. Ready (grpc.health.v1) when all models have run a row.
"""
_EPILOG: Final = """\
with --upstream HOST:PORT the models stay with a KServe v2 server: `protocontract serve --upstream HOST:PORT --help`
signals: SIGTERM and SIGINT drain and end; SIGHUP reads --models again
exit codes: 0 stopped when asked to, or --check found that all fits; 1 --check found that it does not; 2 could not start

example: protocontract serve --contract acme.inference.v1.ContentTypeService --model content_type.onnx \\
           --steps acme_steps:features --steps acme_steps:label --listen 127.0.0.1:50051
"""


def serve_parser() -> argparse.ArgumentParser:
    """The parser, with what workers are told besides."""
    parser = Parser(
        prog="protocontract serve",
        usage="protocontract serve --contract SERVICE --model [NAME[@VERSION]=]PATH [options]",
        usual=_USUAL,
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("--contract", required=True, metavar="SERVICE", help="the service's full name")
    add_sources(parser, "the contracts")
    parser.add_argument("--listen", default="127.0.0.1:50051", metavar="HOST:PORT", help="default: %(default)s")
    _add_models(parser)
    _add_evidence(parser)
    limits = parser.add_argument_group("running")
    limits.add_argument("--workers", type=_positive, default=1, metavar="N", help="processes that share the port")
    limits.add_argument(
        "--step-threads", type=_positive, default=2, metavar="N", help="threads of steps (default: %(default)s)"
    )
    limits.add_argument(
        "--grace", type=_seconds, default=30.0, metavar="S", help="what waits is answered for so long after a SIGTERM"
    )
    limits.add_argument(
        "--max-deadline",
        type=_seconds,
        default=60.0,
        metavar="S",
        help="the longest deadline of RPCs that declare none (default: %(default)s)",
    )
    limits.add_argument(
        "--max-response-bytes",
        type=_positive,
        default=4 * 1024 * 1024,
        metavar="N",
        help="larger responses are refused (default: what gRPC's clients take, 4 MiB)",
    )
    limits.add_argument(
        "--http",
        type=http_address,
        metavar="[HOST:]PORT",
        help="/livez, /readyz, /metrics, /digests; worker N listens on PORT + N",
    )
    parser.add_argument("--check", action="store_true", help="load, compare and warm up, say so, and end")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how it is told what is served")
    # What a worker is told by the process that started it.
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--late", action="store_true", help=argparse.SUPPRESS)
    return parser


def _add_models(parser: argparse.ArgumentParser) -> None:
    models = parser.add_argument_group("models")
    models.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="[NAME[@VERSION]=]PATH",
        help="a model; the first version of a name is the active one; grpc://HOST:PORT/NAME for one of another server",
    )
    models.add_argument(
        "--models",
        type=Path,
        metavar="FILE",
        help="the models as data (TOML or JSON), with roles and shares; read again at SIGHUP",
    )
    models.add_argument("--labels", default="", metavar="FILE[#KEY]", help="where the labels of --model are")
    models.add_argument(
        "--steps", action="append", default=[], metavar="MODULE:FUNCTION", help="a step before or behind a model"
    )
    models.add_argument(
        "--providers",
        default="cpu",
        metavar="NAMES",
        help="where models run, in order, or a JSON file",
    )
    models.add_argument("--threads", type=_positive, metavar="N", help="threads of one operator on the CPU")
    models.add_argument("--deterministic", action="store_true", help="kernels that give the same bits each time")
    models.add_argument("--batch-sizes", type=_sizes, metavar="N,N", help="sizes that batches are filled up to")
    models.add_argument("--no-batching", action="store_true", help="each request is a batch of its own")
    models.add_argument("--no-fallback", action="store_true", help="a declared fallback does not count")
    models.add_argument("--tensorrt-cache", type=Path, metavar="DIR", help="where TensorRT keeps its engines")


def _add_evidence(parser: argparse.ArgumentParser) -> None:
    evidence = parser.add_argument_group("evidence (docs/evidence.md)")
    evidence.add_argument("--evidence", type=Path, metavar="FILE", help="record requests here; a file for each worker")
    evidence.add_argument("--evidence-key", type=Path, metavar="FILE", help="the key of HMACs in it")
    evidence.add_argument("--evidence-anchor", type=Path, metavar="FILE", help="where anchors are told")
    evidence.add_argument("--evidence-sync", action="store_true", help="force each entry to the disk")
    evidence.add_argument(
        "--verify-evidence", action="store_true", help="do not go on with a log whose chain is broken; reads all of it"
    )
    evidence.add_argument(
        "--inputs", type=Path, metavar="DIR", help="keep the values of stages, which are the requests themselves"
    )


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number}; expected 1 at least")
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}; expected 0 or more seconds")
    return number


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(_positive(each) for each in text.split(","))
