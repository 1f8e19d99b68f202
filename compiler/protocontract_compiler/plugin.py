"""protoc-gen-contract: a CodeGeneratorRequest on standard input, a CodeGeneratorResponse on standard output.

Parameters (``--contract_opt=...``, separated by commas): ``strict``; ``target=python``, ``prometheus``, ``typescript``,
``docs``, ``jsonschema``, ``odcs`` or ``manifest`` (repeat it for several); ``source_root=DIR`` (where .proto files are,
to tell places exactly); ``records=DIR`` (where the versions and modules of documents are, if not below the source
root). For TypeScript ``types=plain`` (interfaces of our own instead of protobuf-es's) and ``messages=a.b.C;a.b.D``
(only these).
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from google.protobuf.compiler import plugin_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.message import DecodeError

from protocontract.extras import missing_extra
from protocontract.terminal import tell_error
from protocontract_compiler import pipeline
from protocontract_compiler.descriptors import MAXIMUM_EDITION, MINIMUM_EDITION, load
from protocontract_compiler.descriptors.validate_proto import VALIDATE_PROTO, VOCABULARY_PROTO
from protocontract_compiler.diagnostics import Diagnostics, Stopped, did_you_mean
from protocontract_compiler.ir import Place

# Files that bring the words; nothing is generated for them.
VOCABULARIES = frozenset({VALIDATE_PROTO, VOCABULARY_PROTO})

_PARAMETERS = ("strict", "target", "source_root", "records", "types", "messages")


def main() -> int:
    """Runs as a protoc plugin. Returns 0 also where the contract has mistakes: the response tells protoc."""
    request = None
    # A person types arguments or has a terminal; protoc does neither. An empty request is buf asking for the features.
    if len(sys.argv) == 1 and not sys.stdin.isatty():
        with contextlib.suppress(DecodeError):
            request = plugin_pb2.CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
    if request is None:
        tell_error(
            "protoc-gen-contract is a plugin of protoc: expected a CodeGeneratorRequest on standard input "
            "(protoc --contract_out=DIR ...)"
        )
        return 2
    try:
        response = respond(request)
    except ImportError as error:
        missing = missing_extra("protoc-gen-contract", error)
        if missing is None:
            raise
        response = plugin_pb2.CodeGeneratorResponse(error=str(missing))
    sys.stdout.buffer.write(response.SerializeToString())
    sys.stdout.buffer.flush()
    return 0


def respond(request: plugin_pb2.CodeGeneratorRequest) -> plugin_pb2.CodeGeneratorResponse:
    """The response to a request: files, or all mistakes as its error."""
    response = plugin_pb2.CodeGeneratorResponse(
        supported_features=plugin_pb2.CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL
        | plugin_pb2.CodeGeneratorResponse.FEATURE_SUPPORTS_EDITIONS,
        minimum_edition=MINIMUM_EDITION,
        maximum_edition=MAXIMUM_EDITION,
    )
    diagnostics = Diagnostics()
    try:
        options = parse_parameter(request.parameter, diagnostics)
        requested = [name for name in request.file_to_generate if name not in VOCABULARIES]
        files = FileDescriptorSet(file=request.proto_file)
        loaded = load(files, requested, diagnostics, source_roots=options.source_roots)
        schema = pipeline.compile_schema(loaded, diagnostics, options)
        output = pipeline.emit(schema, options, diagnostics)
    except Stopped:
        # protoc writes "--contract_out: " before the error; a line of its own keeps file:line:column clickable.
        response.error = "\n" + diagnostics.render()
        return response
    for file in output:
        response.file.add(name=file.name, content=file.text)
    return response


def parse_parameter(parameter: str, diagnostics: Diagnostics) -> pipeline.CompileOptions:
    """Reads ``strict,target=python,source_root=protos``. Raises Stopped with all mistakes noted."""
    strict = False
    targets: list[str] = []
    source_roots: list[Path] = []
    records: list[Path] = []
    types: pipeline.Types = "protobuf-es"
    messages: list[str] = []
    nowhere = Place("")
    for part in filter(None, (part.strip() for part in parameter.split(","))):
        name, _, value = part.partition("=")
        if name == "strict" and value in ("", "true", "false"):
            strict = value != "false"
        elif name == "target":
            if value in pipeline.TARGETS:
                targets.append(value)
            else:
                diagnostics.error(
                    "parameter", nowhere, f"no target `{value}`; expected {' or '.join(pipeline.TARGETS)}",
                    did_you_mean(value, pipeline.TARGETS),
                )  # fmt: skip
        elif name == "source_root" and value:
            source_roots.append(Path(value))
        elif name == "records" and value:
            records.append(Path(value))
        elif name == "types" and value in ("protobuf-es", "plain"):
            types = "plain" if value == "plain" else "protobuf-es"
        elif name == "messages" and value:
            messages += filter(None, (each.strip() for each in value.split(";")))
        else:
            diagnostics.error(
                "parameter", nowhere, f"no parameter `{part}`; expected strict, target=..., source_root=..., "
                "records=..., types=protobuf-es, types=plain or messages=...",
                did_you_mean(name, _PARAMETERS) if name not in _PARAMETERS else None,
            )  # fmt: skip
    if diagnostics.failed:
        raise Stopped
    return pipeline.CompileOptions(
        strict, tuple(targets) or ("python",), tuple(source_roots), tuple(records), types, tuple(messages)
    )


if __name__ == "__main__":
    sys.exit(main())
