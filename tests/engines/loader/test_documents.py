"""What README.md and docs/training.md show runs."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.support.samples import TEXT_SAMPLE, text_samples, write_samples

ROOT = Path(__file__).parents[3]
REPORT = "400 read, 380 used, 20 quarantined: 10 spans.bounds, 10 string.in"


def readme() -> str:
    """The block of README.md that trains."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^    from protocontract\.torch .*\n(?:(?:    .*)?\n)*", text, re.MULTILINE)
    return textwrap.dedent(block)


def training() -> list[str]:
    """The Python blocks of docs/training.md."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "training.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A folder with what the documents speak of, and their names."""
    (tmp_path / "train").mkdir()
    for name, start in (("a", 0), ("b", 200)):
        write_samples(tmp_path / "train" / f"{name}.binpb", text_samples(200, start))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return {"TEXT_SAMPLE": TEXT_SAMPLE}


def test_the_readme_trains(shown: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    batches: list[Any] = []
    exec(readme(), {**shown, "step": batches.append})
    assert sum(batch.size for batch in batches) == 380
    assert capsys.readouterr().out == f"{REPORT}\n"
    assert len(Path("rejects.jsonl").read_text().splitlines()) == 20


def test_the_page_trains_and_goes_on(shown: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    train, resume = training()
    exec(train.replace("range(10)", "range(2)"), shown)
    assert (
        capsys.readouterr().out.splitlines()
        == ["400 read, 380 used, 20 quarantined: 10 spans.bounds, 10 string.in"] * 2
    )
    shown |= {"torch": torch, "model": torch.nn.Linear(1, 1), "path": "checkpoint"}
    loader = shown["loader"]
    iterator = iter(loader)
    for _ in range(5):
        next(iterator)
    seen: list[str] = []
    exec(resume.replace("range(loader.epoch, 10)", "range(loader.epoch, 3)").replace("...", "take(batch)", 1), {
        **shown, "take": lambda batch: seen.extend(batch.fields["id"]),
    })  # fmt: skip
    assert len(seen) == 380 - 5 * 32
