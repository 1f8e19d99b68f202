"""strip_html: where markup begins and ends, what is left, and that it takes linear time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from protocontract.normalize import text
from protocontract.violations import Refusal
from tests.support.timing import seconds, within

BOUND = text.normalizer(strip_html=True)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("</>x", "x"),
        ("</", "</"),
        ("a</ x>b", "ab"),
        ("I </3> you", "I  you"),
        ("<!>x", "x"),
        ("<?>x", "x"),
        ("<!-->x", "x"),
        ("<!--->x", "x"),
        ("<!---->x", "x"),
        ("<!--a--!-->x", "x"),
        ("<!-- a -- b -->x", "x"),
        ('<!doctype a "x>y">z', 'y">z'),  # A doctype ends at the first >, quotes or not.
        ("<a title='>'>x</a>", "x"),
        ('<a title=">" b>x</a>', "x"),
        ("<a title=a>b>x", "b>x"),
        ("<a =x>y", "y"),
        ("<a x= >y", "y"),
        ("<a x=>y", "y"),
        ('<a x="1"y="2">z', "z"),
        ("<a/b/c>z", "z"),
        ("<a<b>c", "c"),
        ("<B\tC>d", "d"),
        ("<textarea><b>&lt;</textarea>", "<b><"),
        ("<textarea><b>", "<b>"),
        ("<textarea>a</textare>b</textarea>c", "a</textare>bc"),
        ("<iframe><b>&lt;</iframe>c", "<b>&lt;c"),
        ("<script><!--<script></script>--></script>x", "x"),
        ("<script><!--</script>x", "x"),
        ("<script><!--></script>x", "x"),
        ("<script></scriptx></script>y", "y"),
        ("<style><b></style >x", "x"),
        ("<plaintext></b>", " </b>"),
        ("a<br>b", "a b"),
        ("a<br/>b", "a b"),
        ("a</br>b", "a b"),
        ("&am<b>p;", "&amp;"),  # Each reference on its own: tags are found first.
        ("&amp;amp;", "&amp;"),
        ("&notit; &notin; &not", "\u00acit; \u2209 \u00ac"),
        ("&#x80; &#128; &#x9f;", "\u20ac \u20ac \u0178"),
        ("&#; &#x; &# &", "&#; &#x; &# &"),
        ("&#65 &#x41 &#X41;", "A A A"),
        ("&#99999999999999999999;", "\ufffd"),
        ("&#0000000000065;", "A"),
        ("&unknown; &AMP &Amp", "&unknown; & &Amp"),
        ("&NotEqualTilde;", "\u2242\u0338"),
    ],
)
def test_strip(value: str, expected: str) -> None:
    assert BOUND(value) == expected


@pytest.mark.parametrize(
    "value",
    ["b<a", "<!--", "<!-- -", "<!", "<?", "</x", "</ x", "<script>", "<script><!--<script></script>", "<style>",
     '<a b="', "<a b='>", "<a b=c", "<script></script", "<textarea></textarea ", "<!doctype", "<![CDATA["],
)  # fmt: skip
def test_markup_that_never_ends(value: str) -> None:
    refusal = BOUND(value)
    assert isinstance(refusal, Refusal)
    assert refusal.rule_id == "text.markup"


@pytest.mark.parametrize(
    "part", ["<a ", "&a", "&#x", "<!--", "<b>", "<br>", "</", '<a b="', "<a b=c>", "<script>", "<!--<script>", "- ->"]
)
def test_linear(part: str) -> None:
    def traced(count: int) -> Callable[[], object]:
        return partial(BOUND.traced, part * count)

    traced(100)()
    small = max(seconds(traced(20_000)), 0.002)
    assert within(8 * 5 * small, traced(160_000))
