"""Texts and options for property tests: dense in what normalizers look at.

The environment variable PROTOCONTRACT_EXAMPLES multiplies the number of examples (40 makes 20,000 of 500).
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

PROPERTY = settings(
    max_examples=int(500 * float(os.environ.get("PROTOCONTRACT_EXAMPLES", "1"))),
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)

# Characters that interact: marks of several classes, letters that compose with what is before them, compatibility
# and width variants, white space and what is taken for it, controls, emoji parts, markup.
DENSE = (
    "abeAE<>&;#x/!-=\"' \t\n\r\v\f\x00\x01\x1c\x7f\x85\x9f\xa0\u1680\u180e\u2000\u2003\u2028\u200b\u2060\u3000\ufeff"
    "\u0300\u0301\u0302\u0308\u0323\u0327\u0338\u0344\u0345\u05b0\u0591\u093c\u0915\u0958\u09c7\u09be\u09d7\u0dd9\u0dca"
    "\u0ddf\u0dcf\u1100\u1161\u11a8\uac00\uac01\u1112\u1175\u11c2\u3131\u314f\uff76\uff9e\uff9f\u304b\u30ab\u30cf\uff8a"
    "\u3099\u309a\u309b\uff21\uff11\uff0c\uffa1\uffc2\uffe3\u2126\u212b\u00c5\u00e9\u1e9b\u1ead\ufb01\u00b4\ufdfa\u00bd"
    "\u2460\u3231\u1d15e\U0001d15e\U0001d157\U0001d165\U0001d54f\U0001f201\U00011131\U00011127\U0001f468\u200d\ufe0f"
    "\U0001f3fb\U0001f3f4\U000e0067\U000e007f\ufffd\ufdd0\uffff\U0001ffff\ue000\u202e\u2066\U00020bb7\u4f60\U0002f800"
)

characters = st.one_of(st.sampled_from(DENSE), st.sampled_from(DENSE), st.characters(exclude_categories=["Cs"]))
texts = st.text(characters, max_size=24)
any_texts = st.text(st.one_of(characters, st.characters(categories=["Cs"])), max_size=16)

steps = st.fixed_dictionaries(
    {
        "normalize": st.sampled_from([None, "nfc", "nfkc"]),
        "fold_width": st.booleans(),
        "strip_controls": st.booleans(),
        "collapse_whitespace": st.booleans(),
        "trim": st.booleans(),
    }
)
stripping = st.fixed_dictionaries({"strip_bom": st.booleans(), "strip_html": st.booleans()})
rejecting = st.fixed_dictionaries(
    {
        "reject": st.lists(
            st.sampled_from(
                ["nul", "control", "replacement", "noncharacter", "bidi_control", "private_use", "tag", "mojibake"]
            ),
            max_size=2,
        ),
        "reject_empty": st.booleans(),
    }
)


def merged(*parts: dict[str, Any]) -> dict[str, Any]:
    """The options of several strategies in one mapping."""
    return {name: value for part in parts for name, value in part.items()}
