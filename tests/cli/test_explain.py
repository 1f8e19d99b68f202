"""Every id that a user can meet is explained."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

import protocontract
from protocontract.cli import main
from protocontract.explain import explain, known_ids
from protocontract.ids import REASONS, RULES
from protocontract.translations.zh_remedies import REMEDIES
from protocontract.violations import error_code
from protocontract_ci.decisions import MEANINGS
from protocontract_ci.modules import DECISIONS
from protocontract_compiler.diagnostics import IDS
from protocontract_compiler.passes.rule_ids import ALL_OWN_RULE_IDS
from tests.verify.support import PROTOS, TRANSACTION

RUNTIME = Path(protocontract.__file__).parent
ROOT = Path(__file__).parents[2]
CEL = "this != 'x'"
_WORDS = "text money instant quantity label scalar spans sequence graph tensor key wire schema rule handler"
_OURS = re.compile(rf"(?:{'|'.join(_WORDS.split())})\.[a-z_]+")


def emitted_ids() -> set[str]:
    """Every text in the runtime's source that looks like one of our rule ids (docstrings left out)."""
    found: set[str] = set()
    for file in RUNTIME.rglob("*.py"):
        if file.name == "ids.py" or "v1" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _OURS.fullmatch(node.value):
                found.add(node.value)
    return found


def test_every_rule_id_in_the_source_is_known() -> None:
    found = emitted_ids()
    assert len(found) > 40
    assert found - RULES.keys() - _NOT_RULES == set()


# Texts that look like ids and are none: names of files and modules.
_NOT_RULES = {"wire.py"}


def test_every_rule_id_of_the_compiler_is_known() -> None:
    assert sorted(ALL_OWN_RULE_IDS - RULES.keys()) == [], "protocontract/ids.py says what each means and what helps"


def test_diagnostics_and_rules_of_buf_validate_are_known() -> None:
    assert set(IDS) <= set(known_ids())
    assert {"string.min_len", "string.uuid", "required", "timestamp.gt_now", "repeated.unique"} <= set(known_ids())
    found = explain("string.uuid")
    assert found is not None
    assert found.meaning == "must be a valid UUID"
    assert "(buf.validate.field).string.uuid" in found.fix


@pytest.mark.parametrize("rule_id", sorted(RULES))
def test_meanings_are_written_in_the_style_of_messages(rule_id: str) -> None:
    for text in RULES[rule_id]:
        assert text == text.strip()
        assert text
        assert not text.endswith(".") or text.endswith("...")
        assert text[0].islower() or (text[0].isupper() and text.split()[0].isupper()) or text.startswith(("NaN", "U+"))


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "money.ambiguous"]) == 0
    assert capsys.readouterr().out.startswith("money.ambiguous · rule of protocontract\n  the amount can be read")
    assert main(["explain", "rule-contradiction", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "diagnostic of compiler"
    assert main(["explain", "money.ambigous"]) == 2
    assert capsys.readouterr() == ("", "error: `money.ambigous` is not known; did you mean `money.ambiguous`?\n")


def test_error_codes_of_a_contract(capsys: pytest.CaptureFixture[str]) -> None:
    code = error_code(TRANSACTION, "amount", "money.ambiguous")
    assert code == 0xB93DB785
    assert main(["explain", f"{code:#x}", "--contract", TRANSACTION, "--proto-path", str(PROTOS)]) == 0
    assert "acme.finance.v1.Transaction amount: money.ambiguous, " in capsys.readouterr().out
    assert main(["explain", "0x00000001", "--contract", TRANSACTION, "--proto-path", str(PROTOS)]) == 2
    assert main(["explain", "ledger.sum", "--contract", "acme.finance.v1.Ledger", "--proto-path", str(PROTOS)]) == 0
    assert "debits equal credits" in capsys.readouterr().out


def test_error_codes_of_generated_modules(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gen").mkdir()
    (tmp_path / "gen" / "x_contract.py").write_text("ERR_X_AMOUNT_MONEY_AMBIGUOUS: Final = 0xB93DB785\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    assert main(["explain", "0xb93db785"]) == 0
    assert "ERR_X_AMOUNT_MONEY_AMBIGUOUS" in capsys.readouterr().out
    assert main(["explain", "0x1"]) == 2
    assert "name one with --contract" in capsys.readouterr().err


@pytest.mark.parametrize("code", ["0xb93db785", "B93DB785", "3107829637", "ERR_TRANSACTION_AMOUNT_MONEY_AMBIGUOUS"])
def test_codes_in_every_form_are_explained_from_a_generated_module(
    code: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2] / "generated" / "python")
    assert main(["explain", code]) == 0
    title, meaning, fix = capsys.readouterr().out.splitlines()
    assert title == "0xb93db785 · error code"
    assert meaning.startswith(f"  {TRANSACTION} amount: money.ambiguous, the amount can be read in two ways: ")
    assert "(ERR_TRANSACTION_AMOUNT_MONEY_AMBIGUOUS in " in meaning
    assert "declare `money.locale`" in fix


def test_codes_of_the_record_itself_are_explained(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No promise of a contract is about its bytes, and no constant: the codes stand in dead letters all the same."""
    monkeypatch.chdir(Path(__file__).parents[2] / "generated" / "python")
    code = f"{error_code(TRANSACTION, '', 'wire.malformed'):#010x}"
    for arguments in ([], ["--contract", TRANSACTION, "--proto-path", str(PROTOS)]):
        assert main(["explain", code, *arguments]) == 0
        assert f"{TRANSACTION}: wire.malformed, the bytes are no message" in capsys.readouterr().out
    assert main(["explain", "ERR_NOTHING"]) == 2
    assert "no contract here has the error code ERR_NOTHING" in capsys.readouterr().err


def test_options_are_explained_by_the_vocabularys_own_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a wheel, which holds contract.proto; an editable installation knows the shapes alone."""
    from protocontract import explain as module

    class Installed:
        def joinpath(self, *parts: str) -> Path:
            return Path(__file__).parents[2].joinpath("contracts", "protocontract", *parts)

    try:
        monkeypatch.setattr("protocontract.explain.resources.files", lambda package: Installed())
        module._notes.cache_clear()
        module._options.cache_clear()
        found = {name: explain(name) for name in ("money.decimal", "text.reject", "level.window", "contract.on_breach")}
    finally:
        monkeypatch.undo()
        module._notes.cache_clear()
        module._options.cache_clear()
    meanings = {name: "" if found_one is None else found_one.meaning for name, found_one in found.items()}
    assert meanings["money.decimal"] == 'The decimal mark: "." or ",". The other one groups. (a text)'
    assert meanings["text.reject"].startswith("Classes of characters that refuse the text. (any of NUL, CONTROL, ")
    assert meanings["level.window"] == "The time over which shares are taken. (a duration: {seconds: 60})"
    assert meanings["contract.on_breach"].endswith("(one of ALERT, HALT)")


@pytest.mark.parametrize(
    "name", ["money", "sensitive", "spans.text", "service_level.queue", "value.code", "tensor.dims"]
)
def test_every_word_of_the_vocabulary_is_known(name: str) -> None:
    assert explain(name) is not None


def test_an_option_is_known_without_its_word() -> None:
    for name, id_ in (("trim", "text.trim"), ("default_currency", "money.default_currency"), ("zone", "instant.zone")):
        found = explain(name)
        assert found is not None
        assert found.id == id_
    found = explain("min")
    assert found is not None
    assert found.fix.startswith("explain ")
    assert " or " in found.fix


def test_every_reason_of_services_is_known() -> None:
    """What `refused(..., reason=...)` and the batcher's errors are called."""
    found: set[str] = set()
    for file in (RUNTIME / "serving").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        found |= set(re.findall(r'reason="([A-Z_]+)"', text))
        found |= set(re.findall(r'^    "\w+": "([A-Z_]+)",$', text, re.MULTILINE))
    assert len(found) > 10
    assert found - REASONS.keys() == set()


def test_reasons_that_are_rules_in_capitals() -> None:
    for reason, rule_id in (("STRING_MIN_LEN", "string.min_len"), ("MONEY_AMBIGUOUS", "money.ambiguous")):
        found = explain(reason)
        assert found is not None
        assert found.id == rule_id
    assert explain("MONEY_AMBIGOUS") is None


def test_decisions_of_the_gate_are_known_and_told_as_in_the_documents() -> None:
    assert MEANINGS.keys() == DECISIONS.keys()
    rows = re.findall(r"^\| `(D\d+)` \| (.*?) \|", (ROOT / "docs" / "gate-modules.md").read_text(), re.MULTILINE)
    assert len(rows) == len(MEANINGS)
    for key, text in rows:
        assert text.startswith(MEANINGS[key])


def test_rules_in_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    assert REMEDIES.keys() ^ RULES.keys() == set(), (
        "translations/zh_remedies.py says what helps, for each rule of ids.py"
    )
    assert main(["explain", "money.scale", "--lang", "zh-CN"]) == 0
    title, meaning, fix = capsys.readouterr().out.splitlines()
    assert title == "money.scale · protocontract 规则"
    assert "小数" in meaning
    assert fix == f"  {REMEDIES['money.scale']}"
    assert main(["explain", "string.min_len", "--lang", "zh"]) == 0
    assert "至少需要 … 个字符" in capsys.readouterr().out


CHOSEN = """
syntax = "proto3";
package shop.v1;
import "buf/validate/validate.proto";
import "protocontract/v1/contract.proto";
message Order {
  string id = 1 [(buf.validate.field).string.min_len = 2,
                 (protocontract.v1.field).error_codes = {key: "string.min_len" value: 77}];
  string price = 2 [(protocontract.v1.field).money = {allowed: "EUR"},
                    (protocontract.v1.field).error_codes = {key: "money.syntax" value: 78}];
  string note = 3 [(buf.validate.field).cel_expression = "this != 'x'"];
  repeated Part parts = 4;
  repeated int32 places = 5 [(protocontract.v1.field).sequence.step = 1];
}
message Part { int32 n = 1 [(buf.validate.field).int32.gt = 3,
                            (protocontract.v1.field).error_codes = {key: "int32.gt" value: 79}]; }
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("0x4d", "shop.v1.Order id: string.min_len, "),
        ("78", "shop.v1.Order price: money.syntax, the text is no amount of money"),
        ("0x0000004f", "shop.v1.Order parts.n: int32.gt, "),
        (f"cel:{error_code('shop.v1.Order', 'note', CEL):08x}", CEL),
        (CEL, "returned false"),
    ],
)
def test_codes_that_a_contract_chose_and_labels_of_its_cel(
    name: str, expected: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "order.proto").write_text(CHOSEN)
    assert main(["explain", name, "--contract", "shop.v1.Order", "--proto-path", str(tmp_path)]) == 0
    assert expected in capsys.readouterr().out


def test_every_code_of_the_examples_is_explained(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each contract, the first and the last: by the contract itself, generated."""
    manifest = json.loads((ROOT / "generated" / "manifest" / "manifest.json").read_text())
    monkeypatch.chdir(ROOT / "generated" / "python")
    for contract in manifest["contracts"]:
        for rule in (*contract["rules"][:1], *contract["rules"][-1:], *contract["record_rules"][:1]):
            assert main(["explain", rule["code"], "--contract", contract["name"]]) == 0
            assert f": {rule['id']}" in capsys.readouterr().out
