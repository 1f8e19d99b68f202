"""Both judges of one message, and whether they say the same: byte for byte and in order."""

from __future__ import annotations

from typing import Any

import protovalidate
from google.protobuf.message import Message

from protocontract import Contract, ContractError, RuleEvaluationError

#: Violations as buf.validate.Violation, serialised; or why there are none.
Verdict = list[bytes] | str


def theirs(validator: protovalidate.Validator, message: Message) -> Verdict:
    """What protovalidate finds: a mistake in the rules, an error of evaluation, or violations."""
    try:
        found = validator.collect_violations(message)
    except protovalidate.CompilationError:
        return "contract error"
    except protovalidate.EvaluationError:
        return "evaluation error"
    return [violation.proto.to_binary() for violation in found]


def ours(contract: Contract[Any], message: Message) -> Verdict:
    """What the compiled contract finds."""
    try:
        found = contract.validate(message)
    except ContractError:
        return "contract error"
    except RuleEvaluationError:
        return "evaluation error"
    except Exception as error:  # whatever escapes besides is a difference, to be reported with its message
        return f"{type(error).__name__}: {error}"
    return [violation.to_proto().to_binary() for violation in found]


def equal(expected: Verdict, found: Verdict) -> bool:
    """Whether two verdicts are the same. The order of one map's entries is nobody's: there they are sets."""
    if expected == found:
        return True
    if isinstance(expected, str) or isinstance(found, str) or sorted(expected) != sorted(found):
        return False
    return _by_entry(expected) == _by_entry(found)


def _by_entry(verdict: list[bytes]) -> list[bytes]:
    steps = [(_steps(protovalidate.ViolationPb.from_binary(raw)), raw) for raw in verdict]
    return [raw for _, raw in _sorted_entries(steps, 0)]


#: The field path as field names with their subscripts, and whether a subscript is a map's key.
_Step = tuple[str, bool, str]
_Found = tuple[list[_Step], bytes]


def _steps(violation: Any) -> list[_Step]:
    elements = violation.field.elements if violation.field is not None else ()
    found = []
    for element in elements:
        subscript = element.subscript
        is_key = subscript is not None and subscript.field.endswith("_key")
        found.append((element.field_name, is_key, "" if subscript is None else repr(subscript.value)))
    return found


def _sorted_entries(found: list[_Found], depth: int) -> list[_Found]:
    """The violations with neighbours that differ in the key of one map sorted by key; order within an entry stays."""
    result: list[_Found] = []
    place = 0
    while place < len(found):
        if len(found[place][0]) <= depth:
            result.append(found[place])
            place += 1
            continue
        name, is_key, subscript = found[place][0][depth]
        end = place
        while end < len(found) and len(found[end][0]) > depth:
            other = found[end][0][depth]
            if other[:2] != (name, is_key) or (not is_key and other[2] != subscript):
                break
            end += 1
        run = found[place:end]
        if is_key:
            entries: dict[str, list[_Found]] = {}
            for one in run:
                entries.setdefault(one[0][depth][2], []).append(one)
            for key in sorted(entries):
                result.extend(_sorted_entries(entries[key], depth + 1))
        else:
            result.extend(_sorted_entries(run, depth + 1))
        place = end
    return result
