"""The command ``protocontract serve``: a service in one process. ``workers`` runs it in several."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from protocontract.chain import EvidenceError, EvidenceLog, Key, anchor_file, verify
from protocontract.chain.anchors import read_anchors
from protocontract.cli import BROKEN, COULD_NOT_CHECK, INTERRUPTED, KEPT, UsageError
from protocontract.models import Provider
from protocontract.serving.counts import ServingMetrics
from protocontract.serving.declared import parse_model, read_models
from protocontract.serving.engines import EngineOptions, ModelSpec
from protocontract.serving.options import serve_parser
from protocontract.serving.plan import DoesNotFit
from protocontract.serving.server import InferenceServer
from protocontract.serving.status import open_status
from protocontract.serving.stopping import Stop
from protocontract.serving.versions import facts_of
from protocontract.terminal import plural, tell_refused
from protocontract.violations import ContractError

if TYPE_CHECKING:
    from protocontract.serving.versions import Running

log: Final = logging.getLogger("protocontract.serving")


def serve_command(argv: list[str]) -> int:
    """Serve models behind contracts."""
    if any(each == "--upstream" or each.startswith("--upstream=") for each in argv):
        from protocontract.serving.kserve.command import upstream_command

        return upstream_command(argv)
    options = serve_parser().parse_args(argv)
    if bool(options.model) == (options.models is not None):
        raise UsageError("expected models, by --model PATH or by --models FILE")
    if options.labels and options.models is not None:
        raise UsageError("--labels is for --model; in --models each model has its own")
    if options.inputs is not None and options.evidence is None:
        raise UsageError("--inputs keeps what evidence names; add --evidence FILE")
    if options.verify_evidence and (options.evidence is None or options.check):
        raise UsageError(
            "--verify-evidence is for a log that is gone on with: with --evidence FILE, and without --check"
        )
    _log(options)
    if options.workers > 1 and options.worker is None and not options.check:
        from protocontract.serving.workers import supervise

        return supervise(argv, options)
    try:
        return _serve(options)
    except (ContractError, EvidenceError) as error:
        tell_refused(error)
        return BROKEN if options.check and isinstance(error, DoesNotFit) else COULD_NOT_CHECK


def _serve(options: argparse.Namespace) -> int:
    metrics = None if options.http is None else ServingMetrics()
    server, evidence = _made(options, metrics)
    try:
        return asyncio.run(_checked(server) if options.check else _run(server, options, metrics, evidence))
    finally:
        if evidence is not None:
            evidence.close()


_THREADS: Final = ("protocontract-steps", "protocontract-load")


async def _ended(code: int, loading: ThreadPoolExecutor, evidence: EvidenceLog | None) -> int:
    """The exit code, when all threads have ended. Where they do not, the process ends here: Python would wait for what
    loads a model, or for a step that hangs."""
    loading.shutdown(wait=False, cancel_futures=True)
    for _ in range(20):
        if not any(thread.name.startswith(_THREADS) for thread in threading.enumerate()):
            return code
        await asyncio.sleep(0.05)
    log.warning("a model that is being loaded, or a step, does not end: the process ends without it")
    if evidence is not None:
        evidence.close()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


async def _checked(server: InferenceServer) -> int:
    found = await server.check()
    print(f"{server.plan.service} can be served: {_models(found)}")
    return KEPT


async def _run(
    server: InferenceServer,
    options: argparse.Namespace,
    metrics: ServingMetrics | None,
    evidence: EvidenceLog | None,
) -> int:
    loop = asyncio.get_running_loop()
    loading = ThreadPoolExecutor(thread_name_prefix="protocontract-load")
    loop.set_default_executor(loading)
    stopped = Stop()

    def orphaned() -> None:
        loop.remove_reader(sys.stdin.fileno())
        stopped.ask()

    changes = _Changes(server, options)
    loop.add_signal_handler(signal.SIGHUP, changes.ask)
    if options.worker is not None:
        # The other end is the process that supervises: without it nobody would end this one.
        loop.add_reader(sys.stdin.fileno(), orphaned)
    status = None if metrics is None else open_status(server, options.http, metrics, options.worker or 0)
    starting = loop.create_task(server.start(late=options.late))
    stopping = loop.create_task(stopped.wait())
    await asyncio.wait((starting, stopping), return_when=asyncio.FIRST_COMPLETED)
    if not starting.done():
        starting.cancel()
        return await _ended(KEPT, loading, evidence)
    starting.result()
    _tell(server, options)
    await stopped.wait()
    changes.close()
    ended = await server.stop(options.grace)
    if status is not None:
        status.close()
    if ended:
        log.warning("%s did not end within the grace period", plural(ended, "request"))
    code = INTERRUPTED if stopped.interrupted and options.worker is None else KEPT
    return await _ended(code, loading, evidence)


class _Changes:
    """Reads the models again at SIGHUP, one time after the other."""

    def __init__(self, server: InferenceServer, options: argparse.Namespace) -> None:
        self._server: Final = server
        self._options: Final = options
        self._tasks: Final[set[asyncio.Task[None]]] = set()

    def ask(self) -> None:
        """SIGHUP came."""
        if self._options.models is None:
            log.warning("SIGHUP reads --models again; there is no such file")
            return
        task = asyncio.get_running_loop().create_task(self._change())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def close(self) -> None:
        """The service stops."""
        for task in self._tasks:
            task.cancel()

    async def _change(self) -> None:
        if not self._server.ready:
            log.warning("SIGHUP came before the models were loaded; expected it later")
            return
        try:
            problems = await self._server.change(read_models(self._options.models), self._options.grace)
        except (ContractError, OSError) as error:
            log.error("the models stay as they are: %s", error)
            return
        for problem in problems:
            log.error("not loaded: %s", problem)
        log.info("serving %s", _models(self._server.versions.running))


# -- what the options say


def models_of(options: argparse.Namespace) -> list[ModelSpec]:
    """The models that are declared. Raises ContractError, OSError."""
    if options.models is not None:
        return read_models(options.models)
    return [parse_model(each, options.labels) for each in options.model]


def _made(options: argparse.Namespace, metrics: ServingMetrics | None) -> tuple[InferenceServer, EvidenceLog | None]:
    evidence = None if options.evidence is None or options.check else _evidence(options)
    try:
        server = InferenceServer(
            options.contract,
            models_of(options),
            steps=options.steps,
            listen=options.listen,
            options=EngineOptions(
                providers=Provider.parse(options.providers),
                threads=options.threads,
                deterministic=options.deterministic,
                sizes=options.batch_sizes,
                fallback=not options.no_fallback,
                cache=options.tensorrt_cache,
            ),
            evidence=evidence,
            recorded=options.evidence is not None,
            inputs=options.inputs,
            joins=not options.no_batching,
            max_response_bytes=options.max_response_bytes,
            max_deadline=options.max_deadline,
            proto_path=options.proto_path,
            descriptors=options.descriptors,
            reuse_port=options.worker is not None,
            threads=options.step_threads,
            watch=metrics,
        )
    except BaseException:
        if evidence is not None:
            evidence.close()
        raise
    return server, evidence


def _evidence(options: argparse.Namespace) -> EvidenceLog:
    """The log that is gone on with. Raises EvidenceError where it cannot be, or must not be."""
    key = Key.read(options.evidence_key) if options.evidence_key else Key.from_environment()
    path = worker_file(options.evidence, options.worker)
    anchors = worker_file(options.evidence_anchor, options.worker) if options.evidence_anchor else None
    opened = EvidenceLog(
        path,
        key=key,
        anchor=None if anchors is None else anchor_file(anchors),
        sync=options.evidence_sync,
        required=True,
    )
    if options.verify_evidence:
        # When it is open: nobody else writes to it then, and what a crash left is told in it.
        told = read_anchors(anchors) if anchors is not None and anchors.exists() else ()
        problem = verify(path, key=key, anchors=told, require_end=False).problem
        if problem is not None:
            opened.close()
            raise EvidenceError(f"the chain of {path.name} is broken at {problem}; keep it, and record in another file")
    return opened


def worker_file(path: Path, worker: int | None) -> Path:
    """The file of a worker: ``evidence.0.jsonl`` for ``evidence.jsonl``; the path itself where there are none."""
    return path if worker is None else path.with_name(f"{path.stem}.{worker}{path.suffix}")


# -- what is told


def _log(options: argparse.Namespace) -> None:
    name = "" if options.worker is None else f"worker {options.worker}: "
    logging.basicConfig(level=logging.WARNING, format=f"{name}%(levelname)s %(message)s", stream=sys.stderr)
    logging.getLogger("protocontract").setLevel(logging.INFO)


def _tell(server: InferenceServer, options: argparse.Namespace) -> None:
    found = server.versions.running
    report = {"service": server.plan.service, "address": server.address, "models": [*map(facts_of, found)]}
    if options.worker is not None:
        from protocontract.serving.workers import READY

        print(READY.decode() + json.dumps(report), flush=True)
    elif options.format == "json":
        print(json.dumps(report), flush=True)
    else:
        print(serving_line(server.plan.service, server.address, [*map(facts_of, found)]), flush=True)


def serving_line(service: str, address: str, models: Sequence[Any], workers: int = 1) -> str:
    """What is served where, for people."""
    behind = "" if workers == 1 else f", {plural(workers, 'worker')}"
    return f"serving {service} on {address}: {'; '.join(map(_model_text, models))}{behind}"


def _models(found: Sequence[Running]) -> str:
    return "; ".join(_model_text(facts_of(each)) for each in found)


def _model_text(facts: dict[str, Any]) -> str:
    role = "" if facts["role"] in ("", "active") else f", {facts['role']}"
    if facts["share"]:
        role += f" of {facts['share']:.1%}"
    what = f"sha256 {facts['sha256'][:4]}…" if facts["sha256"] else "of another server"
    fallback = f", the fallback {facts['fallback']}" if facts["fallback"] else ""
    return f"{facts['name']} {facts['version']} ({what}{role}) on {facts['provider']}{fallback}"
