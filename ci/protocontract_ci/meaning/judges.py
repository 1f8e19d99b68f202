"""The two validators as judges of a witness: ours, compiled in memory, and protovalidate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import protovalidate
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from protocontract import ContractError, RuleEvaluationError
from protocontract.contract import Contract
from protocontract_ci.compiled import compiled_file
from protocontract_ci.sources import Contracts
from protocontract_compiler.passes.pass_annotations import RELATIONS


class Judges:
    """Both validators for the messages of one state of the contracts."""

    def __init__(self, contracts: Contracts) -> None:
        self._contracts = contracts
        self._compiled: dict[str, Mapping[str, Contract[Any]]] = {}
        self._theirs = protovalidate.Validator()

    def new(self, full_name: str) -> Message:
        """An empty message. Raises KeyError for an unknown name."""
        return GetMessageClass(self._contracts.loaded.pool.FindMessageTypeByName(full_name))()

    def accepts(self, full_name: str, data: bytes) -> bool | None:
        """Whether both accept the message; None where they have no result, or not the same one."""
        try:
            message = self.new(full_name)
            message.ParseFromString(data)
        except (DecodeError, KeyError):
            return None
        try:
            theirs = not self._theirs.collect_violations(message)
        except protovalidate.CompilationError:
            return None
        except protovalidate.EvaluationError:
            # A rule that fails to be evaluated accepts nothing.
            theirs = False
        ours = self._ours(full_name, message)
        return theirs if ours == theirs else None

    def refuse_unset(self, full_name: str, field_name: str) -> bool:
        """Whether a message that leaves a field out breaks a rule of that field: ``required``, and every rule that
        refuses the empty value of a field without presence. By protovalidate; False where it has no result.
        """
        try:
            violations = self._theirs.collect_violations(self.new(full_name))
        except (KeyError, protovalidate.CompilationError, protovalidate.EvaluationError):
            return False
        places = (each.proto.field.elements for each in violations if each.proto.field is not None)
        return any(len(place) == 1 and place[0].field_name == field_name for place in places)

    def _ours(self, full_name: str, message: Message) -> bool | None:
        contract = self._of_file(self._contracts.schema.messages[full_name].file).get(full_name)
        if contract is None:
            return None
        try:
            return not [found for found in contract.validate(message) if of_buf_validate(found.rule_id)]
        except RuleEvaluationError:
            return False
        except ContractError:
            return None

    def _of_file(self, file: str) -> Mapping[str, Contract[Any]]:
        """The contracts of a file, compiled when the first of its messages is asked about."""
        if file not in self._compiled:
            try:
                self._compiled[file] = compiled_file(self._contracts, file)
            except ContractError:
                # A contract with mistakes judges nothing.
                self._compiled[file] = {}
        return self._compiled[file]


def of_buf_validate(rule_id: str) -> bool:
    """Whether a rule is one that protovalidate knows, and not a relation of ours."""
    return rule_id.partition(".")[0] not in RELATIONS
