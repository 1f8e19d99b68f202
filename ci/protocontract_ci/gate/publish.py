"""The formats of the gate's answer, the options that choose them, and where each is written."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, TextIO

from protocontract._files import replacing
from protocontract.terminal import Paint
from protocontract_ci import sample
from protocontract_ci.conformance import conformances_of
from protocontract_ci.latency import slowdowns_of
from protocontract_ci.reports import github, gitlab, junit, markdown, sarif, text
from protocontract_ci.reports.json_object import as_object
from protocontract_ci.reports.report import Report
from protocontract_ci.repository import Repository, RepositoryError

#: Formats by the names that the options take. None of them ends with a line break of its own.
FORMATS: Final[Mapping[str, Callable[[Report], str]]] = {
    "text": lambda report: text.render(report, Paint(False)),
    "json": lambda report: json.dumps(as_object(report), indent=2, ensure_ascii=False),
    "sarif": sarif.render,
    "github": github.render,
    "gitlab": gitlab.render,
    "junit": junit.render,
    "markdown": lambda report: markdown.comment(report).rstrip("\n"),
}
#: GitHub shows what a step writes to the file that this names.
STEP_SUMMARY: Final = "GITHUB_STEP_SUMMARY"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that say what is looked at besides, and how the answer is written."""
    parser.add_argument("--format", choices=tuple(FORMATS), default="text", help="how the answer is written")
    parser.add_argument(
        "--output", action="append", default=[], type=_output, metavar="FORMAT=FILE",
        help="write it to a file too, in any of these formats; may be given several times",
    )  # fmt: skip
    sample.add_option(parser)
    parser.add_argument(
        "--conformance", action="store_true",
        help="judge messages that are made up, by protovalidate and by the compiled contracts of both states; fail "
        "where these disagree, or where the states differ and no change tells why",
    )  # fmt: skip
    parser.add_argument(
        "--max-slowdown", type=_ratio, metavar="RATIO",
        help="measure what a record costs under both states; fail where a changed message costs more than RATIO times "
        "what it did (1.2, say); default: not measured",
    )  # fmt: skip
    parser.add_argument(
        "--show-values", action="store_true",
        help="show values: of witnesses, and of records where --sample is given (never those of sensitive fields)",
    )  # fmt: skip


def publish(report: Report, options: argparse.Namespace, *, out: TextIO | None = None) -> int:
    """Write the report wherever the options say, with the impact on samples and the costs; the exit code.

    Files are whole or untouched; their names start from the working directory. Raises OSError, and what
    ``sample.impacts_of`` does.
    """
    report = replace(report, impacts=sample.impacts_of(options.sample, report.diff, show_values=options.show_values))
    if options.conformance:
        report = replace(report, conformances=conformances_of(report.diff))
    if options.max_slowdown is not None:
        report = replace(report, slowdowns=slowdowns_of(report.diff, options.max_slowdown))
    stream = sys.stdout if out is None else out
    outputs: list[tuple[str, Path]] = options.output
    for name, path in outputs:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, FORMATS[name](report) + "\n")
    if options.format == "text":
        print(text.render(report, Paint.on(stream)), file=stream)
    else:
        print(FORMATS[options.format](report), file=stream)
    summary = os.environ.get(STEP_SUMMARY)
    if summary and options.format == "github":
        # Other commands of the step may have written to it.
        with open(summary, "a", encoding="utf-8") as file:
            file.write(markdown.summary(report))
    return report.exit_code


def top_of(folder: Path) -> Path:
    """The top of the repository that a folder is in; the folder itself where it is in none."""
    try:
        return Repository.around(folder).root
    except RepositoryError:
        return folder


def _output(value: str) -> tuple[str, Path]:
    name, equals, path = value.partition("=")
    if not equals or not path or name not in FORMATS:
        raise argparse.ArgumentTypeError(f"expected FORMAT=FILE with FORMAT one of {', '.join(FORMATS)}, got {value!r}")
    return name, Path(path)


def _ratio(value: str) -> float:
    try:
        ratio = float(value)
    except ValueError:
        ratio = 0.0
    if not 1 <= ratio <= 1000:
        raise argparse.ArgumentTypeError(f"expected a ratio from 1 to 1000, got {value!r}")
    return ratio


def _write(path: Path, content: str) -> None:
    if path.exists() and not path.is_file():
        # A device or a pipe: nothing can take its place.
        path.write_text(content, encoding="utf-8")
        return
    with replacing(path) as file:
        file.write(content.encode())
