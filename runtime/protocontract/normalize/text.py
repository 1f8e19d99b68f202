"""The normalizer ``text``: the declared steps, in one order, with the exact map of offsets.

Order: ``reject`` on the raw text, strip_bom, strip_html, normalize, fold_width, strip_controls, collapse_whitespace,
trim, amounts, ``reject`` on the result, reject_empty. Lone surrogates are always refused. Where a normalization form
is declared it is restored after fold_width and strip_controls, which can bring characters together that compose; so
a second pass changes nothing (strip_bom and strip_html alone are not idempotent).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, cast

from protocontract.normalize import amounts as amounts_step
from protocontract.normalize.composition import normalization_edits, width_edits
from protocontract.normalize.edits import Edit, EditMap, Kind, splice
from protocontract.normalize.html import html_edits
from protocontract.normalize.unicode_data import (
    BIDI_CONTROL_CLASS,
    FLAG_TAG_SEQUENCE,
    NONCHARACTER_CLASS,
    PRIVATE_USE_CLASS,
    REJECTED_CONTROL_CLASS,
    STRIPPED_CONTROL_CLASS,
    SURROGATE_CLASS,
    TAG_CLASS,
    WHITE_SPACE,
    WHITE_SPACE_CLASS,
    Form,
    unicode_data,
)
from protocontract.violations import Change, Normalized, OptionError, Refusal, Refused, describe

_FORMS: Final[Mapping[str, Form]] = {"nfc": "NFC", "nfkc": "NFKC"}

_SURROGATE: Final = re.compile(f"[{SURROGATE_CLASS}]")
# Where fold_width may find something: the ideographic space and the block of full-width and half-width forms.
_MAY_FOLD: Final = re.compile("[\u3000\uff00-\uffef]")
_CONTROLS: Final = re.compile(f"[{STRIPPED_CONTROL_CLASS}]+")
# Runs that become one space: two and more, or one that is not a space yet.
_RUNS: Final = re.compile(f"[{WHITE_SPACE_CLASS}]{{2,}}|[{WHITE_SPACE_CLASS.replace(' ', '')}]")


class _Class(NamedTuple):
    """A class of characters that ``reject`` names."""

    rule_id: str
    what: str
    characters: str
    """The inside of a regular expression class; a text without any of them is not of the class."""
    ascii_characters: str = ""
    """Those of them that are ASCII."""
    present: Callable[[str], object] | None = None
    """Looks more closely at a text that holds some of the characters."""


_FLAGS: Final = re.compile(FLAG_TAG_SEQUENCE)
_TAGS: Final = re.compile(f"[{TAG_CLASS}]")


def _stray_tag(text: str) -> object:
    return _TAGS.search(_FLAGS.sub("", text))


def _looks_misdecoded(text: str) -> object:
    # Imported by those who ask for it: its patterns take longer to compile than all others of a text together.
    from protocontract.normalize.mojibake import looks_misdecoded

    return looks_misdecoded(text)


_CLASSES: Final[Mapping[str, _Class]] = {
    "nul": _Class("text.nul", "U+0000", r"\x00", r"\x00"),
    "control": _Class("text.control", "a control character other than TAB, LF and CR",
                      REJECTED_CONTROL_CLASS, r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f"),
    "replacement": _Class("text.replacement", "U+FFFD, the mark of a text that was damaged before it came", r"\ufffd"),
    "noncharacter": _Class("text.noncharacter", "a noncharacter", NONCHARACTER_CLASS),
    "bidi_control": _Class("text.bidi", "a control of the writing direction", BIDI_CONTROL_CLASS),
    "private_use": _Class("text.private_use", "a private use character", PRIVATE_USE_CLASS),
    "tag": _Class("text.tag", "a tag character outside of an emoji flag", TAG_CLASS, present=_stray_tag),
    "mojibake": _Class("text.mojibake", "signs of having been decoded with the wrong encoding",
                       r"\x80-\U0010ffff", present=_looks_misdecoded),
}  # fmt: skip


class _Step(NamedTuple):
    """One step: its result, and the edits that lead there. A refusal ends the normalization."""

    apply: Callable[[str], str | Refusal]
    edits: Callable[[str], Sequence[Edit] | Refusal]


def _strip_bom(text: str) -> str:
    return text.removeprefix("\ufeff")


def _bom_edits(text: str) -> list[Edit]:
    return [Edit(0, 1, "")] if text.startswith("\ufeff") else []


def _strip_html(text: str) -> str | Refusal:
    edits = html_edits(text)
    if isinstance(edits, Refusal):
        return edits
    return splice(text, edits) if edits else text


def _fold_width(text: str) -> str:
    if text.isascii():
        return text
    edits = width_edits(text)
    return splice(text, edits) if edits else text


def _trim(text: str) -> str:
    return text.strip(WHITE_SPACE)


def _trim_edits(text: str) -> list[Edit]:
    start = len(text) - len(text.lstrip(WHITE_SPACE))
    end = len(text.rstrip(WHITE_SPACE))
    if start >= end:
        return [Edit(0, len(text), "")] if text else []
    edits = [Edit(0, start, "")] if start else []
    if end < len(text):
        edits.append(Edit(end, len(text), ""))
    return edits


def _pattern_step(pattern: re.Pattern[str], replacement: str, kind: Kind) -> _Step:
    def edits(text: str) -> list[Edit]:
        return [Edit(match.start(), match.end(), replacement, kind) for match in pattern.finditer(text)]

    return _Step(partial(pattern.sub, replacement), edits)


_BOM_STEP: Final = _Step(_strip_bom, _bom_edits)
_HTML_STEP: Final = _Step(_strip_html, html_edits)
_WIDTH_STEP: Final = _Step(_fold_width, width_edits)
_CONTROL_STEP: Final = _pattern_step(_CONTROLS, "", Kind.UNIT)
_COLLAPSE_STEP: Final = _pattern_step(_RUNS, " ", Kind.RUN)
_TRIM_STEP: Final = _Step(_trim, _trim_edits)


class TextNormalizer:
    """The options of one text field, checked and bound: a callable that never raises for a value.

    Calling it gives the normalised text (the same object where nothing changed) or a Refusal.
    """

    __slots__ = (
        "_amounts", "_ascii_suspect", "_classes", "_collapse", "_fold", "_form", "_marks", "_mojibake",
        "_reject_empty", "_steps", "_suspect", "_trim",
    )  # fmt: skip

    def __init__(
        self,
        *,
        strip_bom: bool = False,
        strip_html: bool = False,
        normalize: str | None = None,
        fold_width: bool = False,
        strip_controls: bool = False,
        collapse_whitespace: bool = False,
        trim: bool = False,
        reject: Iterable[str] | None = None,
        reject_empty: bool = False,
        amounts: Mapping[str, Any] | None = None,
    ) -> None:
        form = _form(normalize)
        self._classes: Final = _classes(reject)
        self._reject_empty: Final = bool(reject_empty)
        self._amounts: Final = None if amounts is None else amounts_step.finder(amounts)

        steps: list[_Step] = []
        if strip_bom:
            steps.append(_BOM_STEP)
        if strip_html:
            steps.append(_HTML_STEP)
        form_step = None
        if form:
            form_step = _Step(partial(unicode_data().normalize, form), partial(normalization_edits, form))
            steps.append(form_step)
        if fold_width:
            steps.append(_WIDTH_STEP)
        if strip_controls:
            steps.append(_CONTROL_STEP)
        if form_step and (fold_width or strip_controls):
            steps.append(form_step)
        if collapse_whitespace:
            steps.append(_COLLAPSE_STEP)
        if trim:
            steps.append(_TRIM_STEP)
        if self._amounts:
            steps.append(_Step(self._amounts.apply, self._amounts.edits))
        self._steps: Final = tuple(steps)

        # What the fast path looks at.
        self._form: Final = partial(unicode_data().normalize, form) if form else None
        self._fold: Final = _MAY_FOLD.search if fold_width else None
        self._trim: Final = bool(trim)
        self._collapse: Final = bool(collapse_whitespace)
        names = {each.rule_id for each in self._classes}
        self._mojibake: Final = "text.mojibake" in names
        self._suspect: Final = re.compile(
            f"[{SURROGATE_CLASS}{''.join(each.characters for each in self._classes)}]"
        ).search
        of_ascii = "".join(each.ascii_characters for each in self._classes)
        self._ascii_suspect: Final = re.compile(f"[{of_ascii}]").search if of_ascii else None
        self._marks: Final = (
            *(("<", "&") if strip_html else ()),
            *(("\ufffd",) if "text.replacement" in names else ()),
        )

    def __call__(self, value: object) -> str | Refusal:
        """The normalised text, ``value`` itself where nothing changed, or why it is refused."""
        if not isinstance(value, str):
            return _not_text(value)
        if (value.isprintable() or self._has_lines(value)) and self._is_clean(value):
            return value
        refusal = self._refused(value)
        if refusal is not None:
            return refusal
        text = value
        for step in self._steps:
            result = step.apply(text)
            if isinstance(result, Refusal):
                return result
            text = result
        if text == value:
            text = value
        else:
            refusal = self._refused(text)
            if refusal is not None:
                return refusal
        if not text and self._reject_empty:
            return _EMPTY
        return text

    def edited(self, value: object) -> str | EditMap | Refusal:
        """As a call, but a text that changed comes as the map of offsets into ``value``, which holds it."""
        if not isinstance(value, str):
            return _not_text(value)
        if (value.isprintable() or self._has_lines(value)) and self._is_clean(value):
            return value
        refusal = self._refused(value)
        if refusal is not None:
            return refusal
        text = value
        trace: list[Sequence[Edit]] = []
        for step in self._steps:
            edits = step.edits(text)
            if isinstance(edits, Refusal):
                return edits
            if edits:
                trace.append(edits)
                text = splice(text, edits)
        if text != value:
            refusal = self._refused(text)
            if refusal is not None:
                return refusal
        if not text and self._reject_empty:
            return _EMPTY
        return value if text == value else EditMap(text, trace)

    def traced(self, value: object) -> tuple[str, EditMap] | Refusal:
        """The normalised text and the map of offsets into ``value``, or why it is refused."""
        result = self.edited(value)
        if isinstance(result, Refusal):
            return result
        return (result, EditMap(result)) if isinstance(result, str) else (result.text, result)

    def warnings(self, value: object) -> list[Refusal]:
        """What ``amounts`` left as it was because it is ambiguous or wrong: one refusal an amount, in order.

        ``index`` is the number of the amount among all amounts of the text. Empty without ``amounts``, and for a text
        that is refused as a whole.
        """
        if self._amounts is None or not isinstance(value, str) or self._refused(value) is not None:
            return []
        text = value
        for step in self._steps[:-1]:
            result = step.apply(text)
            if isinstance(result, Refusal):
                return []
            text = result
        return self._amounts.warnings(text)

    def _has_lines(self, value: str) -> bool:
        """Whether a text is printable but for line feeds, where these may stay."""
        return not self._collapse and "\n" in value and value.replace("\n", "").isprintable()

    def _is_clean(self, value: str) -> bool:
        """Whether a text that is printable but for line feeds needs nothing done to it.

        A printable text (as ``str.isprintable`` has it) holds no control, format, surrogate, private use or unassigned
        character and no white space but U+0020, whichever version of Unicode the interpreter knows: a younger one only
        makes more texts printable, and a character is never moved into one of these categories.
        """
        if not value:
            return not self._reject_empty
        for mark in self._marks:
            if mark in value:
                return False
        if self._trim and (value[0] in " \n" or value[-1] in " \n"):
            return False
        if self._collapse and "  " in value:
            return False
        if self._amounts is not None and self._amounts.may_change(value):
            return False
        if value.isascii():
            return True
        if self._form is not None and self._form(value) != value:
            return False
        if self._fold is not None and self._fold(value):
            return False
        return not (self._mojibake and _looks_misdecoded(value))

    def _refused(self, text: str) -> Refusal | None:
        # One look finds that a text is sound, as nearly all are.
        if text.isascii():
            if self._ascii_suspect is None or self._ascii_suspect(text) is None:
                return None
        elif self._suspect(text) is None:
            return None
        if _SURROGATE.search(text):
            return Refusal("text.surrogate", f"half of a surrogate pair; expected Unicode text, got {describe(text)}")
        for rule_id, what, characters, _, present in self._classes:
            if present(text) if present else re.search(f"[{characters}]", text):
                return Refusal(rule_id, f"{what}; expected none, got {describe(text)}")
        return None


_EMPTY: Final = Refusal("text.empty", "nothing is left of the text; expected at least one character")


def _not_text(value: object) -> Refusal:
    return Refusal("text.type", f"no text; expected text, got {describe(value)}")


def _form(option: object) -> Form | None:
    if option is None:
        return None
    form = _FORMS.get(option) if isinstance(option, str) else None
    if form is None:
        raise OptionError("normalize", 'no such normalization form; expected "nfc" or "nfkc"')
    return form


def _classes(option: object) -> tuple[_Class, ...]:
    if option is None:
        return ()
    names = list(option) if isinstance(option, Iterable) and not isinstance(option, str) else [None]
    unknown = [name for name in names if not isinstance(name, str) or name not in _CLASSES]
    if unknown:
        raise OptionError("reject", f"no such class of characters; expected a list of {', '.join(_CLASSES)}")
    return tuple(_CLASSES[cast(str, name)] for name in dict.fromkeys(names))


def normalizer(
    *,
    strip_bom: bool = False,
    strip_html: bool = False,
    normalize: str | None = None,
    fold_width: bool = False,
    strip_controls: bool = False,
    collapse_whitespace: bool = False,
    trim: bool = False,
    reject: Iterable[str] | None = None,
    reject_empty: bool = False,
    amounts: Mapping[str, Any] | None = None,
) -> TextNormalizer:
    """The non-raising twin of ``normalize`` with its options checked and bound; raises OptionError for wrong ones."""
    return TextNormalizer(
        strip_bom=strip_bom,
        strip_html=strip_html,
        normalize=normalize,
        fold_width=fold_width,
        strip_controls=strip_controls,
        collapse_whitespace=collapse_whitespace,
        trim=trim,
        reject=reject,
        reject_empty=reject_empty,
        amounts=amounts,
    )


def normalize(
    value: object,
    *,
    strip_bom: bool = False,
    strip_html: bool = False,
    normalize: str | None = None,
    fold_width: bool = False,
    strip_controls: bool = False,
    collapse_whitespace: bool = False,
    trim: bool = False,
    reject: Iterable[str] | None = None,
    reject_empty: bool = False,
    amounts: Mapping[str, Any] | None = None,
) -> Normalized[str]:
    """Normalises a text by the declared steps, in the order of the parameters (``reject`` runs first and last).

    ``normalize`` is "nfc", "nfkc" or None; ``reject`` lists classes: nul, control, replacement, noncharacter,
    bidi_control, private_use, tag, mojibake; ``amounts`` holds the options of the normalizer ``money``.
    Raises Refused with one of the rules text.* where the text is refused, OptionError for a wrong option.
    """
    result = TextNormalizer(
        strip_bom=strip_bom,
        strip_html=strip_html,
        normalize=normalize,
        fold_width=fold_width,
        strip_controls=strip_controls,
        collapse_whitespace=collapse_whitespace,
        trim=trim,
        reject=reject,
        reject_empty=reject_empty,
        amounts=amounts,
    )(value)
    if isinstance(result, Refusal):
        raise Refused.of(result)
    return Normalized(result, () if result is value else (Change("", "text", value, result),))
