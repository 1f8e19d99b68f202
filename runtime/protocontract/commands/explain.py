"""The command ``protocontract explain``."""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from protocontract._sites import Site
from protocontract.arguments import Parser, add_sources
from protocontract.cli import KEPT, UsageError
from protocontract.contract import Contract
from protocontract.explain import Explanation, explain, known_ids
from protocontract.ids import RULES
from protocontract.terminal import Paint
from protocontract.violations import FieldElement, Rule, error_code

_EPILOG: Final = """\
An error code (0xb93db785, or its constant ERR_...) is looked for in the contract that --contract names, else in the
generated *_contract.py modules below the current folder and on PYTHONPATH.

exit codes: 0 explained; 2 unknown

examples: protocontract explain money.ambiguous
          protocontract explain 0xb93db785 --contract acme.finance.v1.Transaction
          protocontract explain STRING_MIN_LEN --lang zh
"""

# As violations write a code, with the prefix left out, and as an int prints.
_CODE: Final = re.compile(r"0[xX][0-9a-fA-F]{1,8}|[0-9a-fA-F]{8}|[0-9]{1,10}")
_FULL_NAME: Final = re.compile(r'^    full_name="([\w.]+)"', re.MULTILINE)
_NAMED_CODE: Final = re.compile(r"ERR_[A-Z0-9_]+")
# A generated constant: ERR_TRANSACTION_AMOUNT_MONEY_AMBIGUOUS: Final = 0xB93DB785
_CONSTANT: Final = re.compile(r"^\s*(ERR_\w+)\s*(?::[^=]+)?=\s*(0[xX][0-9a-fA-F]+)", re.MULTILINE)


def explain_command(argv: list[str]) -> int:
    """Say what a rule id, an error code or a diagnostic means, and what helps."""
    options = _parser().parse_args(argv)
    name: str = options.id
    contract = None
    if options.contract is not None:
        from protocontract.loading import resolve

        contract = resolve(options.contract, proto_path=options.proto_path, descriptors=options.descriptors)
    say = _Words(options.lang)
    code = _code(name)
    if code is not None:
        found = _of_code(code, contract, say)
    elif _NAMED_CODE.fullmatch(name):
        found = _of_constant(name, say)
    else:
        # A contract's own rule first: it may have taken an id that others have, too.
        found = None if contract is None else _of_contract(name, contract, say)
        found = found or explain(name, options.lang)
    if found is None:
        raise UsageError(_unknown(name))
    if options.format == "json":
        sys.stdout.write(json.dumps(asdict(found), ensure_ascii=False, indent=2) + "\n")
        return KEPT
    paint = Paint.on(sys.stdout)
    print(f"{paint(found.id, 'strong')} · {found.kind}")
    print(f"  {found.meaning}")
    if found.fix:
        print(f"  {found.fix}")
    return KEPT


class _Words:
    """What the command itself says, in a language."""

    def __init__(self, language: str) -> None:
        self.language: Final = language
        chinese = language.partition("-")[0].partition("_")[0].lower() == "zh"
        self.is_english: Final = not chinese
        self.error_code: Final = "错误码" if chinese else "error code"
        self.rule_of: Final = "规则，属于" if chinese else "rule of"
        self.sees: Final = "，位于" if chinese else " in "
        self.comma: Final = "，" if chinese else ", "


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="protocontract explain",
        description="Say what a rule id, an error code (0x...) or a diagnostic means, and what helps.",
        epilog=_EPILOG,
    )
    parser.add_argument("id", metavar="ID", help="money.ambiguous, string.min_len, 0xb93db785, rule-contradiction, ...")
    parser.add_argument("--contract", metavar="NAME", help="a contract whose own rules and codes are known too")
    add_sources(parser)
    parser.add_argument("--lang", default="en", metavar="TAG", help="the language of meanings: en (default), or zh")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how the answer is written")
    return parser


def _of_code(code: int, contract: Contract[Any] | None, say: _Words) -> Explanation | None:
    """A code is a hash: it is found by hashing what a contract promises, or in the constants of generated modules.

    One that a contract chose itself (`error_codes`) stands in its rules.
    """
    if contract is not None:
        for promise in contract.promises:
            for rule_id in promise.rule_ids:
                if _is_code(code, contract.full_name, promise.path, rule_id):
                    where = f"{contract.full_name} {promise.path}".rstrip()
                    return _with_code(code, where, rule_id, promise.text, say)
        return _chosen(code, contract, say) or _of_record(code, contract.full_name, say)
    for file in _contract_modules():
        text = file.read_text(encoding="utf-8", errors="replace")
        for name, value in _CONSTANT.findall(text):
            if int(value, 16) == code:
                return _of_module(code, name, file, text, say)
        for full_name in _FULL_NAME.findall(text):
            if (found := _of_record(code, full_name, say)) is not None:
                return found
    return None


def _chosen(code: int, contract: Contract[Any], say: _Words) -> Explanation | None:
    """The rule to which the contract gives a code of its own: read from the rules of its generated code."""
    for value in _constants(contract):
        if isinstance(value, Rule) and value.error_code == code:
            path = ".".join(step.name for step in value.path if isinstance(step, FieldElement))
            return _with_code(code, f"{value.contract} {path}".rstrip(), value.rule_id, value.message, say)
        if isinstance(value, Site):
            for rule_id, chosen in value.error_codes.items():
                if chosen == code:
                    return _with_code(code, f"{value.contract} {value.element.name}", rule_id, "", say)
    return None


def _constants(contract: Contract[Any]) -> Iterator[Any]:
    """The values of the module of a contract, generated or compiled at run time, by way of its functions."""
    for function in (contract._validate, contract._normalize):
        inner = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
        for part in (function, *inner):
            names = getattr(part, "__globals__", {})
            if names.get("__name__") != Contract.__module__:
                yield from names.values()


def _of_record(code: int, full_name: str, say: _Words) -> Explanation | None:
    """The code of a rule about the record as a whole, which every contract has: its bytes, its key."""
    for rule_id in RULES:
        if error_code(full_name, "", rule_id) == code:
            return _with_code(code, full_name, rule_id, "", say)
    return None


def _of_constant(name: str, say: _Words) -> Explanation | None:
    """The constant of a generated module: ``ERR_TRANSACTION_AMOUNT_MONEY_AMBIGUOUS``."""
    for file in _contract_modules():
        text = file.read_text(encoding="utf-8", errors="replace")
        for known, value in _CONSTANT.findall(text):
            if known == name:
                return _of_module(int(value, 16), name, file, text, say)
    return None


def _of_module(code: int, constant: str, file: Path, text: str, say: _Words) -> Explanation:
    """What a code of a generated module means, read from its text: nothing that is only found is imported."""
    for full_name, path, promise, rule_ids in _promises(text):
        for rule_id in rule_ids:
            if _is_code(code, full_name, path, rule_id):
                found = _with_code(code, f"{full_name} {path}".rstrip(), rule_id, promise, say)
                meaning = f"{found.meaning} ({constant}{say.sees}{file})"
                return Explanation(found.id, found.kind, meaning, found.fix)
    return Explanation(f"{code:#010x}", say.error_code, f"{constant}{say.sees}{file}")


def _promises(text: str) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """The promises in the source of a generated module: contract, path, prose, rule ids."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return  # not one of ours, whatever its name
    for contract in _calls(tree, "Contract"):
        names = {keyword.arg: keyword.value for keyword in contract.keywords}
        full_name = names.get("full_name")
        for promise in _calls(contract, "Promise"):
            try:
                path, prose, *rule_ids = (ast.literal_eval(argument) for argument in promise.args)
            except ValueError:
                continue
            if isinstance(full_name, ast.Constant) and isinstance(full_name.value, str):
                yield full_name.value, path, prose, rule_ids[0] if rule_ids else ()


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name:
            yield node


def _code(name: str) -> int | None:
    """The error code that a user gives: ``0xb93db785``, ``b93db785`` or ``3107829637``."""
    if not _CODE.fullmatch(name):
        return None
    if name[:2] in {"0x", "0X"}:
        return int(name, 16)
    number = int(name) if name.isdigit() else int(name, 16)
    return number if number < 2**32 else None


def _is_code(code: int, contract: str, path: str, rule_id: str) -> bool:
    place = path.replace("[]", "")
    return any(error_code(contract, end, rule_id) == code for end in (place, f"{place}.key", f"{place}.value"))


def _with_code(code: int, where: str, rule_id: str, promise: str, say: _Words) -> Explanation:
    known = explain(rule_id, say.language)
    # A rule of buf.validate has constants, which the promise tells; what protocontract says of its own is plainer.
    said = promise if known is None or (promise and rule_id not in RULES and say.is_english) else known.meaning
    meaning = f"{where}: {rule_id}" + (f"{say.comma}{said}" if said else "")
    return Explanation(f"{code:#010x}", say.error_code, meaning, "" if known is None else known.fix)


def _of_contract(name: str, contract: Contract[Any], say: _Words) -> Explanation | None:
    """A rule of a contract's own, by its id, its CEL, or the label that metrics give to a rule without an id."""
    for promise in contract.promises:
        place = promise.path.replace("[]", "")
        for rule_id in promise.rule_ids:
            label = f"cel:{error_code(contract.full_name, place, rule_id):08x}"
            if name == label or (name == rule_id and explain(name) is None):
                kind = f"{say.rule_of} {contract.full_name} {promise.path}".rstrip()
                said = promise.text if name == rule_id else f"{rule_id}{say.comma}{promise.text}"
                return Explanation(name, kind, said)
    return None


def _contract_modules() -> Iterator[Path]:
    """Generated modules below the current folder and the folders of PYTHONPATH; installed packages are not searched."""
    roots = [Path.cwd(), *(Path(part) for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part)]
    seen: set[Path] = set()
    for root in roots:
        for folder, folders, files in os.walk(root):
            folders[:] = [name for name in folders if not name.startswith(".") and name not in _SKIPPED]
            for name in files:
                path = Path(folder) / name
                if name.endswith("_contract.py") and path not in seen:
                    seen.add(path)
                    yield path


_SKIPPED: Final = frozenset({"node_modules", "__pycache__", "site-packages"})


def _unknown(name: str) -> str:
    if _code(name) is not None or _NAMED_CODE.fullmatch(name):
        return f"no contract here has the error code {name}; name one with --contract"
    near = difflib.get_close_matches(name, known_ids(), n=1)
    hint = f"did you mean `{near[0]}`?" if near else "a rule of your own contract is found with --contract"
    return f"`{name}` is not known; {hint}"
