"""A module that does more than it declares: another role, or contracts that it does not name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from protocontract_ci.locks import owner_of, role_of
from protocontract_ci.model import Finding, Role, Use
from protocontract_ci.modules import Module
from protocontract_ci.verdicts.own import finding
from protocontract_compiler import ir


def beyond_its_word(module: Module, role: Role, uses: Mapping[str, Sequence[Use]], schema: ir.Schema) -> list[Finding]:
    """Findings of a module whose code has this role and these uses, by file."""
    found = []
    if module.role in ("reader", "writer") and role in ("reader", "writer", "both") and role != module.role:
        other: Role = "writer" if module.role == "reader" else "reader"
        file, use = next(
            (file, use)
            for file, held in uses.items()
            for use in held
            if role_of([(use.path, use.how)], schema) == other
        )
        because = f"is declared a {module.role}, and {'writes' if other == 'writer' else 'reads'} {use.path}"
        found.append(finding(module.name, "role_exceeded", use.path, because, file, (use.line,)))
    for file, held in uses.items():
        outside: dict[str, int] = {}
        for use in held:
            owner = owner_of(use.path, schema)
            if owner and not owner.startswith("google.protobuf.") and not _may_use(module, owner, schema):
                outside.setdefault(owner, use.line)
        for owner, line in outside.items():
            because = f"uses {owner}, which its `contracts` do not name"
            found.append(finding(module.name, "contract_undeclared", owner, because, file, (line,)))
    return found


def _may_use(module: Module, owner: str, schema: ir.Schema) -> bool:
    known = schema.messages.get(owner) or schema.enums.get(owner) or schema.services.get(owner)
    return module.may_use(owner) or (known is not None and module.may_use(known.file))
