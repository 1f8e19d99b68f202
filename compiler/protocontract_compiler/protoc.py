"""Runs the protoc of grpcio-tools: sources to descriptors and *_pb2.py."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorSet

from protocontract_compiler.descriptors.validate_proto import (
    VALIDATE_PROTO,
    VOCABULARY_PROTO,
    includes_digest,
    misspelt,
    option_names,
    write_includes,
)
from protocontract_compiler.diagnostics import Diagnostics, Stopped, did_you_mean
from protocontract_compiler.ir import Place

# Files that bring the words and nothing to compile: the vocabulary, and protobuf's own.
_BROUGHT = (VALIDATE_PROTO, VOCABULARY_PROTO)

# What protoc's logging library writes, among the messages of protoc: a warning where a file names no syntax, and that
# it writes at all.
_LOGGED = re.compile(r"[IWEF]\d{4} [\d:.]+ +\d+ .*|WARNING: All log messages before .*")
_NO_SYNTAX = re.compile(r"No edition or syntax specified for the proto file: (?P<file>.+?\.proto)\. ")

# So many names of an option are all told where none is close.
_FEW = 20

_MESSAGE = re.compile(r"(?P<file>[^:]+\.proto):(?:(?P<line>\d+):(?P<column>\d+):)? (?P<text>.*)")

# A name within the braces of an option, or behind its dots, that its message does not have.
_IN_BRACES = re.compile(r'.*Message type "(?P<message>[\w.]+)" has no field named "(?P<name>\w+)"\.?')
_BEHIND_DOTS = re.compile(r'Option "\((?P<option>[\w.]+)\)\.(?P<path>[\w.]+)" unknown\..*')


@dataclass(slots=True)
class Sources:
    """.proto files by the names that imports use, and the folders that those names start from."""

    names: list[str] = field(default_factory=list)
    roots: list[Path] = field(default_factory=list)


def find_sources(paths: Iterable[Path], include: Sequence[Path] = ()) -> Sources:
    """The .proto files in ``paths`` (folders and files).

    A name starts at the first folder of ``include`` that holds the file, else at the folder that was named, else, for
    a file, at the working directory or its own folder. Raises FileNotFoundError for a path that is not there.
    """
    sources = Sources(roots=list(include))
    for path in paths:
        if path.is_dir():
            root = _root(path, sources.roots) or path
            found = sorted(file for file in path.rglob("*.proto") if not _hidden(file.relative_to(path)))
        elif path.is_file():
            here = Path.cwd()
            root = _root(path, sources.roots) or (here if _below(path, here) else path.parent)
            found = [path]
        else:
            raise FileNotFoundError(2, "no such file or folder", str(path))
        if root not in sources.roots:
            sources.roots.append(root)
        for file in found:
            name = file.resolve().relative_to(root.resolve()).as_posix()
            if name not in sources.names and name not in _BROUGHT and not name.startswith("google/protobuf/"):
                sources.names.append(name)
    return sources


def describe(
    sources: Sources,
    diagnostics: Diagnostics,
    *,
    pb2: Path | None = None,
    grpc: bool = False,
    known: FileDescriptorSet | None = None,
) -> FileDescriptorSet:
    """Compiles sources to descriptors, with all that they import and with places.

    ``known`` are descriptors of files that may be imported without a source.

    With ``pb2`` the same run writes *_pb2.py and *_pb2.pyi below that folder, for the sources and, where they import
    it, for validate.proto: from source, so that they are what protoc writes for any user. With ``grpc`` it writes
    *_pb2_grpc.py there too, for the sources that declare services. Raises Stopped with protoc's
    own errors noted; its warnings go to standard error.
    """
    roots = [*sources.roots, includes_folder()]
    paths = [f"--proto_path={root}" for root in roots]
    targets = [f"--python_out={pb2}", f"--pyi_out={pb2}"] if pb2 is not None else []
    with tempfile.TemporaryDirectory(prefix="protocontract-") as folder:
        output = Path(folder) / "descriptors.binpb"
        described = ["--include_imports", "--include_source_info", f"--descriptor_set_out={output}"]
        if known is not None and known.file:
            given = Path(folder) / "known.binpb"
            given.write_bytes(known.SerializeToString())
            described.append(f"--descriptor_set_in={given}")
        stubs = [f"--grpc_python_out={pb2}"] if pb2 is not None and grpc else []
        _check(_run([*paths, *targets, *stubs, *described, *sources.names]), diagnostics, roots)
        files = FileDescriptorSet.FromString(output.read_bytes())
    if pb2 is not None and grpc:
        for file in files.file:
            if not file.service:
                # gRPC's plugin writes a module for each file, and an empty one imports grpc all the same.
                (pb2 / file.name).with_name(f"{Path(file.name).stem}_pb2_grpc.py").unlink(missing_ok=True)
    if targets and any(file.name == VALIDATE_PROTO for file in files.file):
        _check(_run([*paths, *targets, VALIDATE_PROTO]), diagnostics, roots)
    return files


def write_validate_pb2(out: Path) -> None:
    """Writes buf/validate/validate_pb2.py and .pyi below ``out``, from the installed protovalidate.

    Raises OSError where protoc cannot write there.
    """
    out.mkdir(parents=True, exist_ok=True)
    result = _run([f"--proto_path={includes_folder()}", f"--python_out={out}", f"--pyi_out={out}", VALIDATE_PROTO])
    if result.returncode:
        raise OSError(result.stderr.strip())


def includes_folder() -> Path:
    """A folder with validate.proto and contract.proto, written once for each version of them.

    It also holds protobuf's own files, which a bare protoc executable does not bring. The folder is in the user's
    cache (``XDG_CACHE_HOME``), or in the folder for temporary files where that cannot be written.
    """
    import grpc_tools

    key = f"includes-{includes_digest()}"
    for base in _cache_folders():
        folder = base / key
        if (folder / VALIDATE_PROTO).is_file():
            return folder
        try:
            base.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=key, dir=base) as temporary:
                made = Path(temporary) / "made"
                write_includes(made)
                for package in grpc_tools.__path__:
                    _copy_well_known(Path(package) / "_proto", made)
                _rename(made, folder)
        except OSError:
            continue  # not writable: the next place is
        return folder
    raise OSError("no folder for includes can be written; set XDG_CACHE_HOME to one that can")


def _copy_well_known(source: Path, target: Path) -> None:
    for file in sorted(source.glob("google/protobuf/**/*.proto")):
        copy = target / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())


def _rename(made: Path, folder: Path) -> None:
    try:
        made.rename(folder)
    except OSError:
        # Another process was faster. Its folder is as good as ours; anything else is a real failure.
        if not (folder / VALIDATE_PROTO).is_file():
            raise


def _cache_folders() -> list[Path]:
    cache = os.environ.get("XDG_CACHE_HOME")
    folders = [Path(cache) if cache else Path("~/.cache").expanduser()]
    # Other users share the folder for temporary files: the user's number keeps their files out of ours.
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return [*(folder / "protocontract" for folder in folders), Path(tempfile.gettempdir()) / f"protocontract-{user}"]


# What `python -m grpc_tools.protoc` does, without what it imports for other uses: a quarter of the time.
_PROTOC = """
import sys
sys.path.append(sys.argv.pop(1))
try:
    from grpc_tools._protoc_compiler import run_main
except ImportError:
    from grpc_tools.protoc import main
else:
    main = lambda arguments: run_main([each.encode() for each in arguments])
sys.exit(main(sys.argv))
"""


def _run(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    import grpc_tools

    (package,) = map(Path, grpc_tools.__path__)
    # In a process of its own: protoc writes its errors to the file descriptor and may end the process.
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", _PROTOC, str(package.parent), *arguments, f"-I{package / '_proto'}"],
        capture_output=True, text=True, encoding="utf-8", errors="replace", check=False,
    )  # fmt: skip


def _check(result: subprocess.CompletedProcess[str], diagnostics: Diagnostics, roots: Sequence[Path] = ()) -> None:
    failed = result.returncode != 0
    for line in result.stderr.splitlines():
        if _LOGGED.match(line):
            if (bare := _NO_SYNTAX.search(line)) is not None:
                name = _import_name(bare["file"], roots)
                print(f'note: {name} is read as proto2; begin it with syntax = "proto3";', file=sys.stderr)
            continue
        match = _MESSAGE.fullmatch(line)
        if not failed or (match is not None and match["text"].startswith("warning:")):
            print(line, file=sys.stderr)
        elif match is not None:
            place = Place(_import_name(match["file"], roots), int(match["line"] or 0), int(match["column"] or 0))
            diagnostics.error("proto", place, *_told(match["text"]))
        elif line.strip():
            diagnostics.error("proto", Place(""), line.strip().rstrip("."))
    if failed:
        if not diagnostics.failed:
            diagnostics.error("proto", Place(""), f"protoc ended with {result.returncode} and said nothing")
        raise Stopped


def _import_name(file: str, roots: Sequence[Path]) -> str:
    """The name by which imports know a file: protoc's own errors tell its path, every other error its name."""
    for root in roots:
        if (path := Path(file)).is_relative_to(root):
            return path.relative_to(root).as_posix()
    return file


def _root(path: Path, roots: Sequence[Path]) -> Path | None:
    return next((root for root in roots if _below(path, root)), None)


def _below(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def _hidden(relative: Path) -> bool:
    return any(part.startswith(".") for part in relative.parts)


if __name__ == "__main__":
    # python -m protocontract_compiler.protoc DIR: buf/validate/validate_pb2.py for a folder of generated modules.
    write_validate_pb2(Path(sys.argv[1]))


def _told(text: str) -> tuple[str, str | None]:
    """A message of protoc, and the hint for a misspelt name in an option: the closest one, or all of a few.

    Of a name behind dots protoc says that an import is missing, where it is there and the name is wrong.
    """
    if (braces := _IN_BRACES.fullmatch(text)) is not None:
        message, name = braces["message"], braces["name"]
    elif (dots := _BEHIND_DOTS.fullmatch(text)) is not None and (found := misspelt(dots["option"], dots["path"])):
        message, name = found
        text = f"`{name}` is not a field of {message}"
    else:
        return text.rstrip("."), None
    known = option_names(message)
    close = did_you_mean(name, known)
    return text.rstrip("."), close or (f"it has {', '.join(known)}" if 0 < len(known) <= _FEW else None)
