"""One emitted module while it is being written: its imports, its constants, each once, under readable names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from protocontract_compiler import ir
from protocontract_compiler.emit.constants import Constants, Section
from protocontract_compiler.emit.names import Names, screaming
from protocontract_compiler.emit.typescript.access import literal, text
from protocontract_compiler.passes import reach
from protocontract_compiler.typescript_names import RESERVED, Types, property_name, type_name

#: Where the helper modules are, below the output folder.
HELPERS: Final = "protocontract/v1"

# The parameters of generated functions.
_PARAMETERS: Final = ("m", "at", "run")
# Names of JavaScript's that generated code uses.
_GLOBAL: Final = frozenset({
    "Array", "BigInt", "Infinity", "Map", "Math", "NaN", "Number", "Object", "RegExp", "Set", "String", "undefined",
    "await", "async", "of", "arguments", "eval",
})  # fmt: skip


class ModuleNames(Names):
    """The names of a module. A local of one of its functions hides none of them."""

    def __init__(self) -> None:
        super().__init__(frozenset(), RESERVED | _GLOBAL)
        #: The locals of all functions so far.
        self.locals: set[str] = set(_PARAMETERS)

    def is_free(self, name: str) -> bool:
        """Whether neither the module nor a function has the name."""
        return super().is_free(name) and name not in self.locals

    def exported(self, hint: str) -> str:
        """A name for users. A parameter of a function may hide it, as none refers to it."""
        hidden, self.locals = self.locals, set()
        try:
            return self.fresh(hint)
        finally:
            self.locals = hidden


class LocalNames(Names):
    """The names of one function of a module."""

    def __init__(self, module: ModuleNames) -> None:
        super().__init__(frozenset(_PARAMETERS), RESERVED | _GLOBAL)
        self._module = module

    def fresh(self, hint: str) -> str:
        """An unused identifier like ``hint``."""
        name = super().fresh(hint)
        self._module.locals.add(name)
        return name

    def of_field(self, field: ir.Field) -> str:
        """An identifier for the value of a field: as the field is called, or told apart from what else is called so."""
        name = property_name(field.name)
        return self.fresh(name if self.is_free(name) else f"{name}Value")

    def is_free(self, name: str) -> bool:
        """Whether neither the function nor the module has the name."""
        return super().is_free(name) and name not in self._module._taken


def module_of(proto_file: str, suffix: str) -> str:
    """The path of a generated module below the output folder: ``a/b.proto`` is ``a/b_contract``, with that suffix."""
    return f"{proto_file.removesuffix('.proto')}{suffix}"


class Module(Constants[ModuleNames]):
    """The imports and constants of one emitted module, and the names that are taken in it."""

    def __init__(
        self,
        schema: ir.Schema,
        file: ir.File,
        types: Types = "protobuf-es",
        fingerprints: Mapping[str, str] | None = None,
    ) -> None:
        self.schema = schema
        #: Fingerprints of the contracts, by full name: they are taken of the schema as it was read.
        self.fingerprints = fingerprints or {}
        self.file = file
        self.types = types
        self.names = ModuleNames()
        #: Messages that hold a sensitive field, however deep: their own values are as private.
        self.private = reach.with_work(schema, lambda message: any(f.governance.sensitive for f in message.fields))
        self.fields = Section("Fields (F_), as field paths name them")
        self.shapes = Section("What each message holds (SHAPE_): other objects are refused before a rule runs")
        self.rules = Section("Rules (R_): id, message, field; `describes`: what a violation tells the kind and size of")
        self.constants = Section("Patterns and tables, built once")
        self.bound = Section(
            "Normalizers (NORMALIZE_) and checks of relations (CHECK_), built once with their options; the fields\n"
            "(SITE_) that their violations and changes are about"
        )
        self.functions: list[str] = []
        #: Plain types of messages that the module declares, by full name.
        self.plain: dict[str, str] = {}
        self._helpers: dict[tuple[str, str], str] = {}
        self._types: dict[str, str] = {}
        self._imported_types: dict[str, set[tuple[str, str]]] = {}
        self._depth = len(PurePosixPath(file.name).parts) - 1

    def local_names(self) -> LocalNames:
        """Names for the locals of one function."""
        return LocalNames(self.names)

    # -- imports

    def use(self, path: str, name: str, *, type_only: bool = False) -> str:
        """The local name of what the helper module ``path`` (``cel/time``) exports as ``name``; it is imported."""
        key = (path, f"type {name}" if type_only else name)
        found = self._helpers.get(key) or self._helpers.get((path, name))
        if found is None:
            found = self._helpers[key] = self.names.fresh(name)
        return found

    @property
    def helpers(self) -> list[str]:
        """The helper modules that are imported."""
        return sorted({path for path, _ in self._helpers})

    def annotation(self, message: ir.Message) -> str:
        """The type of a message, which is imported."""
        found = self._types.get(message.full_name)
        if found is None:
            package = self.schema.files[message.file].package
            exported = type_name(message.full_name, package)
            found = self._types[message.full_name] = self.names.fresh(exported)
            if self.types == "plain":
                self.plain[message.full_name] = found
            else:
                self._imported_types.setdefault(message.file, set()).add((exported, found))
        return found

    def import_lines(self) -> list[str]:
        """The import statements."""
        lines = [
            f"import type {{ {_listed(names)} }} from {text(self._relative(module_of(file, '_pb')))};"
            for file, names in sorted(self._imported_types.items())
        ]
        by_path: dict[str, set[tuple[str, str]]] = {}
        for (path, name), local in self._helpers.items():
            by_path.setdefault(path, set()).add((name, local))
        return lines + [
            f"import {{ {_listed(names)} }} from {text(self._relative(f'{HELPERS}/{path}'))};"
            for path, names in sorted(by_path.items())
        ]

    def _relative(self, target: str) -> str:
        """An import specifier of a module below the output folder."""
        here = PurePosixPath(self.file.name).parent.parts
        there = PurePosixPath(target).parts
        common = 0
        while common < min(len(here), len(there) - 1) and here[common] == there[common]:
            common += 1
        ups = "../" * (len(here) - common) or "./"
        return f"{ups}{'/'.join(there[common:])}.js"

    # -- governance

    def governance(self, described: ir.Field) -> ir.Governance:
        """The governance of a field's values: a message with something sensitive in it is sensitive as a whole."""
        if described.element_message in self.private:
            return replace(described.governance, sensitive=True)
        return described.governance

    # -- constants

    def constant(self, code: str, hint: str, annotation: str = "") -> str:
        """The name of a module-level constant with that code. Equal code is one constant."""
        return self._once(self.constants, code, screaming(hint), annotation=annotation)

    def own_constant(self, code: str, hint: str, annotation: str = "") -> str:
        """As ``constant``, but under a name of its own where the code is there under another one already."""
        return self._once_as(self.constants, code, screaming(hint), annotation=annotation)

    def bound_constant(self, code: str, hint: str) -> str:
        """The name of a normalizer or a check of a relation, of its own as that of ``own_constant``."""
        return self._once_as(self.bound, code, screaming(hint))

    def field_element(self, message: str, described: ir.Field) -> str:
        """The name of the Field of a field."""
        parts = [f"name: {text(described.name)}"]
        if described.shape is ir.Shape.MAP:
            parts.append("map: true")
        if described.governance.sensitive:
            parts.append("sensitive: true")
        return self._field(message, described.name, parts, described.number)

    def oneof_element(self, message: str, name: str) -> str:
        """The name of the Field of a oneof, which has a name only."""
        return self._field(message, name, [f"name: {text(name)}"], math.inf)

    def _field(self, message: str, name: str, parts: list[str], number: float) -> str:
        code = f"{{ {', '.join(parts)} }}"
        hint = f"F_{self._short(message)}_{screaming(name)}"
        return self._once(
            self.fields, code, hint, key=f"{message}.{code}", annotation=self._type("Field"),
            order=self._field_order(message, number),
        )  # fmt: skip

    def rule(
        self,
        message: str,
        element: str,
        name: str,
        rule_id: str,
        text_: str,
        *,
        governed: ir.Governance,
        rule_text: str = "",
        for_key: bool = False,
        describes: str = "value",
    ) -> str:
        """The name of the Rule constant of a rule of a field (``element``, called ``name``) or, without one, a message.

        ``describes``: what a violation tells of what it got, ``value``, ``message`` or nothing.
        """
        parts = [f"id: {text(rule_id)}", f"message: {text(text_)}"]
        parts += [f"field: {element}"] if element else []
        parts += ["forKey: true"] if for_key else []
        parts += [f"text: {text(rule_text)}"] if rule_text and not rule_id else []
        parts += governance_parts(governed, rule_id)
        parts += [f"describes: {text(describes)}"] if describes else []
        code = f"{{ {', '.join(parts)} }}"
        words = screaming(rule_id) if len(rule_id) <= 40 and rule_id.replace(".", "_").isidentifier() else "CEL"
        hint = "_".join(filter(None, ["R", self._short(message), screaming(name) if name else "", words]))
        return self._once(self.rules, code, hint, key=f"{message} {code}", annotation=self._type("Rule"))

    def site(
        self,
        message: ir.Message,
        described: ir.Field,
        word: str,
        needs: tuple[str, ...] = (),
        spoils: tuple[str, ...] = (),
        *,
        source: ir.Field | None = None,
    ) -> str:
        """The name of the Site constant of a field, with the siblings that it reads and those that it writes.

        ``source`` is the field whose value this one receives in another form: it is as sensitive.
        """
        governed = self.governance(described)
        sensitive = governed.sensitive or (source is not None and source.governance.sensitive)
        parts = [f"field: {self.field_element(message.full_name, described)}", f"word: {text(word)}"]
        if governed.severities:
            parts.append(f"severities: {literal(dict(governed.severities))}")
        if governed.error_class is not None:
            parts.append(f"errorClass: {_error_class(governed.error_class)}")
        if governed.error_codes:
            parts.append(f"errorCodes: {literal(dict(governed.error_codes))}")
        if governed.contexts:
            parts.append(f"contexts: {literal(dict(governed.contexts))}")
        parts += ["sensitive: true"] if sensitive else []
        parts += [f"needs: {literal(needs)}"] if needs else []
        parts += [f"spoils: {literal(spoils)}"] if spoils else []
        hint = f"SITE_{self._short(message.full_name)}_{screaming(described.name)}_{screaming(word)}"
        return self._once(self.bound, f"{{ {', '.join(parts)} }}", hint, annotation=self._type("Site"))

    def _type(self, name: str) -> str:
        return self.use("violation", name, type_only=True)

    def declared(self, name: str, code: str, annotation: str) -> str:
        """The line of a constant."""
        return f"const {name}{f': {annotation}' if annotation else ''} = {code};"


def governance_parts(governed: ir.Governance, rule_id: str) -> list[str]:
    """Properties of a Rule for what the contract says about the field: severity, class, code, privacy, contexts."""
    parts: list[str] = []
    severity = dict(governed.severities).get(rule_id, "ERROR")
    if severity != "ERROR":
        parts.append(f"severity: {text(severity)}")
    if governed.error_class is not None:
        parts.append(f"errorClass: {_error_class(governed.error_class)}")
    code = dict(governed.error_codes).get(rule_id)
    if code is not None:
        parts.append(f"code: {code:#010x}")
    contexts = dict(governed.contexts).get(rule_id)
    if contexts:
        parts.append(f"contexts: {literal(contexts)}")
    if governed.sensitive:
        parts.append("sensitive: true")
    return parts


def _error_class(pair: tuple[str, str]) -> str:
    return f"{{ source: {text(pair[0])}, remedy: {text(pair[1])} }}"


def _listed(names: set[tuple[str, str]]) -> str:
    """Imported names in order, each with its local name where that differs."""
    shown = []
    for name, local in sorted(names):
        plain = name.removeprefix("type ")
        shown.append(name if plain == local else f"{name} as {local}")
    return ", ".join(shown)
