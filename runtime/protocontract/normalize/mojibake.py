"""Signs that a text was UTF-8 once and was decoded with another encoding: a heuristic for ``reject: mojibake``.

A byte sequence of UTF-8 that was read in a single-byte encoding looks like a lead character followed by one to three
continuation characters ("Ã©", "â€™", "Ð´"). Such sequences occur in sound text as well ("NESTLÉ®", "VOCÊ…", "5×£35"),
so each one is weighed: what it decodes to must be a character that people write, and a continuation that may well
stand behind a word (an ellipsis, a closing quote, a trade mark) counts only where a letter follows or where several
sequences touch. UTF-8 that was read as GBK or Shift JIS is told by characters that do not meet in sound text. The
heuristic prefers to miss damage over refusing sound text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from protocontract.normalize.unicode_data import character_class

# Encodings that UTF-8 is commonly mistaken for. In the windows encodings an unassigned byte counts as the C1 control
# of the same number, which is how the web reads them.
_ENCODINGS: Final = ("latin-1", "cp1252", "cp1254", "cp1250", "iso8859-2", "cp1251", "mac-roman", "cp437")

# What stands behind a word in sound text: closing marks, dashes, trade marks, degrees, a space that does not break.
_ORDINARY: Final = frozenset("…’”–—‘“»›™®©°\xa0\xad·")
# Of these, what may stand between two letters.
_JOINING: Final = frozenset("’–—\xa0\xad·")
_CURRENCY: Final = frozenset("$¢£¤¥€")
# Operands of √, ≈ and ∆.
_OPERANDS: Final = frozenset("πΩµ∂∑∏∫∞°")
# A small letter and a capital behind it, as no word has them inside.
_RISE: Final = re.compile("[a-zß-öø-ÿђ-џа-яёґ][A-ZÀ-ÖØ-ÞЂ-ЏА-ЯҐ]")
_BOX: Final = re.compile("[\u2500-\u259f]")
_IDEOGRAPH: Final = re.compile("[\u4e00-\u9fff]")

# Decoded characters that people write, as opposed to IPA, rare letters of large scripts, and unassigned places.
TWO_BYTES: Final = re.compile(
    "[\u00a0-\u017f\u018f\u01a0\u01a1\u01af\u01b0\u01cd-\u01dc\u0218-\u021b\u0259\u02c6\u02c7\u02d8-\u02dd\u0300-\u0304\u0306-\u030c\u0327\u0328\u0336"
    "\u0386-\u03ce\u0400-\u045f\u0490-\u0493\u049a\u049b\u04a2\u04a3\u04ae-\u04b1\u04d8\u04d9\u04e8\u04e9"
    "\u0531-\u0556\u0561-\u0587\u05d0-\u05ea\u060c\u061b\u061f\u0621-\u063a\u0640-\u0652"
    "\u0660-\u0669\u067e\u0686\u0698\u06a9\u06af\u06cc\u06f0-\u06f9]"
)
MORE_BYTES: Final = re.compile(
    "[\u0900-\u0dff\u0e00-\u0eff\u10a0-\u11ff\u1e00-\u1fff\u200b-\u2bff\u3000-\ua4cf\uac00-\ud7a3\uf900-\ufaff"
    "\ufb00-\ufb06\ufb1d-\ufdff\ufe00-\uffee\ufffd\ufeff\U0001d400-\U0001d7ff\U0001f000-\U0001faff\U00020000-\U0002fa1f]"
)
# A pair of surrogates, each written as if it were a character (CESU-8): characters beyond U+FFFF.
_PAIRED: Final = re.compile(b"\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]")
# Windows-1252 read as Latin-1 leaves C1 controls (U+0085 alone is a line break that people use); and "Ã" behind a small
# letter is what is left of "à" where a later step took its second half for a space.
C1: Final = r"\x80\x82-\x84\x86-\x8c\x8e\x91-\x9c\x9e\x9f"
_OTHER_SIGNS: Final = re.compile(f"[{C1}]|[a-z]Ã[ \xa0]")


class Reading(NamedTuple):
    """One encoding that the text may have been decoded with."""

    name: str
    sequence: re.Pattern[str]
    to_bytes: dict[int, str]


@lru_cache(maxsize=1)
def readings() -> tuple[Reading, ...]:
    found: list[Reading] = []
    for encoding in _ENCODINGS:
        characters = {byte: bytes([byte]).decode(encoding, "replace") for byte in range(0x80, 0x100)}
        characters = {byte: chr(byte) if each == "\ufffd" else each for byte, each in characters.items()}

        def some(first: int, last: int, characters: dict[int, str] = characters) -> str:
            return "[" + "".join(re.escape(characters[byte]) for byte in range(first, last + 1)) + "]"

        behind = some(0x80, 0xBF)
        sequence = re.compile(
            f"{some(0xC2, 0xDF)}{behind}|{some(0xE0, 0xEF)}{behind}{{2}}|{some(0xF0, 0xF4)}{behind}{{3}}"
        )
        to_bytes = {ord(character): chr(byte) for byte, character in characters.items()}
        found.append(Reading(encoding, sequence, to_bytes))
    return tuple(found)


@lru_cache(maxsize=1)
def _any_sign() -> re.Pattern[str]:
    """Matches wherever there is a sign of damage, and now and then elsewhere: one quick look at the text."""
    leads: set[int] = set()
    behind: set[int] = set()
    for reading in readings():
        for character, byte in reading.to_bytes.items():
            if "\xc2" <= byte <= "\xf4":
                leads.add(character)
            elif byte < "\xc0":
                behind.add(character)
    return re.compile(f"[{character_class(leads)}][{character_class(behind)} ]|[{C1}]")


@lru_cache(maxsize=1)
def east_asian_sign() -> re.Pattern[str]:
    """Ideographs of UTF-8 that were read as GBK or Shift JIS, and what GBK makes of two U+FFFD.

    Two ideographs of UTF-8 are six bytes, which GBK reads as three characters of a kind that 1.4 million characters of
    Chinese text do not hold once in a row; kana of UTF-8 begin with one of three rare characters in Shift JIS.
    """
    leads, behind, starts = range(0x81, 0xC0), range(0x80, 0xC0), range(0xE4, 0xEA)

    def read(first: range, second: range) -> str:
        pairs = (bytes((one, two)).decode("gbk", "ignore") for one in first for two in second if two != 0x7F)
        return character_class(ord(character) for character in {*"".join(pairs)})

    gbk = f"[{read(starts, behind)}][{read(leads, starts)}][{read(leads, behind)}]"
    return re.compile(f"{gbk}|[縺繧繝][\uff61-\uff7f]|锟斤拷")


def looks_misdecoded(text: str) -> bool:
    """Whether the text shows signs of having been decoded with the wrong encoding. Linear in its length."""
    if text.isascii():
        return False
    if _IDEOGRAPH.search(text) and east_asian_sign().search(text):
        return True
    if _any_sign().search(text) is None:
        return False
    return _OTHER_SIGNS.search(text) is not None or any(_is_damaged(text, reading) for reading in readings())


def _is_damaged(text: str, reading: Reading) -> bool:
    """Whether the sequences that this reading finds weigh two or more."""
    weight = 0
    last_start = last_end = -1
    last_counted = False
    for match in reading.sequence.finditer(text):
        source = match.group()
        start, end = match.span()
        raw = source.translate(reading.to_bytes).encode("latin-1")
        touching = start == last_end
        last_end = end
        if raw[0] == 0xED:
            pair = text[start : start + 6].translate(reading.to_bytes)
            if _PAIRED.match(pair.encode("latin-1", "replace")):
                return True
        decoded = _decoded(raw)
        if decoded is None:
            last_counted = False
            continue
        # Two sequences that touch, both of which make sense, are no coincidence, except as a word or line art.
        if touching and last_counted and not _could_be_meant(text[last_start:end]):
            return True
        last_counted, last_start = True, start
        before, after = text[max(start - 1, 0) : start], text[end : end + 1]
        weight += _weigh(reading.name, source, decoded, before, after)
        if weight >= 2:
            return True
    return False


def _could_be_meant(run: str) -> bool:
    """Whether a run of sequences reads as a word with an ordinary end, or as a line of boxes."""
    if all(_BOX.match(each) for each in run):
        return True
    return all(each.isalpha() or each in _ORDINARY for each in run) and not _RISE.search(run)


def _decoded(raw: bytes) -> str | None:
    try:
        decoded = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    likely = TWO_BYTES if len(raw) == 2 else MORE_BYTES
    return decoded if likely.fullmatch(decoded) else None


def _weigh(encoding: str, source: str, decoded: str, before: str, after: str) -> int:
    """2 for a sequence that sound text does not hold, 1 for a doubtful one, 0 for one that it may well hold."""
    lead, behind = source[0], source[1:]
    if any("\x80" <= each <= "\x9f" for each in behind):
        return 2
    in_word = (before + after).strip() != "" and (before.isalpha() or after.isalpha())
    if len(source) == 4:
        return 2
    if encoding == "cp437":
        return 2 if in_word and not (_BOX.match(lead) and _BOX.match(behind)) else 0
    if encoding == "mac-roman" and len(source) == 2:
        if lead not in "√¬ƒ≈∆" or not in_word:
            return 0
        return 0 if behind in _OPERANDS else 2
    if encoding == "cp1251" and len(source) == 2:
        # Ukrainian and Serbian have these pairs; next to a Latin letter they cannot be meant.
        latin = (before.isascii() and before.isalpha()) or (after.isascii() and after.isalpha())
        return 2 if latin else 0
    if lead in "×–—“”‘’":
        return 0
    if source.isalpha():
        # A word may hold these letters as they are: "zvlášť", "рупії", "Öštrič", "LĚŚOJSKI".
        if encoding == "cp1251":
            return 2 if behind[0].isupper() else 0
        if source.islower():
            return 0
        western = len(source) == 2 and 0xC3 <= ord(decoded) <= 0x17F and lead in "ÃÄÅĂĹ"
        if source.isupper() and (before.isupper() or after.isupper()) and not (western and lead == "Ã"):
            return 0
        if not western and len(source) == 2 and not before.isalpha() and behind.islower():
            return 0
    elif encoding == "cp1251" and not behind[0].isupper() and _could_be_meant(behind):
        return 0
    if all(each in _ORDINARY for each in behind):
        if lead == "Â" and len(source) == 2 and behind in "\xa0©®°»·":
            return 0 if before.isupper() else 2
        if lead == "Ã" and len(source) == 2:
            return _weigh_a_tilde(behind, before, after)
        if behind == "\xa0" and not before.isalpha() and after.isalpha():
            return 1
        if len(source) == 2 and decoded >= "\u0370":
            # One letter of another alphabet between ours: damage would have several that touch ("HUHLL Õ…Õ" is a face).
            return 0
        return 2 if after.isalpha() and not any(each in _JOINING for each in behind) else 0
    if len(source) == 2 and behind in _CURRENCY and lead not in "ÂÃ":
        return 1 if before.islower() or after.islower() else 0
    return 2


def _weigh_a_tilde(behind: str, before: str, after: str) -> int:
    """As ``_weigh`` for "Ã" and what may stand behind a word: most letters of Western Europe begin with it."""
    if behind == "\xa0":
        if before.isupper():
            return 1 if after.islower() else 0
        return 2
    if before.islower():
        # A capital behind a small letter: "humanitÃ©".
        return 2
    if behind == "™" or (behind == "—" and (before + after).isdecimal()):
        return 2
    if behind in "©®°·" and not before.isupper():
        # Behind a capital it may be the mark of a brand; at the beginning of a word it is half of a letter.
        return 2
    return 2 if after.isalpha() and behind not in "’—\xad·" else 0
