"""docs/evidence.md is enough to check a log without us: done here with the standard library alone."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from dataclasses import fields
from pathlib import Path

from protocontract.chain import EvidenceLog, Key, anchor_file
from protocontract.chain.steps import Step
from tests.chain.support import request

PAGE = (Path(__file__).parents[2] / "docs" / "evidence.md").read_text(encoding="utf-8")
SECRET = b"a secret of more than sixteen bytes"


def test_a_log_is_what_the_page_says(tmp_path: Path) -> None:
    with EvidenceLog(tmp_path / "log", key=Key(SECRET), anchor=anchor_file(tmp_path / "anchors")) as log:
        request(log, "größe")

    def mac(line: str, data: str) -> str:
        assert f"`{line}`" in PAGE.replace("\n", " ")
        return hmac.new(SECRET, f"{line}\n{data}".encode(), "sha256").hexdigest()

    previous = None
    hashes = []
    for number, line in enumerate((tmp_path / "log").read_text(encoding="utf-8").splitlines()):
        written = re.fullmatch(r'\{"hash":"([0-9a-f]{64})","mac":"([0-9a-f]{64})","step":(.*)\}', line)
        assert written is not None
        found, keyed, step = written.groups()
        assert hashlib.sha256(f"protocontract evidence step 1\n{step}".encode()).hexdigest() == found
        assert mac("protocontract evidence step 1", found) == keyed
        held = json.loads(step)
        assert held["form"] == "i:1"
        assert held["sequence"] == f"i:{number}"
        assert held["previous"] == (None if previous is None else f"s:{previous}")
        if number == 0:
            assert held["facts"]["key"] == "s:" + mac("protocontract evidence key id 1", "")[:16]
        previous = found
        hashes.append(found)
    for line in (tmp_path / "anchors").read_text().splitlines():
        held = json.loads(line)
        told = {name: value for name, value in held.items() if name != "mac"}
        canonical = json.dumps(told, sort_keys=True, separators=(",", ":"))
        assert held["mac"] == "s:" + mac("protocontract evidence anchor 1", canonical)
        assert held["head"] == f"s:{hashes[int(held['length'][2:]) - 1]}"


def test_the_page_names_every_field_of_a_step() -> None:
    [told] = re.findall(r"A step is a map: (.*?)\. `previous`", PAGE, re.S)
    assert re.findall(r"`(\w+)`", told) == ["form", *(item.name for item in fields(Step))]
