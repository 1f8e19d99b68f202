"""Judging dead letters again, by the contracts that their headers name: what they say now, and the values concerned."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from protocontract.contract import Contract
from protocontract.kafka.judge import EncodingChoice, Judge
from protocontract.kafka.letters.reading import DeadLetter
from protocontract.violations import ContractError, MissingExtra, Violation, rule_label

# What a message can be called: the name comes from a header, and names modules that are looked for.
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")


class Shown(NamedTuple):
    """One violation of a letter, with the value that broke the rule where it may be seen."""

    rule_id: str
    code: int | None
    field_path: str
    value: Any = None
    redacted: bool = False


class Judgement(NamedTuple):
    """What a letter's contract says of it now: ``accepted``, ``rejected``, or why it says nothing."""

    state: str
    findings: list[Shown]
    #: Whether a log of replays and edits knows that the record was sent again after this failure.
    sent_again: bool = False


class Reviewer:
    """Judges dead letters again, by the contracts that their headers name."""

    def __init__(
        self, *, proto_path: str | None = None, descriptors: str | None = None, encoding: EncodingChoice = "headers"
    ) -> None:
        self._where: Final = {"proto_path": proto_path, "descriptors": descriptors}
        self._encoding: EncodingChoice = encoding
        self._judges: dict[str, Judge | None] = {}
        #: Contracts that could not be had, and why.
        self.missing: Final[dict[str, str]] = {}

    def __call__(self, letter: DeadLetter) -> Judgement:
        """The letter's findings, with values where the contract is there and the value is whole."""
        told = [Shown(*finding) for finding in letter.findings]
        if letter.foreign:
            return Judgement("foreign", told)
        if letter.unread or not letter.contract:
            return Judgement("skipped", told)
        judge = self.judge_of(letter.contract)
        if judge is None:
            return Judgement("no contract", told)
        record = letter.restored()
        if letter.truncated or record.value is None:
            return Judgement("truncated" if letter.truncated else "no value", told)
        if letter.key_form:
            # Whether the key agrees with the value is not to be known; the rest is.
            found = list(judge.for_topic(record.topic)(record)[0].violations)
            return Judgement("no key", [_with_value(finding, found) for finding in told])
        outcome, own = judge.for_topic(record.topic)(record)
        found = list(outcome.violations) + ([] if own is None else [own])
        state = "accepted" if outcome.ok and own is None else "rejected"
        return Judgement(state, [_with_value(finding, found) for finding in told])

    def judge_of(self, name: str) -> Judge | None:
        """What judges by a contract of this name; None where it cannot be had, and ``missing`` says why."""
        if name not in self._judges:
            self._judges[name] = self._find(name)
        return self._judges[name]

    def _find(self, name: str) -> Judge | None:
        from protocontract.loading import resolve

        if not _NAME.fullmatch(name):
            self.missing[name] = "is no name of a message"
            return None
        try:
            contract: Contract[Any] = resolve(name, **self._where)
        except (ContractError, MissingExtra) as error:
            self.missing[name] = str(error)
            return None
        return Judge(contract, self._encoding)


def _with_value(told: Shown, found: list[Violation]) -> Shown:
    for violation in found:
        if (rule_label(violation), violation.code, violation.redacted_path) == told[:3]:
            return told._replace(value=violation.value, redacted=violation.sensitive)
    return told
