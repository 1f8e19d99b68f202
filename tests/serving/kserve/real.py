"""Real servers of KServe v2, each in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import tritonclient.grpc as triton
from tritonclient.utils import InferenceServerException

from tests.support.ports import free_ports

REPOSITORIES: Final = Path(__file__).parent / "repositories"
#: Seconds; beside all other tests a server takes its time.
_PATIENCE: Final = 120.0


@dataclass(frozen=True)
class Addresses:
    """Where a server listens."""

    grpc: str
    rest: str


@contextmanager
def running(
    command: Sequence[str], addresses: Addresses, models: Sequence[str], log: Path, **more: Mapping[str, str] | Path
) -> Iterator[Addresses]:
    """A server process, once it has the models."""
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output, **more) as process:  # type: ignore[call-overload]
        try:
            _await(process, addresses, models, log)
            yield addresses
        finally:
            process.terminate()
            try:
                process.wait(120)
            except subprocess.TimeoutExpired:
                process.kill()


def _await(process: subprocess.Popen[bytes], addresses: Addresses, models: Sequence[str], log: Path) -> None:
    until = time.monotonic() + _PATIENCE
    with triton.InferenceServerClient(addresses.grpc) as client:
        while True:
            try:
                if all(client.is_model_ready(model) for model in models):
                    return
            except InferenceServerException:
                pass  # not there yet
            if process.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"the server did not start:\n{log.read_text()[-4000:]}")
            time.sleep(0.1)


@contextmanager
def triton_server(folder: Path) -> Iterator[Addresses]:
    """Triton, with the models of repositories/triton."""
    repository = folder / "models"
    # It may write beside its models.
    shutil.copytree(REPOSITORIES / "triton", repository)
    grpc_port, rest_port = free_ports(2)
    command = [
        os.environ["TRITON"], f"--model-repository={repository}",
        f"--grpc-port={grpc_port}", f"--http-port={rest_port}",
        "--grpc-address=127.0.0.1", "--http-address=127.0.0.1", "--allow-metrics=false", "--exit-timeout-secs=2",
    ]  # fmt: skip
    addresses = Addresses(f"127.0.0.1:{grpc_port}", f"127.0.0.1:{rest_port}")
    models = sorted(each.name for each in repository.iterdir())
    with running(command, addresses, models, folder / "triton.log") as found:
        yield found


@contextmanager
def ml_server(folder: Path) -> Iterator[Addresses]:
    """MLServer, with the models of repositories/mlserver."""
    repository = folder / "models"
    shutil.copytree(REPOSITORIES / "mlserver", repository)
    grpc_port, rest_port, metrics_port = free_ports(3)
    environment = {
        **os.environ,
        "MLSERVER_HOST": "127.0.0.1", "MLSERVER_GRPC_PORT": str(grpc_port), "MLSERVER_HTTP_PORT": str(rest_port),
        "MLSERVER_METRICS_PORT": str(metrics_port), "MLSERVER_PARALLEL_WORKERS": "0", "PYTHONPATH": str(repository),
    }  # fmt: skip
    addresses = Addresses(f"127.0.0.1:{grpc_port}", f"127.0.0.1:{rest_port}")
    command = [os.environ["MLSERVER"], "start", str(repository)]
    with running(
        command, addresses, ["scale", "lengths"], folder / "mlserver.log", env=environment, cwd=repository
    ) as found:
        yield found
