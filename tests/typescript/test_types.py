"""Generated TypeScript on the types of the real protoc-gen-es, odd names included; and what a bundle of it holds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from protocontract_compiler import plugin
from protocontract_compiler.commands import compile_command
from protocontract_compiler.protoc import includes_folder
from tests.compiler.sources import ROOT, descriptors, request
from tests.typescript.support import needs_node, strictly

#: Folders of imports, files, and the messages that TypeScript has (all where there are none).
SOURCES: Final[tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]] = (
    ("contracts", ("acme/text/v1/text.proto", "acme/inference/v1/model_service.proto"), ()),
    ("contracts", ("acme/pipeline/v1/pipeline.proto",), ("acme.pipeline.v1.Embedding",)),
    ("tests/compiler/odd", ("keys.proto", "private.proto"), ()),
    ("tests/compiler/odd", ("words.proto",), ("words.Tree", "words.Leaf", "words.Moment", "words.Model")),
    # Names that JavaScript has for itself, files with dashes, proto2 with groups, editions.
    ("tests/compiler/protos", ("words/class.proto", "words/other-file.proto", "modern.proto", "old.proto"), ()),
)  # fmt: skip
_OPTIONS: Final = ("buf/validate/validate.proto", "protocontract/v1/contract.proto")


@pytest.fixture(scope="module")
def packages() -> Path:
    installed = os.environ.get("PROTOBUF_ES")
    if not installed:
        pytest.skip("PROTOBUF_ES names no folder with protoc-gen-es (.ci/protobuf-es makes one)")
    return Path(installed, "node_modules")


@pytest.fixture(scope="module")
def folder(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("types")
    (made / "node_modules").symlink_to(packages)
    for root, names, messages in SOURCES:
        path = ROOT / root
        arguments = [
            *(str(path / name) for name in names),
            "-I",
            str(path),
            "--out",
            str(made),
            "--target",
            "typescript",
        ]
        assert compile_command([*arguments, *(f"--message={name}" for name in messages)]) == 0
        plugin_path = packages / ".bin" / "protoc-gen-es"
        command = [sys.executable, "-m", "grpc_tools.protoc", "-I", str(path), "-I", str(includes_folder())]
        command += [
            f"--plugin=protoc-gen-es={plugin_path}",
            f"--es_out={made}",
            "--es_opt=target=ts,import_extension=js",
        ]
        subprocess.run([*command, *names, *_OPTIONS], check=True)
    return made


@needs_node
def test_types_of_protobuf_es_are_kept(folder: Path) -> None:
    assert strictly(folder) == ""


@needs_node
def test_a_bundle_has_what_is_used(folder: Path, packages: Path, tmp_path: Path) -> None:
    """A page that judges entities alone gets neither the normalization of texts nor the checks of spans."""

    def bundled(contract: str) -> str:
        entry = folder / f"{contract}.entry.ts"
        entry.write_text(f'import {{ {contract} }} from "./acme/text/v1/text_contract.js";\nconsole.log({contract});\n')
        out = tmp_path / f"{contract}.js"
        subprocess.run(
            [packages / ".bin" / "esbuild", entry, "--bundle", "--format=esm", f"--outfile={out}", "--log-level=error"],
            check=True,
        )
        entry.unlink()
        return out.read_text()

    whole, part = bundled("textSample"), bundled("namedEntity")
    assert "spans.bounds" in whole
    assert "spans.bounds" not in part
    assert "combining" in whole
    assert "combining" not in part
    # Nothing of protobuf's either.
    assert "bufbuild" not in whole


def test_helpers_are_those_that_are_needed(tmp_path: Path) -> None:
    arguments = [str(ROOT / "contracts/acme/text"), "-I", str(ROOT / "contracts"), "--target", "typescript"]
    assert compile_command([*arguments, "--out", str(tmp_path), "--message", "acme.text.v1.NamedEntity"]) == 0
    made = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.ts")}
    assert made == {
        "acme/text/v1/text_contract.ts",
        *(f"protocontract/v1/{name}.ts" for name in (
            "cel/logic", "codepoints", "contract", "refusal", "sha256", "shape", "violation",
        )),
    }  # fmt: skip


def test_the_plugin_takes_the_same_options(tmp_path: Path) -> None:
    files = descriptors(["acme/text/v1/text.proto"], [ROOT / "contracts"], tmp_path)
    asked = "target=typescript,types=plain,messages=acme.text.v1.NamedEntity"
    response = plugin.respond(request(files, ["acme/text/v1/text.proto"], asked))
    text = response.file[0].content
    assert response.file[0].name == "acme/text/v1/text_contract.ts"
    assert "export interface NamedEntity {" in text
    assert "TextSample" not in text
    assert "_pb.js" not in text
    response = plugin.respond(request(files, ["acme/text/v1/text.proto"], asked + ";acme.text.v1.NamedEntitty"))
    assert "no message `acme.text.v1.NamedEntitty`" in response.error
    assert not response.file


def test_what_is_inexact_tells_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(ROOT / "contracts" / "acme" / "pipeline", tmp_path / "acme" / "pipeline")
    arguments = [str(tmp_path / "acme"), "-I", str(tmp_path), "--out", str(tmp_path / "out"), "--target", "typescript"]
    assert compile_command(arguments) == 2
    told = capsys.readouterr().err
    assert "acme/pipeline/v1/pipeline.proto:" in told
    assert "error[typescript-inexact]: `text.strip_html`" in told
    assert not (tmp_path / "out").exists()
