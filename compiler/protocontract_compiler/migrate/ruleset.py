"""Rules that a schema registry keeps beside a schema (``ruleSet.domainRules``): conditions in CEL on the message."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from protocontract_compiler.migrate.edits import Edits
from protocontract_compiler.migrate.report import Finding, Migrated
from protocontract_compiler.migrate.source import Source

_PART: Final = re.compile(r"""r?"(?:\\.|[^"\\])*"|r?'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|.""", re.DOTALL)


def migrate(source: Source, edits: Edits, told: Migrated, file: Path, refused: dict[str, str]) -> None:
    """Adds the rules of ``file`` to the first message, which is the schema's own.

    Raises ValueError where the file is no JSON with a ``ruleSet``.
    """
    written = file.read_text("utf-8")
    read = json.loads(written)
    rules = (read.get("ruleSet", read) if isinstance(read, dict) else {}).get("domainRules")
    if not isinstance(rules, list):
        raise ValueError("no `ruleSet.domainRules`")
    messages = [block for block in source.blocks if block.kind == "message"]
    for number, rule in enumerate(rules, 1):
        name = str(rule.get("name", f"rule {number}"))
        why = _why_not(rule) if messages else "the file has no message"
        line = written.count("\n", 0, max(0, written.find(json.dumps(name)))) + 1
        text = "" if why else _quoted(_of_this(str(rule["expr"])))
        why = why or refused.get(text, "")
        if why:
            told.findings.append(Finding("left", str(file), line, f"rule {name}", why))
            continue
        lines = [f"id: {_quoted(name)}"]
        if rule.get("doc"):
            lines.append(f"message: {_quoted(str(rule['doc']))}")
        lines.append(f"expression: {text}")
        inner = "".join(f"\n    {line}" for line in lines)
        edits.insert(messages[0].body, f"\n  option (buf.validate.message).cel = {{{inner}\n  }};")
        told.turned += 1
        mode = str(rule.get("mode", "")).upper()
        if mode in {"WRITE", "READ"}:
            where = "written" if mode == "WRITE" else "read"
            note = f"it was looked at where records are {where}; a contract holds wherever it is validated"
            told.findings.append(Finding("note", str(file), line, f"rule {name}", note))


def _why_not(rule: dict[str, Any]) -> str:
    kind, type_ = str(rule.get("kind", "")).upper(), str(rule.get("type", "")).upper()
    if rule.get("disabled"):
        return "the rule is disabled"
    if kind != "CONDITION":
        return "a rule that changes records: see the normalizers of protocontract"
    if type_ != "CEL":
        return f"rules of type {type_ or 'unknown'} are about fields by tag or type: write them at the fields"
    if str(rule.get("onFailure", "")).upper() in {"NONE", "NONE,NONE"}:
        return "a failure is passed over: `severities` of protocontract says so"
    if not rule.get("expr"):
        return "a rule without an expression"
    return ""


def _of_this(expression: str) -> str:
    """The expression with ``this`` for ``message``, and a guard before its semicolon as an implication."""
    parts = _PART.findall(expression)
    written: list[str] = []
    guard = ""
    for at, part in enumerate(parts):
        before = next((other for other in reversed(parts[:at]) if not other.isspace()), "")
        if part == ";" and not guard:
            guard, written = "".join(written).strip(), []
        else:
            written.append("this" if part == "message" and before != "." else part)
    rule = "".join(written).strip()
    return f"!({guard}) || ({rule})" if guard else rule


def _quoted(text: str) -> str:
    """A text as a string of .proto: JSON's escapes are C's, but for slashes that it leaves alone."""
    return json.dumps(text, ensure_ascii=False)
