"""Currency signs, abbreviations and words, and the currencies that each of them may mean.

The signs are CLDR's (symbols and narrow symbols over all locales) and those in common use beside them; the words are
English, Chinese and Japanese, and the local words that stand on price tags. A mark that several currencies share has
all of them as candidates, and a primary reading only where the policy table grants one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from protocontract.normalize.money_currency import local_symbols, words


@dataclass(frozen=True, slots=True)
class Mark:
    """What a currency mark may mean.

    ``part`` is -1 or -2 for a tenth or hundredth (角, 分) and 0 otherwise; ``yuan`` marks words after which 角 and 分
    may follow; ``weak`` ones are words that mean money only beside a number; ``unknown`` names a mark that stands for
    no currency of today.
    """

    candidates: frozenset[str]
    primary: str | None = None
    part: int = 0
    yuan: bool = False
    weak: bool = False
    unknown: bool = False


_DOLLARS: Final = (
    "ARS AUD BBD BMD BND BSD BZD CAD CLP COP CUP DOP FJD GYD HKD JMD KYD LRD MXN NAD NZD PHP SBD SGD SRD TTD TWD USD "
    "UYU XCD"
)
_PESOS: Final = "ARS CLP COP CUP DOP MXN PHP UYU"
_POUNDS: Final = "GBP EGP FKP GIP LBP SDG SHP SSP SYP"
_KRONOR: Final = "DKK ISK NOK SEK"
_RUPEES: Final = "INR LKR MUR NPR PKR SCR"
_FRANCS: Final = "CHF BIF CDF DJF GNF KMF RWF XAF XOF XPF"
_YUAN: Final = "CNY HKD MOP TWD"

# (candidates, marks); "*" before a candidate: the primary reading. "_" stands for a space inside a mark.
_TABLE: Final = (
    # Dollars and pesos
    (_DOLLARS, "$ dollar dollars ドル 달러"),
    (_PESOS, "peso pesos 比索 披索"),
    ("USD", "US$ U.S.$ US_$ $US $_US U$S 美元 美金 美圆 美圓 米ドル"),
    ("AUD", "A$ AU$ AU_$ AUS$ $A $AU $_AU 澳元 澳币 澳幣 澳大利亚元 豪ドル"),
    ("CAD", "CA$ CAN$ Can$ CDN$ CA_$ $CA $CAN $_CA 加元 加币 加幣 加拿大元 カナダドル"),
    ("*CAD NIO", "C$ C_$"),
    ("NZD", "NZ$ NZ_$ $NZ $_NZ 新西兰元 纽元 紐元 纽币 紐幣"),
    ("HKD", "HK$ HK_$ $HK $_HK 港元 港币 港幣 港圆 港圓 香港ドル"),
    ("SGD", "S$ SG$ SG_$ $SG $_SG 新加坡元 新加坡币 坡币 新元"),
    ("TWD", "NT$ NT_$ $NT NTD ntd 新台币 新台幣 新臺幣 台币 台幣 臺幣 新台币元 台湾ドル"),
    ("MOP", "MOP$ 澳门元 澳門元 澳门币 澳門幣 葡币 葡幣"),
    ("MXN", "MX$ MEX$ Mex$ $MX 墨西哥比索"),
    ("PHP", "₱ 菲律宾比索 菲律賓披索"),
    ("ARS", "AR$ $AR"),
    ("CLP", "CL$ $CL"),
    ("COP", "COL$ Col$ $CO"),
    ("CUP", "CU$"),
    ("DOP", "RD$"),
    ("UYU", "$U UY$ $UY"),
    ("XCD", "EC$ $EC"),
    ("JMD", "J$ JM$ JA$"),
    ("TTD", "TT$ $TT"),
    ("BBD", "Bds$ BDS$"),
    ("BSD BND", "B$"),
    ("BSD", "BS$"),
    ("BND", "BN$ $BN"),
    ("BZD", "BZ$ $BZ"),
    ("BMD", "BM$ $BM"),
    ("BMD BBD", "BD$"),
    ("GYD", "G$ GY$"),
    ("LRD", "L$ LD$"),
    ("NAD", "N$ $NA"),
    ("FJD", "FJ$ $FJ"),
    ("SBD", "SI$ $SB"),
    ("KYD", "KY$ CI$"),
    ("SRD", "Sr$ $SR"),
    ("TOP", "T$"),
    ("WST", "WS$ $WS"),
    ("BRL", "R$ BR$ R_$ 雷亚尔 巴西雷亚尔 real reais"),
    # Yuan and yen
    ("CNY JPY", "¥"),
    ("CNY", "CN¥ ¥CN RMB rmb yuan renminbi 人民币 人民幣 人民元"),
    ("JPY", "JP¥ ¥JP 円 日元 日圆 日圓 日円 日币 日幣 yen 엔"),
    (_YUAN, "圓"),
    ("*CNY HKD MOP TWD", "元 圆 块 塊 元钱 块钱"),
    # Pounds
    ("*GBP EGP FKP GIP LBP SDG SHP SSP SYP", "£ pound pounds 镑 鎊 ポンド"),
    ("GBP", "GB£ UK£ £GB £stg 英镑 英鎊 英ポンド"),
    ("EGP", "E£ £E EG£ L.E. LE"),
    ("FKP", "FK£ £FK"),
    ("GIP", "GI£ £GI"),
    ("LBP", "L£ £LB L.L."),
    ("SSP", "SS£"),
    # Kronor, francs, rupees
    (_KRONOR, "kr kr. 克朗 krone krona"),
    ("DKK NOK", "kroner"),
    ("SEK", "Skr kronor 瑞典克朗"),
    ("DKK", "Dkr Dkr. 丹麦克朗"),
    ("NOK", "Nkr 挪威克朗"),
    ("ISK", "Ikr krónur 冰岛克朗"),
    ("*CHF BIF CDF DJF GNF KMF RWF XAF XOF XPF", "Fr Fr."),
    (_FRANCS, "franc francs 法郎"),
    ("CHF", "SFr SFr. Sfr. 瑞士法郎 瑞郎 スイスフラン"),
    ("XAF XOF", "FCFA F_CFA CFA"),
    ("XPF", "FCFP CFPF CFP"),
    ("BIF", "FBu"),
    ("CDF", "FC"),
    ("GNF", "FG"),
    ("DJF", "Fdj"),
    ("RWF", "FRw"),
    ("KMF", "CF"),
    (_RUPEES, "Rs Rs. ₨ rupee rupees 卢比 盧比 ルピー"),
    ("INR", "₹ 印度卢比 印度盧比"),
    ("LKR", "රු රු. ரூ"),
    ("NPR", "नेरू"),
    ("INR NPR", "रू रु रु."),
    # Europe
    ("EUR", "€ euro euros евро 欧元 歐元 ユーロ 유로"),
    ("PLN", "zł zl zloty złoty złote złotych 兹罗提"),
    ("CZK", "Kč Kc koruna korun 捷克克朗"),
    ("HUF", "Ft forint 福林"),
    ("*RON MDL", "lei leu 列伊"),
    ("*RUB BYN", "руб руб. рублей рубля рубль р р. Р Р. ruble rubles rouble roubles 卢布 盧布 ルーブル"),
    ("RUB", "₽"),
    ("UAH", "₴ грн грн. hrn гривень гривня гривны hryvnia 格里夫纳"),
    ("BYN ETB", "Br"),
    ("RSD", "din din. дин дин."),
    ("BAM", "KM КМ"),
    ("MKD", "ден ден. den"),
    ("ALL", "Lek Lekë lekë"),
    ("TRY", "₺ TL 土耳其里拉 里拉"),
    ("GEL", "₾ ლარი ლ lari"),
    ("AMD", "֏ драм"),
    ("AZN", "₼"),
    # Asia
    ("*KRW KPW", "₩"),
    ("KRW", "KR₩ 韩元 韓元 韩圆 韓圓 韩币 韓幣 韓圜 ウォン 원"),
    ("THB", "฿ TH฿ baht บาท 泰铢 泰銖 バーツ"),
    ("VND", "₫ đ vnđ đồng 越南盾 越盾"),
    ("IDR", "Rp Rp. rupiah 印尼盾 印尼卢比"),
    ("MYR", "RM ringgit 马币 馬幣 林吉特 令吉 马来西亚林吉特"),
    ("KHR", "៛ 瑞尔"),
    ("LAK", "₭ 基普"),
    ("MNT", "₮ төгрөг 图格里克"),
    ("KZT", "₸ тг тг. тенге 坚戈"),
    ("KGS", "\u20c0 сом"),
    ("UZS", "сум сўм soʻm so'm"),
    ("TJS", "сомонӣ"),
    ("BDT", "৳ Tk Tk. taka 塔卡"),
    ("MVR", "Rf"),
    ("BTN", "Nu. Nu"),
    ("MMK", "Ks 缅元 缅币"),
    ("ILS", "₪ NIS nis shekel shekels ש״ח ש\"ח ש'ח ش.ج 谢克尔"),
    ("AFN", "؋"),
    ("IRR OMR QAR SAR YER", "﷼ 里亚尔 riyal riyals rial rials ريال"),
    ("IRR", "ریال"),
    ("SAR", "\u20c1 ر.س ر.س. ريال_سعودي"),
    ("SAR SCR", "SR"),
    ("QAR", "QR ر.ق ر.ق. ريال_قطري"),
    ("OMR", "ر.ع ر.ع."),
    ("YER", "ر.ي ر.ي."),
    ("AED", "Dhs Dhs. د.إ د.إ."),
    ("AED MAD", "Dh DH dirham dirhams درهم 迪拉姆"),
    ("KWD", "KD K.D. د.ك د.ك. دينار_كويتي"),
    ("BHD", "BD B.D. د.ب د.ب."),
    ("JOD", "JD د.أ د.أ. د.ا د.ا. دينار_أردني"),
    ("IQD", "د.ع د.ع. ع.د دينار_عراقي"),
    ("LBP", "ل.ل ل.ل."),
    ("SYP", "ل.س ل.س."),
    ("BHD DZD IQD JOD KWD LYD RSD TND", "第纳尔 dinar dinars دينار"),
    # Africa
    ("ZAR", "R rand 兰特 南非兰特"),
    ("EGP", "ج.م ج.م."),
    ("EGP GBP SDG SSP", "جنيه"),
    ("EGP", "جنيه_مصري"),
    ("GBP", "جنيه_إسترليني"),
    ("MAD", "د.م د.م."),
    ("TND", "DT د.ت د.ت."),
    ("DZD", "DA د.ج د.ج. دج دينار_جزائري"),
    ("LYD", "د.ل د.ل. ل.د دينار_ليبي"),
    ("SDG", "ج.س ج.س."),
    ("MRU", "UM أ.م أ.م."),
    ("NGN", "₦ naira 奈拉"),
    ("GHS", "₵ GH₵ cedi cedis"),
    ("KES", "KSh Ksh KShs"),
    ("TZS", "TSh"),
    ("UGX", "USh"),
    ("KES SOS TZS UGX", "先令 Sh Sh. shilling shillings"),
    ("ETB", "ብር birr"),
    ("MZN", "MTn MT"),
    ("AOA", "Kz"),
    ("MWK", "MK"),
    ("ZMW", "ZK"),
    ("SLE", "Le"),
    ("MGA", "Ar"),
    ("ERN", "Nfk ናቕፋ نافكا"),
    ("STN", "Db"),
    # The Americas and the Pacific
    ("CRC", "₡"),
    ("PEN", "S/ S/. 索尔"),
    ("PAB", "B/."),
    ("PYG", "₲ Gs Gs. guaraníes"),
    ("GTQ", "Q"),
    ("BOB VES", "Bs Bs."),
    ("VES", "Bs.S Bs.D"),
    ("AWG XCG", "ƒ"),
    ("AWG", "Afl."),
    ("XCG", "Cg Cg."),
    ("VUV", "VT Vt"),
)

# Signs of money that is no more, or never was a currency of ISO 4217, or a letter that only looks like a sign; and
# parts and multiples that a default currency must not swallow (50¢ is not 50 dollars).
_UNKNOWN: Final = (
    "₤ ₶ ₣ ₧ ₯ ₠ ₢ ₰ ₷ ₳ ₻ ₥ ₿ Ұ ұ ¢ ¤ DM Kčs Δρχ лв лв. kn öS NAf. Esc. USDT USDC BTC XBT ETH DOGE LTC XRP BNB CNH "
    "GBX XXX XTS ZAc cent cents pence penny centimes céntimos centavos kopecks копеек коп коп. تومان sen 銭 "
    "比特币 以太坊 美分 欧分 便士 戈比"
)
_PARTS: Final = (("角 毛 毛钱 毛錢", -1), ("分 分钱 分錢", -2))
_JIAO: Final = frozenset(_YUAN.split())


def _is_han(character: str) -> bool:
    return character >= "\u2e80" and character.isalpha()


def _weak(text: str) -> bool:
    if all(_is_han(character) for character in text):
        return len(text) == 1
    return all(character.isalpha() or character in ".'ʻ״\"" for character in text)


def _build() -> dict[str, Mark]:
    marks: dict[str, Mark] = {}
    for candidates, texts in _TABLE:
        codes = candidates.split()
        primary = next((code[1:] for code in codes if code[0] == "*"), None)
        meant = frozenset(code.lstrip("*") for code in codes)
        for raw in texts.split():
            text = raw.replace("_", " ")
            yuan = text[-1] in "元圆圓块塊钱" and meant <= _JIAO
            marks[text] = Mark(meant, primary, yuan=yuan, weak=_weak(text))
    for texts, part in _PARTS:
        marks.update((text, Mark(_JIAO, "CNY", part=part, weak=True)) for text in texts.split())
    # Codes in capitals say what they are wherever they stand; the other unknown words only beside a number.
    marks.update(
        (text, Mark(frozenset(), unknown=True, weak=_weak(text) and not (text.isupper() and len(text) > 2)))
        for text in _UNKNOWN.split()
    )
    return marks


MARKS: Final = _build()
# Words are found whatever their case, but signs, single letters and other short ones only as they stand: ``C$`` and
# ``R`` are exact, and KM (the convertible mark) is not km.
_SHORT_WORDS: Final = frozenset(words("fr fr. ft kc kr kr. kč rm rp rp. rs rs. tk tk. tl zl zł"))
FOLDED: Final = {
    text.casefold(): mark
    for text, mark in reversed(MARKS.items())
    if all(character.isalpha() or character == "." for character in text)
    and (len(text.rstrip(".")) > 2 or text.casefold() in _SHORT_WORDS)
}


class MarkTable:
    """The marks that are known under one locale: the common ones, and CLDR's own for that locale beside them."""

    __slots__ = ("_any", "_lengths", "_single", "english", "local", "texts")

    def __init__(self, locale: str | None) -> None:
        self.local: dict[str, Mark] = {}
        """CLDR's marks for the locale."""
        self.english = not locale or locale[:2].lower() == "en"
        """Whether a billion may be taken for 10**9."""
        if locale:
            known: dict[str, set[str]] = {}
            for text, code in local_symbols(locale).items():
                if text not in MARKS and text.casefold() not in FOLDED:
                    known.setdefault(text, set()).add(code)
            self.local = {text: Mark(frozenset(codes), weak=_weak(text)) for text, codes in known.items()}
        self.texts = (*MARKS, *self.local)
        """All marks as they are written."""
        # Lengths of marks by their first two characters, the longest first: what to try at a place.
        lengths: dict[str, set[int]] = {}
        for text in self.texts:
            if len(text) > 1:
                lengths.setdefault(text[:2].casefold(), set()).add(len(text))
        self._single = {text: mark for text, mark in (*MARKS.items(), *self.local.items()) if len(text) == 1}
        self._lengths = {start: tuple(sorted(known, reverse=True)) for start, known in lengths.items()}
        starts = sorted({*"".join(text[0].lower() + text[0].upper() for text in self.texts)})
        self._any = re.compile(f"[A-Za-z{''.join(map(re.escape, starts))}]")

    def may_hold(self, text: str) -> bool:
        """Whether a text has a character with which a mark or code can begin."""
        return self._any.search(text) is not None

    def find(self, text: str, start: int) -> tuple[int, Mark] | None:
        """The longest mark that begins at ``start``, with its end; letters must not be cut off from letters."""
        for length in self._lengths.get(text[start : start + 2].casefold(), ()):
            end = start + length
            if end > len(text):
                continue
            piece = text[start:end]
            mark = MARKS.get(piece) or self.local.get(piece) or FOLDED.get(piece.casefold())
            if mark is not None and _separate(text, start, end):
                return end, mark
        mark = self._single.get(text[start])
        return (start + 1, mark) if mark is not None and _separate(text, start, start + 1) else None


@lru_cache(maxsize=256)
def mark_table(locale: str | None) -> MarkTable:
    """The marks under a BCP 47 tag; the common ones alone for None."""
    return MarkTable(locale)


def _separate(text: str, start: int, end: int) -> bool:
    first, last = text[start], text[end - 1]
    if _joins(first) and start and _joins(text[start - 1]):
        return False
    return not (_joins(last) and end < len(text) and _joins(text[end]))


def _joins(character: str) -> bool:
    """Whether words are told apart by what stands beside this character: a letter, but not a Chinese one."""
    return character.isalpha() and not (character >= "\u2e80")
