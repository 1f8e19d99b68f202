"""The report of a guarded stream as one HTML file: what was accepted, changed and rejected, and why."""

from protocontract.report.data import ChangeTally, Reject, StreamReport
from protocontract.report.html import render

__all__ = ["ChangeTally", "Reject", "StreamReport", "render"]
