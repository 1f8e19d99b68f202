"""The command lines of all commands: one form of help, which fits a screen.

A command with many options says which are the usual ones: ``--help`` shows these, ``--help-all`` all of them.
"""

from __future__ import annotations

import argparse
import difflib
import shutil
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NoReturn

from protocontract.terminal import plural, tell_error

_ALWAYS: Final = frozenset({"--help", "--help-all"})


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Options with room beside them, where the terminal has it, so that more of them fit on a screen."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=34 if shutil.get_terminal_size().columns >= 100 else 24)


class Parser(argparse.ArgumentParser):
    """The parser of a command. Options are not abbreviated; description and epilog are shown as they are written."""

    def __init__(self, *, usual: Collection[str] | None = None, **settings: Any) -> None:
        """``usual``: the options that ``--help`` shows; None: all. ``settings`` are argparse's."""
        settings.setdefault("formatter_class", HelpFormatter)
        settings.setdefault("allow_abbrev", False)
        super().__init__(**settings)
        self._given: list[str] = []
        self._usual: Final = None if usual is None else frozenset(usual) | _ALWAYS
        if usual is not None:
            self.add_argument("--help-all", action=_HelpAll, nargs=0, help="show all options")

    def format_help(self) -> str:
        """The text of ``--help``."""
        with self._only_usual():
            return super().format_help()

    def format_all(self) -> str:
        """The text of ``--help-all``."""
        return super().format_help()

    def parse_known_args(self, *args: Any, **keywords: Any) -> Any:
        """As argparse, which calls it for commands of commands too; what is given is kept for ``error``."""
        self._given = list(args[0]) if args and args[0] is not None else sys.argv[1:]
        return super().parse_known_args(*args, **keywords)

    def error(self, message: str) -> NoReturn:
        """End the command with 2: what is wrong with the command line, and where its options are told."""
        tell_error(f"{message}; {self._meant()}{self.prog} --help says more")
        self.exit(2)

    def _meant(self) -> str:
        """A question, where an option is given that is nearly one of ours; argparse tells first what is missing."""
        for name in (each.partition("=")[0] for each in self._given if each.startswith("--")):
            if name not in self._option_string_actions:
                for near in difflib.get_close_matches(name, self._option_string_actions, n=1, cutoff=0.75):
                    return f"`{name}` is no option, did you mean `{near}`? "
        return ""

    @contextmanager
    def _only_usual(self) -> Iterator[None]:
        """Let argparse see the usual options alone."""
        usual = self._usual
        rare = [
            action
            for action in self._actions
            if usual is not None
            and action.option_strings
            and action.help is not argparse.SUPPRESS
            and not usual.intersection(action.option_strings)
        ]
        groups = [group for group in self._action_groups if set(group._group_actions) <= set(rare)]
        before = self.epilog, [action.help for action in rare], [group.description for group in groups]
        for action in rare:
            action.help = argparse.SUPPRESS
        for group in groups:
            group.description = None
        if rare:
            more = f"{plural(len(rare), 'more option')}: {self.prog} --help-all"
            self.epilog = f"{more}\n\n{self.epilog}" if self.epilog else more
        try:
            yield
        finally:
            self.epilog = before[0]
            for action, text in zip(rare, before[1], strict=True):
                action.help = text
            for group, text in zip(groups, before[2], strict=True):
                group.description = text


class _HelpAll(argparse.Action):
    """``--help-all``: shows every option and ends."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        del namespace, values, option_string
        assert isinstance(parser, Parser)
        print(parser.format_all(), end="")
        parser.exit()


def add_sources(parser: argparse.ArgumentParser, what: str = "the contract") -> None:
    """``--proto-path`` or ``--descriptors``: what contracts are compiled from that no generated module holds."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--proto-path", metavar="DIR", help=f"compile {what} from the .proto files below DIR")
    where.add_argument("--descriptors", metavar="FILE", help=f"compile {what} from a FileDescriptorSet")
