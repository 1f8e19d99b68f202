"""Every case gives the same result in every process, whatever the hash seed: no order of a set reaches a result."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import Any

from protocontract import Refused
from protocontract.normalize import instant, money, scalar, text
from protocontract.relations import spans
from tests.normalize import value_contracts

FUNCTIONS = {"money": money, "instant": instant, "text": text, "scalar": scalar}


def result(word: str, given: Any, context: dict[str, Any]) -> Any:
    """What the public function gives for a case, or how it refuses."""
    try:
        if word == "spans":
            task, steps = context.pop("task"), context.pop("options", {})
            function = spans.check if task == "validate" else spans.remap
            return function(given["text"], given["spans"], **context, **steps)
        normalized = FUNCTIONS[word].normalize(given, **context)
        return normalized.value, normalized.changes
    except Refused as refused:
        return refused.rule_id, refused.message, refused.index


def digest() -> str:
    """One value for the results of all cases."""
    found = hashlib.sha256()
    for file, word in value_contracts.FILES.items():
        for case in value_contracts.cases(file):
            found.update(repr(result(word, case["input"], dict(case["context"]))).encode("utf-8", "backslashreplace"))
    return found.hexdigest()


def test_results_do_not_depend_on_the_process() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", "from tests.normalize.test_determinism import digest; print(digest())"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert digests == {f"{digest()}\n"}
