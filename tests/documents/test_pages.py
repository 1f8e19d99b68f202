"""Pages: what they say, in which order, in both languages and forms; and that nothing in them leads nowhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from protocontract import load
from protocontract_compiler import ir
from protocontract_compiler.emit.documents.html import ENDINGS as HTML
from protocontract_compiler.emit.documents.html import TAGS
from protocontract_compiler.emit.documents.markdown import ENDINGS as MARKDOWN
from protocontract_compiler.emit.documents.words import WORDS, Words
from protocontract_compiler.passes.codes import places
from tests.documents.support import pages, read

TRANSACTION = "acme.finance.v1.Transaction"
SECTIONS = [
    "guarantees", "levels", "uniform", "fields", "examples", "codes", "history", "consumers",
]  # fmt: skip


def test_each_contract_and_service_has_its_pages(schema: ir.Schema, site: Mapping[str, str]) -> None:
    names = ["index", *schema.dossiers]
    assert {"acme.inference.v1.ModelService", "acme.text.v1.TextSample"} <= set(names)
    endings = [*HTML.values(), *MARKDOWN.values()]
    assert set(site) == {name + ending for name in names for ending in endings}


def test_every_link_leads_somewhere(site: Mapping[str, str]) -> None:
    found = {name: read(text) for name, text in site.items() if name.endswith(".html")}
    links = 0
    for name, page in found.items():
        assert len(set(page.ids)) == len(page.ids), name
        assert page.resources == []
        for link in page.links:
            target, _, anchor = link.partition("#")
            links += 1
            assert (target or name) in found, f"{name}: {link}"
            assert not anchor or anchor in found[target or name].ids, f"{name}: {link}"
    assert links > 400


@pytest.mark.parametrize("language", TAGS)
def test_links_of_markdown_lead_somewhere(site: Mapping[str, str], language: str) -> None:
    anchors = {name: set(re.findall(r'<a id="([^"]+)">', text)) for name, text in site.items() if name.endswith(".md")}
    for name in anchors:
        if name.endswith(".zh.md") != (language == "zh"):
            continue
        for target, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", _outside_code(site[name])):
            assert (target or name) in anchors, f"{name}: {target}"
            assert not anchor or anchor in anchors[target or name], f"{name}: {anchor}"


def _outside_code(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("language", TAGS)
def test_a_page_begins_with_what_is_guaranteed(site: Mapping[str, str], language: str) -> None:
    page = read(site[TRANSACTION + HTML[language]])
    assert page.languages == [TAGS[language]]
    assert page.title == f"{TRANSACTION} 1.4.0"
    assert [anchor for anchor in page.ids if anchor in SECTIONS] == SECTIONS
    markdown = site[TRANSACTION + MARKDOWN[language]]
    assert [anchor for anchor in re.findall(r'<a id="([^"]+)">', markdown) if anchor in SECTIONS] == SECTIONS


def test_promises_are_sentences(site: Mapping[str, str]) -> None:
    english, chinese = (_points(site[f"{TRANSACTION}{ending}"], "guarantees") for ending in (".md", ".zh.md"))
    assert english == [
        "`id` is a UUID and is the key of its record.",
        "`amount` is always set and is an amount in CNY or USD.",
        "`currency` is `CURRENCY_UNSPECIFIED`, `CNY` or `USD`.",
        "`booked_at` is always set, is a moment and is read in Asia/Shanghai where no zone is given.",
        "`account` has 19 characters and is sensitive: no value is ever shown.",
        "`kind` is `KIND_PAYMENT` or `KIND_REFUND`.",
        "`refund_of` is a UUID or is empty.",
        "`memo` has at most 140 characters and contains no bidi controls or replacement characters.",
        "A refund names the payment that it takes back, and only a refund does.",
        # The rule has no message of its own; its expression says this.
        "A transaction cannot refund itself.",
    ]
    assert len(chinese) == len(english)
    assert chinese[0] == "`id` 是 UUID，是记录的键。"
    # The contract's own words stay as they are.
    assert chinese[8:] == english[8:]


def test_levels_are_sentences(site: Mapping[str, str]) -> None:
    assert _points(site["acme.text.v1.TextSample.md"], "levels") == [
        "At least 99 % of the records keep the contract.",
        "At most 1 % of the records break the contract.",
        "A record is checked within 1 minute of `created_at`.",
        "There is never a silence of more than 15 minutes.",
        "At least 5 records come each second.",
        "When a promise is missed, the stream halts: nothing more is handed on until a person resumes it.",
    ]
    assert _points(site["acme.text.v1.TextSample.zh.md"], "levels")[2] == "记录在 `created_at` 之后 1 分钟内完成检查。"
    assert "levels" not in read(site["acme.pipeline.v1.Conversation.html"]).ids


def test_a_service_says_what_its_callers_may_expect(site: Mapping[str, str]) -> None:
    text = site["acme.inference.v1.ModelService.md"]
    for sentence in (
        "`Predict` takes [`PredictRequest`](acme.inference.v1.PredictRequest.md) and answers "
        "[`PredictResponse`](acme.inference.v1.PredictResponse.md).",
        "- 99 of 100 calls are answered within 200 ms.",
        "- 99.9 % of the valid requests are answered.",
        "- A call that fails with `UNAVAILABLE` is made up to 3 times in all.",
        "- 200 calls a second are taken, 400 at once.",
        "- Where its device is gone, the model runs on `CPUExecutionProvider`.",
        "- Its numbers differ by 1 % of the value at most.",
    ):
        assert sentence in text
    assert "- 设备不可用时，改用模型 `content_type_int8.onnx`。" in site["acme.inference.v1.ContentTypeService.zh.md"]


def _points(text: str, anchor: str) -> list[str]:
    section = text.partition(f'<a id="{anchor}"></a>')[2].partition("<a id=")[0]
    return [line.removeprefix("- ") for line in section.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("language", TAGS)
def test_all_error_codes_are_explained(schema: ir.Schema, site: Mapping[str, str], language: str) -> None:
    for name, dossier in schema.dossiers.items():
        message = schema.messages.get(name)
        if message is None:
            assert dossier.examples == ()
            continue
        text = site[name + MARKDOWN[language]]
        rows = dict(re.findall(r'^\| <a id="x([0-9a-f]{8})"></a>(.*)$', text, re.MULTILINE))
        for place in places(schema, message):
            row = rows[f"{place.code:08x}"]
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)]
            assert cells[0] == f"`{place.code:#010x}`"
            assert cells[2].startswith(f"`{place.rule_id}`")
            # Not what a rule says with its constants left out.
            assert cells[3], row
            assert "…" not in cells[3], row
            assert "{0}" not in cells[3], row
            assert cells[4], row


def test_remedies_are_in_the_language_of_the_page(site: Mapping[str, str]) -> None:
    row = next(line for line in site[f"{TRANSACTION}.zh.md"].splitlines() if "`money.currency`" in line)
    assert "发送 `money.allowed` 列出的 ISO 4217 代码" in row
    # A rule that no example breaks has the message that a violation would have.
    chinese = site["acme.inference.v1.PredictResponse.zh.md"]
    assert "`evidence.previous` | `repeated.max_items` | 最多允许 1 项 |" in chinese


def test_codes_of_records_are_those_of_the_runtime(site: Mapping[str, str]) -> None:
    contract = load(TRANSACTION)
    for raw in (b"\xff", None):
        violation = contract.process(raw).violations[0]
        assert f"`{violation.code:#010x}` | whole record | `{violation.rule_id}`" in site[f"{TRANSACTION}.md"]


def test_the_modules_that_use_a_contract(site: Mapping[str, str]) -> None:
    text = site[f"{TRANSACTION}.md"]
    assert "| `ledger` | @payments | reads | python | `Kind.KIND_PAYMENT`" in text
    # The lock says that it holds the message and looks at none of its fields.
    assert "| `demo` | @protocontract | not known | python | the message as a whole |" in text
    assert (
        "| `encoder` | @serving | reads and writes | python | `Predict` |" in site["acme.inference.v1.ModelService.md"]
    )
    assert "No module is known that uses it" in site["acme.pipeline.v1.Conversation.md"]


SHOP = """
syntax = "proto3";
package shop.v1;
import "protocontract/v1/contract.proto";
import "buf/validate/validate.proto";
message Order {
  option (protocontract.v1.contract) = {version: "1.1.0" owner: "shop@acme.example"};
  string code = 1 [
    (protocontract.v1.field) = {
      severities: {key: "string.min_len" value: WARNING}
      error_class: {source: MODEL remedy: RETRAINING}
      contexts: {key: "string.max_len" value: {names: ["create"]}}
      since: "1.1.0" sunset: "2027-01-01" unit: ""
    },
    (buf.validate.field).string = {min_len: 2 max_len: 5}
  ];
  optional uint32 grams = 2 [(protocontract.v1.field).unit = "g"];
  map<string, Line> lines = 3;
  Order parent = 4;
}
message Line { repeated int32 counts = 1 [(buf.validate.field).repeated.items.int32.gt = 0]; }
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """A contract with what lies beside it: two versions, three modules."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "shop.proto").write_text(SHOP)
    (folder / "history").mkdir()
    (folder / "history" / "shop.v1.Order.toml").write_text(
        """
[[version]]
version = "1.1.0"
date = "2026-02-03"
[[version.change]]
path = "shop.v1.Order.grams"
direction = "added"
text = "added: optional uint32 grams = 2"

[[version]]
version = "1.0.0"
date = 2026-01-02
"""
    )
    (folder / "modules.toml").write_text(
        """
[[module]]
name = "till"
owner = "@tills"
role = "writer"
languages = ["cobol"]
contracts = "shop.v1"
uses = ["shop.v1.Order.code"]
[[module]]
name = "other"
contracts = ["shop.v1.Orders", "stock"]
[[module]]
name = "depot"
contracts = ["shop.proto"]
"""
    )
    return pages(folder)


def test_versions_come_from_the_history(shop: Mapping[str, str]) -> None:
    text = shop["shop.v1.Order.md"]
    assert "| 1.1.0 | 2026-02-03 | `shop.v1.Order.grams` added: optional uint32 grams = 2 (added) |" in text
    assert "| 1.0.0 | 2026-01-02 | first version on record |" in text
    assert "（新增）" not in text
    assert "(新增)" in shop["shop.v1.Order.zh.md"]


def test_modules_without_locks_are_those_that_declare_the_contract(shop: Mapping[str, str]) -> None:
    text = shop["shop.v1.Order.md"]
    assert "| `till` | @tills | writes | cobol | `code` |" in text
    assert "| `depot` |  | not known |  | not recorded |" in text
    assert "`other`" not in text


def test_what_is_special_about_fields_and_rules(shop: Mapping[str, str]) -> None:
    text = shop["shop.v1.Order.md"]
    assert "`code` has 2 to 5 characters." in text
    assert "(since 1.1.0, may go after 2027-01-01)" in text
    assert "(in g, optional)" in text
    assert "map of `string` to [`Line`](#shop-v1-Line)" in text
    assert "list of `int32`" in text
    assert "`string.min_len` (warning only, the model produced it)" in text
    assert "`string.max_len` (only for create, the model produced it)" in text
    assert "train the model anew" in text
    # A message within itself is not described twice.
    assert text.count('<a id="shop-v1-Line"></a>') == 1


def test_words_are_the_same_in_all_languages() -> None:
    english = WORDS["en"]
    for words in WORDS.values():
        assert words.keys() == english.keys()
        for key, text in words.items():
            assert set(re.findall(r"\{\d\}", text)) == set(re.findall(r"\{\d\}", english[key])), key


@pytest.mark.parametrize(
    ("nanos", "english", "chinese"),
    [
        (0, "0 s", "0 秒"), (20_000_000, "20 ms", "20 毫秒"), (1_500_000_000, "1.5 s", "1.5 秒"),
        (60 * 10**9, "1 minute", "1 分钟"), (90 * 10**9, "90 s", "90 秒"), (7200 * 10**9, "2 hours", "2 小时"),
        (86400 * 10**9, "1 day", "1 天"),
    ],
)  # fmt: skip
def test_durations(nanos: int, english: str, chinese: str) -> None:
    assert (Words("en").duration(nanos), Words("zh").duration(nanos)) == (english, chinese)


@pytest.mark.parametrize(
    ("share", "text"), [(0.999, "99.9 %"), (1.0, "100 %"), (0.99999, "99.999 %"), (0.07, "7 %"), (1e-05, "0.001 %")]
)
def test_shares_are_not_rounded(share: float, text: str) -> None:
    assert Words("en").percent(share) == text


NESTED = """
syntax = "proto3"; package nested;
import "protocontract/v1/contract.proto"; import "buf/validate/validate.proto";
message Outer {
  option (protocontract.v1.contract).version = "1.0.0";
  Inner one = 1 [(buf.validate.field).required = true];
  repeated Inner many = 2;
  map<string, Inner> named = 3;
}
message Inner {
  option (buf.validate.message).cel = {
    id: "inner.order" message: "it ends after it begins" expression: "this.from < this.to"
  };
  option (buf.validate.message).cel = {id: "inner.bare" expression: "this.from != 7"};
  option (buf.validate.message).oneof = {fields: ["from", "to"]};
  int32 from = 1;
  int32 to = 2;
}
"""


def test_rules_of_messages_are_sentences_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "nested.proto").write_text(NESTED)
    assert _points(pages(tmp_path)["nested.Outer.md"], "guarantees") == [
        "`one` is always set.",
        *(
            f"`{path}`: {sentence}"
            for path in ("one", "many[]", "named[]")
            for sentence in (
                "it ends after it begins.", "The rule `inner.bare` is kept.", "at most one of `from` and `to` is set."
            )
        ),
    ]  # fmt: skip


def test_a_contract_without_rules(tmp_path: Path) -> None:
    (tmp_path / "bare.proto").write_text(
        'syntax = "proto3"; package bare; import "protocontract/v1/contract.proto";\n'
        'message Bare { option (protocontract.v1.contract).owner = "x"; string a = 1; }\n'
        "message Other { string b = 1; }"
    )
    found = pages(tmp_path)
    assert "bare.Other.html" not in found
    page = read(found["bare.Bare.html"])
    assert "This contract has no rules" in page.text
    assert "No version has been recorded yet" in page.text
    assert page.title == "bare.Bare"
