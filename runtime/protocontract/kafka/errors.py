"""Errors that a guard raises. None of them says anything about a record's content."""

from __future__ import annotations


class GuardError(Exception):
    """The guard cannot start or go on as it was set up. The message names what to change."""


class SourceError(GuardError):
    """The source cannot be read further: a batch that cannot be decoded, a gap in the log, missing rights.

    Nothing beyond the last resolved record is committed. The consumer is not polled again: kafka-python 3.0.12 would
    spin at full CPU or pass over what it could not read.
    """


class UnreachableError(GuardError):
    """No broker of the source answers, and the guard was told not to wait longer. Nothing is lost."""


class DeadLetterError(GuardError):
    """Dead letters cannot be written, and the guard was told not to wait longer. Nothing is lost: it is uncommitted."""


class SinkError(GuardError):
    """The sink cannot be written, and the guard was told not to wait longer. Nothing is lost: it is uncommitted."""


class RegistryError(GuardError):
    """The schema registry does not answer, and the guard was told not to wait longer. Nothing is lost."""


class Later(Exception):
    """Nothing can be said of a record yet. The guard keeps it, and asks again when ``Registry.waiting`` is over."""
