"""reject: mojibake. A heuristic: what it must find, and what it must leave alone."""

from __future__ import annotations

import pytest

from protocontract.normalize.mojibake import looks_misdecoded

SENTENCES = (
    "Grüße aus München",
    "déjà vu à l'été",
    "señor, ¿qué tal?",
    "Příliš žluťoučký kůň",
    "дорогие друзья",
    "价格是一百元",
    "日本語のテキスト",
    "“quoted” – and more…",
    "Tại sao giá lên",
    "😀 emoji",
)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_sound_text(sentence: str) -> None:
    assert not looks_misdecoded(sentence)
    assert not looks_misdecoded(sentence.upper())


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "cp1250", "cp1251", "mac-roman", "cp437"])
def test_damaged_text(sentence: str, encoding: str) -> None:
    # A byte for which the encoding has no character is read as a C1 control, as the web does.
    damaged = "".join(
        chr(byte) if (one := bytes([byte]).decode(encoding, "replace")) == "\ufffd" else one
        for byte in sentence.encode()
    )
    assert looks_misdecoded(damaged)


@pytest.mark.parametrize(
    "value",
    ["5×£35", "VOCÊ…", "É’s", "CAFÉ™", "[x]\xa0©", "2012—∞", "√π", "x√2", "├┤a┼┐a", "«CITÂ»",
     "Рік", "рупії…", "Кот-д’Івуар", "ФИЏИ", "zvlášť", "LĚŚOJSKI", "parlé\x85 Tu", "C O N C L U S Ã O"],
)  # fmt: skip
def test_left_alone(value: str) -> None:
    assert not looks_misdecoded(value)


@pytest.mark.parametrize(
    "value",
    ["Â£5", "Â©", "a\xc2\xa0b", "KÃ–LN", "RUF MICH ZURÃœCK", "DOS AÃ‘OS", "voilÃ  le travail", "â€™", "ï¿½",
     "wei√ü", "LiĂ¨ge", "#╨┐╤Ç╨░╨▓", "10Î³g", "hin\x93", "\xed\xa0\xbd\xed\xb8\x8d", "Ä°stanbul"],
)  # fmt: skip
def test_found(value: str) -> None:
    assert looks_misdecoded(value)


@pytest.mark.parametrize(
    ("sentence", "encoding"),
    [
        ("你好", "gbk"),
        ("价格是一百元", "gbk"),
        ("我是中国人", "gbk"),
        ("今天天气很好，明天下雨。", "gb18030"),
        ("日本語テスト", "gbk"),
        ("こんにちは", "shift_jis"),
        ("テストです", "shift_jis"),
    ],
)
def test_damaged_text_of_east_asia(sentence: str, encoding: str) -> None:
    assert not looks_misdecoded(sentence)
    assert looks_misdecoded(sentence.encode().decode(encoding, "replace"))


@pytest.mark.parametrize("text", ["锟斤拷", "姓名：锟斤拷锟斤拷"])
def test_replacement_characters_that_were_read_as_gbk(text: str) -> None:
    assert looks_misdecoded(text)


@pytest.mark.parametrize("text", ["联通", "浣熊", "縺れる", "繧", "娴静", "鏡花水月", "涓滴", "ｱｲｳ 繝"])
def test_rare_characters_are_no_damage(text: str) -> None:
    assert not looks_misdecoded(text)
