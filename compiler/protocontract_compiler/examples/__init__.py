"""Examples of a contract: a record that it accepts, values that it makes uniform, and a record for each broken rule.

They are for people: values are plausible and stay the same from one run to the next, so that documents in which they
stand change only when the contract does. (``protocontract.testing`` draws at random, for tests.) Every example is
judged by the compiled contract, as any record is; what could not be found is left out.
"""

from __future__ import annotations

from typing import Any

from protocontract.contract import Contract
from protocontract.violations import ContractError
from protocontract_compiler import ir
from protocontract_compiler.examples import showing
from protocontract_compiler.examples.searching import Found, judged, search
from protocontract_compiler.examples.values import NOW

__all__ = ["NOW", "Found", "examples_of", "judged", "search"]


def examples_of(contract: Contract[Any]) -> tuple[ir.Example, ...]:
    """The examples of a contract: the record that is kept, what is cleaned in the order of the fields, what is refused.

    Nothing of a sensitive field is shown. ``record`` of an example holds the message, so that anybody can ask the
    contract again. None are known of a contract that cannot be judged at a given moment: one with rules about the clock
    that are left to protovalidate, or with rules that protovalidate refuses.
    """
    try:
        found = search(contract)
    except ContractError:
        return ()
    if found.kept is None:
        return ()
    examples = [
        ir.Example("kept", "", "", 0, _said(lambda language: showing.record(contract, found.kept, language)),
                   record=found.record)
    ]  # fmt: skip
    for cleaned in found.cleaned:
        change = cleaned.change
        if change.before is None:
            continue  # sensitive
        path = change.declared_path
        before = _said(
            lambda language, path=path, change=change: showing.value(contract, path, change.before, language)
        )
        after = _said(lambda language, path=path, change=change: showing.value(contract, path, change.after, language))
        examples.append(ir.Example("cleaned", path, change.rule_id, 0, before, after, record=cleaned.record))
    for code, refused in found.refused.items():
        violation = refused.violation
        examples.append(
            ir.Example(
                "refused", _declared(violation), violation.rule_id or violation.rule.rule_text, code,
                _said(lambda language, refused=refused: showing.refused(contract, refused, language)),
                says=_said(lambda language, violation=violation: violation.localized(language)),
                record=refused.record, alone=refused.far[0] == 0,
            )
        )  # fmt: skip
    return tuple(examples)


def _said(tell: Any) -> ir.Said:
    return tuple((language, tell(language)) for language in showing.LANGUAGES)


def _declared(violation: Any) -> str:
    """The path as a promise has it: ``entities[].label``."""
    steps = violation.elements()
    parts = [f"{element.name}[]" if subscript is not None else element.name for element, subscript in steps]
    return ".".join(parts)
