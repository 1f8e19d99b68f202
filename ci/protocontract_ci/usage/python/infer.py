"""Types of parameters and results that nobody wrote down, taken from calls and returns.

A checker treats a parameter without an annotation as anything. Here the types of the arguments at its call sites become
its annotation in the overlay, and the types of what a function returns that of its result, round after round, until
nothing new is learned.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from protocontract_ci.usage.python.overlay import Overlay, Source
from protocontract_ci.usage.python.stubs import TYPES, Stubs

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_IDENTITY: Final = re.compile(
    r"\b(?:[MEVSO]\d+_\w+|Repeated|ByKey|JsonDict|PlainDict|JsonText|NameOf|FieldOf|DescriptorOf)\b"
)
_WORD: Final = re.compile(r"[A-Za-z_][\w.]*")
_IMPORT: Final = f"import {TYPES}"
#: Words that mean the same wherever an annotation stands.
_BUILTIN: Final = frozenset(
    {"list", "dict", "set", "tuple", "frozenset", "str", "int", "float", "bytes", "bool", "None"}
)


@dataclass
class Inference:
    """What is known of the functions of some files."""

    files: Mapping[str, Source]
    stubs: Stubs
    _by_name: dict[str, list[tuple[Source, Function]]] = field(default_factory=dict)
    _parameters: dict[ast.arg, str] = field(default_factory=dict)
    _results: dict[Function, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for source in self.files.values():
            for node in source.nodes:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    self._by_name.setdefault(node.name, []).append((source, node))

    def prepare(self, overlay: Overlay) -> None:
        """Ask for the arguments and results that are not known yet, and write down those that are."""
        for node in overlay.source.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._annotate(overlay, node)
                if node.returns is None and node not in self._results:
                    for each in _returned(node):
                        overlay.ask(each)
            elif isinstance(node, ast.Call):
                for _, argument in self._pairs(node):
                    overlay.ask(argument)
            elif (
                isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and type(node.value.value) is bool
            ):
                # A switch that is off today is no proof that what it guards is never run.
                for target in node.targets:
                    if isinstance(target, ast.Name) and len(node.targets) == 1:
                        overlay.insert(
                            overlay.source.offset(target.end_lineno or 0, target.end_col_offset or 0), ": bool"
                        )

    def _annotate(self, overlay: Overlay, node: Function) -> None:
        source = overlay.source
        for parameter in _parameters(node):
            known = self._parameters.get(parameter)
            if known is not None and parameter.end_lineno is not None and parameter.end_col_offset is not None:
                overlay.insert(source.offset(parameter.end_lineno, parameter.end_col_offset), f': "{known}"', _IMPORT)
        result = self._results.get(node)
        if result is not None:
            # The colon that ends the signature is the last one before the body, or before its first comment.
            colon = _colon(source, node)
            if colon is not None:
                overlay.insert(colon, f' -> "{result}"', _IMPORT)

    def _pairs(self, call: ast.Call) -> Iterable[tuple[ast.arg, ast.expr]]:
        """Parameters without an annotation and the arguments that a call gives them."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        for _, function in self._by_name.get(name, ()):
            parameters = [*function.args.posonlyargs, *function.args.args]
            if parameters and parameters[0].arg in ("self", "cls"):
                parameters = parameters[1:]
            by_name = {each.arg: each for each in (*parameters, *function.args.kwonlyargs)}
            for parameter, argument in zip(parameters, call.args, strict=False):
                if isinstance(argument, ast.Starred):
                    break
                if parameter.annotation is None:
                    yield parameter, argument
            for keyword in call.keywords:
                known = by_name.get(keyword.arg or "")
                if known is not None and known.annotation is None:
                    yield known, keyword.value

    def learn(self, told: Mapping[ast.expr, str]) -> bool:
        """Take what the checker told. Whether anything is new."""
        arguments: dict[ast.arg, dict[str, None]] = {}
        changed = False
        for source in self.files.values():
            for node in source.nodes:
                if isinstance(node, ast.Call):
                    for parameter, argument in self._pairs(node):
                        annotation = _annotation(told.get(argument, ""))
                        if annotation:
                            arguments.setdefault(parameter, {})[annotation] = None
                elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is None:
                    changed = self._learn_result(node, told) or changed
        for parameter, types in arguments.items():
            known = " | ".join(types)
            if self._parameters.get(parameter) != known:
                self._parameters[parameter] = known
                changed = True
        return changed

    def _learn_result(self, node: Function, told: Mapping[ast.expr, str]) -> bool:
        if node in self._results:
            return False
        types = dict.fromkeys(_annotation(told[each]) for each in _returned(node) if each in told)
        types.pop("", None)
        if not types or any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(node)):
            return False
        self._results[node] = " | ".join(filter(None, types))
        return True


def _parameters(node: Function) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _returned(node: Function) -> Iterable[ast.expr]:
    """What a function returns; what functions inside it return is theirs."""
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, ast.Return) and each.value is not None:
            yield each.value
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(each)


def _annotation(told: str) -> str:
    """A told type as an annotation of the overlay; "" where it names nothing of the contracts, or cannot be written."""
    if _IDENTITY.search(told) is None:
        return ""
    class_of = re.fullmatch(r"<class '(\w+)'>", told)
    if class_of is not None:
        return f"type[{TYPES}.{class_of[1]}]"
    parts = [part.strip() for part in told.split(" | ")] if "[" not in told else [told]
    kept = [part for part in parts if part not in ("Unknown", "Any")]
    text = " | ".join(kept)
    words = [word for word in _WORD.findall(text) if not _IDENTITY.fullmatch(word)]
    if any(word not in _BUILTIN for word in words):
        return ""
    return _IDENTITY.sub(lambda match: f"{TYPES}.{match[0]}", text)


def _colon(source: Source, node: Function) -> int | None:
    """Where the signature's closing parenthesis ends."""
    end = source.offset(node.body[0].lineno, node.body[0].col_offset)
    start = source.offset(node.lineno, node.col_offset)
    depth, at = 0, source.text.find("(", start)
    while 0 <= at < end:
        letter = source.text[at]
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth == 0:
                return at + 1
        elif letter == "#":
            at = source.text.find("\n", at)
        elif letter in "'\"":
            # A text among the defaults: nobody needs to know what is inside.
            closing = source.text.find(letter, at + 1)
            if closing < 0:
                return None
            at = closing
        at += 1
    return None
