"""How the public functions are reached, and that nothing heavy is imported before one is."""

from __future__ import annotations

import subprocess
import sys

import pytest

import protocontract
from protocontract import normalize, relations
from protocontract.v1 import contract_pb2
from protocontract_compiler.passes.pass_annotations import RELATIONS

NORMALIZERS = [field.name for field in contract_pb2.Field.DESCRIPTOR.oneofs_by_name["normalizer"].fields]
WORDS = {normalize: sorted(NORMALIZERS), relations: sorted(RELATIONS)}


def test_words_are_attributes() -> None:
    assert protocontract.normalize.money.normalize("5 EUR").value == ("5.00", "EUR")
    assert protocontract.relations.spans.check("abc", [{"start": 0, "end": 3}]) is None  # type: ignore[func-returns-value]
    for package, words in WORDS.items():
        assert sorted(package.__all__) == words, f"{package.__name__} imports each word when it is named, and lists it"
        for word in words:
            assert word in dir(package)
            assert getattr(package, word).__name__ == f"{package.__name__}.{word}"
    with pytest.raises(AttributeError, match="no attribute 'monies'"):
        _ = normalize.monies


@pytest.mark.parametrize(
    "script",
    ["import protocontract", "from protocontract import normalize, relations", "import protocontract.normalize.money"],
)
def test_nothing_heavy_comes_with_the_names(script: str) -> None:
    code = f"import sys; {script}; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert {"babel", "pint", "numpy", "unicodedata2", "justhtml"}.isdisjoint(loaded)


def test_after_importing_the_package_alone() -> None:
    code = 'import protocontract; print(protocontract.normalize.instant.normalize("2024-03-01T00:00:00Z").value)'
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "2024-03-01T00:00:00Z\n"
