"""Where emitted CEL means to differ from protovalidate 2.1; each test fails when its difference disappears."""

from __future__ import annotations

from tests.cel.messages import FIELDS
from tests.cel.support import COMPILER, function_of, reference, schema, this_of_message


def test_a_macro_has_no_iteration_budget() -> None:
    """protovalidate ends a rule with an error once its macros have run 10,000 steps in all.

    A budget is no meaning: a list of 10,000 numbers that are all fine is fine. Emitted loops go on.
    """
    expression = "this.ri.all(x, x >= 0)"
    message_type = schema(FIELDS, [expression])
    rule = function_of(COMPILER.compile(expression, this=this_of_message(message_type.DESCRIPTOR)))
    message = message_type()
    message.ri.extend(range(9_999))
    assert reference(message) == []
    assert rule(message, 0) is None
    message.ri.append(1)
    assert reference(message) == "error"
    assert rule(message, 0) is None
    message.ri.append(-1)
    assert rule(message, 0) is True
