"""The command ``protocontract gate``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from protocontract.cli import BROKEN, KEPT
from protocontract.terminal import Paint
from protocontract_ci.diff import render_json
from protocontract_ci.gate import render_text
from protocontract_ci.model import ModuleVerdict
from protocontract_ci.sources import read
from protocontract_ci.verdicts.folder import Folder

#: Something could not be judged.
UNVERIFIED: Final = 2
_SKIPPED: Final = frozenset({"node_modules", "__pycache__", "venv"})
_SOURCES: Final = frozenset({".py", ".ts", ".tsx", ".mts"})
_EPILOG: Final = """\
BEFORE and AFTER are folders of .proto files, FileDescriptorSets or REF:PATH, as `protocontract diff` takes them.

exit codes: 0 all modules have adapted or are not affected; 1 one has not, or the contract demands something;
            2 a module cannot be judged

example: protocontract gate --before origin/main:contracts --after contracts --modules services
"""


def gate_command(argv: list[str]) -> int:
    """Check that every module has adapted to a change of the contracts: verdict, file and line, and why."""
    parser = argparse.ArgumentParser(
        prog="protocontract gate",
        description="Check that every downstream module has adapted to a change of the contracts.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--before", required=True, metavar="BEFORE", help="the contracts that modules stand on")
    parser.add_argument("--after", required=True, metavar="AFTER", help="the contracts as they are to be")
    parser.add_argument("--modules", required=True, metavar="DIR", type=Path, help="each source file below it")
    parser.add_argument(
        "-I", "--proto-path", action="append", default=[], type=Path, metavar="DIR", help="where imports are looked for"
    )
    parser.add_argument("--no-exec", action="store_true", help="run no function of any module")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how it is written")
    options = parser.parse_args(argv)
    if not options.modules.is_dir():
        parser.error(f"--modules: {options.modules} is no folder")
    folder = Folder(
        options.modules,
        source_files(options.modules),
        read(options.before, options.proto_path),
        read(options.after, options.proto_path),
        execute=not options.no_exec,
    )
    verdicts = folder.verdicts()
    if options.format == "json":
        print(json.dumps(as_object(folder, verdicts), indent=2, ensure_ascii=False))
    else:
        print(render_text.render(folder, verdicts, Paint.on(sys.stdout)))
    return exit_code(folder, verdicts)


def exit_code(folder: Folder, verdicts: Sequence[ModuleVerdict]) -> int:
    """0, 1 or 2: what has not adapted, or what the contract itself has to settle, outweighs what cannot be judged."""
    found = {verdict.verdict for verdict in verdicts}
    if "not_adapted" in found or folder.diff.demands:
        return BROKEN
    return UNVERIFIED if "unverified" in found else KEPT


def source_files(root: Path) -> list[str]:
    """The source files below a folder, as paths below it with slashes; hidden folders and packages are left out."""
    found = []
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if any(part.startswith(".") or part in _SKIPPED for part in inside.parts):
            continue
        if path.suffix in _SOURCES and path.is_file() and not path.name.endswith(".d.ts"):
            found.append(inside.as_posix())
    return found


def as_object(folder: Folder, verdicts: Sequence[ModuleVerdict]) -> dict[str, Any]:
    """The answer as an object that JSON can hold. ``file`` is the path as the folder was named."""
    return {
        "changes": [render_json.change_object(change) for change in folder.changes],
        "modules": [_verdict_object(folder, verdict) for verdict in verdicts],
        "summary": {
            kind: sum(verdict.verdict == kind for verdict in verdicts)
            for kind in ("not_adapted", "unverified", "adapted", "unaffected")
        },
    }


def _verdict_object(folder: Folder, verdict: ModuleVerdict) -> dict[str, Any]:
    found: dict[str, Any] = {
        "module": verdict.module,
        "file": (folder.root / verdict.file).as_posix(),
        "verdict": verdict.verdict,
        "because": verdict.because,
        "lines": list(verdict.lines),
        "related": list(verdict.related),
        "proof": verdict.proof,
        "role": verdict.role,
        "findings": [
            {
                "id": finding.id,
                "path": finding.change.path,
                "kind": finding.change.kind,
                "step": finding.change.step,
                "verdict": finding.verdict,
                "because": finding.because,
                "lines": list(finding.lines),
                "related": list(finding.related),
                "proof": finding.proof,
                "decision": finding.decision,
            }
            for finding in verdict.findings
        ],
    }
    if verdict.witness is not None:
        found["witness"] = render_json.witness_object(verdict.witness)
    return found
