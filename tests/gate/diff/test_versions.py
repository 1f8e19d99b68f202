"""Which bump a change demands, and which one a version is."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from protocontract_ci.diff.compare import compare
from protocontract_ci.diff.versions import bump, demanded
from protocontract_ci.model import Change, Direction, Element
from protocontract_ci.sources import read


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("1.2.3", "2.0.0", "major"), ("1.2.3", "1.3.0", "minor"), ("1.2.3", "1.2.4", "patch"),
        ("1.2.3", "1.2.3", "none"), ("1.2.3", "1.2.2", None), ("2.0.0", "1.9.9", None),
        ("1.9.0", "2.0.0-rc.1", "major"), ("2.0.0-rc.1", "2.0.0", "major"), ("1.2.3", "next", None),
        ("1.2.3", "1.2.3+build", "none"),
    ],
)  # fmt: skip
def test_bump(before: str, after: str, expected: str | None) -> None:
    assert bump(before, after) == expected


@pytest.mark.parametrize(
    ("directions", "expected"),
    [
        ([], "none"), (["neutral"], "patch"), (["added"], "minor"), (["loosened", "neutral"], "minor"),
        (["tightened"], "major"), (["added", "breaking"], "major"),
    ],
)  # fmt: skip
def test_demanded(directions: list[Direction], expected: str) -> None:
    change = Change("M.a", "field_added", "added", Element("field"))
    assert demanded(dataclasses.replace(change, direction=direction) for direction in directions) == expected
    comment = dataclasses.replace(change, kind="comment_changed", direction="neutral")
    assert demanded([comment]) == "none"


CONTRACT = """\
syntax = "proto3";
package t;
import "protocontract/v1/contract.proto";
import "buf/validate/validate.proto";
message M {
  option (protocontract.v1.contract).version = "%s";
  Inner inner = 1;
}
message Inner { string a = 1 %s; }
"""
TIGHTER = "[(buf.validate.field).string.min_len = 1]"


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (("1.0.0", ""), ("1.0.0", TIGHTER), "version_reused"),
        (("1.0.0", ""), ("1.1.0", TIGHTER), "version_bump_missing"),
        (("1.0.0", TIGHTER), ("1.1.0", ""), "version_changed"),
        (("1.0.0", ""), ("2.0.0", TIGHTER), "version_changed"),
        (("0.3.0", ""), ("0.4.0", TIGHTER), "version_changed"),  # before 1.0.0 a minor version may break
        (("0.3.0", ""), ("0.3.1", TIGHTER), "version_bump_missing"),
        (("1.1.0", ""), ("1.0.9", ""), "version_bump_missing"),
    ],
)
def test_a_version_is_judged_by_all_that_its_message_reaches(
    tmp_path: Path, before: tuple[str, str], after: tuple[str, str], kind: str
) -> None:
    for name, values in (("before", before), ("after", after)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "t.proto").write_text(CONTRACT % values)
    changes = compare(read(str(tmp_path / "before")), read(str(tmp_path / "after"))).changes
    (found,) = [change for change in changes if change.path == "t.M@version"]
    assert found.kind == kind
    assert bool(found.demand) == (kind != "version_changed")
