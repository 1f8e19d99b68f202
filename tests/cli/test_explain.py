"""Every id that a user can meet is explained."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

import protocontract
from protocontract.cli import main
from protocontract.explain import RULES, explain, known_ids
from protocontract.violations import error_code
from protocontract_compiler.diagnostics import IDS
from protocontract_compiler.passes.rule_ids import ALL_OWN_RULE_IDS
from tests.verify.support import PROTOS, TRANSACTION

RUNTIME = Path(protocontract.__file__).parent
_WORDS = "text money instant quantity label scalar spans sequence graph tensor key wire schema rule handler"
_OURS = re.compile(rf"(?:{'|'.join(_WORDS.split())})\.[a-z_]+")


def emitted_ids() -> set[str]:
    """Every text in the runtime's source that looks like one of our rule ids (docstrings left out)."""
    found: set[str] = set()
    for file in RUNTIME.rglob("*.py"):
        if file.name in {"explain.py"} or "v1" in file.parts:
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
    assert ALL_OWN_RULE_IDS - RULES.keys() == set()


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
