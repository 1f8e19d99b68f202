"""Whatever comes in, a public function gives a value or raises Refused; nothing else escapes, and time is bounded."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from protocontract import Refused
from protocontract.normalize import instant, label, money, quantity, scalar, text
from protocontract.relations import graph, sequence, spans, tensor

STEPS: dict[str, Any] = {
    "strip_bom": True, "strip_html": True, "normalize": "nfkc", "fold_width": True, "strip_controls": True,
    "collapse_whitespace": True, "trim": True, "reject_empty": True,
}  # fmt: skip
REJECT = ["nul", "control", "replacement", "noncharacter", "bidi_control", "private_use", "tag", "mojibake"]
PARSE: dict[str, Callable[[Any], object]] = {
    "money": partial(money.normalize, default_currency="USD"),
    "money-lenient": partial(money.normalize, policy="lenient", locale="zh-CN", scale="any"),
    "find": partial(money.find, locale="zh-CN"),
    "quantity": partial(quantity.normalize, unit="m"),
    "quantity-lenient": partial(quantity.normalize, unit="m", policy="lenient", scale=3),
    "instant": partial(instant.normalize, zone="UTC", epoch_unit="s", excess_fraction="truncate"),
    "text": partial(text.normalize, **STEPS, reject=REJECT),
    "text-amounts": partial(text.normalize, amounts={"locale": "zh-CN"}, strip_html=True),
    "label": partial(label.normalize, aliases={"A": ["x"]}),
    "int64": partial(scalar.normalize, type="int64"),
    "int64-cell": partial(scalar.normalize, type="int64", form="text", fold_width=True),
    "double": partial(scalar.normalize, type="double", exact=True),
    "float-cell": partial(scalar.normalize, type="float", form="text"),
    "cell": lambda value: scalar.cell(type="float", fold_width=True)(value),
    "bytes": partial(scalar.normalize, type="bytes", form="text"),
    "enum": partial(scalar.normalize, type="enum", enum={"A": 0}),
    "bool": partial(scalar.normalize, type="bool", form="text", bool_words={"yes": True}),
    "label_id": partial(scalar.normalize, type="label_id", num_classes=3),
    "object": partial(scalar.normalize, type="object", fields={"a": "bytes"}),
    "check": lambda value: spans.check(value, [{"start": 0, "end": 1}], unit="utf16"),
    "remap": lambda value: spans.remap(value, [{"start": 0, "end": 1}], unit="utf8_byte", amounts={}, **STEPS),
}

SIZE = 100_000
TEXTS = [
    "9" * 5000, "9" * 4300, "９" * 1000, "٣" * 1000, "1" + "0" * 990 + ".5", "1," * 5000 + "1", "1.2.3" * 100,
    "." * 1000, "1e999999999", "1e-999999999", "万" * 1000, "億" * 50, "1" + "万" * 60, "一" * 999, "十" * 999,
    "点" * 100 + "一" * 100, "零" * 900, "一二三" * 300, "1兆" * 200, "(" * 1000, "-" * 1000, "$" * 1000, "USD " * 200,
    "5" + " " * 900 + "USD",
    "\u200f" * 900 + "5", "\ud800", "1\udfff", "\x00", "<" * SIZE, "&" * SIZE, "&#" + "9" * SIZE + ";",
    "<a " * (SIZE // 3),
    "<!--" * (SIZE // 4), "<script>" * (SIZE // 8), "\u0301" * (SIZE // 2), "a" + "\u0301" * (SIZE // 2), "[" * SIZE,
    '{"a":' * (SIZE // 5), "1 " * (SIZE // 2), "$1,234 " * (SIZE // 7), "é" * SIZE, "<b>x</b>" * (SIZE // 8),
    "9" * SIZE, "Ã©" * (SIZE // 2), " \t" * (SIZE // 2), "&amp;" * (SIZE // 5),
]  # fmt: skip
OTHERS: list[Any] = [
    None, True, 5, 10**5000, -(10**400), 1.5, float("nan"), float("inf"), b"5", [], {}, object(), ("5",), 5j, [None],
    [[]], [{}], ["a"], [float("nan")], [10**5000], {"a": 1}, {1, 2},
]  # fmt: skip


def bounded(function: Callable[..., object], *values: Any) -> None:
    start = time.process_time()
    with contextlib.suppress(Refused):
        function(*values)
    # Generous: the slowest takes half a second. What is quadratic takes minutes.
    assert time.process_time() - start < 10


@pytest.mark.parametrize("name", PARSE)
def test_normalizers(name: str) -> None:
    for value in (*TEXTS, *OTHERS):
        bounded(PARSE[name], value)


def test_relations() -> None:
    graphs = partial(graph.check, acyclic=True, closed=True)
    for value in (*OTHERS, "abc", range(3)):
        bounded(partial(sequence.check, step=1), value)
        bounded(partial(sequence.check, strictly_increasing=True, same_length_as=2), value)
        bounded(graphs, value, [[]])
        bounded(graphs, ["a"], value)
        bounded(graphs, ["a"], [value])
        bounded(graphs, value, value)
        bounded(partial(tensor.check, [1, 2], dims=["n"]))
        bounded(lambda value=value: tensor.check([1, 2], dims=["n"], shape=value))
        for dtype in ("int8", "float32", "float16", "bool", None):
            promises: dict[str, Any] = {"dims": ["n"], "finite": True, "min": 0, "max": 1, "l2_norm": (1, 0.1)}
            bounded(partial(tensor.check, dtype=dtype, **promises), value)
        bounded(spans.check, "abc", value)
        bounded(partial(spans.remap, trim=True), "abc", value)
        bounded(spans.check, "abc", [{"start": value, "end": 1}])
        bounded(spans.check, "abc", [{"start": 0, "end": 1, "surface": value}])
