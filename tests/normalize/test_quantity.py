"""The quantity normalizer: units, exact conversion, and the policies that it shares with money."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract.normalize import quantity, quantity_units
from protocontract.normalize.quantity_units import UnitError, conversion, parse_unit
from protocontract.violations import Change, Normalized, OptionError, Refusal, Refused
from protocontract_compiler.dynamic import load_protos
from tests.examples import examples
from tests.support.timing import seconds

PROPERTY = settings(max_examples=examples(200), derandomize=True, deadline=None, database=None)


def outcome(value: Any, **options: Any) -> Any:
    """The number, or the rule id of the refusal."""
    result = quantity.normalizer(**options)(value)
    return result.rule_id if isinstance(result, Refusal) else result


@pytest.mark.parametrize(
    ("value", "options", "expected"),
    [
        ("5", {"unit": "km"}, "5"),
        ("5 km", {"unit": "m"}, "5000"),
        ("1,5 kg", {"unit": "g"}, "1500"),
        ("37 °C", {"unit": "K"}, "310.15"),
        ("−40 ℃", {"unit": "degF"}, "-40"),
        ("98.6 °F", {"unit": "degC", "scale": 2}, "37.00"),
        ("12 in", {"unit": "cm"}, "30.48"),
        ("5 mi", {"unit": "km"}, "8.04672"),
        ("36 km/h", {"unit": "m/s", "scale": 3}, "10.000"),
        ("5 kg*m^2", {"unit": "g*m^2"}, "5000"),
        ("5 m2", {"unit": "cm²"}, "50000"),
        ("5 kg m-2", {"unit": "kg/m^2"}, "5"),
        ("5 1/s", {"unit": "Hz"}, "5"),
        ("5 N·m", {"unit": "J"}, "5"),
        ("5 W/m/°C", {"unit": "W/m/K"}, "5"),
        ("5 µg", {"unit": "ng"}, "5000"),
        ("5 km per hour", {"unit": "km/h"}, "5"),
        ("90°", {"unit": "rad", "scale": 5}, "1.57080"),
        ("5公里", {"unit": "m"}, "5000"),
        ("５ｋｍ", {"unit": "m"}, "5000"),
        ("٥ km", {"unit": "m"}, "5000"),
        ("50 %", {"unit": "dimensionless"}, "0.5"),
        ("1.234,5 m", {"unit": "cm", "locale": "de-DE"}, "123450"),
        ("1.234 m", {"unit": "m", "decimal": "."}, "1.234"),
        ("1.234 m", {"unit": "m", "policy": "lenient"}, "1234"),
        ("1.5e3 m", {"unit": "km", "policy": "lenient"}, "1.5"),
        ("ca. 5 kg netto.", {"unit": "g", "policy": "lenient"}, "5000"),
        ("5 lb", {"unit": "kg", "allowed": ["lb", "g"]}, "2.26796185"),
        ("5 kg", {"unit": "kg", "allowed": ["lb"]}, "5"),
        (5.25, {"unit": "m", "scale": 1}, "5.2"),
        (Decimal("5.35"), {"unit": "m", "scale": 1}, "5.4"),
        ("0.5 m", {"unit": "m", "scale": 0}, "0"),
    ],
)
def test_value(value: Any, options: dict[str, Any], expected: str) -> None:
    result = outcome(value, **options)
    assert isinstance(result, Decimal)
    assert f"{result:f}" == expected


@pytest.mark.parametrize(
    ("value", "options", "expected"),
    [
        ("5 km", {"unit": "kg"}, "quantity.dimension"),
        ("5 foo", {"unit": "kg"}, "quantity.unit"),
        ("5 KM", {"unit": "m"}, "quantity.unit"),
        ("5 oz", {"unit": "kg", "allowed": ["lb"]}, "quantity.unit"),
        ("5 dB", {"unit": "percent"}, "quantity.unit"),
        ("5 kdegC", {"unit": "K"}, "quantity.unit"),
        ("5 mdB", {"unit": "percent"}, "quantity.unit"),
        ("5 km", {"unit": "mi"}, "quantity.scale"),
        ("98.6 °F", {"unit": "degC"}, "quantity.scale"),
        ("90°", {"unit": "rad"}, "quantity.scale"),
        ("1.234 m", {"unit": "m"}, "quantity.ambiguous"),
        ("1e5 m", {"unit": "m"}, "quantity.syntax"),
        ("1e99999 m", {"unit": "m", "policy": "lenient"}, "quantity.syntax"),
        ("5 kg (11 lb)", {"unit": "g", "policy": "lenient"}, "quantity.syntax"),
        ("minus 5 kg", {"unit": "g", "policy": "lenient"}, "quantity.syntax"),
        ("-approx. 5 kg", {"unit": "g", "policy": "lenient"}, "quantity.syntax"),
        ("5 ft 3 in", {"unit": "m"}, "quantity.syntax"),
        ("5-6 m", {"unit": "m"}, "quantity.syntax"),
        ("- 5 m", {"unit": "m"}, "quantity.syntax"),
        ("about 5 m", {"unit": "m"}, "quantity.syntax"),
        ("km", {"unit": "m"}, "quantity.syntax"),
        ("", {"unit": "m"}, "quantity.syntax"),
        ("5 m\x00", {"unit": "m"}, "quantity.syntax"),
        ("5" * 201, {"unit": "m"}, "quantity.syntax"),
        (float("nan"), {"unit": "m"}, "quantity.syntax"),
        (Decimal("Infinity"), {"unit": "m"}, "quantity.syntax"),
        (Decimal("sNaN"), {"unit": "m"}, "quantity.syntax"),
        (True, {"unit": "m"}, "quantity.syntax"),
        (None, {"unit": "m"}, "quantity.syntax"),
        # A text is never evaluated
        ('5 __import__("os")', {"unit": "m"}, "quantity.unit"),
        ("5 m.__class__", {"unit": "m"}, "quantity.unit"),
        ("5 m*import", {"unit": "m"}, "quantity.unit"),
        ("5 m**m", {"unit": "m"}, "quantity.unit"),
        ("5 m^999999999999", {"unit": "m"}, "quantity.unit"),
        ("5 m^99^99", {"unit": "m"}, "quantity.unit"),
        ("5 " + "m*" * 50 + "m", {"unit": "m"}, "quantity.unit"),
        ("5 (m)", {"unit": "m"}, "quantity.unit"),
    ],
)
def test_refusal(value: Any, options: dict[str, Any], expected: str) -> None:
    assert outcome(value, **options) == expected


def test_numbers_in_the_unit_are_kept_as_they_are() -> None:
    for value in (5, 5.25, Decimal("5.250")):
        assert quantity.normalizer(unit="m")(value) is value
    assert quantity.normalize(5.25, unit="m") == Normalized(5.25)
    text = "".join(["5.2", "5"])
    assert quantity.normalizer(unit="m", decimal=".", as_text=True)(text) is text
    assert quantity.normalizer(unit="m", decimal=".", as_text=True)("5 km") == "5000"


def test_normalize_tells_the_change_and_raises() -> None:
    assert quantity.normalize("5 km", unit="m").changes == (Change("", "quantity", "5 km", Decimal(5000)),)
    with pytest.raises(Refused) as refused:
        quantity.normalize("5 secret", unit="m")
    assert refused.value.rule_id == "quantity.unit"
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"unit": "quux"}, "unit"),
        ({"unit": ""}, "unit"),
        ({"unit": "m", "allowed": ["kg"]}, "allowed"),
        ({"unit": "m", "allowed": ["quux"]}, "allowed"),
        ({"unit": "m", "allowed": "km"}, "allowed"),
        ({"unit": "mi", "allowed": ["km"]}, "scale"),
        ({"unit": "m", "scale": -1}, "scale"),
        ({"unit": "m", "scale": True}, "scale"),
        ({"unit": "m", "policy": "loose"}, "policy"),
        ({"unit": "m", "locale": "xx-YY"}, "locale"),
        ({"unit": "m", "decimal": ";"}, "decimal"),
    ],
)
def test_option_errors(options: dict[str, Any], option: str) -> None:
    with pytest.raises(OptionError) as error:
        quantity.normalizer(**options)
    assert error.value.option == option


def test_a_text_field_must_read_its_own_result() -> None:
    quantity.check_options(unit="m", is_text=True, decimal=".")
    quantity.check_options(unit="m", is_text=True, locale="en-US")
    quantity.check_options(unit="m", locale="de-DE")
    for options in ({}, {"locale": "de-DE"}, {"decimal": ","}):
        with pytest.raises(OptionError):
            quantity.check_options(unit="m", is_text=True, **options)  # type: ignore[arg-type]


def test_bare_numbers_need_no_pint() -> None:
    program = (
        "import sys\n"
        "from protocontract.normalize import quantity\n"
        "twin = quantity.normalizer(unit='km', lazy=True)\n"
        "assert str(twin('5')) == '5' and str(twin('5 km')) == '5' and twin(5.5) == 5.5\n"
        "assert 'pint' not in sys.modules\n"
        "assert str(twin('5 m')) == '0.005'\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


UNITS = ["m", "km", "inch", "mile", "degC", "degF", "K", "g", "lb", "s", "h", "m/s", "km/h", "kWh", "J", "%", "byte"]


@PROPERTY
@given(
    st.one_of(
        st.text(max_size=30),
        st.lists(
            st.sampled_from(
                [
                    "5",
                    "1.5",
                    "-",
                    " ",
                    "m",
                    "km",
                    "^",
                    "2",
                    "*",
                    "/",
                    "kg",
                    "°C",
                    "µ",
                    "e3",
                    "(",
                    "²",
                    "s",
                    "per",
                    "%",
                    "d",
                ]
            ),
            max_size=10,
        ).map("".join),
    ),
    st.sampled_from(UNITS),
    st.sampled_from([None, 0, 3]),
    st.sampled_from(["strict", "lenient"]),
)
def test_any_text_has_an_answer(text: str, unit: str, scale: int | None, policy: Any) -> None:
    normalize = quantity.normalizer(unit=unit, scale=scale, policy=policy, decimal=".", as_text=True)
    result = normalize(text)
    if isinstance(result, Refusal):
        assert result.rule_id.startswith("quantity.")
        return
    assert normalize(result) == result
    assert normalize(text) == result


@PROPERTY
@given(
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=4),
    st.sampled_from(UNITS),
    st.sampled_from(UNITS),
)
def test_conversion_is_exact_both_ways(number: Decimal, one: str, other: str) -> None:
    from protocontract.normalize.quantity_units import same_dimension

    source, target = parse_unit(one), parse_unit(other)
    if not same_dimension(source, target):
        return
    there, back = conversion(source, target), conversion(target, source)
    image = Fraction(number) * there.factor + there.offset
    assert image * back.factor + back.offset == Fraction(number)


def test_hostile_units_take_no_time() -> None:
    normalize = quantity.normalizer(unit="m")
    normalize("5 km")
    texts = ("5 " + "a" * 190, "5 " + "ab_" * 26 + "^", "5 " + "k" * 78, "5 m" + "^2" * 30, "9" * 200, "5 °" * 9)
    assert seconds(lambda: [normalize(text) for text in texts]) < 2


def test_what_a_unit_means_does_not_depend_on_units_before_it() -> None:
    for text in ("gigagigameter", "gigameter", "gigagigameters"):
        if text == "gigameter":
            assert parse_unit(text).factors == (("gigameter", 1),)
            continue
        with pytest.raises(UnitError):
            parse_unit(text)


def test_a_contract_loads_units_before_a_value_needs_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scales.proto").write_text(
        """syntax = "proto3";
        import "protocontract/v1/contract.proto";
        message Plain { string text = 1; }
        message Weighed { string weight = 1 [(protocontract.v1.field).quantity.unit = "kg"]; }
        message Pallet { repeated Weighed boxes = 1; }
        """
    )
    contracts = load_protos([tmp_path], proto_path=tmp_path)
    loaded: list[str] = []
    for name in ("Plain", "Weighed", "Pallet"):
        monkeypatch.setattr(quantity_units, "load_units", lambda name=name: loaded.append(name))
        contracts[name].warm_up()
    assert loaded == ["Weighed", "Pallet"]
    monkeypatch.undo()
    quantity_units.load_units()
    assert quantity_units._pint.cache_info().currsize == 1
