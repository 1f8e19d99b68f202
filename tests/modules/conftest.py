"""What tests of the example modules share: the one in TypeScript with generated code, compiled and bundled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULE = ROOT / "docs" / "examples" / "modules" / "annotations-web"


@pytest.fixture(scope="session")
def web_module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the module, built; skips the test where its packages are not installed."""
    installed = os.environ.get("PROTOBUF_ES")
    if not installed:
        pytest.skip("PROTOBUF_ES names no folder with protoc-gen-es (.ci/protobuf-es makes one)")
    folder = tmp_path_factory.mktemp("web") / "annotations-web"
    shutil.copytree(MODULE, folder, ignore=shutil.ignore_patterns("node_modules", "dist", "gen"))
    packages = Path(installed, "node_modules")
    (folder / "node_modules").symlink_to(packages)
    command = Path(sys.executable).parent / "protocontract"
    includes = subprocess.run([command, "includes"], check=True, capture_output=True, text=True).stdout.strip()
    generated = folder / "src" / "gen"
    generated.mkdir()
    subprocess.run(
        [
            sys.executable, "-m", "grpc_tools.protoc", "-I", str(ROOT / "contracts"), "-I", includes,
            f"--plugin=protoc-gen-es={packages / '.bin' / 'protoc-gen-es'}", f"--es_out={generated}",
            "--es_opt=target=ts,import_extension=js", "acme/text/v1/text.proto", "buf/validate/validate.proto",
            "protocontract/v1/contract.proto",
        ],
        check=True,
    )  # fmt: skip
    contracts = ["compile", str(ROOT / "contracts" / "acme" / "text"), "-I", str(ROOT / "contracts")]
    subprocess.run(
        [command, *contracts, "--out", str(generated), "--target", "typescript"], check=True, capture_output=True
    )
    # In strict mode, as the module's own tsconfig.json says, and then as one file for the page.
    done = subprocess.run(
        ["npm", "run", "build"], cwd=folder, check=False, capture_output=True, text=True, env=_quiet()
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def _quiet() -> dict[str, str]:
    return {**os.environ, "NPM_CONFIG_UPDATE_NOTIFIER": "false", "NO_COLOR": "1"}
