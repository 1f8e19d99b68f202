"""The cases of tests/cases/values as contracts: a message for each context, annotated with what the context says.

All messages stand in one .proto file, so that one compilation serves all cases.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

PACKAGE: Final = "values.v1"
FOLDER: Final = Path(__file__).parents[1] / "cases" / "values"

_HEAD: Final = f"""syntax = "proto3";
package {PACKAGE};
import "buf/validate/validate.proto";
import "protocontract/v1/contract.proto";

"""
# Enum options of the vocabulary; every other text is a text in the .proto as well.
_CHOICES: Final = frozenset(
    {"policy", "scale", "order", "epoch_unit", "fold", "gap", "leap_second", "hour24", "date_only", "excess_fraction",
     "normalize", "reject", "unit"}
)  # fmt: skip

Case = dict[str, Any]

# The files, and the words of the vocabulary that they are about.
FILES: Final = {
    "instants": "instant", "labels_and_numbers": "scalar", "money": "money", "spans": "spans", "text": "text",
}  # fmt: skip


def cases(name: str) -> list[Case]:
    """The cases of one file, and then our own of the same kind."""
    return [
        json.loads(line)
        for stem in (name, f"own_{name}")
        for line in (FOLDER / f"{stem}.jsonl").read_text(encoding="utf-8").split("\n")
        if line
    ]


def message_name(word: str, context: Mapping[str, Any], taken: dict[str, str]) -> str:
    """The name of the message for a context, the same for equal contexts."""
    key = f"{word} {json.dumps(context, sort_keys=True)}"
    return taken.setdefault(key, f"{word.title()}{len(taken) + 1}")


def proto(messages: Iterable[str]) -> str:
    """The .proto file that holds the messages."""
    return _HEAD + "\n".join(messages)


def option(name: str, value: Any) -> str:
    """One option in the text format of .proto files, or "" where it says nothing."""
    if value is None or value is False or value in ("reject", [], {}):
        return ""
    if isinstance(value, bool):
        return f"{name}: true"
    if name in _CHOICES:
        listed = value if isinstance(value, list) else [value]
        text = ", ".join(each.upper() for each in listed)
    else:
        text = json.dumps(value, ensure_ascii=False)
    return f"{name}: [{text}]" if isinstance(value, list) and name in _CHOICES else f"{name}: {text}"


def options(context: Mapping[str, Any]) -> str:
    return " ".join(filter(None, (option(name, value) for name, value in context.items())))


def money(name: str, context: Mapping[str, Any]) -> str:
    declared = f'{options(context)} currency_field: "currency"'
    return (
        f"message {name} {{\n  optional string value = 1 [(protocontract.v1.field).money = {{{declared}}}];\n"
        "  string currency = 2;\n}\n"
    )


def instant(name: str, context: Mapping[str, Any]) -> str:
    return (
        f"message {name} {{\n  optional string value = 1 [(protocontract.v1.field).instant = "
        f"{{{options(context)}}}];\n}}\n"
    )


def text(name: str, context: Mapping[str, Any]) -> str:
    declared = options(context)
    # A text without any step is a field without annotation.
    annotation = f" [(protocontract.v1.field).text = {{{declared}}}]" if declared else ""
    return f"message {name} {{\n  optional string value = 1{annotation};\n}}\n"


def spans(name: str, context: Mapping[str, Any]) -> str:
    relation = {key: value for key, value in context.items() if key not in ("task", "options")}
    if context["task"] == "remap":
        # Moving says nothing about overlaps and empty spans.
        relation |= {"allow_overlap": True, "allow_empty": True}
    declared = options(context.get("options", {}))
    annotation = f" [(protocontract.v1.field).text = {{{declared}}}]" if declared else ""
    return (
        f"message {name} {{\n"
        "  message Span { int64 start = 1; int64 end = 2; string label = 3; string surface = 4; }\n"
        f"  string text = 1{annotation};\n  repeated Span spans = 2 [(protocontract.v1.field).spans = "
        f'{{text: "text" start: "start" end: "end" surface: "surface" {options(relation)}}}];\n}}\n'
    )


def scalar(name: str, context: Mapping[str, Any]) -> str:
    kind = context["type"]
    if kind == "object":
        declared_fields = enumerate(context["fields"].items(), 1)
        fields = "".join(f"  {type_} {field} = {at};\n" for at, (field, type_) in declared_fields)
        return f"message {name} {{\n{fields}}}\n"
    rules: list[str] = []
    inner, type_ = "", kind
    if kind == "enum":
        numbered = sorted(context["enum"].items(), key=lambda pair: pair[1])
        values = "".join(f" {value} = {number};" for value, number in numbered)
        inner, type_ = f"  enum Choice {{{values} }}\n", "Choice"
        if context.get("defined_only"):
            rules.append("(buf.validate.field).enum.defined_only = true")
        if context.get("required"):
            rules.append("(buf.validate.field).required = true")
    elif kind == "label":
        pairs = " ".join(
            f"aliases: {{key: {json.dumps(label, ensure_ascii=False)} value: {{alias: "
            f"{json.dumps(aliases, ensure_ascii=False)}}}}}"
            for label, aliases in context["aliases"].items()
        )  # fmt: skip
        type_, rules = "optional string", [f"(protocontract.v1.field).label = {{{pairs}}}"]
    elif kind == "label_id":
        ids = f"num_classes: {context['num_classes']}"
        if context.get("ignore_index") is not None:
            ids += f" ignore_index: {context['ignore_index']}"
        type_, rules = "optional int64", [f"(protocontract.v1.field).label = {{{ids}}}"]
    else:
        declared = _scalar_options(context)
        if declared:
            rules.append(f"(protocontract.v1.field).scalar = {{{declared}}}")
        type_ = f"optional {kind}"
    annotation = f" [{', '.join(rules)}]" if rules else ""
    return f"message {name} {{\n{inner}  {type_} value = 1{annotation};\n}}\n"


def _scalar_options(context: Mapping[str, Any]) -> str:
    declared = [option(key, context[key]) for key in ("fold_width", "exact") if key in context]
    if "finite" in context:
        declared.append(f"finite: {json.dumps(context['finite'])}")
    for meaning, words in context.get("bool_words", {}).items():
        declared += [
            f"bool_words: {{key: {json.dumps(word, ensure_ascii=False)} value: {meaning}}}"
            for word in words if word not in ("true", "false")
        ]  # fmt: skip
    return " ".join(filter(None, declared))


def cell(name: str, context: Mapping[str, Any]) -> str:
    """A text cell: a string field that says what its text stands for."""
    declared = f"type: {context['type'].upper()} {_scalar_options(context)}"
    return f"message {name} {{\n  optional string value = 1 [(protocontract.v1.field).scalar = {{{declared}}}];\n}}\n"


WRITERS: Final = {"money": money, "instant": instant, "text": text, "spans": spans, "scalar": scalar, "cell": cell}
