"""Chinese (simplified) messages, by rule id. ``{0}`` and ``{1}`` stand for the rule's constants."""

from __future__ import annotations

from typing import Final

from protocontract.translations.en import NUMBERS, ORDERED

_BOUNDS: Final = {
    "lt": "必须小于 {0}",
    "lte": "必须小于或等于 {0}",
    "gt": "必须大于 {0}",
    "gt_lt": "必须大于 {0} 且小于 {1}",
    "gt_lt_exclusive": "必须大于 {0} 或小于 {1}",
    "gt_lte": "必须大于 {0} 且小于或等于 {1}",
    "gt_lte_exclusive": "必须大于 {0} 或小于或等于 {1}",
    "gte": "必须大于或等于 {0}",
    "gte_lt": "必须大于或等于 {0} 且小于 {1}",
    "gte_lt_exclusive": "必须大于或等于 {0} 或小于 {1}",
    "gte_lte": "必须大于或等于 {0} 且小于或等于 {1}",
    "gte_lte_exclusive": "必须大于或等于 {0} 或小于或等于 {1}",
}
_LISTS: Final = {"in": "必须是列表 {0} 中的值", "not_in": "不得是列表 {0} 中的值"}

_FORMATS: Final = {
    "email": "电子邮件地址",
    "hostname": "主机名",
    "ip": "IP 地址",
    "ipv4": "IPv4 地址",
    "ipv6": "IPv6 地址",
    "uri": "URI",
    "address": "主机名或 IP 地址",
    "uuid": "UUID",
    "tuuid": "无连字符的 UUID",
    "ip_with_prefixlen": "带前缀长度的 IP 地址",
    "ipv4_with_prefixlen": "带前缀长度的 IPv4 地址",
    "ipv6_with_prefixlen": "带前缀长度的 IPv6 地址",
    "ip_prefix": "IP 前缀",
    "ipv4_prefix": "IPv4 前缀",
    "ipv6_prefix": "IPv6 前缀",
    "host_and_port": "主机（主机名或 IP 地址）与端口",
    "ulid": "ULID",
    "protobuf_fqn": "Protobuf 完全限定名",
    "protobuf_dot_fqn": "以点开头的 Protobuf 完全限定名",
    "well_known_regex.header_name": "HTTP 标头名称",
}

_STANDARD: Final = {
    "required": "必须填写",
    "required.oneof": "oneof 中必须设置且仅设置一个字段",
    "message.oneof": "{0} 中最多只能设置一个",
    "message.oneof.required": "{0} 中必须设置一个",
    "float.finite": "必须是有限数",
    "double.finite": "必须是有限数",
    "string.const": "必须等于“{0}”",
    "string.len": "必须为 {0} 个字符",
    "string.min_len": "至少需要 {0} 个字符",
    "string.max_len": "最多允许 {0} 个字符",
    "string.len_bytes": "必须为 {0} 个字节",
    "string.min_bytes": "至少需要 {0} 个字节",
    "string.max_bytes": "最多允许 {0} 个字节",
    "string.pattern": "与正则表达式“{0}”不匹配",
    "string.prefix": "缺少前缀“{0}”",
    "string.suffix": "缺少后缀“{0}”",
    "string.contains": "缺少子串“{0}”",
    "string.not_contains": "不得包含子串“{0}”",
    "string.uri_ref": "必须是有效的 URI 引用",
    "string.well_known_regex.header_value": "必须是有效的 HTTP 标头值",
    "bytes.const": "必须为 {0}",
    "bytes.len": "必须为 {0} 个字节",
    "bytes.min_len": "至少需要 {0} 个字节",
    "bytes.max_len": "最多允许 {0} 个字节",
    "bytes.pattern": "必须与正则表达式“{0}”匹配",
    "bytes.prefix": "缺少前缀 {0}",
    "bytes.suffix": "缺少后缀 {0}",
    "bytes.contains": "缺少 {0}",
    "enum.defined_only": "必须是枚举中已定义的值",
    "any.in": "类型 URL 必须在允许列表中",
    "any.not_in": "类型 URL 不得在禁止列表中",
    "repeated.min_items": "至少需要 {0} 项",
    "repeated.max_items": "最多允许 {0} 项",
    "repeated.unique": "各项不得重复",
    "map.min_pairs": "至少需要 {0} 个条目",
    "map.max_pairs": "最多允许 {0} 个条目",
    "field_mask.const": "路径必须等于 {0}",
    "field_mask.in": "只能包含 {0} 中的路径",
    "field_mask.not_in": "不得包含 {0} 中的任何路径",
    "timestamp.lt_now": "必须早于当前时间",
    "timestamp.gt_now": "必须晚于当前时间",
    "timestamp.within": "与当前时间相差不得超过 {0}",
}

_OWN: Final = {
    "money.syntax": "文本不是金额",
    "money.currency": "币种缺失、未知或不在合约允许的范围内",
    "money.ambiguous": "金额有两种读法：1.234 可以是一千多，也可以是一点多",
    "money.scale": "小数位数超过该币种的最小单位",
    "instant.syntax": "文本不是可以识别的时刻",
    "instant.ambiguous": "日与月的顺序或世纪有两种读法",
    "instant.zone": "时刻没有时区，或时区未知",
    "instant.gap": "该本地时间不存在：时钟调整跳过了它",
    "instant.fold": "该本地时间出现两次：时钟被回拨",
    "instant.range": "时刻超出合约允许的范围",
    "quantity.syntax": "文本不是数量",
    "quantity.unit": "单位未知，或不在合约允许的范围内",
    "quantity.dimension": "单位的量纲不同",
    "quantity.ambiguous": "数量有两种读法",
    "quantity.scale": "换算后的数字位数多于字段所能容纳的位数",
    "quantity.range": "换算结果超出字段类型的范围",
    "label.unknown": "不是合约列出的标签",
    "text.type": "值不是文本",
    "text.surrogate": "文本含有不成对的代理码位",
    "text.nul": "文本含有 U+0000",
    "text.control": "文本含有控制字符",
    "text.replacement": "文本含有 U+FFFD：在到达之前已经损坏",
    "text.noncharacter": "文本含有非字符码位",
    "text.bidi": "文本含有双向控制字符",
    "text.private_use": "文本含有私用区字符",
    "text.tag": "文本含有不可见的标签字符",
    "text.mojibake": "文本疑似用错误的编码解码",
    "text.markup": "文本含有未结束的标记",
    "text.empty": "文本为空",
    "text.amount": "文本中的一处金额有歧义，已原样保留",
    "scalar.syntax": "文本不是数字或布尔值",
    "scalar.type": "JSON 值的类型与字段不同",
    "scalar.range": "数字超出字段类型的范围",
    "scalar.finite": "NaN 或无穷大",
    "scalar.inexact": "字段类型无法精确表示该数字",
    "scalar.enum": "枚举没有这个值",
    "scalar.duplicate": "JSON 对象中同一字段出现两次",
    "scalar.required": "JSON 对象缺少必需字段",
    "scalar.unknown_field": "JSON 对象含有合约不认识的字段",
    "spans.order": "区间的终点在起点之前，或区间没有按顺序排列",
    "spans.bounds": "区间超出文本",
    "spans.boundary": "区间的端点落在一个字符中间",
    "spans.surface": "区间的文字与文本中的片段不同",
    "spans.overlap": "区间相互重叠",
    "spans.empty": "区间为空",
    "spans.edge": "区间以空白开头或结尾",
    "spans.lost": "规范化之后区间没有精确对应的位置",
    "sequence.step": "数列没有按声明的规律变化",
    "sequence.length": "列表与其同级列表长度不同",
    "graph.cycle": "某一项是自己的祖先",
    "graph.missing": "父项不在各项之中",
    "graph.duplicate": "两项的标识相同",
    "tensor.dtype": "元素类型与声明不同",
    "tensor.shape": "形状与声明不同",
    "tensor.size": "数据长度与形状不符",
    "tensor.finite": "元素含有 NaN 或无穷大",
    "tensor.range": "元素超出声明的范围",
    "tensor.norm": "向量的长度与声明不同",
    "key.mismatch": "记录的键与合约的 key_field 不一致",
    "schema.unknown": "schema registry 中没有记录所指的 schema",
    "schema.type": "记录所指的 schema 不是 protobuf schema",
    "schema.message": "记录是另一个消息类型，不是合约的类型",
    "schema.incompatible": "写入记录所用的 schema 与合约矛盾",
    "schema.unusable": "记录所指的 schema 无法读取",
    "wire.malformed": "字节不是该类型的消息",
    "wire.framing": "记录的帧格式与预期不同",
    "wire.truncated": "文件在一条记录中间结束",
    "wire.duplicate": "只能设置一次的字段设置了两次",
    "wire.null": "没有值",
    "wire.oneof": "同一 oneof 的两个成员都被设置",
    "wire.size": "记录超过允许读取的大小",
    "wire.tombstone": "在不允许删除的地方出现了没有值的记录",
    "wire.unknown_field": "记录含有合约不认识的字段",
    "rule.evaluation": "某条规则对这条消息没有结果",
    "handler.rejected": "处理程序拒绝了该记录",
    "handler.failed": "处理程序多次失败",
    "sink.too_large": "目标主题不接受这么大的记录",
    "operator.skipped": "操作员让守护进程跳过了该记录",
}


def _families() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in ORDERED:
        found.update({f"{name}.{rule}": text for rule, text in _BOUNDS.items()})
        found[f"{name}.const"] = "必须等于 {0}"
    for name in (*NUMBERS, "duration", "string", "bytes", "enum"):
        found.update({f"{name}.{rule}": text for rule, text in _LISTS.items()})
    for name in ("bool", "enum"):
        found[f"{name}.const"] = "必须等于 {0}"
    for rule, word in _FORMATS.items():
        for name in ("string", "bytes") if rule in ("ip", "ipv4", "ipv6", "uuid") else ("string",):
            found[f"{name}.{rule}"] = f"必须是有效的{'' if word[0] > 'z' else ' '}{word}"
            found[f"{name}.{rule}_empty"] = f"值为空，不是有效的{'' if word[0] > 'z' else ' '}{word}"
    return found


TEXTS: Final[dict[str, str]] = {**_families(), **_STANDARD, **_OWN}
