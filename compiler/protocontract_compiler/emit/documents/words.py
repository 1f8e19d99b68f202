"""What pages say in each language, but for promises, which are ``passes.tongues``'s. A test keeps the keys equal."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from protocontract_compiler.passes.tongues import spaced

_ENGLISH: Final = {
    "language": "English", "contracts": "Contracts",
    "owner": "Owner", "topic": "Topic", "dead_letters": "Dead letters", "event_time": "Time of an event",
    "key": "Key of a record", "source": "Source", "fingerprint": "Fingerprint", "version": "Version", "none": "none",
    "guarantees": "What is guaranteed",
    "guarantees_lead": "A record that breaks one of these promises is rejected, with a code that says which.",
    "guarantees_dead": "A record that breaks one of these promises is rejected, with a code that says which, and goes "
    "to \x02{0}\x03.",
    "no_guarantees": "This contract has no rules: any message of its type keeps it.",
    "rule_kept": "The rule {0} is kept.", "rule_said": "{0}.", "sentence": "{0} {1}.",
    "warned": "{0} {1}; where it does not, that is reported and the record passes.",
    "levels": "What the stream promises",
    "levels_lead": "Judged over {0}, once {1} records are there.",
    "level_compliance": "At least {0} of the records keep the contract.",
    "level_error_rate": "At most {0} of the records break the contract.",
    "level_latency": "A record is checked within {0} of {1}.",
    "level_frequency": "There is never a silence of more than {0}.",
    "level_throughput": "At least {0} records come each second.",
    "its_timestamp": "its timestamp",
    "breach_ALERT": "When a promise is missed, the owner is alerted.",
    "breach_HALT": "When a promise is missed, the stream halts: nothing more is handed on until a person resumes it.",
    "uniform": "What is made uniform",
    "uniform_lead": "Before a value is checked, these fields are brought to one form. What could be read in two ways "
    "is refused, never guessed.",
    "sent": "sent", "becomes": "becomes", "field": "field", "rule": "rule",
    "uniform_sentence": "{0}: {1}.",
    "fields": "Fields and rules", "type": "type", "must": "must hold", "means": "meaning", "number": "no.",
    "of_message": "Message {0}", "of_enum": "Enum {0}", "value": "value", "code_of_value": "code",
    "aliases": "also read",
    "more_rows": "{0} more", "list_of": "list of {0}", "map_of": "map of {0} to {1}", "optional": "optional",
    "note_since": "since {0}", "note_sunset": "may go after {0}", "note_renamed": "was {0}", "note_unit": "in {0}",
    "note_currency": "in {0}", "note_sensitive": "sensitive", "note_acknowledge": "must be used or ignored knowingly",
    "note_class": "class {0}", "note_oneof": "one of {0}",
    "examples": "Examples",
    "kept": "A record that is accepted",
    "kept_lead": "Made up, and checked by the contract itself.",
    "no_example": "No example is known: no record that keeps all rules was found by trying.",
    "refused": "What is refused",
    "refused_lead": "Each row is a part of a record that was rejected for this reason.",
    "not_set": "not set", "why": "why", "code": "code",
    "codes": "Error codes",
    "codes_lead": "A code stands for one rule at one place of this contract, in every language and release.",
    "helps": "what helps", "severity_WARNING": "warning only", "contexts": "only for {0}",
    "history": "Versions", "date": "recorded", "changes": "changes",
    "first_version": "first version on record", "no_changes": "no change of the contract itself",
    "no_history": "No version has been recorded yet (\x02protocontract diff --record\x03).",
    "direction_breaking": "breaking", "direction_tightened": "tightened", "direction_loosened": "loosened",
    "direction_added": "added", "direction_neutral": "neutral",
    "consumers": "Who uses it", "module": "module", "languages": "languages", "role": "role", "uses": "uses",
    "role_reader": "reads", "role_writer": "writes", "role_both": "reads and writes", "role_unknown": "not known",
    "no_consumers": "No module is known that uses it (\x02modules.toml\x03, locks).",
    "uses_unknown": "not recorded", "uses_whole": "the message as a whole",
    "streams": "stream of {0}", "method_lead": "{0} takes {1} and answers {2}.",
    "rpc_deadline": "A call that sets no deadline of its own has {0}.",
    "rpc_max_deadline": "A call may take {0} at most.",
    "rpc_latency_p99": "99 of 100 calls are answered within {0}.",
    "rpc_availability": "{0} of the valid requests are answered.",
    "rpc_max_request_bytes": "A request has {0} bytes at most.",
    "rpc_queue": "Up to {0} requests wait; one more is refused at once.",
    "rpc_model_version_field": "The caller names the model version in {0}.",
    "rpc_evidence_OFF": "No evidence is kept of what was answered.",
    "rpc_evidence_BEST_EFFORT": "Evidence of each answer is kept where it can be written.",
    "rpc_evidence_REQUIRED": "Evidence of each answer is kept; a request whose evidence cannot be written fails.",
    "rpc_retry": "A call that fails with {1} is made up to {0} times in all.",
    "rpc_rate": "{0} calls a second are taken, {1} at once.",
    "rpc_batch": "Up to {0} requests run together, and none waits longer than {1} for others.",
    "rpc_fallback_provider": "Where its device is gone, the model runs on {0}.",
    "rpc_fallback_model": "Where its device is gone, the model {0} runs instead.",
    "rpc_fallback_agreement": "It gives the same label in {0} of the probes.",
    "rpc_fallback_max_abs": "Its numbers differ by {0} at most.",
    "rpc_fallback_max_rel": "Its numbers differ by {0} of the value at most.",
    "index_lead": "What each contract promises, who answers for it, and what its error codes mean.",
    "search": "Search contracts, fields, rules and codes", "search_none": "Nothing found.",
    "services": "Services", "all_contracts": "All contracts", "promises_count": "{0} promises",
    "promises_one": "1 promise", "foot": "Generated by protocontract {0} from {1}. Do not edit.",
    "foot_index": "Generated by protocontract {0}. Do not edit.",
    "hit_field": "field", "hit_code": "code", "hit_contract": "contract",
    "remedy_IMMEDIATE": "correct the value and send it again", "remedy_CONFIGURATION": "change a setting",
    "remedy_CODE": "change the program", "remedy_RETRAINING": "train the model anew",
    "source_MODEL": "the model produced it", "source_INFRASTRUCTURE": "transport, storage or registry",
    "source_DATA": "stored data", "whole_record": "whole record",
    "text_strip_bom": "a byte order mark goes", "text_strip_html": "markup goes",
    "text_normalize": "Unicode is brought to {0}", "text_fold_width": "full-width characters become ordinary ones",
    "text_strip_controls": "control characters go", "text_collapse_whitespace": "runs of white space become one space",
    "text_trim": "white space at both ends goes", "text_amounts": "unambiguous amounts of money get one form",
    "do_money": "an amount of money, however it is written, becomes a plain number",
    "do_money_currency": "an amount of money, however it is written, becomes a plain number, and its currency goes "
    "to {0}",
    "do_money_default": "where none is named, the currency is {0}",
    "do_instant": "a moment, however it is written, becomes RFC 3339 in UTC",
    "do_instant_field": "the moment is written to {0}",
    "do_quantity": "a quantity in any unit of the same kind becomes a number in {0}",
    "do_quantity_field": "the number is written to {0}",
    "do_label": "other ways to write a label become the label", "do_scalar": "a number or truth value gets one form",
    "comma": ", ", "semicolon": "; ", "percent": "{0} %",
    "seconds": "{0} s", "minutes": "{0} minutes", "minute": "1 minute", "hours": "{0} hours", "hour": "1 hour",
    "days": "{0} days", "day": "1 day", "milliseconds": "{0} ms",
    "colon": ": ",
}  # fmt: skip

_CHINESE: Final = {
    "language": "中文", "contracts": "数据合约",
    "owner": "负责人", "topic": "主题", "dead_letters": "死信主题", "event_time": "事件时间",
    "key": "记录的键", "source": "源文件", "fingerprint": "指纹", "version": "版本", "none": "无",
    "guarantees": "合约保证的内容",
    "guarantees_lead": "违反任何一项的记录都会被拒绝，并给出说明原因的错误码。",
    "guarantees_dead": "违反任何一项的记录都会被拒绝，给出说明原因的错误码，并转入 \x02{0}\x03。",
    "no_guarantees": "该合约没有规则：该类型的任何消息都符合。",
    "rule_kept": "符合规则{0}。", "rule_said": "{0}。", "sentence": "{0}{1}。",
    "warned": "{0}{1}；不符合时只作报告，记录仍然通过。",
    "levels": "数据流的承诺",
    "levels_lead": "按{0}的窗口评判，窗口内满 {1} 条记录后开始。",
    "level_compliance": "至少 {0} 的记录符合合约。",
    "level_error_rate": "最多 {0} 的记录违反合约。",
    "level_latency": "记录在{1}之后{0}内完成检查。",
    "level_frequency": "两条记录之间的间隔不超过{0}。",
    "level_throughput": "每秒至少有 {0} 条记录。",
    "its_timestamp": "记录的时间戳",
    "breach_ALERT": "未达到承诺时，向负责人告警。",
    "breach_HALT": "未达到承诺时，数据流停止，直到有人恢复之前不再向下游传递。",
    "uniform": "统一书写形式",
    "uniform_lead": "检查之前，以下字段先统一成一种形式。凡有两种读法的，一律拒绝，从不猜测。",
    "sent": "写作", "becomes": "变为", "field": "字段", "rule": "规则",
    "uniform_sentence": "{0}：{1}。",
    "fields": "字段与规则", "type": "类型", "must": "要求", "means": "含义", "number": "序号",
    "of_message": "消息 {0}", "of_enum": "枚举 {0}", "value": "值", "code_of_value": "代码", "aliases": "也可写作",
    "more_rows": "其余 {0} 项", "list_of": "{0} 列表", "map_of": "{0} 到 {1} 的映射", "optional": "可选",
    "note_since": "自 {0} 起", "note_sunset": "{0} 之后可能移除", "note_renamed": "原名 {0}", "note_unit": "单位 {0}",
    "note_currency": "币种 {0}", "note_sensitive": "敏感", "note_acknowledge": "使用方必须使用或明确忽略",
    "note_class": "类别 {0}", "note_oneof": "属于 {0}",
    "examples": "示例",
    "kept": "被接受的记录",
    "kept_lead": "虚构的内容，由合约本身检查过。",
    "no_example": "没有示例：未能试出符合全部规则的记录。",
    "refused": "被拒绝的内容",
    "refused_lead": "每一行是一条记录的一部分，合约因所列原因拒绝了该记录。",
    "not_set": "未填写", "why": "原因", "code": "错误码",
    "codes": "错误码",
    "codes_lead": "一个错误码代表本合约中一处的一条规则，在任何语言和版本中都不变。",
    "helps": "处理办法", "severity_WARNING": "仅警告", "contexts": "仅用于 {0}",
    "history": "版本", "date": "记录日期", "changes": "变更",
    "first_version": "最早有记录的版本", "no_changes": "合约本身没有变化",
    "no_history": "尚未记录任何版本（\x02protocontract diff --record\x03）。",
    "direction_breaking": "不兼容", "direction_tightened": "收紧", "direction_loosened": "放宽",
    "direction_added": "新增", "direction_neutral": "无影响",
    "consumers": "使用方", "module": "模块", "languages": "语言", "role": "角色", "uses": "使用的内容",
    "role_reader": "读取", "role_writer": "写入", "role_both": "读取和写入", "role_unknown": "未知",
    "no_consumers": "没有已知的使用方（\x02modules.toml\x03、锁文件）。",
    "uses_unknown": "没有记录", "uses_whole": "整个消息",
    "streams": "{0} 流", "method_lead": "{0} 接收 {1}，返回 {2}。",
    "rpc_deadline": "未设期限的调用，期限为{0}。",
    "rpc_max_deadline": "一次调用最长{0}。",
    "rpc_latency_p99": "100 次调用中有 99 次在{0}内得到响应。",
    "rpc_availability": "{0} 的有效请求得到响应。",
    "rpc_max_request_bytes": "请求最多 {0} 字节。",
    "rpc_queue": "最多有 {0} 个请求排队，再多一个立即拒绝。",
    "rpc_model_version_field": "调用方在 {0} 中写明模型版本。",
    "rpc_evidence_OFF": "不保留响应的证据。",
    "rpc_evidence_BEST_EFFORT": "尽可能保留每个响应的证据。",
    "rpc_evidence_REQUIRED": "保留每个响应的证据；证据无法写入时，请求失败。",
    "rpc_retry": "因 {1} 失败的调用总共最多进行 {0} 次。",
    "rpc_rate": "每秒接受 {0} 次调用，一次最多 {1} 次。",
    "rpc_batch": "最多 {0} 个请求一起运行，等待其他请求的时间不超过{1}。",
    "rpc_fallback_provider": "设备不可用时，模型在 {0} 上运行。",
    "rpc_fallback_model": "设备不可用时，改用模型 {0}。",
    "rpc_fallback_agreement": "两者在 {0} 的探测中给出相同的标签。",
    "rpc_fallback_max_abs": "两者的数值相差不超过 {0}。",
    "rpc_fallback_max_rel": "两者的数值相差不超过数值的 {0}。",
    "index_lead": "每个合约的承诺、负责人和错误码的含义。",
    "search": "搜索合约、字段、规则和错误码", "search_none": "没有找到。",
    "services": "服务", "all_contracts": "全部合约", "promises_count": "{0} 项承诺",
    "promises_one": "1 项承诺", "foot": "由 protocontract {0} 根据 {1} 生成，请勿修改。",
    "foot_index": "由 protocontract {0} 生成，请勿修改。",
    "hit_field": "字段", "hit_code": "错误码", "hit_contract": "合约",
    "remedy_IMMEDIATE": "更正该值后重新发送", "remedy_CONFIGURATION": "更改设置",
    "remedy_CODE": "修改程序", "remedy_RETRAINING": "重新训练模型",
    "source_MODEL": "由模型产生", "source_INFRASTRUCTURE": "来自传输、存储或注册表",
    "source_DATA": "来自已存储的数据", "whole_record": "整条记录",
    "text_strip_bom": "去掉字节顺序标记", "text_strip_html": "去掉标记语言",
    "text_normalize": "Unicode 统一为 {0}", "text_fold_width": "全角字符变为普通字符",
    "text_strip_controls": "去掉控制字符", "text_collapse_whitespace": "连续空白变为一个空格",
    "text_trim": "去掉两端的空白", "text_amounts": "没有歧义的金额统一书写形式",
    "do_money": "金额无论如何书写，都变为普通数字",
    "do_money_currency": "金额无论如何书写，都变为普通数字，币种写入 {0}",
    "do_money_default": "未写币种时按 {0} 处理",
    "do_instant": "时刻无论如何书写，都变为 UTC 的 RFC 3339 形式",
    "do_instant_field": "时刻写入 {0}",
    "do_quantity": "同类的任何单位都换算为以 {0} 为单位的数字",
    "do_quantity_field": "数字写入 {0}",
    "do_label": "标签的其他写法变为标准标签", "do_scalar": "数字或布尔值统一书写形式",
    "comma": "，", "semicolon": "；", "percent": "{0}%",
    "seconds": "{0} 秒", "minutes": "{0} 分钟", "minute": "1 分钟", "hours": "{0} 小时", "hour": "1 小时",
    "days": "{0} 天", "day": "1 天", "milliseconds": "{0} 毫秒",
    "colon": "：",
}  # fmt: skip

WORDS: Final[Mapping[str, Mapping[str, str]]] = {"en": _ENGLISH, "zh": _CHINESE}


class Words:
    """The words of one language."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._words = WORDS[language]

    def __call__(self, key: str, *parts: object) -> str:
        """A text with its parts filled in. Raises KeyError for an unknown one."""
        text = self._words[key].format(*parts)
        return spaced(text) if self.language == "zh" else text

    def percent(self, share: float) -> str:
        """A share as a percentage, as exact as it is written: ``99.9 %``."""
        return self("percent", _decimal(repr(float(share)), 2))

    def duration(self, nanos: int) -> str:
        """A duration in the largest unit that leaves a whole number."""
        seconds = nanos / 1e9
        for one, many, length in (("day", "days", 86400), ("hour", "hours", 3600), ("minute", "minutes", 60)):
            if nanos and nanos % (length * 10**9) == 0:
                count = nanos // (length * 10**9)
                return self(one) if count == 1 else self(many, f"{count:,}")
        if 0 < seconds < 1:
            return self("milliseconds", f"{seconds * 1000:g}")
        return self("seconds", f"{seconds:g}")


def _decimal(text: str, shift: int) -> str:
    """A decimal number as text, times a power of ten; nothing is rounded."""
    return format(Decimal(text).scaleb(shift).normalize(), "f")
