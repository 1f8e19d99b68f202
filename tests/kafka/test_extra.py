"""Without kafka-python the part says what to install."""

from __future__ import annotations

import subprocess
import sys


def test_the_missing_extra_is_named() -> None:
    code = "import sys; sys.modules['kafka'] = None; import protocontract.kafka"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        'MissingExtra: protocontract.kafka needs kafka-python: pip install "protocontract[kafka]"'
    )
