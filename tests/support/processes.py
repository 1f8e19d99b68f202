"""Processes that stand still."""

from __future__ import annotations

import os
import signal


def stop_here(pid: int) -> None:
    """SIGSTOP for a child of this process, and wait until it has stopped: on another core it runs for a while yet."""
    os.kill(pid, signal.SIGSTOP)
    os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
