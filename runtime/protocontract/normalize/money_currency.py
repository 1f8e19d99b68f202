"""ISO 4217: which codes are currencies today, their minor units, and which currency a region pays with."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from protocontract.normalize.numbers import parse_locale
from protocontract.violations import OptionError


def words(text: str) -> list[str]:
    """The words of a table that is written as running text, for the eye."""
    return text.split()


# Codes with a minor unit other than two digits (ISO 4217 list one). CLDR's own table is about display and differs.
_MINOR: Final = {
    **dict.fromkeys(words("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"), 0),
    **dict.fromkeys(words("BHD IQD JOD KWD LYD OMR TND"), 3),
    **dict.fromkeys(words("CLF UYW"), 4),
}
# Codes for which ISO 4217 states that there is no minor unit to speak of: metals, units of account.
_NO_MINOR: Final = words("XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XUA")
_TWO_DIGITS: Final = words("""
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY
    COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS
    INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR
    MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP
    STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG
""")

MINOR_DIGITS: Final[dict[str, int | None]] = {
    **dict.fromkeys(_TWO_DIGITS, 2),
    **_MINOR,
    **dict.fromkeys(_NO_MINOR),
}
"""Digits after the point by code; None where the currency has no minor unit and takes any number of digits."""

# Codes that ISO 4217 withdrew (list three) and that are still met. They name money that is no more, often with the
# value of today's code times a power of ten.
WITHDRAWN: Final = frozenset(
    words("""
    ADP AFA ALK ANG AOK AON AOR ARA ARP ARY ATS AYM AZM BAD BEC BEF BEL BGJ BGK BGL BGN BOP BRB BRC BRE BRN BRR
    BUK BYB BYR CHC CSD CSJ CSK CUC CYP DDM DEM ECS ECV EEK ESA ESB ESP FIM FRF GEK GHC GHP GNE GNS GQE GRD GWE GWP
    HRD HRK IEP ILP ILR ISJ ITL LAJ LSM LTL LTT LUC LUF LUL LVL LVR MGF MLF MRO MTL MTP MVQ MXP MZE MZM NIC NLG PEH
    PEI PES PLZ PTE RHD ROK ROL RUR SDD SDP SIT SKK SLL SRG STD SUR TJR TMM TPE TRL UAK UGS UGW USS UYN UYP VEB VEF
    VNC XEU XFO XFU XRE YDD YUD YUM YUN ZAL ZMK ZRN ZRZ ZWC ZWD ZWL ZWN ZWR
""")
)


def currency_code(text: str, option: str) -> str:
    """A currency code given as an option: today's, in capitals.

    Raises OptionError, naming ``option``, for everything else.
    """
    if text in MINOR_DIGITS:
        return text
    if text in WITHDRAWN:
        raise OptionError(option, f'"{text}" was withdrawn from ISO 4217; expected a code of today')
    raise OptionError(option, f'unknown currency "{text}"; expected an ISO 4217 code in capitals such as "EUR"')


@lru_cache(maxsize=256)
def region_currencies(locale: str) -> frozenset[str]:
    """What the region of a BCP 47 tag pays with today, by CLDR; empty where the tag names no region.

    "Today" is the CLDR release: an entry without an end. The clock is not asked, so the result is the same every day.
    """
    from babel.core import get_global

    territory = parse_locale(locale).territory
    entries = get_global("territory_currencies").get(territory, ()) if territory else ()
    return frozenset(code for code, _, end, tender in entries if end is None and tender and code in MINOR_DIGITS)


@lru_cache(maxsize=256)
def local_symbols(locale: str) -> dict[str, str]:
    """CLDR's symbols of today's currencies in one locale, with bidi marks dropped and spaces made plain."""
    symbols: dict[str, str] = {}
    for code, symbol in parse_locale(locale).currency_symbols.items():
        text = "".join(" " if c in "\xa0\u202f" else c for c in symbol if c not in "\u200e\u200f\u061c")
        if code in MINOR_DIGITS and text != code and text.strip("\u200b"):
            symbols[text] = code
    return symbols
