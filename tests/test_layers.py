"""Who may import whom (DESIGN.md, "The parts"), what generated code imports, and what importing the runtime costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RUNTIME = ROOT / "runtime" / "protocontract"
COMPILER = ROOT / "compiler" / "protocontract_compiler"
GATE = ROOT / "ci" / "protocontract_ci"

# The one place (a file or a folder) in which an optional or heavy package may be imported.
ONLY_IN = {
    "kafka": ["kafka"],
    # The schema registry's client is a part of the same package.
    "confluent_kafka": ["kafka/client_confluent", "kafka/registry"],
    "aiokafka": ["kafka/client_aiokafka.py"],
    "greenlet": ["kafka/awaiting.py"],
    "babel": ["normalize"],
    "pint": ["normalize"],
    "justhtml": ["normalize"],
    "unicodedata2": ["normalize", "wire_json.py"],
    "protovalidate": ["_delegate.py", "_violation_proto.py", "explain.py"],
    "hypothesis": ["testing"],
    "numpy": ["relations", "tensors", "torch/order.py", "calibrate/quantize.py", "models"],
    "onnx": ["calibrate/quantize.py"],
    "onnxruntime": ["calibrate/quantize.py", "models/session.py"],
    "grpc": ["serving"],
    "grpc_health": ["serving"],
    "grpc_reflection": ["serving"],
    "tritonclient": ["serving/kserve"],
    "aiohttp": ["serving/kserve"],
    "opentelemetry": ["kafka/tracing.py"],
    "prometheus_client": ["metrics.py", "serving/metrics.py"],
    "torch": ["torch"],
    "torchdata": ["torch"],
    "pyarrow": ["arrow", "records/arrow"],
    "pyspark": ["arrow/spark.py"],
    "ray": [],
}


@cache
def imports(file: Path) -> list[tuple[str, bool]]:
    """Names of imported modules, with whether the import runs when the file is imported."""
    return list(_imports(tree_of(file)))


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def _imports(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    at_import = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            yield name, id(node) in at_import


@cache
def sources(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*.py") if not file.name.endswith("_pb2.py"))


@pytest.mark.parametrize(
    ("folder", "banned"),
    [
        (RUNTIME, ("protocontract_compiler", "protocontract_ci", "acme", "tests")),
        (COMPILER, ("protocontract_ci", "acme", "tests")),
        (GATE, ("protocontract_compiler.emit", "acme", "tests")),
        (COMPILER / "emit", ("google", "protocontract_compiler.descriptors", "grpc_tools")),
    ],
    ids=["runtime", "compiler", "gate", "emitters"],
)
def test_rooms(folder: Path, banned: tuple[str, ...]) -> None:
    found = [
        f"{file.relative_to(ROOT)} imports {name}"
        for file in sources(folder)
        for name, _ in imports(file)
        if name.startswith(tuple(f"{room}." for room in banned)) or name in banned
    ]
    assert found == []


def test_the_ir_imports_nothing_of_protobuf_or_ours() -> None:
    for name in ("ir.py", "ir_cel.py"):
        found = {module for module, _ in imports(COMPILER / name) if "." in module or module.startswith("proto")}
        allowed = ("protocontract_compiler.ir_cel", "collections", "typing", "dataclasses", "enum", "__future__")
        assert all(module.startswith(allowed) for module in found), found
        assert not any(module.startswith("google") for module in found)


#: The parts of each package, layer by layer: a part imports those of its own layer and of later ones. DESIGN.md
#: says what each layer is.
LAYERS = {
    RUNTIME: [
        "__init__ commands kafka serving torch testing",
        "calibrate chain card models steps metrics",
        "arrow records verify report comparison explain status_http",
        "_codegen_v1 _delegate _partial _sites contract loading wire evidence levels wire_confluent wire_json "
        "wire_stream wire_compatible tensors relations normalize",
        "violations _violation_proto translations ids formats _cel _cel_error _cel_text _cel_time _scope _options "
        "_entry_points _files v1 extras terminal cli arguments",
    ],
    COMPILER: [
        "__init__ commands plugin migrate conformance dynamic",
        "pipeline",
        "execution emit passes examples cel protoc",
        "descriptors diagnostics ir ir_cel ir_dump generated_names typescript_names",
    ],
    GATE: [
        "gate",
        "verdicts lint",
        "conformance latency sample execution meaning generated discovery compiled",
        "reports diff usage",
        "locks pins deployments repository arguments decisions modules sources facts model",
    ],
}
#: Imports against the order, each inside of a function: an object that can say or do more than what it is made of.
UPWARD = {
    # ``Violation.to_proto``.
    ("violations", "_violation_proto"),
    # Contracts pickle by name, and ``load`` finds them again.
    ("contract", "loading"),
}


@pytest.mark.parametrize("package", LAYERS, ids=lambda package: package.name)
def test_parts_import_their_own_layer_and_those_below(package: Path) -> None:
    """Parts are the modules and folders at the top of a package; what is imported for type checkers does not count."""
    layer = {part: number for number, names in enumerate(LAYERS[package]) for part in names.split()}
    there = {file.relative_to(package).with_suffix("").parts[0] for file in sources(package)}
    assert there - layer.keys() <= {"__init__"}, "a new part: give it a layer"
    assert layer.keys() - there <= {"v1"}, "it is gone"
    upward = [(part, other) for part, found in parts(package).items() for other in found if layer[other] < layer[part]]
    assert upward == []


@pytest.mark.parametrize("package", LAYERS, ids=lambda package: package.name)
def test_parts_of_a_package_import_one_another_in_one_direction(package: Path) -> None:
    graph = {part: {other for other in found if (part, other) not in UPWARD} for part, found in parts(package).items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")


def test_what_is_imported_against_the_order_is_so() -> None:
    graph = parts(RUNTIME)
    assert {(part, other) for part, other in UPWARD if other in graph[part] and part in graph[other]} == UPWARD


@cache
def parts(package: Path) -> Mapping[str, set[str]]:
    """The parts of a package, each with those that it imports."""
    graph: dict[str, set[str]] = defaultdict(set)
    for file in sources(package):
        part = file.relative_to(package).with_suffix("").parts[0]
        for name in imported_to_run(file):
            top, _, rest = name.partition(".")
            other = rest.partition(".")[0]
            here = top == package.name and ((package / other).is_dir() or (package / f"{other}.py").exists())
            if here and other not in ("", part):
                graph[part].add(other)
    return graph


@cache
def imported_to_run(file: Path) -> list[str]:
    """Names of imported modules, without those that only a type checker imports."""
    tree = ast.parse(file.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            node.body = [ast.Pass()]
    return [name for name, _ in _imports(tree)]


@pytest.mark.parametrize("package", ONLY_IN)
def test_optional_packages_have_one_place(package: str) -> None:
    allowed = tuple(ONLY_IN[package])
    found = [
        str(file.relative_to(RUNTIME))
        for file in sources(RUNTIME)
        for name, _ in imports(file)
        if name.partition(".")[0] == package
        and not str(file.relative_to(RUNTIME)).startswith(allowed)
        # For a type checker only: nothing is imported.
        and "TYPE_CHECKING" not in file.read_text()
    ]
    assert found == []


def test_generated_code_imports_its_pb2_typing_and_one_private_module() -> None:
    files = sorted((ROOT / "generated" / "python" / "acme").rglob("*_contract.py"))
    assert files
    for file in files:
        for name, _ in imports(file):
            package = ".".join(file.relative_to(ROOT / "generated" / "python").parts[:-1])
            allowed = ("__future__", "typing", f"{package}", "protocontract", "protocontract._codegen_v1")
            assert name in allowed or name.startswith(("typing.", "__future__.", f"{package}.")), f"{file}: {name}"


def test_importing_the_runtime_imports_nothing_heavy() -> None:
    """No normalizer data, no client, no CEL: what a record without them needs is protobuf."""
    script = "import sys; before = {*sys.modules}; import protocontract; print(*sorted(sys.modules.keys() - before))"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    heavy = {
        "babel", "pint", "justhtml", "unicodedata2", "kafka", "protovalidate", "numpy", "cel_expr_python",
        "confluent_kafka", "aiokafka", "greenlet", "grpc_tools", "protocontract_compiler", "jinja2", "pyarrow",
    }  # fmt: skip
    assert heavy.isdisjoint(loaded)
    # Nobody else's package: that holds the import below 50 ms beyond protobuf's own (docs/performance.md).
    assert {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names == {"google", "protocontract"}


#: Lines that a file, and a function without its docstring, may have.
MOST_LINES = 600
MOST_LINES_OF_A_FUNCTION = 60


def test_files_stay_short() -> None:
    long = {
        str(file.relative_to(ROOT)): lines
        for folder in (RUNTIME, COMPILER, GATE, ROOT / "tests")
        for file in sources(folder)
        if (lines := len(file.read_text().splitlines())) > MOST_LINES
    }
    assert long == {}


def test_functions_stay_short() -> None:
    long = {
        f"{file.relative_to(ROOT)}:{function.name}": lines
        for folder in (RUNTIME, COMPILER, GATE)
        for file in sources(folder)
        for function in ast.walk(tree_of(file))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        if (lines := lines_of(function)) > MOST_LINES_OF_A_FUNCTION
    }
    assert long == {}


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function from ``def`` to its end, those of its docstring left out."""
    first = function.body[0]
    documented = ast.get_docstring(function) is not None
    told = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
    return (function.end_lineno or 0) - function.lineno + 1 - told
