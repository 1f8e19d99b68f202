"""What the names of a file are bound to, as far as imports and plain aliases say it without a type checker."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from protocontract_ci.usage.python.own_api import ERROR_CODE, contract_modules
from protocontract_ci.usage.vocabulary import Elements
from protocontract_compiler.generated_names import module_of

_VALIDATORS: Final = frozenset({"protovalidate", "protocontract"})
_IMPORTERS: Final = frozenset({"import_module", "__import__"})


@dataclass(frozen=True, slots=True)
class Bound:
    """A name's meaning: a generated module, or something that one holds, by its full name.

    ``kind`` "grpc" is a module of stubs and servicers; "service" is a stub or servicer class. "contract" is the
    constant of a message's contract (the name is the message's), "error" that of an error code (its own name).
    ``file`` is the .proto file of the generated module that a message or enum is taken from.
    """

    kind: Literal["module", "grpc", "message", "enum", "value", "service", "package", "contract", "error"]
    name: str
    file: str = ""


@dataclass
class Modules:
    """The generated modules by their dotted names: what each holds at its top."""

    held: dict[str, dict[str, Bound]] = field(default_factory=dict)
    grpc: dict[str, dict[str, Bound]] = field(default_factory=dict)
    #: The .proto file of each.
    files: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, elements: Elements, copies: Mapping[str, Iterable[str]]) -> Modules:
        """The modules of all files, and of copies: their paths without suffix, with what they hold."""
        found = cls()
        for file in elements.files:
            name = module_of(file)
            found.files[name] = found.files[f"{name}_grpc"] = file
            found.held[name] = _held(elements, elements.in_file(file), file)
            services = [each for each, states in elements.services.items() if any(s.file == file for s in states)]
            if services:
                found.grpc[f"{name}_grpc"] = {
                    f"{service.rpartition('.')[2]}{end}": Bound("service", service)
                    for service in services
                    for end in ("Stub", "Servicer")
                }
        for path, constants in contract_modules(elements):
            found.held[path.replace("/", ".")] = {name: Bound("contract", message) for name, message in constants}
        for path, names in copies.items():
            found.held[path.replace("/", ".")] = _held(elements, names)
        return found

    def find(self, dotted: str) -> str | None:
        """The module that an import means: by its name, or by the end of it where it lies in another package."""
        for known in (self.held, self.grpc):
            if dotted in known:
                return dotted
        if not dotted.endswith(("_pb2", "_pb2_grpc", "_contract")):
            return None
        ends = [name for known in (self.held, self.grpc) for name in known if name.endswith("." + dotted)]
        ends += [name for known in (self.held, self.grpc) for name in known if dotted.endswith("." + name)]
        return ends[0] if ends else None

    def is_package(self, dotted: str) -> bool:
        """Whether a generated module lies below this package."""
        return any(name.startswith(dotted + ".") for known in (self.held, self.grpc) for name in known)

    def inside(self, dotted: str) -> dict[str, Bound]:
        """What a generated module holds at its top."""
        return self.held.get(dotted) or self.grpc.get(dotted) or {}


def _held(elements: Elements, names: Iterable[str], file: str = "") -> dict[str, Bound]:
    found: dict[str, Bound] = {}
    for name in names:
        scope, _, short = name.rpartition(".")
        if scope in elements.messages:
            continue
        if name in elements.messages:
            found[short] = Bound("message", name, file)
        elif name in elements.enums:
            found[short] = Bound("enum", name, file)
            found.update({m.name: Bound("value", m.path) for m in elements.members(name).values()})
    return found


@dataclass
class Imported:
    """One imported name: where, and what it is."""

    node: ast.stmt | ast.expr
    bound: Bound
    module: str
    only_types: bool


class Names:
    """The names of one file."""

    def __init__(self, tree: ast.Module, modules: Modules, elements: Elements, package: str = "") -> None:
        """``package`` is the dotted name of the package that the file is in, for relative imports."""
        self.table: dict[str, Bound] = {}
        self.imports: list[Imported] = []
        self.stars: set[str] = set()
        #: Names of other modules, or taken from them, with the first part of the module: nothing of the contracts.
        self.packages: dict[str, str] = {}
        #: Calls that import by a name in a text, with the module.
        self.by_text: dict[ast.Call, str] = {}
        self._modules = modules
        self._elements = elements
        self._package = package
        self._json = False
        self._validates = False
        self._read(tree, only_types=False)
        self._drop_shadowed(tree)
        self._read_aliases(tree)

    @property
    def aware(self) -> bool:
        """Whether the file imports anything of the contracts."""
        return bool(self.imports)

    def file_of(self, module: str) -> str:
        """The .proto file that a generated module is of; "" for any other module."""
        return self._modules.files.get(module, "")

    @property
    def imports_json(self) -> bool:
        """Whether the file turns messages into JSON, so that a key may be that of a message."""
        return self._json

    @property
    def validates(self) -> bool:
        """Whether the file imports a validator, so that it may read violations."""
        return self._validates

    def inside(self, module: str) -> Mapping[str, Bound]:
        """What a generated module holds at its top."""
        return self._modules.inside(module)

    def messages_of(self, module: str) -> list[str]:
        """The messages of a generated module, with those inside of them."""
        held = [each.name for each in self._modules.inside(module).values() if each.kind in ("message", "contract")]
        return [
            name
            for name in self._elements.messages
            if any(name == each or name.startswith(f"{each}.") for each in held)
        ]

    def _read(self, node: ast.AST, *, only_types: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                self._import(child, only_types)
            elif isinstance(child, ast.ImportFrom):
                self._import_from(child, only_types)
            elif isinstance(child, ast.Call):
                self._by_text(child)
                self._read(child, only_types=only_types)
            else:
                typing = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
                self._read(child, only_types=only_types or typing)

    def _import(self, node: ast.Import, only_types: bool) -> None:
        for alias in node.names:
            self._validates = self._validates or alias.name.split(".")[0] in _VALIDATORS
            module = self._modules.find(alias.name)
            if module is None:
                if self._modules.is_package(alias.name):
                    self.table[alias.asname or alias.name.split(".")[0]] = Bound("package", alias.name.split(".")[0])
                else:
                    self.packages[alias.asname or alias.name.split(".")[0]] = alias.name.split(".")[0]
                continue
            bound = self._module(module)
            if alias.asname or "." not in alias.name:
                self.table[alias.asname or alias.name] = bound
            else:
                self.table[alias.name.split(".")[0]] = Bound("package", alias.name.split(".")[0])
            self.imports.append(Imported(node, bound, module, only_types))

    def _import_from(self, node: ast.ImportFrom, only_types: bool) -> None:
        base = node.module or ""
        if node.level:
            parts = self._package.split(".") if self._package else []
            parts = parts[: len(parts) - node.level + 1]
            base = ".".join([*parts, *([base] if base else [])])
        module = self._modules.find(base)
        names = {alias.name for alias in node.names}
        self._validates = self._validates or base.split(".")[0] in _VALIDATORS
        self._json = (
            self._json
            or base == "google.protobuf.json_format"
            or (base == "google.protobuf" and "json_format" in names)
        )
        for alias in node.names:
            if module is None:
                inner = self._modules.find(f"{base}.{alias.name}" if base else alias.name)
                if inner is not None:
                    self.table[alias.asname or alias.name] = self._module(inner)
                    self.imports.append(Imported(node, self._module(inner), inner, only_types))
                elif self._modules.is_package(f"{base}.{alias.name}"):
                    self.table[alias.asname or alias.name] = Bound("package", f"{base}.{alias.name}")
                elif not node.level and base != "typing" and not base.startswith("google.protobuf"):
                    self.packages[alias.asname or alias.name] = base.split(".")[0]
                continue
            held = self._modules.inside(module)
            if alias.name.startswith(ERROR_CODE) and alias.name not in held:
                self.table[alias.asname or alias.name] = Bound("error", alias.name)
                self.imports.append(Imported(node, Bound("error", alias.name), module, only_types))
            elif alias.name == "*":
                self.stars |= set(held)
                self.table.update({name: bound for name, bound in held.items() if not name.startswith("_")})
                self.imports.append(Imported(node, self._module(module), module, only_types))
            elif alias.name in held:
                bound = held[alias.name]
                self.table[alias.asname or alias.name] = bound
                self.imports.append(Imported(node, bound, module if bound.kind != "module" else bound.name, only_types))

    def _by_text(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in _IMPORTERS or not node.args:
            return
        text = node.args[0]
        module = (
            self._modules.find(text.value) if isinstance(text, ast.Constant) and isinstance(text.value, str) else None
        )
        if module is not None:
            self.by_text[node] = module
            self.imports.append(Imported(node, self._module(module), module, only_types=False))

    def _module(self, name: str) -> Bound:
        return Bound("grpc" if name in self._modules.grpc else "module", name)

    def _drop_shadowed(self, tree: ast.Module) -> None:
        """A name of a star import that the file binds itself is the file's own."""
        for node in tree.body:
            targets = (
                node.targets
                if isinstance(node, ast.Assign)
                else [node.target]
                if isinstance(node, ast.AnnAssign)
                else []
            )
            for target in targets:
                if isinstance(target, ast.Name) and target.id in self.stars:
                    self.table.pop(target.id, None)

    def _read_aliases(self, tree: ast.Module) -> None:
        """``Order = order_pb2.Order`` at the top of the file, and modules imported by a text wherever it is."""
        top = set(map(id, tree.body))
        inside = (
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and id(node) not in top
        )
        for node in (*tree.body, *inside):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                bound = self.resolve(node.value)
                if bound is not None and bound.kind != "value":
                    self.table[node.targets[0].id] = bound

    def resolve(self, node: ast.AST) -> Bound | None:
        """What an expression of names and dots means; None where it is nothing of the contracts."""
        if isinstance(node, ast.Name):
            return self.table.get(node.id)
        if isinstance(node, ast.Call):
            module = self.by_text.get(node)
            return None if module is None else self._module(module)
        if not isinstance(node, ast.Attribute):
            return None
        base = self.resolve(node.value)
        return None if base is None else self._member(base, node.attr)

    def _member(self, base: Bound, name: str) -> Bound | None:
        match base.kind:
            case "module" | "grpc":
                held = self._modules.inside(base.name).get(name)
                return Bound("error", name) if held is None and name.startswith(ERROR_CODE) else held
            case "package":
                dotted = f"{base.name}.{name}"
                module = self._modules.find(dotted) if dotted in {*self._modules.held, *self._modules.grpc} else None
                if module is not None:
                    return self._module(module)
                return Bound("package", dotted) if self._modules.is_package(dotted) else None
            case "message":
                inner = f"{base.name}.{name}"
                if inner in self._elements.messages:
                    return Bound("message", inner, base.file)
                if inner in self._elements.enums:
                    return Bound("enum", inner, base.file)
                return self._value(name, (e for e in self._elements.enums if e.rpartition(".")[0] == base.name))
            case "enum":
                return self._value(name, (base.name,))
            case _:
                return None

    def _value(self, name: str, enums: Iterable[str]) -> Bound | None:
        for enum in enums:
            for member in self._elements.members(enum).values():
                if member.name == name:
                    return Bound("value", member.path)
        return None
