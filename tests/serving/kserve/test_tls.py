"""TLS to a model server, whose certificate has to be one that the system, or the environment, trusts."""

from __future__ import annotations

import asyncio
import os
import shutil
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from aiohttp import web

from protocontract.serving.kserve import Proxy
from protocontract.serving.kserve.web import application
from tests.serving.kserve.support import SCALE, ModelServer, declared, doubled, served
from tests.serving.kserve.test_command import arguments

#: Compares a model behind TLS with its contracts, and runs it by both protocols: two targets, then a command line.
SCRIPT = """
import sys
import numpy as np
from protocontract.cli import main
from protocontract.serving.kserve import RemoteModel
print(main(sys.argv[3:]))
for target in sys.argv[1:3]:
    try:
        model = RemoteModel(target)
    except Exception as error:
        print(error)
    else:
        print(model.run({"x": np.ones((1, 4), "<f4")}).outputs["y"].tolist())
        model.close()
"""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of this host's loopback address, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    key, found = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        [
            openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
            "-keyout", key, "-out", found,
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return found, key


@contextmanager
def rest(upstream: str, certificate: tuple[Path, Path]) -> Iterator[str]:
    """A proxy whose REST side speaks TLS, as a server behind a load balancer does; its address."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> tuple[Proxy, web.AppRunner]:
        proxy = Proxy(upstream, [declared("scale", "ScaleIn", "ScaleOut")])
        runner = web.AppRunner(application(proxy), access_log=None)
        await runner.setup()
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(*certificate)
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
        return proxy, runner

    proxy, runner = asyncio.run_coroutine_threadsafe(start(), loop).result(20)
    try:
        yield f"127.0.0.1:{runner.addresses[0][1]}"
    finally:
        for closing in (runner.cleanup, proxy.close):
            asyncio.run_coroutine_threadsafe(closing(), loop).result(20)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(120)
        loop.close()


def run(command: list[str], trusted: Path | None) -> list[str]:
    """What the script prints where the certificate is trusted, and where it is not."""
    environment = {name: value for name, value in os.environ.items() if name != "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"}
    if trusted is not None:
        environment |= {"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": str(trusted), "SSL_CERT_FILE": str(trusted)}
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, *command], env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_tls(certificate: tuple[Path, Path]) -> None:
    credentials = grpc.ssl_server_credentials([(certificate[1].read_bytes(), certificate[0].read_bytes())])
    model = {"scale": (*SCALE, doubled)}
    with (
        served(ModelServer(model), credentials=credentials) as secure,
        served(ModelServer(model)) as plain,
        rest(plain.address, certificate) as address,
    ):
        targets = [f"grpcs://{secure.address}/scale", f"https://{address}/scale"]
        command = [*targets, *arguments(secure.address, "--check", "--upstream-tls")]
        fits = f"✓ scale at {secure.address} fit their contracts"
        assert run(command, certificate[0]) == [fits, "0", *["[[2.0, 2.0, 2.0, 2.0]]"] * 2]
        not_trusted = [f"{target}: the model server cannot be reached (UNAVAILABLE)" for target in targets]
        assert run(command, None) == ["2", *not_trusted]
