"""That all contestants do the same work. Needs the neighbours of ci/requirements-bench.txt."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

for _name in ("pydantic", "msgspec", "fastjsonschema"):
    pytest.importorskip(_name)

from tests.bench import contestants, shapes  # noqa: E402  # they need the neighbours
from tests.bench.measure import Entry, paired  # noqa: E402


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ModuleType, ModuleType]]:
    """The compiled shapes."""
    before = list(sys.path)
    yield shapes.compile_protos(tmp_path_factory.mktemp("bench"))
    sys.path[:] = before


@pytest.mark.parametrize("shape", shapes.SHAPES, ids=lambda shape: shape.name)
def test_all_contestants_accept_and_refuse_alike(shape: shapes.Shape, modules: tuple[ModuleType, ModuleType]) -> None:
    data = shapes.serialise(shape, *modules, count=20)
    broken = contestants.check(data, contestants.contestants(data))
    assert broken == len(shape.broken) + len(shape.broken_across)


def test_the_broken_shape_breaks_eleven_rules(modules: tuple[ModuleType, ModuleType]) -> None:
    (shape,) = (shape for shape in shapes.SHAPES if not shape.valid)
    data = shapes.serialise(shape, *modules, count=20)
    ours, theirs = contestants.validators(data)
    for message in ours.values:
        assert len(data.contract.validate(message)) == 11
        assert [violation.rule_id for violation in data.contract.validate(message)] == [
            violation.proto.rule_id
            for violation in theirs.run(message)  # type: ignore[attr-defined]
        ]


def test_a_ratio_is_taken_to_the_base() -> None:
    timings = paired(
        [Entry("once", lambda n: sum(range(n)), [2000]), Entry("thrice", lambda n: sum(range(3 * n)), [2000])],
        "once", rounds=15, turn=0.001,
    )  # fmt: skip
    assert timings["once"].ratio == 1
    assert 2 < timings["thrice"].ratio < 4.5
