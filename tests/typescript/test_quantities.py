"""Quantities in TypeScript are what they are in Python, and go where the contract says, in that field's type."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

from protocontract.normalize import quantity, quantity_units
from protocontract.violations import OptionError
from protocontract_compiler import dynamic
from tests.typescript import direct
from tests.typescript.direct import MANY, compare
from tests.typescript.support import Case, answers, difference, needs_node
from tests.typescript.test_parity import compiled

pytestmark = needs_node

_UNIT_SETS = (
    ("m", "km mile inch bohr"), ("kg", "lb oz g UK_cwt"), ("km/h", "m/s mph"), ("degC", "degF K"), ("K", "degC mK"),
    ("L", "mL m^3"), ("percent", "dB ppm"), ("kWh", "J cal"), ("rad", "deg"), ("byte", "MiB bit"), ("1/s", "Hz"),
)  # fmt: skip
_UNIT_PIECES = (
    *(each for unit, others in _UNIT_SETS for each in (unit, *others.split())),
    "ft", "%", "h", "kW", "min", "s", "day", "kilokilometer", "gigagigameter", "gigameters", "mdB", "kdegC",
    "delta_degC", "mmH2O", "inHg", "hz", "pi", "statC", "Fr", "V", "ohm", "foo", "N", "Pa", "as", "/", "*", "^2", "2",
    "-1", "**2", "^13", "1/", "_", "x", "dimensionless", "miles", "\u2103", "\xb0C", "\xb0", "\u516c\u65a4",
    "\u5ea6", "\u33a1", "\xb5g", "\u03bcg", "\u03a9", "\xb7", "\xb2", "\u207b\xb9", " per ", " ",
)  # fmt: skip


def _quantity_twin(options: dict[str, Any]) -> Callable[..., Any]:
    normalize = quantity.normalizer(**options)

    def twin(value: Any) -> Any:
        result = normalize(value)
        if not isinstance(result, Decimal):
            return result
        sign, digits, exponent = result.as_tuple()
        assert isinstance(exponent, int)
        units = int("".join(map(str, digits))) * 10 ** max(exponent, 0)
        return {"units": {"$big": str(units)}, "scale": max(-exponent, 0), "negative": bool(sign)}

    return twin


def _quantity_value(rng: random.Random) -> Any:
    if rng.random() < 0.1:
        return rng.choice((rng.uniform(-1e3, 1e3), rng.choice((0.5, 1.005, 2.675, 1e22, 1e-9, 3.0, 1e300))))
    numbers = "5|-5|+3.5|1,234|1.234,5|0.125|12|1e3|2E-70|1/2||7 8|\u0663|\uff15|5.50|40"
    unit = "".join(rng.choice(_UNIT_PIECES) for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 4))))
    before = rng.choice(("", "", "", "", "about ", "minus ", "x- ", " ", "\u200e"))
    behind = rng.choice(("", "", "", "", " netto", " (11 lb)", ".", ", 3"))
    return f"{before}{rng.choice(numbers.split('|'))}{rng.choice(('', ' ', ' '))}{unit}{behind}"


def test_quantities(dist: Path, rng: random.Random) -> None:
    jobs = []
    for _ in range(80):
        unit, others = rng.choice(_UNIT_SETS)
        drawn: dict[str, Any] = {
            "unit": unit, "policy": rng.choice(("strict", "lenient")), "scale": rng.choice((None, 0, 3, 60)),
            "locale": rng.choice((None, "de-DE", "en-US")), "decimal": rng.choice((None, ".", ",")),
            "allowed": tuple(rng.sample(others.split(), rng.randint(1, len(others.split())))),
        }  # fmt: skip
        options = {name: value for name, value in drawn.items() if value is not None}
        try:
            quantity.check_options(**options)
        except OptionError:
            continue
        job = direct.normalizer("quantity", options)
        job.calls = [[_quantity_value(rng)] for _ in range(MANY)]
        jobs.append((job, _quantity_twin(options)))
    assert len(jobs) > 20
    compare(dist, jobs)


def test_every_unit(dist: Path) -> None:
    """All spellings, alone and with a prefix: whether they are one, and whether they measure the same."""
    table = quantity_units.table()
    spellings = [spelling for unit in table.units for spelling in unit.spellings]
    prefixes = [spelling for spelling, _ in table.prefixes]
    names = [*spellings, *(f"{each}s" for each in spellings)]
    names += [f"{prefixes[at % len(prefixes)]}{each}" for at, each in enumerate(spellings * (70 if MANY > 1000 else 1))]
    names += [f"{each}^2/s" for each in spellings[::5]] + [f"m/{each}" for each in spellings[::7]]
    jobs = []
    sets = {"m": ("km", "kilometer", "bohr"), "K": ("degC", "degF"), "percent": ("dB", "rad"), "J": ("kWh", "calories")}
    for unit, allowed in list(sets.items())[: len(sets) if MANY > 1000 else 2]:
        options = {"unit": unit, "scale": 30, "allowed": allowed}
        job = direct.normalizer("quantity", options)
        job.calls = [[f"7.5 {name}"] for name in names]
        jobs.append((job, _quantity_twin(options)))
    compare(dist, jobs)


PROTO = """
syntax = "proto3"; package p; import "protocontract/v1/contract.proto";
message M {
  string text = 1 [(protocontract.v1.field).quantity = {unit: "m" allowed: ["km", "ft"] decimal: "." scale: 2}];
  string wide_text = 2 [(protocontract.v1.field).quantity = {unit: "m" allowed: ["km"] value_field: "wide"}];
  double wide = 3;
  string single_text = 4 [
    (protocontract.v1.field).quantity = {unit: "kg" allowed: ["lb"] scale: 9 value_field: "single"}
  ];
  optional float single = 5;
  string whole_text = 6 [(protocontract.v1.field).quantity = {unit: "m" allowed: ["km"] value_field: "whole"}];
  int32 whole = 7;
  string big_text = 8 [(protocontract.v1.field).quantity = {unit: "m" allowed: ["km"] value_field: "big"}];
  optional uint64 big = 9;
  repeated double numbers = 10 [(protocontract.v1.field).quantity = {unit: "m" allowed: ["km"] scale: 2}];
  map<string, string> named = 11 [(protocontract.v1.field).quantity = {unit: "m" allowed: ["km"] decimal: "."}];
  int64 count = 12 [(protocontract.v1.field).quantity = {unit: "m" allowed: ["km"]}];
}
"""


def test_quantities_go_where_they_belong(tmp_path: Path) -> None:
    files = dynamic.describe({"p.proto": PROTO})
    schema, contract = compiled(files, tmp_path)
    texts = (
        "5 km",
        "3 ft",
        "7",
        "-2.50 m",
        "0.5 km",
        "1" + "0" * 12 + " km",
        "1" + "0" * 39,
        "2.5",
        "9 lb",
        "4 s",
        "x",
        "",
    )
    cases = [
        Case(
            contract,
            contract.message_type(
                text=text, wide_text=other, single_text=text, whole_text=other, big_text=text, wide=wide, whole=5000,
                numbers=[wide, 1.005, float("nan"), -0.0], named={"b": text, "a": other}, count=-7,
            ),
        )
        for (text, other), wide in product(zip(texts, texts[1:] + texts[:1], strict=True), (0.0, 5000.0, 2.675))
    ]  # fmt: skip
    cases += [
        Case(contract, contract.message_type(single_text=text, single=3.0, big_text=text, big=5000)) for text in texts
    ]
    found = answers(tmp_path, [(files, schema, cases)])
    differences = [text for case, answer in zip(cases, found, strict=True) if (text := difference(case, answer))]
    assert not differences, differences[:3]
    outcomes = [contract.process(case.message.SerializeToString()) for case in cases]
    assert sum(len(outcome.changes) for outcome in outcomes) > 100
    rules = {each.rule_id for outcome in outcomes for each in outcome.violations}
    assert rules >= {"quantity.range", "quantity.scale", "quantity.unit", "quantity.dimension", "quantity.syntax"}
