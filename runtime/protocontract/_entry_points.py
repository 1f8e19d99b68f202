"""Which code an installed name stands for: a command, or what the compiler gives the runtime."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints, PackageNotFoundError, distribution, entry_points


def entry_point(group: str, name: str) -> EntryPoint | None:
    """The entry point of that name: ours, or else any installed package's; None where there is none.

    To look through all packages reads a file of each, which takes tens of milliseconds; and no package can take the
    name of one of ours.
    """
    try:
        found = distribution("protocontract").entry_points.select(group=group, name=name)
    except PackageNotFoundError:  # used from a source tree
        found = EntryPoints()
    return next(iter(found or entry_points(group=group, name=name)), None)
