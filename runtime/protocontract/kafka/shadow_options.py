"""The options of ``protocontract guard`` about a shadow, and its report when the process is asked for it (SIGUSR1)."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from protocontract.cli import UsageError
from protocontract.kafka.errors import GuardError
from protocontract.kafka.shadow import Shadow


def add_shadow(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group(
        "shadow",
        "runs a candidate contract beside, without any effect, and reports what it would newly reject, newly accept or "
        "normalise differently: at the end, on SIGUSR1 (standard error), and at /shadow with --http",
    )
    group.add_argument(
        "--shadow", metavar="NAME", help="the candidate's full name; default the contract's, from one of the next two"
    )
    where = group.add_mutually_exclusive_group()
    where.add_argument(
        "--shadow-proto-path", metavar="DIR", help="compile the candidate from the .proto files below DIR"
    )
    where.add_argument("--shadow-descriptors", metavar="FILE", help="compile the candidate from a FileDescriptorSet")
    group.add_argument(
        "--shadow-share",
        type=float,
        default=1.0,
        metavar="SHARE",
        help="compare only a part of the records, the same ones in every process: 0.1 is a tenth of them",
    )


def shadow_of(options: argparse.Namespace) -> Shadow | None:
    """The shadow that the options mean, once ``options.encoding`` is settled.

    Without a place of its own the candidate is looked for where the contract is. Raises UsageError, ContractError and
    MissingExtra.
    """
    place = options.shadow_proto_path or options.shadow_descriptors
    if options.shadow is None and place is None:
        if options.shadow_share != 1:
            raise UsageError("--shadow-share is one of a shadow; add --shadow NAME")
        return None
    name = options.shadow or options.contract
    if name is None:
        raise UsageError("--shadow: name the candidate's message; the contract has no name here")
    from protocontract.loading import resolve

    contract = resolve(
        name,
        proto_path=options.shadow_proto_path if place else options.proto_path,
        descriptors=options.shadow_descriptors if place else options.descriptors,
    )
    try:
        return Shadow(contract, encoding=options.encoding, share=options.shadow_share)
    except GuardError as error:
        raise UsageError(str(error)) from None


class Asked:
    """Whether somebody wants the report now. A signal handler only sets a flag: the guard's loop writes."""

    def __init__(self, shadow: Shadow | None, form: str, stream: TextIO | None = None) -> None:
        """``form``: text or json (one line)."""
        self._shadow = shadow
        self._form = form
        self._stream = sys.stderr if stream is None else stream
        self._asked = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Hear SIGUSR1, where there is a shadow and such a signal."""
        number = getattr(signal, "SIGUSR1", None)
        if self._shadow is None or number is None:
            yield
            return
        before = signal.signal(number, self._note)
        try:
            yield
        finally:
            signal.signal(number, before)

    def _note(self, _number: int, _frame: object) -> None:
        self._asked = True

    def tick(self) -> None:
        """Write the report if it was asked for."""
        if self._asked and self._shadow is not None:
            self._asked = False
            report = json.dumps(self._shadow.report()) if self._form == "json" else self._shadow.text()
            print(report, file=self._stream, flush=True)
