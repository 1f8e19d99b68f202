"""``protocontract serve --upstream``: contracts between KServe v2 callers and a server of KServe v2."""

from __future__ import annotations

import argparse
import asyncio
import logging
import re
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from protocontract._options import Options
from protocontract.arguments import Parser, add_sources
from protocontract.cli import BROKEN, COULD_NOT_CHECK, INTERRUPTED, KEPT, UsageError
from protocontract.loading import load, resolve, resolve_service
from protocontract.models import ModelMismatch
from protocontract.models.comparison import Comparison
from protocontract.serving.counts import ServingMetrics
from protocontract.serving.methods import Level, Methods, level_of
from protocontract.serving.plan import plan
from protocontract.serving.status import open_status
from protocontract.serving.stopping import Stop
from protocontract.status_http import http_address
from protocontract.terminal import tell_refused
from protocontract.violations import ContractError

if TYPE_CHECKING:
    from protocontract.serving.kserve.models import Declared
    from protocontract.serving.kserve.proxy import Proxy

_DESCRIPTION = """\
Stand before a server that speaks KServe v2 (Triton, MLServer, KServe), and speak KServe v2 to callers, over gRPC and
REST. Requests and responses that are outside of the contracts do not pass. Callers' clients stay as they are.
"""
_EPILOG = """\
exit codes: 0 stopped when asked to, or --check found that all fits; 1 --check found that it does not; 2 could not
start, or the server could not be asked

example: protocontract serve --upstream 127.0.0.1:8001 --listen 127.0.0.1:9001 --rest 127.0.0.1:9000 \\
           --model content_type=acme.inference.v1.ContentTypeInput:acme.inference.v1.ContentTypeOutput
"""
_MODEL: Final = re.compile(r"(?P<name>[^=@]+)(?:@(?P<version>[^=]+))?=(?P<request>[\w.]+):(?P<response>[\w.]+)")


def upstream_command(argv: list[str]) -> int:
    """Stand before a model server that speaks KServe v2."""
    options = upstream_parser().parse_args(argv)
    try:
        return run_upstream(options)
    except ContractError as error:
        tell_refused(error)
        return COULD_NOT_CHECK


def run_upstream(options: argparse.Namespace) -> int:
    """Serve as ``options`` (of ``upstream_parser``) say, until SIGTERM or SIGINT.

    Raises ContractError where it must not start, UsageError, OSError, MissingExtra.
    """
    from protocontract.serving.kserve.proxy import MAX_MESSAGE, Proxy

    declared = declared_models(options)
    limit = MAX_MESSAGE if options.max_response_bytes is None else options.max_response_bytes
    metrics = None if options.http is None else ServingMetrics()

    def proxy() -> Proxy:
        return Proxy(
            options.upstream,
            declared,
            max_response_bytes=limit,
            tls=options.upstream_tls,
            texts=options.upstream_texts,
            watch=metrics,
        )

    return asyncio.run(_check(proxy, options) if options.check else _serve(proxy, options, metrics))


def declared_models(options: argparse.Namespace) -> list[Declared]:
    """The models of ``--model``, with the level of ``--level`` and of the options. Raises UsageError, ContractError."""
    from protocontract.serving.kserve.models import Declared

    found: list[Declared] = []
    for service in options.contract:
        found += [_limited(each, options) for each in _of_service(service, options)]
    for text in options.model:
        match = _MODEL.fullmatch(text)
        if match is None:
            raise UsageError(
                f"`{text}` declares no model; expected NAME=REQUEST:RESPONSE or NAME@VERSION=REQUEST:RESPONSE"
            )
        request, response = (
            resolve(match[side], proto_path=options.proto_path, descriptors=options.descriptors)
            for side in ("request", "response")
        )
        level = Level() if options.level is None else _level(options.level, request.message_type.DESCRIPTOR.file.pool)
        found.append(_limited(Declared(match["name"], request, response, level, match["version"] or ""), options))
    if not found:
        raise UsageError("expected models, by --model NAME=REQUEST:RESPONSE or by --contract SERVICE")
    return found


def _limited(declared: Declared, options: argparse.Namespace) -> Declared:
    given = {
        name: getattr(options, name)
        for name in ("deadline", "max_deadline", "max_request_bytes")
        if getattr(options, name) is not None
    }
    return replace(declared, level=replace(declared.level, **given))


def _of_service(name: str, options: argparse.Namespace) -> Iterator[Declared]:
    """The models of a contracted service: a field of a request that holds a model's tensors has the model's name."""
    from protocontract.serving.kserve.models import Declared

    service, known = resolve_service(name, proto_path=options.proto_path, descriptors=options.descriptors)
    find = load if known is None else known.__getitem__
    found = plan(service, Methods(known, service.file.pool).find, find)
    routes = [(method, route) for method in found.methods for route in method.routes if route.field]
    if not routes:
        raise ContractError(
            f"{name} has no request with a field for each model; expected one, or --model NAME=REQUEST:RESPONSE"
        )
    for method, route in routes:
        if route.inputs is not None and route.outputs is not None:
            yield Declared(route.field, route.inputs, route.outputs, method.method.level)


def _level(name: str, pool: Any) -> Level:
    service, _, method = name.strip("/").rpartition("/")
    try:
        descriptor = pool.FindServiceByName(service).methods_by_name[method]
    except KeyError:
        raise ContractError(f"no RPC {name} beside the contracts; expected SERVICE/METHOD") from None
    return level_of(Options(pool).service_level(descriptor))


async def _check(make: Callable[[], Proxy], options: argparse.Namespace) -> int:
    proxy = make()
    try:
        found = await proxy.wait(options.wait)
    finally:
        await proxy.close()
    differences = [each for comparison in found for each in comparison.differences]
    _tell_notes(found)
    for each in differences:
        print(f"✗ {each}")
    if not differences:
        print(f"✓ {_names(proxy)} at {options.upstream} fit their contracts")
    return BROKEN if differences else KEPT


async def _serve(make: Callable[[], Proxy], options: argparse.Namespace, metrics: ServingMetrics | None) -> int:
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s", stream=sys.stderr)
    proxy = make()
    closing: list[Callable[[], Awaitable[Any]]] = [proxy.close]
    status = None if metrics is None else open_status(_Standing(proxy), options.http, metrics)
    stop = Stop()
    try:
        started = asyncio.ensure_future(_start(proxy, options, closing))
        ended = asyncio.ensure_future(stop.wait())
        await asyncio.wait((started, ended), return_when=asyncio.FIRST_COMPLETED)
        if not started.done():
            started.cancel()
            await asyncio.wait((started,))
        elif not stop.is_set():
            print(started.result(), flush=True)
            await ended
        ended.cancel()
        proxy.drain()
    finally:
        for close in reversed(closing):
            await close()
        if status is not None:
            status.close()
    return INTERRUPTED if stop.interrupted else KEPT


class _Standing:
    """What the HTTP server, on its thread, asks of a proxy."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy: Final = proxy
        self._loop: Final = asyncio.get_running_loop()

    @property
    def not_ready(self) -> str | None:
        """Why nothing is answered at present; None while it is."""
        asked = asyncio.run_coroutine_threadsafe(self._proxy.ready(), self._loop)
        return None if asked.result() else "the model server does not have all declared models, or the proxy ends"


async def _start(proxy: Proxy, options: argparse.Namespace, closing: list[Callable[[], Awaitable[Any]]]) -> str:
    """Start both servers; what ends them is added to ``closing``. Returns what is said of it."""
    import grpc.aio

    from protocontract.serving.kserve.servicer import add_to

    found = await proxy.wait(options.wait)
    _tell_notes(found)
    differences = [each for comparison in found for each in comparison.differences]
    if differences:
        raise ModelMismatch(differences)
    # Beyond the limit there is room for a request to be read and refused with our words.
    room = proxy.max_request_bytes + 1024 * 1024
    server = grpc.aio.server(options=[("grpc.max_receive_message_length", room), ("grpc.max_send_message_length", -1)])
    add_to(server, proxy)
    host = options.listen.rpartition(":")[0]
    try:
        port = server.add_insecure_port(options.listen)
    except RuntimeError:
        raise OSError(f"cannot listen on {options.listen}") from None
    await server.start()
    closing.append(lambda: server.stop(options.grace))
    told = f"serving {_names(proxy)} on {host}:{port}"
    if options.rest is not None:
        told += f" and http://{await _start_rest(proxy, options, closing)}"
    return f"{told}, before {options.upstream}"


async def _start_rest(proxy: Proxy, options: argparse.Namespace, closing: list[Callable[[], Awaitable[Any]]]) -> str:
    from aiohttp import web

    from protocontract.serving.kserve.web import application

    runner = web.AppRunner(application(proxy), access_log=None, shutdown_timeout=options.grace)
    await runner.setup()
    closing.append(runner.cleanup)
    host, _, port = options.rest.rpartition(":")
    await web.TCPSite(runner, host.strip("[]"), int(port)).start()
    return f"{host}:{runner.addresses[0][1]}"


def _names(proxy: Proxy) -> str:
    return ", ".join(str(served) for served in proxy.models)


def _tell_notes(found: Sequence[Comparison]) -> None:
    for comparison in found:
        for note in comparison.notes:
            print(f"· {note}", file=sys.stderr)


def _address(text: str) -> str:
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"`{text}` is no HOST:PORT")
    return text


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"`{text}` is no number of bytes; expected a whole number from 1")
    return int(text)


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise argparse.ArgumentTypeError(f"`{text}` is no number of seconds")
    return found


def upstream_parser() -> argparse.ArgumentParser:
    """The options of ``protocontract serve --upstream``."""
    parser = Parser(
        prog="protocontract serve", description=_DESCRIPTION, epilog=_EPILOG,
    )  # fmt: skip
    parser.add_argument(
        "--upstream", required=True, type=_address, metavar="HOST:PORT", help="the model server's gRPC address"
    )
    parser.add_argument(
        "--contract", action="append", default=[], metavar="SERVICE",
        help="a service: a field of its request that holds a model's tensors has the model's name; any number",
    )  # fmt: skip
    parser.add_argument(
        "--model", action="append", default=[], metavar="NAME[@VERSION]=REQUEST:RESPONSE",
        help="a model there, and the messages that hold its inputs and outputs; any number",
    )  # fmt: skip
    parser.add_argument(
        "--level", metavar="SERVICE/METHOD", help="the RPC whose service_level (deadline, size, rate) holds"
    )
    parser.add_argument(
        "--listen", type=_address, default="127.0.0.1:0", metavar="HOST:PORT", help="where callers reach it by gRPC"
    )
    parser.add_argument("--rest", type=_address, metavar="HOST:PORT", help="where callers reach it by REST")
    parser.add_argument(
        "--http", type=http_address, metavar="[HOST:]PORT", help="/livez, /readyz and /metrics here (extra metrics)"
    )
    parser.add_argument("--deadline", type=_seconds, metavar="S", help="seconds of a call whose caller sets none (60)")
    parser.add_argument("--max-deadline", type=_seconds, metavar="S", help="seconds that a call may take at most")
    parser.add_argument("--max-request-bytes", type=_positive, metavar="N", help="size of a request")
    parser.add_argument(
        "--max-response-bytes", type=_positive, metavar="N", help="size of a response (default: 64 MiB)"
    )
    parser.add_argument("--upstream-tls", action="store_true", help="speak TLS to the model server")
    parser.add_argument(
        "--upstream-texts", action="store_true",
        help="tell callers what the model server says of its errors, though data may be in it",
    )  # fmt: skip
    parser.add_argument(
        "--wait", type=_seconds, default=0.0, metavar="S", help="wait so long for the model server and its models"
    )
    parser.add_argument(
        "--grace", type=_seconds, default=10.0, metavar="S", help="seconds that calls under way get when it ends"
    )
    parser.add_argument("--check", action="store_true", help="only compare the models with their contracts")
    add_sources(parser, "the contracts")
    return parser
