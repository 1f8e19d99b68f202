"""The vocabulary as IR, and contracts that can be kept."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from protocontract_compiler import ir, load_protos, pipeline
from protocontract_compiler.descriptors import load
from protocontract_compiler.diagnostics import Diagnostics, Stopped
from protocontract_compiler.passes.pass_annotations import annotate
from protocontract_compiler.passes.pattern_shape import Demand, demands
from protocontract_compiler.passes.rule_ids import ALL_OWN_RULE_IDS
from tests.compiler.sources import CONTRACTS, EXAMPLES, ROOT, descriptors

GOOD = Path(__file__).parent / "protos" / "good"


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> ir.Schema:
    names = ["every_word.proto", *EXAMPLES]
    files = descriptors(names, [GOOD, CONTRACTS], tmp_path_factory.mktemp("words"))
    loaded = load(files, names, Diagnostics())
    return annotate(loaded, loaded.schema)


def _field(schema: ir.Schema, name: str) -> ir.Field:
    return schema.messages["good.v1.Words"].field(name)


def _options(schema: ir.Schema, name: str) -> dict[str, object]:
    normalizer = _field(schema, name).normalizer
    assert normalizer is not None
    return ir.keywords(normalizer.options)


def test_contracts_that_can_be_kept_have_no_mistakes() -> None:
    assert set(load_protos([GOOD])) == {"good.v1.Words", "good.v1.Node"}


def test_options_have_the_names_of_the_functions(schema: ir.Schema) -> None:
    assert _options(schema, "texts")["normalize"] == "nfkc"
    assert _options(schema, "texts")["reject"] == (
        "nul", "control", "replacement", "noncharacter", "bidi_control", "private_use", "tag", "mojibake",
    )  # fmt: skip
    assert _options(schema, "local") == {
        "zone": "Europe/London", "order": "DMY", "fold": "earlier", "gap": "shift_forward",
        "leap_second": "next_second",
        "hour24": "next_day", "date_only": "start_of_day", "excess_fraction": "truncate",
    }  # fmt: skip
    assert _options(schema, "label") == {"aliases": {"no": (), "yes": ("y", "ok")}}
    assert _options(schema, "classes") == {"ignore_index": -100, "num_classes": 3}
    assert _options(schema, "flag") == {"quoted_numbers": True, "bool_words": {"ja": True}, "finite": True}
    assert _options(schema, "number") == {"quoted_numbers": False, "fold_width": True, "exact": True, "finite": False}
    assert _options(schema, "amounts") == {
        "amounts": {"policy": "lenient", "default_currency": "CNY", "scale": "currency"}
    }


def test_targets_are_apart_from_options(schema: ir.Schema) -> None:
    for name, target in (("paid", "paid_currency"), ("epoch", "at"), ("weight", "weight_kg"), ("prices", None)):
        normalizer = _field(schema, name).normalizer
        assert normalizer is not None
        assert normalizer.target == target
        assert not any(option.endswith("_field") for option, _ in normalizer.options)


def test_defaults_are_written_down(schema: ir.Schema) -> None:
    assert _options(schema, "paid") == {"policy": "strict", "locale": "de-DE", "scale": "any"}
    (spans,) = schema.messages["acme.text.v1.TextSample"].field("entities").relations
    assert spans.option("order") == "any"
    assert spans.option("unit") == "code_point"
    (falling,) = _field(schema, "falling").relations
    assert ir.keywords(falling.options) == {"first": 9, "step": -1, "same_length_as": "ids"}


def test_tensors(schema: ir.Schema) -> None:
    (tensor,) = _field(schema, "tensor").relations
    assert ir.keywords(tensor.options) == {
        "name": "x", "dtype": "bfloat16", "dims": ("batch", "tokens", "8"),
        "bounds": {"batch": {"min": 1, "max": 4}, "tokens": {"max": 512}}, "shape_field": "shape", "batched": True,
        "pad": {"value": -1.0, "side": "left"}, "truncate": True, "finite": True, "min": -1.0, "max": 1.0,
    }  # fmt: skip
    (vector,) = schema.messages["acme.pipeline.v1.Embedding"].field("vector").relations
    assert vector.option("l2_norm") == (("value", 1.0), ("tolerance", 0.001))


def test_governance(schema: ir.Schema) -> None:
    assert _field(schema, "cents").governance == ir.Governance(
        sensitive=True,
        severities=(("cents.even", "WARNING"), ("int64.gt", "WARNING")),
        error_class=("DATA", "RETRAINING"),
        since="1.9.9",
        sunset="2031-12-31",
        renamed_from="pence",
        currency="JPY",
        minor_digits=2,
        acknowledge=True,
        error_codes=(("int64.gt", 4000000000),),
    )


def test_contract_and_level(schema: ir.Schema) -> None:
    contract = schema.messages["acme.finance.v1.Transaction"].contract
    assert contract is not None
    assert contract.level == ir.StreamLevel(compliance=0.999, latency=300 * 10**9, window=3600 * 10**9)
    assert (contract.version, contract.event_time, contract.on_breach) == ("1.4.0", "booked_at", "ALERT")
    assert schema.messages["acme.text.v1.NamedEntity"].contract is None


def test_enum_values(schema: ir.Schema) -> None:
    values = {value.name: value for value in schema.enums["acme.finance.v1.Currency"].values}
    assert values["CURRENCY_CNY"] == ir.EnumValue("CURRENCY_CNY", 1, "CNY", ("RMB",))
    assert [value.class_index for value in schema.enums["good.v1.Aliased"].values] == [None, 1, 1]


def test_service_levels(schema: ir.Schema) -> None:
    level = schema.services["acme.inference.v1.ModelService"].methods[0].level
    assert level is not None
    options = ir.keywords(level)
    assert options["deadline"] == 500_000_000
    assert options["batch"] == {"max_size": 32, "max_wait": 20_000_000}
    assert options["evidence"] == "best_effort"
    assert options["fallback"]["provider"] == "CPUExecutionProvider"
    assert ir.keywords(schema.services["good.v1.Words2"].methods[0].level or ()) == {"evidence": "required"}


def test_every_id_of_the_runtime_is_known() -> None:
    """What a normalizer or relation can report can be named in severities and error_codes."""
    found: set[str] = set()
    words = {rule_id.partition(".")[0] for rule_id in ALL_OWN_RULE_IDS}
    for folder in ("normalize", "relations"):
        for path in (ROOT / "runtime/protocontract" / folder).glob("*.py"):
            found.update(re.findall(r'Refusal\(\s*"([a-z]+\.[a-z_]+)"', path.read_text("utf-8")))
    assert {rule_id for rule_id in found if rule_id.partition(".")[0] in words} == found
    assert len(found) > 20
    assert found <= ALL_OWN_RULE_IDS, found - ALL_OWN_RULE_IDS


@pytest.mark.parametrize(
    ("pattern", "demand"),
    [
        ("^ab+c$", Demand(("ab", "c"), "ab", "c")),
        ("ab", Demand(("ab",))),
        ("^a|b$", Demand()),
        (r"^\s[a-z]+ $", Demand((" ", " "), " ", " ")),
        (r"^\s*[a-z]", Demand()),
        (r"^(ab){2}x?$", Demand(("abab",), "abab")),
        (r"(?:a b)", Demand(("a b",))),
        ("(?i)ab", Demand(("ab",))),
        ("[", Demand()),
        (r"\pL+", Demand()),
    ],
)
def test_what_patterns_demand(pattern: str, demand: Demand) -> None:
    assert demands(pattern) == demand


@pytest.mark.parametrize(
    "rules",
    [
        'string.pattern = "(?i)^ABC$", (protocontract.v1.field).text.normalize = NFKC',
        'string.pattern = "^[ a]", (protocontract.v1.field).text.trim = true',
        'string.pattern = "^ ?a ?$", (protocontract.v1.field).text.trim = true',
        'string.pattern = "a  ?b", (protocontract.v1.field).text.collapse_whitespace = true',
        'string.contains = "<", (protocontract.v1.field).text.strip_html = true',
        'string.contains = " ", (protocontract.v1.field).text.trim = true',
        'string.suffix = "e", (protocontract.v1.field).text.normalize = NFC',
        'string.const = "", (protocontract.v1.field).text.trim = true',
        "string = {min_len: 4 max_bytes: 4}",
        'string = {prefix: "ab" suffix: "bc" max_len: 3}',
        'string = {in: ["a", "b"] not_in: ["a"]}',
        "string = {len: 5 min_len: 5 max_len: 5}",
    ],
)
def test_what_only_looks_like_a_contradiction(rules: str, tmp_path: Path) -> None:
    (tmp_path / "a.proto").write_text(
        'syntax = "proto3"; import "buf/validate/validate.proto"; import "protocontract/v1/contract.proto";\n'
        f"message A {{ string x = 1 [(buf.validate.field).{rules}]; }}"
    )
    diagnostics = Diagnostics()
    try:
        files = descriptors(["a.proto"], [tmp_path], tmp_path)
        pipeline.compile_schema(load(files, ["a.proto"], diagnostics), diagnostics, pipeline.CompileOptions())
    except Stopped:
        pytest.fail(diagnostics.render())
