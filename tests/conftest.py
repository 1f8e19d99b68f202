"""Settings of the whole test-suite."""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

# These hooks make the table of `make scenarios`.
from tests.support.scenario_report import (  # noqa: F401
    pytest_collection_modifyitems,
    pytest_runtest_makereport,
    pytest_terminal_summary,
)

# The same examples in every run: a test that fails here fails everywhere.
settings.register_profile(
    "protocontract", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("protocontract")


def pytest_collection_finish(session: pytest.Session) -> None:
    """What collection made stays: the collector need not go through it, least of all while a test takes time."""
    del session
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Under PROTOCONTRACT_FORBID_SKIPS (CI) a skipped test is a failure: every real part is there."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("PROTOCONTRACT_FORBID_SKIPS") and reporter is not None and reporter.stats.get("skipped"):
        print("\nskipped tests are not allowed here:")  # the reporter lists them below
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
