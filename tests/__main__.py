"""``python -m tests``: all tests but those of tests/engines, in two processes side by side.

Tests that talk to servers mostly wait; all others compute. Side by side they take little longer than the slower half.
The output of the half with servers comes when the other one is done. Arguments go to both.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
WITH_SERVERS = ("chaos", "kafka", "registry")
#: Their packages are in an environment of their own (``make test-engines``).
ELSEWHERE = ("engines",)


def main() -> int:
    """Run both halves. Returns the exit code of the first that failed, else 0."""
    waiting = [str(HERE / name) for name in WITH_SERVERS]
    rest = [
        str(path)
        for path in sorted(HERE.iterdir())
        if path.name not in WITH_SERVERS + ELSEWHERE
        and ((path / "__init__.py").exists() or path.name.startswith("test_"))
    ]
    pytest = [sys.executable, "-m", "pytest", "-q", *sys.argv[1:]]
    # The table of failure scenarios is of the tests with servers.
    alone = {name: value for name, value in os.environ.items() if name != "PROTOCONTRACT_SCENARIOS"}
    with tempfile.TemporaryFile() as output:
        with subprocess.Popen([*pytest, "-p", "no:cacheprovider", *waiting], stdout=output, stderr=output) as servers:
            try:
                code = subprocess.run([*pytest, *rest], env=alone, check=False).returncode
                print("\n== tests with servers", flush=True)
                servers.wait()
            except KeyboardInterrupt:
                servers.terminate()
                raise
        output.seek(0)
        sys.stdout.buffer.write(output.read())
        sys.stdout.flush()
    return code or servers.returncode


if __name__ == "__main__":
    sys.exit(main())
