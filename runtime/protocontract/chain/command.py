"""The command ``protocontract evidence``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from protocontract.arguments import Parser
from protocontract.chain.anchors import read_anchors
from protocontract.chain.html import chain_text, moment, notes, render, shown, state_text
from protocontract.chain.steps import KEY_VARIABLE, Entry, Key
from protocontract.chain.verify import Verification, records, verify
from protocontract.cli import BROKEN, COULD_NOT_CHECK, KEPT, UsageError
from protocontract.terminal import BROKEN as CROSS
from protocontract.terminal import KEPT as CHECK
from protocontract.terminal import NEUTRAL, Paint, pad, plural

_VERIFY: Final = """\
Verify the chain of an evidence log: each entry's hash, its place, its link to the entry before, and the links of each
request's steps. The first position that does not hold is named. It proves linkage only: that no step was changed,
moved, removed or added since it was written; not that what the steps say is true.
"""
_VERIFY_END: Final = """\
A log that is still being written has no end step, nor has one whose tail was cut off: --open accepts that. An anchor
(--anchor) shows a tail that was cut off at an end step, too. The key is read from --key-file, or from
$PROTOCONTRACT_EVIDENCE_KEY.
exit codes: 0 the chain holds; 1 it does not, or with --complete a step is missing; 2 could not check

example: protocontract evidence verify evidence.jsonl --anchor anchors.jsonl --key-file evidence.key
"""
_SHOW: Final = """\
Show the evidence of one request: its stages, their times, digests and facts, and whether the chain holds.
"""
_SHOW_END: Final = """\
exit codes: 0 shown, and the chain holds; 1 shown, and the chain is broken; 2 could not be shown

example: protocontract evidence show evidence.jsonl 4bf92f35 --html request.html
"""
_REPLAY: Final = """\
Run the recorded stages again on kept values, and name the first that gives something else. Stages are found by the
module:function of their steps, so PYTHONPATH must lead to the code, which runs here.
"""
_REPLAY_END: Final = """\
DIR holds values in files that are called as their digests, as the service keeps them (ValueStore). Stages must give the
very same. One that runs a model (--model, the same file by SHA-256) may be as far off as its step declares (max_abs,
max_rel), or --max-abs and --max-rel say, where the recorded output is kept too.
exit codes: 0 all the same; 1 a stage differs, or the chain is broken; 2 none differs, and some could not be judged

example: protocontract evidence replay evidence.jsonl --inputs kept --model model.onnx
"""


def evidence_command(argv: list[str]) -> int:
    """Verify the evidence of a service, show that of a request, or run its stages again."""
    options = _parser().parse_args(argv)
    return int(options.run(options))


def _verify(options: argparse.Namespace) -> int:
    found = _verification(options, require_end=not options.open)
    complete = not (found.gaps or found.lost or found.open_count)
    if options.format == "json":
        told = {"ok": found.ok, "complete": complete, "proves": "linkage only", **asdict(found)}
        sys.stdout.write(json.dumps(told, ensure_ascii=False, indent=2) + "\n")
    else:
        _tell(found, Paint.on(sys.stdout))
    return KEPT if found.ok and (complete or not options.complete) else BROKEN


def _tell(found: Verification, paint: Paint) -> None:
    mark = paint(CHECK, "good") if found.ok else paint(CROSS, "bad")
    print(f"{mark} {paint(chain_text(found), 'strong')}")
    requests = (
        f"{plural(found.closed, 'request')} with all steps" if not found.gaps else f"{found.closed:,} requests closed"
    )
    rows = [(NEUTRAL, requests + (f", {found.failed:,} failed" if found.failed else ""))]
    if found.open_count:
        named = ", ".join(_printable(name) for name in found.open_requests)
        rows.append((CROSS, f"{plural(found.open_count, 'request')} without an end: {named}"))
    if found.gaps:
        rows.append((CROSS, f"{plural(found.gaps, 'request')} with missing steps"))
    if found.lost or found.lost_anchors:
        rows.append(
            (
                CROSS,
                f"the log says that {plural(found.lost, 'step')} and {plural(found.lost_anchors, 'anchor')} were lost",
            )
        )
    if found.torn:
        rows.append((NEUTRAL, f"torn by a crash or a full disk, and told by a step: {found.torn:,} times"))
    if found.anchors:
        rows.append((NEUTRAL, f"{plural(found.anchors, 'anchor')} fit, up to entry {found.anchored:,}"))
    if found.key_checked:
        rows.append((NEUTRAL, f"HMACs of key {found.key} checked"))
    for sign, text in rows:
        print(f"  {paint(sign, 'bad') if sign == CROSS else paint(sign, 'quiet')} {text}")
    for note in notes(found):
        print(paint(f"  {note}", "quiet"))


def _show(options: argparse.Namespace) -> int:
    found = _verification(options, require_end=False)
    taken = list(records(options.file, options.request))
    if not taken:
        raise UsageError(f"{options.file} has no step of request {_printable(options.request)}")
    if options.html is not None:
        options.html.write_text(render(options.request, taken, found), encoding="utf-8")
    if options.format == "json":
        told = {
            "ok": found.ok,
            "request": options.request,
            "records": [[_plain(entry) for entry in one] for one in taken],
        }
        sys.stdout.write(json.dumps(told, ensure_ascii=False, indent=2) + "\n")
    else:
        paint = Paint.on(sys.stdout)
        for entries in taken:
            _tell_record(entries, paint)
        mark = paint(CHECK, "good") if found.ok else paint(CROSS, "bad")
        print(f"{mark} {chain_text(found)}")
        for note in notes(found):
            print(paint(f"  {note}", "quiet"))
        if options.html is not None:
            print(f"  {options.html}")
    return KEPT if found.ok else BROKEN


def _tell_record(entries: Sequence[Entry], paint: Paint) -> None:
    first = entries[0].step
    print(f"{paint(_printable(first.request), 'strong')} · {moment(first.at)} · {_printable(state_text(entries))}")
    stages = [entry.step for entry in entries if entry.step.kind == "stage"]
    columns = max((len(step.name) for step in stages), default=0)
    for step in stages:
        version = f" version {step.version}" if step.version else ""
        print(f"  {pad(step.name, columns)}  {step.nanoseconds / 1000:>12,.1f} µs  {_printable(step.module + version)}")
        print(paint(f"  {'':{columns}}  in {step.digest_in or 'not recorded'}", "quiet"))
        print(paint(f"  {'':{columns}}  out {step.digest_out or 'not recorded'}", "quiet"))
        facts = ", ".join(f"{name} {shown(value)}" for name, value in sorted(step.facts.items()))
        if facts:
            print(paint(f"  {'':{columns}}  {_printable(facts)}", "quiet"))
    print(paint(f"  head {entries[-1].hash}", "quiet"))


def _replay(options: argparse.Namespace) -> int:
    from protocontract.chain.replay import Replay
    from protocontract.chain.values import ValueStore
    from protocontract.tensors.tolerance import Tolerance

    found = _verification(options, require_end=False)
    paint = Paint.on(sys.stdout)
    if found.problem is not None:
        print(f"{paint(CROSS, 'bad')} {chain_text(found)}; nothing was replayed")
        return BROKEN
    if not options.inputs.is_dir():
        raise UsageError(f"{options.inputs} is no folder; expected the kept values")
    tolerance = None
    if options.max_abs is not None or options.max_rel is not None:
        tolerance = Tolerance(options.max_abs or 0.0, options.max_rel or 0.0)
    replay = Replay(ValueStore(options.inputs), model=options.model, tolerance=tolerance)
    same = differs = unknown = 0
    # What the service was started in is what stages are found from.
    sys.path.insert(0, "")
    for record in replay.records(options.file, options.request):
        first = record.first
        if first is None:
            same += 1
            within = [stage for stage in record.stages if stage.outcome == "within"]
            ways = "; ".join(f"{stage.step.name} {stage.reason}" for stage in within) or "exact"
            print(f"{paint(CHECK, 'good')} {_printable(record.request)}: {plural(len(record.stages), 'stage')}, {ways}")
            continue
        bad = first.outcome == "differs"
        differs, unknown = differs + bad, unknown + (not bad)
        mark = paint(CROSS, "bad") if bad else paint(NEUTRAL, "quiet")
        what = "differs" if bad else "cannot be judged"
        print(f"{mark} {_printable(record.request)}: {_printable(first.step.name)} {what}: {_printable(first.reason)}")
    print(f"{same:,} the same, {differs:,} differ, {unknown:,} could not be judged")
    if differs:
        return BROKEN
    return COULD_NOT_CHECK if unknown or not same else KEPT


def _verification(options: argparse.Namespace, *, require_end: bool) -> Verification:
    key = Key.from_environment() if options.key_file is None else Key.read(options.key_file)
    anchors = () if options.anchor is None else tuple(read_anchors(options.anchor))
    return verify(options.file, key=key, anchors=anchors, require_end=require_end)


def _plain(entry: Entry) -> dict[str, Any]:
    held = asdict(entry.step)
    held["facts"] = {
        name: value if isinstance(value, str | int) else shown(value) for name, value in held["facts"].items()
    }
    return {**held, "hash": entry.hash}


def _printable(text: str) -> str:
    """Text of a log, free of what would move a terminal's cursor."""
    return "".join(character if character.isprintable() else "�" for character in text)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="protocontract evidence",
        description="Verify the evidence of a service, show that of a request, or run its stages again.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, run: Any, summary: str, description: str, epilog: str) -> argparse.ArgumentParser:
        added = commands.add_parser(
            name, help=summary, description=description, epilog=epilog,
        )  # fmt: skip
        added.add_argument("file", type=Path, metavar="FILE", help="the evidence log")
        added.set_defaults(run=run)
        return added

    verifying = add("verify", _verify, "verify the chain of a log", _VERIFY, _VERIFY_END)
    verifying.add_argument(
        "--open", action="store_true", help="the log may have no end step: it is still being written"
    )
    verifying.add_argument(
        "--complete", action="store_true", help="missing steps and requests without an end count, too"
    )
    showing = add("show", _show, "show the evidence of one request", _SHOW, _SHOW_END)
    showing.add_argument("request", metavar="REQUEST_ID")
    showing.add_argument("--html", type=Path, metavar="OUT", help="write it as a page, too")
    replaying = add("replay", _replay, "run the stages of requests again", _REPLAY, _REPLAY_END)
    replaying.add_argument("--inputs", required=True, type=Path, metavar="DIR", help="the folder of kept values")
    replaying.add_argument("--request", metavar="ID", help="replay this request only")
    replaying.add_argument(
        "--model", type=Path, action="append", metavar="FILE", help="a model that the service ran; may be repeated"
    )
    for name in ("abs", "rel"):
        replaying.add_argument(
            f"--max-{name}", type=float, metavar="X", help="instead of what the steps declare for a model's outputs"
        )
    for each in (verifying, showing, replaying):
        each.add_argument("--key-file", type=Path, metavar="KEY", help=f"the key of the log; else ${KEY_VARIABLE}")
        each.add_argument("--anchor", type=Path, metavar="ANCHORS", help="the file that the log's anchors went to")
    for each in (verifying, showing):
        each.add_argument("--format", choices=("text", "json"), default="text", help="how the result is told")
    return parser
