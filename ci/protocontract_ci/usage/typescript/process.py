"""The program in ``node/``, in a process that is kept: one that has answered has the compiler's library at hand."""

from __future__ import annotations

import atexit
import json
import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from threading import Timer
from typing import Any, Final

from protocontract_ci.usage.python.checker import CheckerError
from protocontract_ci.usage.typescript.prepare import PROGRAM, packages

_SECONDS: Final = 600


def ask(request: Mapping[str, Any]) -> Any:
    """What the program answers to a request.

    Raises NotPreparedError where Node.js or the compiler is missing, CheckerError where the program fails.
    """
    return _kept(*packages()).ask(request)


@cache
def _kept(node: str, where: Path) -> Reader:
    return Reader(node, where)


class Reader:
    """The process: it starts with the first request, and anew after one that it did not answer."""

    def __init__(self, node: str, packages: Path, program: Path = PROGRAM / "main.mjs") -> None:
        self._folder: Final = packages
        options = ("--max-old-space-size=4096", "--max-semi-space-size=64")
        self._command: Final = [node, *options, str(program), str(packages)]
        self._running: subprocess.Popen[str] | None = None

    def ask(self, request: Mapping[str, Any], seconds: float = _SECONDS) -> Any:
        """The answer to a request. Raises CheckerError where there is none within this time."""
        running = self._running or self._start()
        assert running.stdin is not None
        assert running.stdout is not None
        late = Timer(seconds, running.kill)
        late.start()
        line = told = ""
        try:
            running.stdin.write(json.dumps(request) + "\n")
            running.stdin.flush()
            line = running.stdout.readline()
        except BrokenPipeError:
            pass  # it ended while it was asked
        finally:
            in_time = late.is_alive()
            late.cancel()
            if not line.endswith("\n"):
                told = self.stop()
        if line.endswith("\n"):
            return json.loads(line)
        if not in_time:
            raise CheckerError(f"the TypeScript reader did not end within {seconds} s")
        reason = re.search(r"^\w*Error\b.*", told, re.MULTILINE)
        raise CheckerError(f"the TypeScript reader failed: {reason[0] if reason else 'no message'}")

    def stop(self) -> str:
        """Ends the process. Returns what it has told on standard error."""
        running, self._running = self._running, None
        if running is None:
            return ""
        running.kill()
        return running.communicate()[1]

    def _start(self) -> subprocess.Popen[str]:
        # In a folder that stays: the one that the first request was made in may go.
        self._running = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
            errors="replace", cwd=self._folder,
        )  # fmt: skip
        atexit.register(self.stop)
        return self._running
