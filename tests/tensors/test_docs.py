"""The example of docs/tensors.md is run as it stands there, with NumPy in the place of torch."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from protocontract.loading import compiler

PAGE = (Path(__file__).parents[2] / "docs" / "tensors.md").read_text(encoding="utf-8")


def test_the_example(tmp_path: Path) -> None:
    proto, program = (re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)[0] for kind in ("proto", "python"))
    head = 'syntax = "proto3"; package docs.v1; import "protocontract/v1/contract.proto";\n'
    (tmp_path / "docs.proto").write_text(head + proto)
    contract = compiler("load_protos")([tmp_path], tmp_path)["docs.v1.Sentence"]
    known: dict[str, Any] = {"SENTENCE": contract, "Sentence": contract.message_type}
    exec(program.replace("protocontract.torch", "protocontract.tensors"), known)
    shown = re.findall(r"^(batch\S+) +# (?:\w+ )?(\[.*\])$", program, re.MULTILINE)
    assert len(shown) == 5
    for expression, value in shown:
        found = eval(expression, known)
        assert (found if isinstance(found, list) else found.tolist()) == eval(value), expression


def test_the_page_says_what_a_reader_can_type() -> None:
    from acme.inference.v1.model_service_contract import PREDICT_REQUEST

    printed = re.search(r">>> (.*)\n    (.*), \.\.\.", PAGE)
    assert printed is not None
    found = eval(printed[1], {"PREDICT_REQUEST": PREDICT_REQUEST})
    assert found[:1] == eval(f"{printed[2]}]")
