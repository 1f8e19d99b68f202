"""Descriptors and their options as IR."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from protocontract_compiler import ir
from protocontract_compiler.descriptors import Loaded, load
from protocontract_compiler.diagnostics import Diagnostics
from tests.compiler.sources import CONTRACTS, descriptors

PROTOS = Path(__file__).parent / "protos"


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    names = ["old.proto", "modern.proto", "custom.proto", "words/class.proto", "words/other-file.proto",
             "acme/inference/v1/model_service.proto"]  # fmt: skip
    files = descriptors(names, [PROTOS, CONTRACTS], tmp_path_factory.mktemp("reader"))
    return load(files, names, Diagnostics(), source_roots=[PROTOS])


def _fields(loaded: Loaded, message: str) -> dict[str, ir.Field]:
    return {field.name: field for field in loaded.schema.messages[message].fields}


def test_proto2(loaded: Loaded) -> None:
    fields = _fields(loaded, "old.v1.Old")
    assert fields["id"].legacy_required
    assert fields["id"].has_presence
    assert fields["count"].default == 7
    assert fields["color"].default == 1
    assert fields["part"].type == ir.TYPE_GROUP
    assert fields["part"].shape is ir.Shape.REPEATED
    assert fields["part"].message == "old.v1.Old.Part"
    assert loaded.schema.enums["old.v1.Color"].closed
    assert loaded.schema.messages["old.v1.Old.Part"].python_path == "Old.Part"


def test_editions(loaded: Loaded) -> None:
    fields = _fields(loaded, "modern.v1.Modern")
    assert not fields["id"].has_presence
    assert fields["count"].has_presence
    assert fields["code"].legacy_required
    assert fields["child"].type == ir.TYPE_GROUP  # delimited, as field paths count it
    assert fields["children"].type == ir.TYPE_MESSAGE  # entries of maps never are
    value = fields["children"].value
    assert value is not None
    assert value.message == "modern.v1.Modern"
    assert not loaded.schema.enums["modern.v1.Modern.Kind"].closed


def test_maps_and_oneofs(loaded: Loaded) -> None:
    article = loaded.schema.messages["custom.v1.Article"]
    fields = _fields(loaded, "custom.v1.Article")
    assert fields["translations"].shape is ir.Shape.MAP
    key = fields["translations"].key
    assert key is not None
    assert key.type == ir.TYPE_INT32
    assert fields["translations"].element_message == "custom.v1.Article"
    assert fields["text"].oneof == "body"
    assert [oneof.fields for oneof in article.oneofs] == [("text", "scan")]
    assert "custom.v1.Article.TranslationsEntry" not in loaded.schema.messages


def test_optional_of_proto3_is_no_oneof(tmp_path: Path) -> None:
    (tmp_path / "o.proto").write_text(
        'syntax = "proto3"; message O { optional string a = 1; oneof _b { string b = 2; } string c = 3; }'
    )
    files = descriptors(["o.proto"], [tmp_path], tmp_path)
    message = load(files, ["o.proto"], Diagnostics()).schema.messages["O"]
    assert [field.oneof for field in message.fields] == [None, "_b", None]
    assert [oneof.name for oneof in message.oneofs] == ["_b"]
    assert [field.has_presence for field in message.fields] == [True, True, False]


def test_predefined_rules_of_the_contract_are_seen(loaded: Loaded) -> None:
    descriptor = loaded.pool.FindFieldByName("custom.v1.Article.path")
    rules = loaded.options.field_rules(descriptor)
    assert rules is not None
    extension = loaded.pool.FindExtensionByName("custom.v1.slug")
    assert rules.string.Extensions[extension] is True  # type: ignore[attr-defined]
    predefined = loaded.options.predefined(extension)
    assert predefined is not None
    assert predefined.cel[0].id == "string.slug"  # type: ignore[attr-defined]
    # The rule's CEL is part of the canonical text: a change of it is a change of the contract.
    assert "string.slug" in _fields(loaded, "custom.v1.Article")["path"].rule_source


def test_comments_and_places(loaded: Loaded) -> None:
    article = loaded.schema.messages["custom.v1.Article"]
    assert article.comment == "An article.\n\nIts comment has two paragraphs."
    assert article.place == ir.Place("custom.proto", 20, 1)
    path = article.field("path")
    assert path.comment == "where it is found"
    assert path.place == ir.Place("custom.proto", 21, 3)


def test_services(loaded: Loaded) -> None:
    service = loaded.schema.services["acme.inference.v1.ModelService"]
    assert [method.name for method in service.methods] == ["Predict"]
    assert service.methods[0].request == "acme.inference.v1.PredictRequest"


def test_a_set_may_lack_what_every_installation_has(loaded: Loaded, tmp_path: Path) -> None:
    """And its files may come in any order."""
    files = descriptors(["words/class.proto"], [PROTOS, CONTRACTS], tmp_path)
    kept = [file for file in reversed(files.file) if file.name.startswith("words/")]
    schema = load(FileDescriptorSet(file=kept), ["words/class.proto"], Diagnostics()).schema
    assert schema.messages["words.import.None"].fields == loaded.schema.messages["words.import.None"].fields
    assert list(schema.files).index("words/other-file.proto") < list(schema.files).index("words/class.proto")
