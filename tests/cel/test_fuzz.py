"""Random expressions over random messages: the emitted code and protovalidate agree, or translation is refused."""

from __future__ import annotations

import os
import random
import time
from collections import Counter

from protocontract import _cel
from protocontract_compiler.cel.compiler import Untranslatable
from protocontract_compiler.ir_cel import can_raise
from tests.cel.grammar import Grammar
from tests.cel.messages import FIELDS, fill
from tests.cel.support import COMPILER, function_of, reference, schema, this_of_message

EXPRESSIONS = int(os.environ.get("CEL_FUZZ_EXPRESSIONS", "250"))
SEED = int(os.environ.get("CEL_FUZZ_SEED", "1"))
MESSAGES = 12


def test_agrees_with_protovalidate() -> None:
    rng = random.Random(SEED)
    this = this_of_message(schema(FIELDS).DESCRIPTOR)
    counts: Counter[str] = Counter()
    for number in range(EXPRESSIONS):
        expression = Grammar(rng).rule()
        try:
            program = COMPILER.compile(expression, this=this)
        except Untranslatable as refused:
            counts[f"untranslatable: {refused.reason}"] += 1
            continue
        counts["expressions"] += 1
        rule = function_of(program)
        judged = schema(FIELDS, [expression])
        for _ in range(MESSAGES):
            message = judged()
            fill(message, rng)
            theirs = reference(message)
            try:
                said = rule(message, time.time_ns())
            except _cel.CelRuntimeError:
                ours = "error"
                assert can_raise(program.expr), expression
            else:
                ours = "kept" if said in (None, False, "") else "broken" if said is True else str(said)
            if isinstance(theirs, str):
                wanted = "error"
            elif not theirs:
                wanted = "kept"
            else:
                wanted = "broken" if program.result == "bool" else theirs[0][1]
            assert ours == wanted, (number, expression, message)
            counts[wanted if wanted in ("error", "kept") else "broken"] += 1
    print(dict(counts))
    assert counts["expressions"] > EXPRESSIONS * 0.8, counts
    assert min(counts["error"], counts["kept"], counts["broken"]) > EXPRESSIONS / 5, counts
