"""The example of docs/testing.md is run as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import settings

ROOT = Path(__file__).parent.parent.parent


def test_the_example_of_the_page() -> None:
    page = (ROOT / "docs" / "testing.md").read_text()
    block = next(each for each in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "@given" in each)
    content: dict[str, object] = {"__name__": "example"}
    exec(compile(block, "docs/testing.md", "exec"), content)
    tests = [value for name, value in content.items() if name.startswith("test_") and callable(value)]
    assert len(tests) == 3
    for test in tests:
        settings(max_examples=20, derandomize=True, database=None, deadline=None)(test)()
