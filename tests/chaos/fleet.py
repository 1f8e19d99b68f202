"""The guards: processes of ``protocontract guard``, and who starts them again when they end."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.brokers import ROOT, Stuck, wait_for

CONTRACT: Final = "acme.finance.v1.Transaction"
#: Seconds that a guard may take to end when it is told to.
GRACE: Final = 15.0
#: After how many ends that nobody asked for the run is given up.
_MOST_ENDS: Final = 30


@dataclass(frozen=True)
class End:
    """How a guard process ended."""

    guard: str
    code: int
    #: Whether it was told to, or killed.
    expected: bool
    #: Seconds from SIGTERM on.
    took: float
    #: The last line that it wrote.
    said: str


class Fleet:
    """Guards by name. A guard that ends without being told to is started again, as a supervisor would."""

    def __init__(
        self,
        folder: Path,
        addresses: Mapping[str, str],
        *,
        source: str,
        sinks: Mapping[str, str],
        dead: str,
        group: str,
        exactly_once: bool,
        session_timeout: float,
    ) -> None:
        """``addresses`` and ``sinks``: those of each guard; ``session_timeout`` in seconds."""
        self._folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._stopped: set[str] = set()
        self._again: dict[str, float] = {}
        self.ends: list[End] = []
        #: When each guard's processes began, in milliseconds since 1970.
        self.starts: dict[str, list[int]] = {name: [] for name in addresses}
        self._commands: dict[str, list[str]] = {}
        for name, address in addresses.items():
            config = folder / f"{name}.toml"
            config.write_text(
                f'client_id = "{name}"\n'
                f"session_timeout_ms = {int(session_timeout * 1000)}\n"
                f"heartbeat_interval_ms = {int(session_timeout * 250)}\n"
                # The client would wait up to 30 s before it looks whether the broker is there again.
                "reconnect_backoff_max_ms = 1000\n"
                # Small fetches: what a guard has in hand when it is hit is read again by others.
                "max_partition_fetch_bytes = 262144\n"
            )
            self._commands[name] = [
                sys.executable,
                *("-W", "ignore", "-m", "protocontract.cli", "guard", "--contract", CONTRACT),
                *("--source", source, "--sink", sinks[name], "--dead-letter", dead, "--group", group),
                *("--bootstrap-servers", address, "--client-config", str(config)),
                *("--grace", f"{GRACE:g}", "--format", "json"),
                *(("--exactly-once", "--instance", name) if exactly_once else ()),
            ]

    @property
    def names(self) -> list[str]:
        """All guards, running or not."""
        return list(self._commands)

    def log(self, name: str) -> Path:
        """What a guard wrote to standard error, all its processes one after the other."""
        return self._folder / f"{name}.log"

    def start(self, names: Iterable[str] | None = None) -> None:
        """Start guards; all where none is named."""
        for name in self.names if names is None else names:
            self._again.pop(name, None)
            self.starts[name].append(int(time.time() * 1000))
            with self.log(name).open("ab") as log, (self._folder / f"{name}.out").open("ab") as out:
                self._running[name] = subprocess.Popen(
                    self._commands[name], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=log
                )

    def supervise(self) -> None:
        """Start again what ended by itself, half a second later. Raises Stuck where that happens again and again."""
        for name, process in list(self._running.items()):
            if process.poll() is not None:
                self._note(name, expected=False)
                self._again[name] = time.monotonic() + 0.5
        if sum(not end.expected for end in self.ends) > _MOST_ENDS:
            raise Stuck(f"guards ended by themselves more than {_MOST_ENDS} times, the last: {self.ends[-1].said}")
        for name, when in list(self._again.items()):
            if time.monotonic() >= when:
                self.start([name])

    def kill(self, name: str) -> None:
        """SIGKILL; it is not started again by itself."""
        process = self._running.get(name)
        self._again.pop(name, None)
        if process is not None:
            process.kill()
            process.wait()
            self._note(name, expected=process.returncode == -signal.SIGKILL)

    def freeze(self, name: str) -> None:
        """SIGSTOP."""
        self._running[name].send_signal(signal.SIGSTOP)

    def thaw(self, name: str) -> None:
        """SIGCONT."""
        with suppress(KeyError):
            self._running[name].send_signal(signal.SIGCONT)

    def is_running(self, name: str) -> bool:
        """Whether its process is there."""
        process = self._running.get(name)
        return process is not None and process.poll() is None

    def terminate(self, names: Iterable[str] | None = None) -> list[End]:
        """SIGTERM, and wait for the end. Raises Stuck long after the grace period."""
        wanted = [name for name in (self.names if names is None else names) if name in self._running]
        before = len(self.ends)
        started = time.monotonic()
        for name in wanted:
            self._running[name].terminate()

        def ended() -> bool:
            for name in wanted:
                if name in self._running and self._running[name].poll() is not None:
                    self._note(name, expected=True, took=time.monotonic() - started)
            return not any(name in self._running for name in wanted)

        wait_for(ended, f"SIGTERM ends {', '.join(wanted)}", 4 * GRACE)
        return self.ends[before:]

    def close(self) -> None:
        """Kill what is left."""
        for process in self._running.values():
            process.kill()
            process.wait()

    def _note(self, name: str, *, expected: bool, took: float = 0.0) -> None:
        process = self._running.pop(name)
        lines = self.log(name).read_text(encoding="utf-8", errors="replace").strip().splitlines()
        self.ends.append(End(name, process.returncode, expected, took, lines[-1] if lines else ""))
