"""Changes of a text by offsets, and how options and entries are taken out of it without leaving their separators."""

from __future__ import annotations

from dataclasses import dataclass, field

from protocontract_compiler.migrate.source import Aggregate, Entry, Field, Option


@dataclass(slots=True)
class Edits:
    """Replacements of parts of a text. They must not overlap; what is put at one offset comes in order."""

    text: str
    _made: list[tuple[int, int, str]] = field(default_factory=list)

    def replace(self, start: int, end: int, by: str) -> None:
        """Puts other text in the place of a part."""
        self._made.append((start, end, by))

    def insert(self, at: int, text: str) -> None:
        """Puts text at an offset."""
        self._made.append((at, at, text))

    def remove_statement(self, start: int, end: int) -> None:
        """Takes out a part, and its line where nothing else is on it."""
        line = self.text.rfind("\n", 0, start) + 1
        following = self.text.find("\n", end)
        following = len(self.text) if following < 0 else following
        if not self.text[line:start].strip() and not self.text[end:following].strip():
            start, end = line, min(following + 1, len(self.text))
        self._made.append((start, end, ""))

    def indent(self, at: int) -> str:
        """The white space that begins the line of an offset."""
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip())]

    def result(self) -> str:
        """The text with all changes."""
        parts: list[str] = []
        at = 0
        ends = "\r\n" if "\r\n" in self.text else "\n"
        for start, end, by in sorted(self._made, key=lambda made: (made[0], made[1])):
            parts += (self.text[at:start], by.replace("\r\n", "\n").replace("\n", ends))
            at = max(at, end)
        return "".join([*parts, self.text[at:]])


def take_out_entries(edits: Edits, aggregate: Aggregate, gone: list[Entry]) -> None:
    """Removes entries of a message; others stay."""
    kept = [entry for entry in aggregate.entries if entry not in gone]
    for entry in gone:
        at = aggregate.entries.index(entry)
        last = at + 1 == len(aggregate.entries)
        start, end = entry.start, entry.end
        before = aggregate.entries[at - 1] if last and at else None
        if before is not None and before in kept:
            # The last one goes with the separator before it; a comment between them stays.
            if not edits.text[before.end : start].strip(" \t"):
                start = before.value.end
            elif before.end > before.value.end:
                edits.replace(before.end - 1, before.end, "")
        while not last and edits.text[end : end + 1] in {" ", "\t"}:
            end += 1
        edits.remove_statement(start, end)


def replace_options(edits: Edits, of: Field, by: dict[Option, list[str]]) -> None:
    """Puts other options in the place of some of a field's: none, one or several for each."""
    if of.bracket is None:
        return
    if all(by.get(option) == [] for option in of.options):
        start = of.bracket[0]
        while edits.text[start - 1] in " \t\n":
            start -= 1
        edits.replace(start, of.bracket[1], "")
        return
    several = "\n" in edits.text[of.bracket[0] : of.bracket[1]]
    last = max(at for at, option in enumerate(of.options) if by.get(option) != [])
    for at, option in enumerate(of.options[: last + 1]):
        others = by.get(option)
        if others:
            between = f",\n{edits.indent(option.start)}" if several else ", "
            edits.replace(option.start, option.end, between.join(others))
        elif others is not None:
            edits.replace(option.start, of.options[at + 1].start, "")
    if last + 1 < len(of.options):
        # Nothing comes behind these: the comma before them goes, too.
        edits.replace(of.options[last].end, of.options[-1].end, "")
