"""Places inside options, read from the source."""

from __future__ import annotations

import pytest

from protocontract_compiler.descriptors.source import Source

_SOURCE = b"""\
message A {
  option (v1.contract) = {
    version: "1" // comment { with braces }
    level: {compliance: 0.9, window: {seconds: 1}}
    names: "a" "b"
    names: "c"
  };
  string a = 1 [(v1.field).money = {allowed: ["CNY", "USD"] /* { */ currency_field: "c"}, (v1.field).since = "1"];
\tstring b = 2 [
\t\t(v1.field) = {money {scale: ANY} [ext.of.it]: {x: 1}}
\t];
  string c = 3 [(v1.field).string.(ext.slug) = true, (v1.field).tensor = <dims: "a" dims: "b" min: -1 max: 2>];
}
"""


@pytest.mark.parametrize(
    ("start", "steps", "found"),
    [
        ((2, 3), ("version",), (3, 5)),
        ((2, 3), ("level",), (4, 5)),
        ((2, 3), ("level", "compliance"), (4, 13)),
        ((2, 3), ("level", "window"), (4, 30)),
        ((2, 3), ("level", "window", "seconds"), (4, 39)),
        ((2, 3), ("names", 0), (5, 5)),
        ((2, 3), ("names", 1), (6, 5)),
        ((2, 3), ("missing",), (2, 10)),
        ((8, 17), ("money",), (8, 28)),
        ((8, 17), ("money", "allowed", 1), (8, 54)),
        ((8, 17), ("money", "currency_field"), (8, 69)),
        ((10, 17), ("money", "scale"), (10, 38)),
        ((10, 17), ("[ext.of.it]", "x"), (10, 64)),
        ((12, 17), ("string", "[ext.slug]"), (12, 35)),
        ((12, 54), ("tensor", "dims", 1), (12, 85)),
        ((12, 54), ("tensor", "max"), (12, 103)),
    ],
)
def test_the_innermost_place(start: tuple[int, int], steps: tuple[str | int, ...], found: tuple[int, int]) -> None:
    assert Source(_SOURCE).find(*start, steps) == found


@pytest.mark.parametrize("start", [(99, 1), (2, 999), (1, 1), (5, 20), (13, 1), (0, 0)])
def test_another_version_of_the_source_gives_no_place(start: tuple[int, int]) -> None:
    assert Source(_SOURCE).find(*start, ("level", "window")) is None


@pytest.mark.parametrize("cut", range(0, len(_SOURCE), 7))
def test_cut_sources_do_no_harm(cut: int) -> None:
    Source(_SOURCE[:cut]).find(2, 3, ("level", "window", "seconds"))
    Source(_SOURCE[:cut]).find(8, 17, ("money", "allowed", 1))
