"""Every rule id has a message in English and in Chinese; the contract's own message wins."""

from __future__ import annotations

import gettext
import re
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format

from protocontract import Contract
from protocontract.ids import RULES
from protocontract.translations import LANGUAGES, catalogue, en, zh
from protocontract.violations import FieldElement, Rule, Violation
from protocontract_compiler import load_protos
from tests.cel.support import POOL, predefined

# What protovalidate's engine decides without CEL.
NATIVE = {"required", "message.oneof", "enum.defined_only", "any.in", "any.not_in"}


def standard_ids() -> dict[str, tuple[str, str]]:
    """Rule ids of validate.proto with the message and the expression that define them; examples break nothing."""
    found: dict[str, tuple[str, str]] = {}
    file = POOL.FindFileByName("buf/validate/validate.proto")
    for name, descriptor in file.message_types_by_name.items():
        if name.endswith("Rules"):
            for _, cel in predefined(descriptor):
                if not cel.id.endswith(".example"):
                    found[cel.id] = (cel.message, cel.expression)
    return found


def test_every_standard_rule_has_its_english_message() -> None:
    rules = standard_ids()
    assert set(en.TEMPLATES) == set(rules) | NATIVE
    for rule_id, (message, expression) in rules.items():
        (template,) = en.TEMPLATES[rule_id].values()
        # The expression returns the message by format(); %s and %x stand for the constants.
        texts = re.findall(r"'((?:must|does|contains|map)[^']*)'", expression)
        formats = [re.sub("%[sdx]", "{}", text) for text in texts]
        assert template == message or template in formats, rule_id


def msgids() -> set[str]:
    return {msgid for messages in en.TEMPLATES.values() for msgid in messages} | set(RULES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_rule_id_is_translated(language: str) -> None:
    translations = catalogue(language)
    assert translations is not None
    assert set(zh.TEXTS) ^ msgids() == set(), "protocontract/translations/zh.py has a text for each rule of ids.py"
    for messages in en.TEMPLATES.values():
        for msgid, template in messages.items():
            text = translations.gettext(msgid)
            # The same constants in both languages.
            assert sorted(set(re.findall(r"\{(\d)\}", text))) == [str(n) for n in range(template.count("{}"))], msgid
            assert re.search("[\u4e00-\u9fff]", text), msgid


PROTO = """
syntax = "proto3";
package words;
import "buf/validate/validate.proto";
message M {
  option (buf.validate.message).cel = {id: "own.rule" message: "must be lucky" expression: "this.a != 4"};
  option (buf.validate.message).cel_expression = "this.a != 13";
  option (buf.validate.message).oneof = {fields: ["x", "y"] required: true};
  int32 a = 1 [(buf.validate.field).int32 = {gt: 0 lte: 100}];
  string b = 2 [(buf.validate.field).string.min_len = 3, (buf.validate.field).cel = {
    id: "string.max_len" message: "keep it short" expression: "size(this) < 9"}];
  string x = 3;
  string y = 4;
  oneof choice { option (buf.validate.oneof).required = true; bool c = 5; }
}
"""


@pytest.fixture(scope="module")
def contract(tmp_path_factory: pytest.TempPathFactory) -> Contract[Any]:
    folder = tmp_path_factory.mktemp("words")
    (folder / "m.proto").write_text(PROTO)
    return load_protos([folder / "m.proto"], folder)["words.M"]


def said(contract: Contract[Any], text: str, language: str | gettext.NullTranslations) -> list[str]:
    message = text_format.Parse(text, contract.message_type())
    return [violation.localized(language) for violation in contract.validate(message)]


def test_chinese(contract: Contract[Any]) -> None:
    assert said(contract, "a: 101 b: 'ab' c: true", "zh") == [
        "x, y 中必须设置一个", "必须大于 0 且小于或等于 100", "至少需要 3 个字符",
    ]  # fmt: skip
    for tag in ("zh-CN", "zh_Hans_CN", "ZH"):
        assert said(contract, "a: 1 b: 'abc' x: 'x'", tag) == ["oneof 中必须设置且仅设置一个字段"]


def test_the_contracts_own_message_wins(contract: Contract[Any]) -> None:
    assert said(contract, "a: 4 b: 'abcdefghijk' x: 'x' c: true", "zh") == ["must be lucky", "keep it short"]


def test_english_and_unknown_languages_are_the_rules_own_words(contract: Contract[Any]) -> None:
    for language in ("en", "en-GB", "tlh", ""):
        assert said(contract, "a: 1 b: 'ab' x: 'x' c: true", language) == ["must be at least 3 characters"]


def test_a_catalogue_of_the_users(contract: Contract[Any], tmp_path: Path) -> None:
    class German(gettext.NullTranslations):
        def gettext(self, message: str) -> str:
            return {
                "own.rule": "muss Glück bringen",
                "this.a != 13": "nicht 13",
                "string.min_len": "mindestens {0} Zeichen {1}",
                "": "header",
            }.get(message, message)

    assert said(contract, "a: 4 b: 'ab' x: 'x' c: true", German()) == ["muss Glück bringen", "mindestens 3 Zeichen {1}"]
    assert said(contract, "a: 13 b: 'abc' x: 'x' c: true", German()) == ["nicht 13"]
    # What the catalogue does not have stays as it is.
    assert said(contract, "a: 1 b: 'abcdefghijk' x: 'x' c: true", gettext.NullTranslations()) == ["keep it short"]


def test_own_rules_say_what_they_are_about() -> None:
    rule = Rule("a.B", (FieldElement(1, "amount", 9),), "money.ambiguous", "")
    violation = Violation(rule, "1.234", (), "two readings of a 5-character text")
    assert violation.localized("en") == "two readings of a 5-character text"
    assert violation.localized("zh").startswith("金额有两种读法")
    assert "1.234 " in violation.localized("zh")  # the example of the catalogue, never the value


def test_constants_are_no_templates() -> None:
    """A constant that looks like a place of the template is text."""
    rule = Rule("a.B", (), "string.prefix", "does not have prefix `{0}\n{1}`", "string.prefix")
    assert Violation(rule).localized("zh") == "缺少前缀“{0}\n{1}”"
