"""One emitted module while it is being written: its constants, each once, under readable names.

Generated code refers to everything that is known at generation (fields, rules, compiled patterns, normalizers) by a
module-level name. The functions come after the constants, the contracts last.
"""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass, replace

from protocontract_compiler import ir
from protocontract_compiler.emit.constants import Constants, Section
from protocontract_compiler.emit.names import Names, class_of, is_plain, literal, screaming
from protocontract_compiler.generated_names import module_of
from protocontract_compiler.passes import reach

RUNTIME = "_rt"
PB = "_pb"
# Numbers of types, as descriptor.proto has them, and its names without their prefix; 0 is ours.
_TYPE_NAMES = {
    0: "a oneof",
    **{
        number: name.removeprefix("TYPE_").lower()
        for name, number in vars(ir).items()
        if name.startswith("TYPE_") and isinstance(number, int)
    },
}


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a field path while code is emitted: the field, and whether a subscript follows."""

    message: str
    field: ir.Field
    each: bool = False


Path = tuple[Step, ...]


class Module(Constants[Names]):
    """The constants of one emitted module and the names that are taken in it."""

    def __init__(self, schema: ir.Schema, file: ir.File) -> None:
        self.schema = schema
        self.file = file
        self.names = Names(frozenset({RUNTIME, PB, "Any", "Final"}))
        #: Names out of `typing` that the module uses.
        self.typing = {"Final"}
        #: Messages that hold a sensitive field, however deep: their own values are as private.
        self.private = reach.with_work(schema, lambda message: any(f.governance.sensitive for f in message.fields))
        self.fields = Section("Fields (_F_), as field paths name them: number, name, type in descriptor.proto")
        self.rules = Section(
            "Rules (_R_): contract, field path, id, message, place in buf.validate's FieldRules. A message that\n"
            "others hold has its rules once for itself and once for each of them: paths start at the record"
        )
        self.tensors = Section(
            "What models see (_T_ tensor: path, name, dtype, dims; _L_ label: path, number of classes)"
        )
        self.constants = Section("Patterns and tables, built once")
        self.bound = Section(
            "Normalizers (_NORMALIZE_) and checks of relations (_CHECK_), built once with their options; the fields\n"
            "(_SITE_) that their violations and changes are about"
        )
        self.functions: list[str] = []
        #: Types of fields that stand in field elements.
        self._types: set[int] = set()
        self._has_maps = False

    def runtime(self, name: str) -> str:
        """Code for a helper of the private runtime module."""
        return f"{RUNTIME}.{name}"

    def annotation(self, message: ir.Message) -> str:
        """The type of a message's variable: its class, or Any where Python cannot name it in this module."""
        path = f"{module_of(message.file)}.{message.python_path}"
        if message.file == self.file.name and all(is_plain(part) for part in path.split(".")):
            return class_of(PB, message.python_path)
        self.typing.add("Any")
        return "Any"

    def governance(self, described: ir.Field) -> ir.Governance:
        """The governance of a field's values: a message with something sensitive in it is sensitive as a whole."""
        if described.element_message in self.private:
            return replace(described.governance, sensitive=True)
        return described.governance

    def constant(self, code: str, hint: str, annotation: str = "") -> str:
        """The name of a module-level constant with that code. Equal code is one constant.

        ``annotation`` is its type, where the one that checkers infer is too narrow for its use.
        """
        if "Any" in annotation:
            self.typing.add("Any")
        return self._once(self.constants, code, f"_{screaming(hint)}", annotation=annotation)

    def own_constant(self, code: str, hint: str) -> str:
        """As ``constant``, but under a name of its own where the code is there under another one already."""
        return self._once_as(self.constants, code, f"_{screaming(hint)}")

    def bound_constant(self, code: str, hint: str) -> str:
        """The name of a normalizer, a check of a relation or a site, of its own as that of ``own_constant``."""
        return self._once_as(self.bound, code, f"_{screaming(hint)}")

    def field_element(self, message: str, described: ir.Field) -> str:
        """The name of the FieldElement of a field."""
        types = ""
        self._types.add(described.type)
        if described.key is not None and described.value is not None:
            types = f", {described.key.type}, {described.value.type}"
            self._types |= {described.key.type, described.value.type}
            self._has_maps = True
        if described.governance.sensitive:
            types += ", sensitive=True"
        code = f"{RUNTIME}.FieldElement({described.number}, {literal(described.name)}, {described.type}{types})"
        return self._once(
            self.fields, code, f"_F_{self._short(message)}_{screaming(described.name)}", key=f"{message}.{code}",
            order=self._field_order(message, described.number),
        )  # fmt: skip

    def field_types(self) -> str:
        """The rest of the title of fields: which numbers of types there are, each with its name."""
        maps = ", of maps also those of key and value" if self._has_maps else ""
        listed = ", ".join(f"{number} {_TYPE_NAMES[number]}" for number in sorted(self._types))
        return f"{maps}\n{textwrap.fill(f'({listed})', 100)}"

    def tensor(self, message: str, name: str, code: str) -> str:
        """The name of the TensorField or LabelField of a field, whose code that is."""
        kind = "L" if ".label_field(" in code else "T"
        hint = f"_{kind}_{self._short(message)}_{screaming(name)}"
        return self._once(self.tensors, code, hint, key=f"{message}.{code}")

    def classes(self, enum: str, code: str) -> str:
        """The name of the table of an enum's classes."""
        hint = f"_C_{screaming(enum.rpartition('.')[2])}"
        return self._once(self.tensors, code, hint, key=f"{enum}: {code}")

    def oneof_element(self, message: str, name: str) -> str:
        """The name of the FieldElement of a oneof, which has a name only."""
        code = f"{RUNTIME}.FieldElement(0, {literal(name)}, 0)"
        self._types.add(0)
        return self._once(
            self.fields, code, f"_F_{self._short(message)}_{screaming(name)}", key=f"{message}.{code}",
            order=self._field_order(message, math.inf),
        )  # fmt: skip

    def path_code(self, path: Path) -> str:
        """Code of a path template: field elements, with EACH where a violation fills in a subscript."""
        parts: list[str] = []
        for step in path:
            parts.append(self.field_element(step.message, step.field))
            if step.each:
                parts.append(f"{RUNTIME}.EACH")
        return _tuple(parts)

    def rule(
        self,
        contract: str,
        path: Path,
        rule_id: str,
        message: str,
        rule_path: str = "",
        *,
        governed: ir.Governance | None = None,
        extension: ir.PathElement | None = None,
        path_code: str | None = None,
        rule_text: str = "",
        for_key: bool = False,
        needs: tuple[str, ...] = (),
        reads: tuple[str, ...] | None = None,
        oneof: str = "",
    ) -> str:
        """The name of the Rule constant of one rule at one place. ``reads``: all fields that a message's rule reads.

        ``oneof``: the last part of the path where it is one, for the constant's name.
        """
        place = rule_path
        path_argument = literal(rule_path)
        if extension is not None:
            last = f"{extension.number}, {literal(extension.name)}, {extension.type}"
            path_argument = f"({literal(rule_path)}, {RUNTIME}.FieldElement({last}))"
            place = f"{rule_path}.{extension.name}"
        arguments = [
            literal(contract),
            path_code or self.path_code(path),
            literal(rule_id),
            literal(message),
            path_argument,
        ]
        governed = governed or ir.Governance()
        if any(step.field.governance.sensitive for step in path):
            governed = replace(governed, sensitive=True)
        arguments += governance_arguments(governed, rule_id)
        if for_key:
            arguments.append("for_key=True")
        if rule_text and not rule_id:
            arguments.append(f"rule_text={literal(rule_text)}")
        if needs:
            arguments.append(f"needs={literal(needs)}")
        if reads is not None:
            arguments.append(f"reads={literal(reads)}")
        names = [*(step.field.name for step in path), *([oneof] if oneof else [])]
        hint = "_".join([self._short(contract), *map(screaming, names)])
        words = screaming(rule_id) if len(rule_id) <= 40 and rule_id.replace(".", "_").isidentifier() else "CEL"
        return self._once(
            self.rules, f"{RUNTIME}.Rule({', '.join(arguments)})", f"_R_{hint}_{words}", key=f"{arguments}{place}"
        )

    def declared(self, name: str, code: str, annotation: str) -> str:
        """The line of a constant."""
        return f"{name}: {f'Final[{annotation}]' if annotation else 'Final'} = {code}"


def governance_arguments(governed: ir.Governance, rule_id: str) -> list[str]:
    """Keyword arguments of a Rule for what the contract says about the field: severity, class, code, privacy."""
    arguments: list[str] = []
    severity = dict(governed.severities).get(rule_id, "ERROR")
    if severity != "ERROR":
        arguments.append(f"severity={literal(severity)}")
    if governed.error_class is not None:
        source, remedy = governed.error_class
        arguments.append(f"error_class={RUNTIME}.ErrorClass({literal(source)}, {literal(remedy)})")
    code = dict(governed.error_codes).get(rule_id)
    if code is not None:
        arguments.append(f"error_code={code:#010x}")
    contexts = dict(governed.contexts).get(rule_id)
    if contexts:
        arguments.append(f"contexts={literal(contexts)}")
    if governed.sensitive:
        arguments.append("sensitive=True")
    return arguments


def governance_keywords(governed: ir.Governance) -> list[str]:
    """Keyword arguments of what makes its rules as violations come: a Site, or Governed."""
    arguments: list[str] = []
    if governed.severities:
        arguments.append(f"severities={literal(dict(governed.severities))}")
    if governed.error_class is not None:
        source, remedy = governed.error_class
        arguments.append(f"error_class={RUNTIME}.ErrorClass({literal(source)}, {literal(remedy)})")
    if governed.error_codes:
        codes = ", ".join(f"{literal(rule_id)}: {code:#010x}" for rule_id, code in governed.error_codes)
        arguments.append(f"error_codes={{{codes}}}")
    if governed.contexts:
        arguments.append(f"contexts={literal(dict(governed.contexts))}")
    if governed.sensitive:
        arguments.append("sensitive=True")
    return arguments


def _tuple(parts: list[str]) -> str:
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
