"""The languages of promises: what ``promise_words`` says, phrase by phrase.

Three tables with the same keys: ``PHRASES`` are English noun phrases for lists (``1 to 512 characters``), ``SENTENCES``
and ``CHINESE`` are predicates behind the name of a field, of which documents make sentences (``has 1 to 512
characters``). A test keeps the keys equal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

# Control characters that no text of a contract shows: what is between them is code.
CODE_BEGIN: Final = "\x02"
CODE_END: Final = "\x03"


def spaced(text: str) -> str:
    """Chinese with a space wherever an ideograph meets a Latin letter, a digit or code, as it is typeset."""
    return _MEETS.sub(" ", text)


_MEETS: Final = re.compile(
    f"(?<=[\u4e00-\u9fff])(?=[A-Za-z0-9{CODE_BEGIN}])|(?<=[A-Za-z0-9{CODE_END}])(?=[\u4e00-\u9fff])"
)


@dataclass(frozen=True, slots=True)
class Tongue:
    """A language, or a manner in one. ``phrases`` are templates with places for what is written in them.

    ``nouns`` are one and many of what is counted; ``formats`` and ``rejects`` are words for the rules of that name.
    """

    language: str
    phrases: Mapping[str, str]
    formats: Mapping[str, str]
    rejects: Mapping[str, str]
    nouns: Mapping[str, tuple[str, str]]
    #: Between the phrases of a field, before the last of them, between the words of a list, and before its last word.
    comma: str
    final: str
    between: str
    last: Mapping[str, str]
    #: What stands around a name or a value as the contract writes it; documents set these in type of their own.
    marks: tuple[str, str] = ("", "")
    #: Whether everything is said, also what goes without saying in a list: that a field is required, or the key.
    full: bool = False

    def code(self, text: str) -> str:
        """A name or a value as the contract writes it, within the marks of the language."""
        begin, end = self.marks
        return f"{begin}{text.replace(CODE_BEGIN, '').replace(CODE_END, '')}{end}"

    def say(self, key: str, *parts: object) -> str:
        """A phrase with its parts filled in. Raises KeyError for an unknown one."""
        return spaced(self.phrases[key].format(*parts)) if self.language == "zh" else self.phrases[key].format(*parts)

    def joined(self, words: Sequence[str]) -> str:
        """All phrases of a field, as one."""
        return self.final.join(filter(None, (self.comma.join(words[:-1]), words[-1])))

    def counted(self, number: object, noun: str) -> str:
        """A number with its noun: ``1 item``, ``2 items``."""
        one, many = self.nouns[noun]
        return f"{number} {one if number == 1 else many}"

    def either(self, words: Iterable[object], last: str = "or") -> str:
        """``A``, ``A or B``, ``A, B or C`` (``last``: or, and); what stands for nothing where there is no word."""
        listed = [str(word) for word in words]
        if not listed:
            return self.phrases["nothing"]
        if len(listed) == 1:
            return listed[0]
        return f"{self.between.join(listed[:-1])}{self.last[last]}{listed[-1]}"


_FORMATS: Final = {
    "uuid": "a UUID", "tuuid": "a UUID without hyphens", "ulid": "a ULID", "email": "an email address",
    "hostname": "a host name", "ip": "an IP address", "ipv4": "an IPv4 address", "ipv6": "an IPv6 address",
    "uri": "a URI", "uri_ref": "a URI reference", "address": "a host name or IP address",
    "ip_with_prefixlen": "an IP address with prefix length", "ip_prefix": "an IP prefix",
    "ipv4_with_prefixlen": "an IPv4 address with prefix length",
    "ipv6_with_prefixlen": "an IPv6 address with prefix length",
    "ipv4_prefix": "an IPv4 prefix", "ipv6_prefix": "an IPv6 prefix", "host_and_port": "a host and port",
    "protobuf_fqn": "a protobuf name", "protobuf_dot_fqn": "a protobuf name with leading dot",
}  # fmt: skip
_REJECTS: Final = {
    "nul": "NUL", "control": "control characters", "replacement": "replacement characters",
    "noncharacter": "noncharacters", "bidi_control": "bidi controls", "private_use": "private-use characters",
    "tag": "tag characters", "mojibake": "mojibake",
}  # fmt: skip
_NOUNS: Final = {
    "character": ("character", "characters"),
    "byte": ("byte", "bytes"),
    "item": ("item", "items"),
    "entry": ("entry", "entries"),
}

PHRASES: Final = Tongue(
    language="en",
    phrases={
        "exact_size": "{0}", "size_range": "{0} to {1}", "size_least": "at least {0}", "size_most": "at most {0}",
        "format": "{0}", "header_name": "an HTTP header name", "header_value": "an HTTP header value",
        "matching": "matching {0}", "prefix": "starting with {0}", "suffix": "ending with {0}",
        "contains": "with {0}", "not_contains": "without {0}",
        "exactly": "exactly {0}", "choice": "{0}", "many": "one of {0} values: {1}, …", "not_any": "not {0}",
        "unique": "no two equal", "each": "each {0}", "each_key": "each key {0}", "each_value": "each value {0}",
        "after": "after {0}", "not_before": "not before {0}", "before": "before {0}", "not_after": "not after {0}",
        "past": "in the past", "future": "in the future", "within": "within {0} of now",
        "above": "above {0}", "or_more": "{0} or more", "below": "below {0}", "or_less": "{0} or less",
        "range": "{0} to {1}", "outside": "{0} or {1}", "finite": "finite",
        "mask_const": "exactly the paths {0}", "mask_in": "paths within {0}", "mask_not_in": "no path within {0}",
        "money_in": "an amount in {0}", "money": "an amount of money", "moment": "a moment",
        "zone": "{0} where no zone is given", "epoch": "bare numbers in {0}",
        "quantity_in": "a quantity in {0}", "quantity_given": "a quantity in {0}, given in {1}",
        "its_unit": "its unit", "class": "a class from 0 to {0}", "class_or": "a class from 0 to {0}, or {1}",
        "text_without": "without {0}", "scalar_text": "{0} as text",
        "spans": "spans of {0}", "spans_nested": "spans of {0}, nested or apart",
        "spans_apart": "spans of {0}, none overlapping", "a_text": "a text",
        "steps": "exactly {0}, …", "first": "starting with {0}", "increasing": "strictly increasing",
        "as_long": "as long as {0}", "acyclic": "without cycles", "closed": "every parent present",
        "tensor": "a tensor of {0}[{1}]", "norm": "of norm {0} ± {1}",
        "what_text": "a text, cleaned", "what_money": "an amount of money", "what_instant": "a moment",
        "what_quantity": "a quantity", "what_label": "a label", "what_scalar": "a number or bool",
        "own": "{0}", "or_empty": "{0}, or empty", "required": "required",
        "key": "the key of its record", "sensitive": "sensitive",
        "oneof_set": "one of {0} is set", "oneof_exactly": "exactly one of {0}", "oneof_most": "at most one of {0}",
        "nothing": "nothing", "no_bytes": "no bytes",
    },
    formats=_FORMATS, rejects=_REJECTS, nouns=_NOUNS,
    comma=", ", final=", ", between=", ", last={"or": " or ", "and": " and "},
)  # fmt: skip

SENTENCES: Final = Tongue(
    language="en",
    phrases={
        **PHRASES.phrases,
        "exact_size": "has {0}", "size_range": "has {0} to {1}", "size_least": "has at least {0}",
        "size_most": "has at most {0}", "format": "is {0}", "header_name": "is an HTTP header name",
        "header_value": "is an HTTP header value", "matching": "matches {0}", "prefix": "starts with {0}",
        "suffix": "ends with {0}", "contains": "contains {0}", "not_contains": "does not contain {0}",
        "exactly": "is exactly {0}", "choice": "is {0}", "many": "is one of {0} values ({1}, …)",
        "not_any": "is not {0}", "unique": "holds nothing twice", "each": "holds items each of which {0}",
        "each_key": "has keys each of which {0}", "each_value": "has values each of which {0}",
        "after": "lies after {0}", "not_before": "does not lie before {0}", "before": "lies before {0}",
        "not_after": "does not lie after {0}", "past": "lies in the past", "future": "lies in the future",
        "within": "lies within {0} of now", "above": "is above {0}", "or_more": "is {0} or more",
        "below": "is below {0}", "or_less": "is {0} or less", "range": "lies between {0} and {1}",
        "finite": "is finite", "mask_const": "holds exactly the paths {0}", "mask_in": "holds paths within {0} only",
        "mask_not_in": "holds no path within {0}", "money_in": "is an amount in {0}", "money": "is an amount of money",
        "moment": "is a moment", "zone": "is read in {0} where no zone is given",
        "epoch": "is counted in {0} where it is a bare number", "quantity_in": "is a quantity in {0}",
        "quantity_given": "is a quantity in {0}, given in {1}", "class": "is a class from 0 to {0}",
        "class_or": "is a class from 0 to {0}, or {1}", "text_without": "contains no {0}",
        "scalar_text": "is {0} as text", "spans": "marks spans of {0}",
        "spans_nested": "marks spans of {0} that lie within each other or apart",
        "spans_apart": "marks spans of {0} that do not overlap", "steps": "counts {0} and so on",
        "first": "starts with {0}", "increasing": "rises with every item", "as_long": "is as long as {0}",
        "acyclic": "has no cycles", "closed": "holds every parent that an item names",
        "tensor": "is a tensor of {0}[{1}]",
        "norm": "has the norm {0} ± {1}", "what_text": "is a text that is cleaned before it is checked",
        "what_money": "is an amount of money", "what_instant": "is a moment", "what_quantity": "is a quantity",
        "what_label": "is a label", "what_scalar": "is a number or true or false", "own": "keeps the rule “{0}”",
        "or_empty": "{0} or is empty", "required": "is always set", "key": "is the key of its record",
        "sensitive": "is sensitive: no value is ever shown",
        "oneof_exactly": "exactly one of {0} is set", "oneof_most": "at most one of {0} is set",
    },
    formats=_FORMATS, rejects=_REJECTS, nouns=_NOUNS,
    comma=", ", final=" and ", between=", ", last={"or": " or ", "and": " and "}, marks=(CODE_BEGIN, CODE_END),
    full=True,
)  # fmt: skip

CHINESE: Final = Tongue(
    language="zh",
    phrases={
        "exact_size": "共有 {0}", "size_range": "共有 {0} 到 {1}", "size_least": "至少有 {0}",
        "size_most": "最多有 {0}", "format": "是{0}", "header_name": "是 HTTP 标头名称",
        "header_value": "是 HTTP 标头值", "matching": "匹配 {0}", "prefix": "以 {0} 开头", "suffix": "以 {0} 结尾",
        "contains": "包含 {0}", "not_contains": "不包含 {0}", "exactly": "只能是 {0}", "choice": "是 {0}",
        "many": "是 {0} 个值之一（{1}……）", "not_any": "不是 {0}", "unique": "没有重复的项", "each": "每一项{0}",
        "each_key": "每个键{0}", "each_value": "每个值{0}", "after": "晚于 {0}", "not_before": "不早于 {0}",
        "before": "早于 {0}", "not_after": "不晚于 {0}", "past": "在过去", "future": "在将来",
        "within": "与当前时间相差不超过 {0}", "above": "大于 {0}", "or_more": "不小于 {0}", "below": "小于 {0}",
        "or_less": "不大于 {0}", "range": "在 {0} 到 {1} 之间", "outside": "{0}或{1}", "finite": "是有限数",
        "mask_const": "恰好包含路径 {0}", "mask_in": "只包含 {0} 之内的路径", "mask_not_in": "不包含 {0} 之内的路径",
        "money_in": "是以 {0} 计的金额", "money": "是金额", "moment": "是一个时刻", "zone": "未写时区时按 {0} 理解",
        "epoch": "纯数字以 {0} 为单位", "quantity_in": "是以 {0} 为单位的数量",
        "quantity_given": "是以 {0} 为单位的数量，可写作 {1}", "its_unit": "规定单位", "class": "是 0 到 {0} 的类别",
        "class_or": "是 0 到 {0} 的类别或 {1}", "text_without": "不含{0}", "scalar_text": "是写成文本的 {0}",
        "spans": "标出 {0} 中的区间", "spans_nested": "标出 {0} 中的区间，区间可以嵌套，不得交叉",
        "spans_apart": "标出 {0} 中的区间，区间互不重叠", "a_text": "文本", "steps": "依次为 {0}……",
        "first": "从 {0} 开始", "increasing": "逐项增大", "as_long": "与 {0} 长度相同", "acyclic": "没有环",
        "closed": "包含每一项所指的全部父项", "tensor": "是 {0}[{1}] 张量", "norm": "范数为 {0} ± {1}",
        "what_text": "是先清理、后检查的文本", "what_money": "是金额", "what_instant": "是一个时刻",
        "what_quantity": "是数量", "what_label": "是标签", "what_scalar": "是数字或布尔值", "own": "符合规则“{0}”",
        "or_empty": "{0}，或者为空", "required": "必须填写", "key": "是记录的键",
        "sensitive": "属于敏感数据，其值从不显示",
        "oneof_set": "{0}之一必须填写", "oneof_exactly": "{0}中必须且只能填写一个", "oneof_most": "{0}中最多填写一个",
        "nothing": "空", "no_bytes": "空字节",
    },
    formats={
        "uuid": "UUID", "tuuid": "无连字符的 UUID", "ulid": "ULID", "email": "电子邮件地址", "hostname": "主机名",
        "ip": "IP 地址", "ipv4": "IPv4 地址", "ipv6": "IPv6 地址", "uri": "URI", "uri_ref": "URI 引用",
        "address": "主机名或 IP 地址", "ip_with_prefixlen": "带前缀长度的 IP 地址", "ip_prefix": "IP 前缀",
        "ipv4_with_prefixlen": "带前缀长度的 IPv4 地址", "ipv6_with_prefixlen": "带前缀长度的 IPv6 地址",
        "ipv4_prefix": "IPv4 前缀", "ipv6_prefix": "IPv6 前缀", "host_and_port": "主机与端口",
        "protobuf_fqn": " Protobuf 完全限定名", "protobuf_dot_fqn": "以点开头的 Protobuf 完全限定名",
    },
    rejects={
        "nul": "NUL", "control": "控制字符", "replacement": "替换字符", "noncharacter": "非字符码位",
        "bidi_control": "双向控制字符", "private_use": "私用区字符", "tag": "标签字符", "mojibake": "乱码",
    },
    nouns={
        "character": ("个字符", "个字符"), "byte": ("个字节", "个字节"), "item": ("项", "项"),
        "entry": ("个条目", "个条目"),
    },
    comma="，", final="，", between="、", last={"or": "或", "and": "和"}, marks=(CODE_BEGIN, CODE_END), full=True,
)  # fmt: skip

#: What documents speak, by language.
SPOKEN: Final[Mapping[str, Tongue]] = {tongue.language: tongue for tongue in (SENTENCES, CHINESE)}
