"""What is emitted for odd schemas compiles, imports, passes linters and type checkers, and is the same every time."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from protocontract_compiler.emit.layout import WIDTH, laid_out
from protocontract_compiler.emit.names import literal, printable
from protocontract_compiler.emit.python import tool_version
from protocontract_compiler.generated_names import contract_file_of, module_of
from tests.compiler.goldens import matches
from tests.compiler.odd_protos import NAMES, ODD, contracts, modules
from tests.compiler.sources import CONTRACTS, ROOT

_ROOTS = os.pathsep.join(str(ROOT / name) for name in ("runtime", "compiler"))
_ALLOWED = {"__future__", "typing", "protocontract._codegen_v1"}

# Imports every generated module and prints the contracts in it.
_IMPORT_ALL = """
import importlib, json, sys
from pathlib import Path
from protocontract import Contract
found = {}
for file in sorted(Path().rglob("*_contract.py")):
    module = importlib.import_module(".".join(file.with_suffix("").parts))
    for name in module.__all__:
        value = getattr(module, name)
        if isinstance(value, Contract):
            found[value.full_name] = value.fingerprint
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return modules(tmp_path_factory.mktemp("plugin"))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that ``protocontract compile`` filled."""
    out = tmp_path_factory.mktemp("written")
    _compile(out, "1")
    return out


def _compile(out: Path, seed: str) -> None:
    command = [sys.executable, "-m", "protocontract.cli", "compile", str(ODD), "--out", str(out)]
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": _ROOTS}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_file_has_a_module_beside_protocs(sources: dict[str, str], written: Path) -> None:
    assert set(sources) == {contract_file_of(name) for name in NAMES}
    for name in NAMES:
        assert (written / (module_of(name).replace(".", "/") + ".py")).is_file()
        assert (written / contract_file_of(name)).read_text("utf-8") == sources[contract_file_of(name)]


def test_hash_seeds_change_nothing(written: Path, tmp_path: Path) -> None:
    _compile(tmp_path, "2")
    for file in sorted(path for path in written.rglob("*.py*") if "__pycache__" not in path.parts):
        assert (tmp_path / file.relative_to(written)).read_bytes() == file.read_bytes(), file


def test_modules_import_nothing_but_their_messages_and_the_runtime(sources: dict[str, str]) -> None:
    for name in NAMES:
        tree = ast.parse(sources[contract_file_of(name)], feature_version=(3, 11))
        for node in ast.walk(tree):
            assert not isinstance(node, ast.Import) or node.names[0].name == module_of(name)
            if isinstance(node, ast.ImportFrom):
                assert {f"{node.module}.{alias.name}" for alias in node.names} <= _ALLOWED | {module_of(name)} or (
                    node.module in _ALLOWED
                )
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "_rt.import_module":
                assert ast.literal_eval(node.args[0]) == module_of(name)


def test_modules_can_be_imported_and_hold_the_contracts_of_the_dynamic_mode(written: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(written), _ROOTS])}
    command = [sys.executable, "-W", "error", "-c", _IMPORT_ALL]
    done = subprocess.run(command, cwd=written, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {name: contract.fingerprint for name, contract in contracts().items()}


def test_no_linter_finds_fault(written: Path) -> None:
    files = [contract_file_of(name) for name in NAMES]
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "E9,F,W", *files]
    done = subprocess.run(command, cwd=written, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_types_are_right(written: Path, checker: str) -> None:
    """Errors in stubs that protoc wrote (it leaves out fields that are keywords, and more) are protoc's."""
    files = [contract_file_of(name) for name in NAMES]
    environment = {**os.environ, "MYPYPATH": os.pathsep.join([str(written), str(ROOT / "runtime")])}
    if checker == "mypy":
        command = ["--strict", "--explicit-package-bases", "--config-file=", "--cache-dir=.mypy", *files]
    else:
        settings = {"extraPaths": [str(written), str(ROOT / "runtime")], "include": files, "typeCheckingMode": "strict",
                    "reportUnknownMemberType": False, "reportUnknownVariableType": False,
                    "reportUnknownArgumentType": False, "reportMissingTypeStubs": False,
                    "reportPrivateUsage": False, "reportUnknownParameterType": False}  # fmt: skip
        (written / "pyrightconfig.json").write_text(json.dumps(settings))
        command = ["-p", "pyrightconfig.json"]
    done = subprocess.run(
        [sys.executable, "-m", checker, *command],
        cwd=written, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    wrong = [line for line in done.stdout.splitlines() if re.search(r"_contract\.py:\d+.*error", line)]
    assert not wrong, "\n".join(wrong)
    assert "Traceback" not in done.stderr


def test_lines_can_be_read(sources: dict[str, str]) -> None:
    """Only what cannot be broken is longer: a name, a text."""
    for name, text in sources.items():
        lines = [line for line in text.splitlines() if "goes_on" not in line.lower() and "GoesOn" not in line]
        long = [line for line in lines if len(line) > WIDTH and not line.startswith("#")]
        breakable = [line for line in long if not re.fullmatch(r"\s*(?:\w+=)?\"(?:[^\"\\]|\\.)*\",?", line)]
        assert not breakable, (name, breakable[:3])


def test_comments_name_the_line_of_the_rule(sources: dict[str, str]) -> None:
    lines = (ODD / "keys.proto").read_text("utf-8").splitlines()
    found = re.findall(r"if (.*):  # keys\.proto:(\d+)  (\S+)", sources["keys_contract.py"])
    assert found
    for _, number, rule in found:
        near = "".join(lines[int(number) - 1 : int(number) + 2])
        assert rule.rpartition(".")[2].partition("[")[0] in near, (number, rule)


def test_names_of_contracts_do_not_depend_on_fields(sources: dict[str, str]) -> None:
    names = re.findall(r"^([A-Z]\w*): Final = _rt\.Contract\($", sources["class/in/for_x_contract.py"], re.MULTILINE)
    assert names[:4] == ["NONE", "TRUE", "FINAL", "FINAL_ITEM"]
    assert len(set(names)) == len(names) == sum(name.startswith("class.in.") for name in contracts())
    assert "ERR_FOO_BAR_X_STRING_MIN_LEN" in names


# A stands for a long name.
_LONG = """\
def f(m):
    if A(1, 2) and not A or A:  # a.proto:1  x
        pass
    elif any(A(k, v) for k, v in A(m, "#, (")):
        pass
    return {"A": 1, "A": (1, 2), "c": A[3, 4]}
"""
_BROKEN = """\
def f(m):
    # a.proto:1  x
    if (
        A(1, 2) and not A
        or A
    ):
        pass
    elif any(
        A(k, v) for k, v in A(m, "#, (")
    ):
        pass
    return {
        "A": 1,
        "A": (1, 2),
        "c": A[3, 4],
    }
"""


def test_long_lines_are_broken_where_it_changes_nothing() -> None:
    long, broken = (text.replace("A", "a" * 35) for text in (_LONG, _BROKEN))
    assert laid_out(long) == broken
    assert laid_out(broken) == broken
    assert ast.dump(ast.parse(long)) == ast.dump(ast.parse(broken))


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), 1e300, 0.1, -0.0])
def test_numbers_are_what_they_say(number: float) -> None:
    assert repr(eval(literal(number))) == repr(number)


@pytest.mark.parametrize("name", ["older.proto", "words.proto"])
def test_golden_modules(name: str, sources: dict[str, str]) -> None:
    text = sources[contract_file_of(name)].replace(tool_version(), "VERSION")
    assert matches(Path(__file__).parent / "goldens" / f"{contract_file_of(name)}.txt", text)


@pytest.mark.parametrize(
    ("file", "module", "contract"),
    [
        ("a/b.proto", "a.b_pb2", "a/b_contract.py"),
        ("a-b/c-d.proto", "a_b.c_d_pb2", "a_b/c_d_contract.py"),
        ("a.b/c.d.proto", "a.b.c.d_pb2", "a/b/c/d_contract.py"),
        ("x.proto", "x_pb2", "x_contract.py"),
    ],
)
def test_modules_are_named_as_protoc_names_them(file: str, module: str, contract: str) -> None:
    assert module_of(file) == module
    assert contract_file_of(file) == contract


@pytest.mark.parametrize(
    "text", ["", "'", '"', "'\"", "\\", "\n", "\u2028", "\u202e", "\0", "é", "\\'\\\"", "\U0001f600"]
)
def test_literals_are_what_they_say(text: str) -> None:
    code = literal(text)
    assert ast.literal_eval(code) == text
    assert code.isprintable()
    assert printable(text).isprintable()


def test_the_examples_pass_the_same_checks() -> None:
    """The committed modules of the example contracts: their own imports, no line that could be shorter."""
    for file in sorted((ROOT / "generated/python/acme").rglob("*_contract.py")):
        for line in file.read_text("utf-8").splitlines():
            assert len(line) <= WIDTH or line.startswith("#") or line.strip().startswith('"')
    assert CONTRACTS.is_dir()
