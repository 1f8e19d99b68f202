"""Source in languages that the gate does not read: where its text names elements of the contracts.

Identifiers are compared without case and underscores, with what generators put around a name: ``getShipTo``,
``set_ship_to``, ``OrderOrBuilder``, ``NewShopClient``, ``Carrier_CARRIER_RAIL``, ``Carrier::Rail``. Comments are left
out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Final

#: Programming languages by the suffix of their files.
LANGUAGES: Final[Mapping[str, str]] = {
    ".go": "go", ".java": "java", ".kt": "kotlin", ".scala": "scala", ".rs": "rust", ".cs": "csharp", ".rb": "ruby",
    ".php": "php", ".swift": "swift", ".dart": "dart", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".js": "javascript",
    ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript", ".h": "cpp", ".hpp": "cpp", ".m": "objc",
    ".kts": "kotlin", ".groovy": "groovy", ".ex": "elixir", ".exs": "elixir", ".erl": "erlang", ".lua": "lua",
    ".r": "r", ".R": "r", ".jl": "julia", ".hs": "haskell", ".ml": "ocaml", ".clj": "clojure", ".fs": "fsharp",
    ".pl": "perl", ".sh": "shell", ".vue": "vue", ".svelte": "svelte",
}  # fmt: skip
#: Files that set up other programs: they count where they name a message.
DATA: Final = frozenset({".yaml", ".yml", ".toml", ".json", ".xml", ".graphql", ".tf", ".properties", ".conf"})

#: Characters of a file: a larger one holds data.
LARGEST: Final = 2_000_000
_WITH_HASH: Final = frozenset({"ruby", "elixir", "r", "julia", "perl", "shell", "php", "yaml"})
_WITH_DASHES: Final = frozenset({"lua", "haskell"})
_TEXT: Final = r'"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'|`[^`]*`"
_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*")
_OF_FIELDS: Final = ("get", "set", "has", "clear", "add", "mutable", "put", "remove", "with", "release", "maybe")
_AFTER_FIELDS: Final = ("list", "map", "count", "bytes", "value", "builder", "orbuilder", "case", "size", "opt")
_AROUND_SERVICES: Final = (
    "", "client", "grpc", "stub", "blockingstub", "futurestub", "coroutinestub", "server", "implbase", "base",
    "servicer", "service",
)  # fmt: skip


@dataclass(frozen=True)
class UnreadFile:
    """The text of a file without its comments (as many lines), and these with their lines."""

    text: str
    comments: tuple[tuple[int, str], ...]

    @cached_property
    def words(self) -> dict[str, tuple[int, ...]]:
        """The identifiers without case and underscores, with the lines where they stand."""
        found: dict[str, dict[int, None]] = {}
        for number, line in enumerate(self.text.split("\n"), 1):
            for word in _IDENTIFIER.findall(line):
                found.setdefault(_squeezed(word), {})[number] = None
        return {word: tuple(lines) for word, lines in found.items()}

    def lines_of(self, words: Iterable[str]) -> tuple[int, ...]:
        """Where any of some squeezed words stands."""
        return tuple(sorted({line for word in words for line in self.words.get(word, ())}))

    def lines_with(self, pattern: re.Pattern[str]) -> tuple[int, ...]:
        """The lines in which a pattern is found."""
        return tuple(number for number, line in enumerate(self.text.split("\n"), 1) if pattern.search(line))


def is_unread(path: str) -> bool:
    """Whether a file is of a language that the gate knows of and does not read, or sets up another program."""
    suffix = PurePosixPath(path).suffix
    return suffix in LANGUAGES or suffix in DATA


def is_code(path: str) -> bool:
    """Whether a file is source of one of the languages."""
    return PurePosixPath(path).suffix in LANGUAGES


def parse(path: str, text: str) -> UnreadFile:
    """A file's text and its comments."""
    language = LANGUAGES.get(PurePosixPath(path).suffix, "yaml")
    comment = r"//[^\n]*|/\*.*?\*/|<!--.*?-->"
    if language in _WITH_HASH:
        comment = r"#[^\n]*"
    elif language in _WITH_DASHES:
        comment = r"--[^\n]*|\{-.*?-\}"
    held: list[tuple[int, str]] = []

    def blank(match: re.Match[str]) -> str:
        if match["comment"] is None:
            return match[0]
        start = text.count("\n", 0, match.start()) + 1
        held.extend((start + at, line) for at, line in enumerate(match["comment"].split("\n")))
        return "\n" * match["comment"].count("\n")

    kept = re.sub(rf"(?P<comment>{comment})|{_TEXT}", blank, text, flags=re.DOTALL)
    return UnreadFile(kept, tuple(held))


def of_field(name: str) -> Iterator[str]:
    """What a field is called in generated code."""
    word = _squeezed(name)
    yield word
    for before in _OF_FIELDS:
        yield before + word
        yield from (before + word + after for after in _AFTER_FIELDS)
    yield from (word + after for after in _AFTER_FIELDS)


def of_message(full_name: str) -> Iterator[str]:
    """What a message or enum is called: also within the one around it."""
    short = _squeezed(full_name.rpartition(".")[2])
    outer = full_name.rpartition(".")[0].rpartition(".")[2]
    for word in (short, _squeezed(outer) + short if outer[:1].isupper() else short):
        yield from (word, f"{word}schema", f"{word}orbuilder", f"{word}builder")


def of_service(full_name: str) -> Iterator[str]:
    """What a service's clients and servers are called."""
    word = _squeezed(full_name.rpartition(".")[2])
    for after in _AROUND_SERVICES:
        yield from (word + after, f"new{word}{after}", f"register{word}{after}", f"unimplemented{word}{after}")


def of_value(enum: str, name: str) -> tuple[tuple[str, ...], re.Pattern[str]]:
    """What an enum value is called: words, and a pattern for the value after its enum, without the enum's prefix."""
    short, word = _squeezed(enum.rpartition(".")[2]), _squeezed(name)
    bare = word.removeprefix(short) or word
    pattern = re.compile(rf"(?i)\b{enum.rpartition('.')[2]}\b\s*(?:\.|::|->)\s*{'_?'.join(map(re.escape, bare))}\b")
    return (word, short + word), pattern


def of_package(package: str) -> re.Pattern[str]:
    """A package as text: with dots, slashes, colons or backslashes."""
    parts = r"(?:[./]|::|\\+|_)".join(map(re.escape, package.split(".")))
    return re.compile(rf"(?<![\w.]){parts}(?!\w)")


def _squeezed(word: str) -> str:
    return word.replace("_", "").lower()
