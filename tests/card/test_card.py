"""Cards: what they count of each kind of field, what they never hold, and that splitting the work changes nothing."""

from __future__ import annotations

import hashlib
import json
import pickle
import struct
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from acme.finance.v1.transaction_contract import TRANSACTION
from protocontract.card import Card, CardBuilder
from protocontract.violations import ContractError
from tests.card.support import card_of, contract, field, message, messages


def test_any_split_over_workers_makes_the_same_card() -> None:
    outcomes = [contract().process(each.SerializeToString()) for each in messages(600)]
    whole: CardBuilder[Any] = CardBuilder(contract())
    for outcome in outcomes:
        whole.add(outcome)
    expected = whole.card()
    assert expected.data["records"]["read"] == 600
    assert expected.data["records"]["dropped"] > 100
    for workers in (2, 3, 7):
        parts: list[CardBuilder[Any]] = [CardBuilder(contract()) for _ in range(workers)]
        merged: CardBuilder[Any] = CardBuilder(contract())
        for place, outcome in enumerate(outcomes):
            worker = parts[place % workers]
            worker.add(outcome)
            if place % 50 == 0:  # what rides with a batch
                merged.merge(pickle.loads(pickle.dumps(worker.take())))
        for worker in reversed(parts):
            merged.merge(worker)
        assert merged.card().to_json() == expected.to_json()


def test_cards_of_two_contracts_do_not_merge() -> None:
    with pytest.raises(ValueError, match=r"two contracts; expected cards\.v1\.Sample"):
        CardBuilder(contract()).merge(CardBuilder(TRANSACTION))  # type: ignore[arg-type]


def test_what_was_dropped_and_why() -> None:
    card = card_of(
        message(label="cow"), message(label="cow", secret="s" * 31), message(seen_at="2026-01-01T00:00:00Z"),
        message(seen_at="2026-01-01 00:00:00"),
    )  # fmt: skip
    assert card.data["records"] == {
        "read": 4, "used": 2, "normalised": 1, "dropped": 2, "undecodable": 0, "left_out": 0,
    }  # fmt: skip
    assert [(row["path"], row["rule"], row["records"]) for row in card.data["dropped"]] == [
        ("label", "string.in", 2), ("secret", "string.max_len", 1),
    ]  # fmt: skip
    assert card.data["normalised"] == [{"path": "seen_at", "normalizer": "instant", "records": 1}]
    assert card.summary() == "4 read, 2 used, 2 dropped: 2 string.in, 1 string.max_len"


def test_records_that_are_no_messages_and_records_left_out() -> None:
    builder: CardBuilder[Any] = CardBuilder(contract())
    builder.add(contract().process(b"\xff\xff\xff"))
    builder.add_message(message())
    builder.leave_out("uneven", 3)
    card = builder.card()
    assert card.data["records"] == {
        "read": 5, "used": 1, "normalised": 0, "dropped": 1, "undecodable": 1, "left_out": 3,
    }  # fmt: skip
    assert card.summary() == "5 read, 1 used, 3 left out (3 uneven), 1 dropped: 1 wire.malformed"
    assert "3 uneven" in card.to_html()


def test_each_kind_of_field() -> None:
    card = card_of(
        message(
            text="Zoë", score=2.0, size=7, colour=2, at={"seconds": 60}, took={"seconds": 1, "nanos": 500_000_000},
            votes={"value": 3}, seen_at="2026-01-02 03:04:05", price="EUR 12.50", weight=" 1.50", kind="+",
            tags=[0, 4, -100], people={"x": {"name": "Ann", "age": 7}}, blob=b"abc", flag=True,
        ),
        message(score=0.0, colour=9),
    )  # fmt: skip
    kinds = {each["path"]: each["kind"] for each in card.data["fields"]}
    assert kinds == {
        "text": "text", "label": "label", "secret": "sensitive", "secrets": "sensitive", "hidden": "sensitive",
        "score": "number", "size": "integer", "colour": "label", "at": "moment", "took": "duration", "votes": "integer",
        "seen_at": "moment", "price": "number", "currency": "label", "weight": "number", "kind": "label",
        "tags": "label", "people": "message", "people[].name": "text", "people[].age": "integer", "blob": "bytes",
        "pixels": "tensor", "vector": "tensor", "tree": "message", "flag": "bool",
        "cut": "tensor",
    }  # fmt: skip
    score = field(card, "score")
    assert (score["of"], score["present"], score["absent"], score["default"]) == (2, 2, 0, 1)
    assert (field(card, "size")["present"], field(card, "size")["values"]["count"]) == (1, 2)
    assert field(card, "colour")["values"] == {"count": 2, "declared": 3, "labels": [["BLUE", 1]], "other": 1}
    assert field(card, "currency")["values"] == {"count": 2, "declared": 2, "labels": [["EUR", 1]], "other": 1}
    assert field(card, "kind")["values"]["labels"] == [["pos", 2]]
    assert field(card, "tags")["values"]["labels"] == [["0", 1], ["4", 1], ["-100", 1]]
    assert field(card, "tags")["list"]["max"] == 3
    assert field(card, "flag")["values"]["labels"] == [["false", 1], ["true", 1]]
    assert (field(card, "at")["present"], field(card, "at")["values"]["min"]) == (1, "1970-01-01T00:01:00Z")
    assert field(card, "seen_at")["values"]["max"] == "2026-01-02T03:04:05Z"
    assert field(card, "took")["values"]["max"] == 1.5
    assert (field(card, "votes")["values"]["max"], field(card, "votes")["absent"]) == (3, 1)
    assert field(card, "price")["values"]["max"] == 12.5
    assert field(card, "weight")["values"]["max"] == 1.5
    assert field(card, "blob")["values"]["max"] == 3
    people = field(card, "people")
    assert (people["map"]["max"], people["keys"]["kind"], people["keys"]["length"]["max"]) == (1, "text", 1)


def test_tensors_have_axes_and_a_range() -> None:
    card = card_of(
        message(pixels=struct.pack("<4f", 0, 1, 2, float("nan"))), message(pixels=struct.pack("<2f", -8, float("inf")))
    )
    pixels = field(card, "pixels")["values"]
    assert {name: pixels[name] for name in ("elements", "zeros", "nan", "infinite", "min", "max")} == {
        "elements": 6, "zeros": 1, "nan": 1, "infinite": 1, "min": -8.0, "max": 2.0,
    }  # fmt: skip
    free, fixed = pixels["axes"]
    assert (free["dim"], free["size"]["min"], free["size"]["max"]) == ("n", 1, 2)
    assert (fixed["dim"], fixed["size"]["min"]) == ("2", 2)


def test_a_tensor_that_a_warning_lets_pass_is_counted_as_far_as_it_goes() -> None:
    card = card_of(message(cut=b"\x01\x00\x02\x00\xff"))
    assert card.data["warnings"] == [
        {"path": "cut", "rule": "tensor.size", "code": card.data["warnings"][0]["code"], "records": 1}
    ]
    cut = field(card, "cut")["values"]
    assert (cut["elements"], cut["min"], cut["max"]) == (2, 1, 2)
    assert "warning, used" in card.to_html()


def test_a_message_in_itself_is_counted_and_not_entered() -> None:
    card = card_of(message(tree={"value": 1, "branches": [{"value": 2, "branches": [{"value": 3}]}]}))
    paths = [each["path"] for each in card.data["fields"] if each["path"].startswith("tree")]
    assert paths == ["tree", "tree.value", "tree.branches"]
    assert field(card, "tree.branches")["list"]["max"] == 1


def test_sensitive_fields_show_their_presence_and_nothing_else() -> None:
    marks = ("Quetzal", "hunter2", "31415")
    card = card_of(
        message(secret="Quetzal", secrets=["hunter2"] * 31, hidden={"name": "Quetzal", "age": 31415}), message()
    )
    for path in ("secret", "secrets", "hidden"):
        assert field(card, path) == {"path": path, "kind": "sensitive", "of": 2, "present": 1, "absent": 1}
    for written in (card.to_json().decode(), card.to_html()):
        assert not any(mark in written for mark in marks)
    # Other values of a sensitive field leave no trace.
    others = card_of(message(secret="x", secrets=["y"], hidden={"name": "z"}), message())
    assert others == card


def test_texts_and_labels_that_nobody_declared_are_never_shown() -> None:
    card = card_of(message(text="Quetzalcoatl", people={"Xochipilli": {"name": "Tlaloc"}}, colour=7777))
    for written in (card.to_json().decode(), card.to_html()):
        assert not any(mark in written for mark in ("Quetzal", "Xochi", "Tlaloc", "7777"))


def test_the_file_is_its_own_canonical_form(tmp_path: Path) -> None:
    card = card_of(*messages(50))
    files = card.write(tmp_path / "cards")
    raw = files[0].read_bytes()
    assert hashlib.sha256(raw).hexdigest() == card.sha256
    assert Card.read(files[0]) == card
    assert sorted(path.name for path in (tmp_path / "cards").iterdir()) == ["card.html", "card.json"]
    with pytest.raises(ContractError, match="not in canonical form"):
        Card.from_json(json.dumps(card.data).encode())
    with pytest.raises(ContractError, match="expected JSON"):
        Card.from_json(b"{")
    with pytest.raises(ContractError, match=r"expected the schema protocontract\.card/1"):
        Card.from_json(b'{"schema": "protocontract.card/2"}')


def test_a_card_names_contract_data_and_sources() -> None:
    builder: CardBuilder[Any] = CardBuilder(contract())
    builder.source("folder/a.jsonl", "ab" * 32, 3)
    other: CardBuilder[Any] = CardBuilder(contract())
    other.source("/other/folder/a.jsonl", "ab" * 32, 3)  # another rank's
    other.source("a queue", None, None)
    builder.merge(other)
    data = builder.card().data
    assert data["contract"] == {
        "name": "cards.v1.Sample", "version": "3.1.0", "fingerprint": contract().fingerprint,
    }  # fmt: skip
    assert set(data["data_versions"]) == {"unicodedata2", "tzdata", "Babel"}
    assert data["sources"] == [
        {"name": "a queue", "sha256": None, "records": None}, {"name": "a.jsonl", "sha256": "ab" * 32, "records": 3},
    ]  # fmt: skip


class _Page(HTMLParser):
    """Notes tags that are not closed, and what a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [f"{name}={value}" for name, value in attrs if name in {"src", "href"}]
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("number", [0, 1, 200])
def test_the_page_is_one_file_and_well_formed(number: int) -> None:
    html = card_of(*messages(number)).to_html()
    page = _Page()
    page.feed(html)
    page.close()
    assert (page.open, page.fetched) == ([], [])
    assert "url(" not in html
    assert "@import" not in html
    if number > 1:
        assert "&lt;fox&gt;" in html
        assert "<fox>" not in html


def test_the_page_says_neither_all_nor_nothing_of_a_part() -> None:
    builder: CardBuilder[Any] = CardBuilder(contract())
    for place in range(30_000):
        builder.add_message(message(score=1.0) if place else message())
    assert "set in &gt;99.99 % of 30,000" in builder.card().to_html()
