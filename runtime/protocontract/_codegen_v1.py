"""All that generated code may import from the runtime: this module is the whole promise to it.

Its name carries a version. A module generated today keeps working as long as this file is here, so nothing in it
changes its meaning; what must change goes into a ``_codegen_v2`` beside it.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from google.protobuf.message import Message

from protocontract import _scope
from protocontract._cel import *  # noqa: F403  # its __all__ is what emitted CEL may call
from protocontract._delegate import Governed, delegate
from protocontract._sites import (
    Link,
    Site,
    change,
    extend,
    move_spans,
    quantity_as,
    refuse,
    refuse_all,
    set_timestamp,
    warn_all,
)
from protocontract.contract import Contract, Promise, StreamLevel
from protocontract.violations import (
    EACH,
    Change,
    ErrorClass,
    FieldElement,
    PathTemplate,
    Refusal,
    Rule,
    RuleEvaluationError,
    Subscript,
    Violation,
)

# ----------------------------------------------------------------------------------------------------------------------
# Violations


def add(
    out: list[Violation] | None,
    rule: Rule,
    value: object = None,
    subscripts: tuple[Subscript, ...] = (),
    text: str | None = None,
) -> list[Violation]:
    """``out`` with one more violation. ``text`` is what the rule's expression returned."""
    if text is not None and rule.sensitive:
        # An expression can put what it reads into the text that it returns.
        text = rule.rule_id or rule.rule_text
    violation = Violation(rule, value, subscripts, text)
    if out is None:
        return [violation]
    out.append(violation)
    return out


def add_entries(out: list[Violation] | None, found: list[Violation], position: int) -> list[Violation]:
    """``out`` with the violations of a map's entries, sorted by key; the key is subscript number ``position``."""
    found.sort(key=lambda violation: _outer_subscripts(violation)[position])
    if out is None:
        return found
    out.extend(found)
    return out


def _outer_subscripts(violation: Violation) -> tuple[Any, ...]:
    return violation.prefix[0][1] if violation.prefix else violation.subscripts


def nest(
    out: list[Violation] | None,
    found: list[Violation],
    path: PathTemplate,
    subscripts: tuple[Subscript, ...],
    contract: str,
) -> list[Violation]:
    """``out`` with violations of a message that the record holds at ``path``."""
    moved = [violation.within(path, subscripts, contract) for violation in found]
    if out is None:
        return moved
    out.extend(moved)
    return out


class re2:  # stands for the module of that name
    """RE2, for the patterns that Python's ``re`` cannot run safely; imported with the first of them."""

    @staticmethod
    def compile(pattern: str) -> Any:
        """The compiled pattern."""
        import re2 as module

        return module.compile(pattern)


def is_zero(value: float) -> bool:
    """Whether a number is protobuf's zero value. -0.0 is not: its bits are not all zero."""
    return value == 0 and math.copysign(1.0, value) > 0


#: Source of CEL's ``now``, in nanoseconds since the epoch. A test replaces it to stop the clock.
clock: Callable[[], int] = time.time_ns


def now() -> int:
    """CEL's ``now``: read once for each evaluation of a rule."""
    if _scope.clock_was_given:
        given = _scope.given_now()
        if given is not None:
            return given
    return clock()


def unevaluable(
    out: list[Violation] | None, rule: Rule, error: RuleEvaluationError, subscripts: tuple[Subscript, ...] = ()
) -> list[Violation]:
    """A rule has no result. That ends the validation, unless it is partial: then the rule may not count."""
    if not _scope.collecting():
        raise error
    return add(out, rule, _scope.NoResult(error), subscripts)


# ----------------------------------------------------------------------------------------------------------------------
# Normalizers and relations

# Each of these imports its module when a generated module needs it, so that a contract without normalizers costs none.


def text(**options: Any) -> Any:
    """The text normalizer with these options bound."""
    from protocontract.normalize import text as module

    return module.normalizer(**options)


def money(**options: Any) -> Any:
    """The money normalizer with these options bound."""
    from protocontract.normalize import money as module

    return module.normalizer(**options)


def instant(**options: Any) -> Any:
    """The instant normalizer with these options bound."""
    from protocontract.normalize import instant as module

    return module.normalizer(**options)


def quantity(**options: Any) -> Any:
    """The quantity normalizer with these options bound. Units are looked up when the first value comes."""
    from protocontract.normalize import quantity as module

    return module.normalizer(**options, lazy=True)


def label(**options: Any) -> Any:
    """The label normalizer with these options bound."""
    from protocontract.normalize import label as module

    return module.normalizer(**options)


def scalar(**options: Any) -> Any:
    """The scalar normalizer of a string field, which holds a text cell, with these options bound."""
    from protocontract.normalize import scalar as module

    return module.cell(**options)


def spans(**options: Any) -> Any:
    """The check of spans with these options bound."""
    from protocontract.relations import spans as module

    return module.checker(**options)


def spans_remapper(**options: Any) -> Any:
    """What moves spans through the edits of their text."""
    from protocontract.relations import spans as module

    return module.remapper(**options)


def sequence(**options: Any) -> Any:
    """The check of a sequence with these options bound."""
    from protocontract.relations import sequence as module

    return module.checker(**options)


def graph(**options: Any) -> Any:
    """The check of a graph with these options bound."""
    from protocontract.relations import graph as module

    return module.checker(**options)


def tensor(**options: Any) -> Any:
    """The check of a tensor with these options bound."""
    from protocontract.relations import tensor as module

    return module.checker(**options)


# ----------------------------------------------------------------------------------------------------------------------
# Tensors and labels


def tensor_field(*arguments: Any, **options: Any) -> Any:
    """What the contract says about a tensor, as a TensorField."""
    from protocontract.tensors import fields as module

    return module.tensor_field(*arguments, **options)


def label_field(*arguments: Any, **options: Any) -> Any:
    """What the contract says about a label, as a LabelField."""
    from protocontract.tensors import fields as module

    return module.label_field(*arguments, **options)


def within(path: str, *fields: Any) -> tuple[Any, ...]:
    """Tensors or labels of a message that another one holds at ``path``."""
    from protocontract.tensors import fields as module

    return module.within(path, *fields)


__all__ = [
    "EACH",
    "Change",
    "Contract",
    "ErrorClass",
    "FieldElement",
    "Governed",
    "Link",
    "Message",
    "Promise",
    "Refusal",
    "Rule",
    "RuleEvaluationError",
    "Site",
    "StreamLevel",
    "Violation",
    "add",
    "add_entries",
    "change",
    "delegate",
    "extend",
    "graph",
    "import_module",
    "instant",
    "is_zero",
    "label",
    "label_field",
    "money",
    "move_spans",
    "nest",
    "now",
    "quantity",
    "quantity_as",
    "re",
    "re2",
    "refuse",
    "refuse_all",
    "scalar",
    "sequence",
    "set_timestamp",
    "spans",
    "spans_remapper",
    "tensor",
    "tensor_field",
    "text",
    "unevaluable",
    "warn_all",
    "within",
]
