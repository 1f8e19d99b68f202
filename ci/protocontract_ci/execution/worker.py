"""The process in which a module's functions run: one job on standard input, one answer on standard output.

It has no network, writes nothing, starts nothing, and has limits of time and memory. What the module prints is dropped.
The job is trusted (the gate wrote it), the module is not: the audit hook stays for the life of the process.
"""

from __future__ import annotations

import base64
import importlib
import importlib.util
import io
import json
import os
import resource
import signal
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, Final

from protocontract_ci.execution.contract_modules import ContractModules

_REFUSED: Final = (
    "socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "ctypes.", "os.remove",
    "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown", "os.kill",
    "os.putenv", "shutil.", "urllib.", "http.", "ftplib.", "smtplib.", "sqlite3.", "webbrowser.", "pty.", "winreg.",
)  # fmt: skip
_MEMORY: Final = 2 * 1024**3
#: For a call, of a processor: other work on the machine does not change what a module is told to do.
_SECONDS: Final = 2.0
#: And on the clock, for what only waits.
_ON_THE_CLOCK: Final = 10.0
_PATIENCE: Final = 2
_CPU_SECONDS: Final = 60


class TookTooLongError(Exception):
    """A call that did not end in time."""


def main() -> None:
    """Read the job, run it, write what came out."""
    job = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    sys.stdout = sys.stderr = io.StringIO()
    _limit()
    _make_modules(base64.b64decode(job["files"]), job["modules"])
    sys.meta_path.insert(0, ContractModules(job["contracts"]))
    sys.path[:0] = job["roots"]
    sys.dont_write_bytecode = True
    sys.addaudithook(_refuse)
    signal.signal(signal.SIGALRM, _alarm)
    signal.signal(signal.SIGPROF, _alarm)
    try:
        module = _load(job["path"])
    except BaseException as error:  # whatever a module raises while it is imported is the answer
        answer: dict[str, Any] = {"import": _failure(error, job["path"])}
    else:
        answer = {"calls": list(_calls(module, job["path"], job["calls"]))}
    json.dump(answer, answers)
    answers.flush()
    # Threads and exit handlers of the module do not keep the process.
    os._exit(0)


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event.startswith(_REFUSED):
        raise PermissionError(f"{event} is not allowed here")
    if event == "open" and len(arguments) >= 2:
        mode, flags = arguments[1], arguments[2] if len(arguments) > 2 else 0
        writes = isinstance(mode, str) and any(letter in mode for letter in "wax+")
        if writes or (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)):
            raise PermissionError("writing files is not allowed here")


def _alarm(_number: int, _frame: FrameType | None) -> None:
    raise TookTooLongError


def _make_modules(files: bytes, names: dict[str, str]) -> None:
    """The modules that protoc would have generated, in this process's own pool. ``names``: module by file."""
    from google.protobuf import descriptor_pb2, descriptor_pool
    from google.protobuf.internal import builder

    pool = descriptor_pool.Default()
    for file in descriptor_pb2.FileDescriptorSet.FromString(files).file:
        if file.name.startswith("google/protobuf/"):
            importlib.import_module(file.name.removesuffix(".proto").replace("/", ".") + "_pb2")
            continue
        descriptor = pool.AddSerializedFile(file.SerializeToString())
        module = ModuleType(names[file.name])
        content = vars(module)
        content["DESCRIPTOR"] = descriptor
        builder.BuildMessageAndEnumDescriptors(descriptor, content)
        builder.BuildTopDescriptorsAndMessages(descriptor, module.__name__, content)
        _install(module)


def _install(module: ModuleType) -> None:
    """Put a module where imports find it, with packages on the way that may exist for real."""
    *packages, last = module.__name__.split(".")
    parent: ModuleType | None = None
    for index in range(len(packages)):
        name = ".".join(packages[: index + 1])
        package = sys.modules.get(name)
        if package is None and name == "protocontract":
            # The vocabulary lies in the package that generated contracts run on.
            package = importlib.import_module(name)
        if package is None:
            package = sys.modules[name] = ModuleType(name)
            package.__path__ = []
        if parent is not None:
            setattr(parent, packages[index], package)
        parent = package
    if parent is not None:
        setattr(parent, last, module)
    sys.modules[module.__name__] = module


def _load(path: str) -> ModuleType:
    name = Path(path).stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(name, module)
    with _Timer():
        spec.loader.exec_module(module)
    return module


class _Timer:
    """Ends what runs inside after the time for one call."""

    def __enter__(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, _SECONDS)
        signal.setitimer(signal.ITIMER_REAL, _ON_THE_CLOCK)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def _calls(module: ModuleType, path: str, calls: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """All answers in order. A function that did not end in time twice is not called again."""
    slow: dict[str, int] = {}
    for call in calls:
        name = call["function"]
        answer = {"unfit": "TookTooLongError"} if slow.get(name, 0) >= _PATIENCE else _call(module, path, call)
        if answer.get("unfit") == "TookTooLongError":
            slow[name] = slow.get(name, 0) + 1
        yield answer


def _call(module: ModuleType, path: str, call: dict[str, Any]) -> dict[str, Any]:
    try:
        arguments = [_argument(each) for each in call["arguments"]]
    except Exception as error:  # the message does not exist in this state: not a failure of the module
        return {"unfit": type(error).__name__}
    try:
        with _Timer():
            function = getattr(module, call["function"])
            # A mark of protocontract.testing may say how the call's arguments are made.
            factory = getattr(getattr(function, "__protocontract_mark__", None), "arguments", None)
            result = function(*(arguments if factory is None else factory(*arguments)))
            return {"result": _shown(result), "arguments": [_shown(each) for each in arguments]}
    except TookTooLongError:
        # How long something takes is the machine's business: no answer.
        return {"unfit": "TookTooLongError"}
    except BaseException as error:  # whatever a function raises is the answer
        return {"error": _failure(error, path)}


def _argument(spec: dict[str, Any]) -> Any:
    kind, value = spec["kind"], spec["value"]
    if kind == "bytes":
        return base64.b64decode(value)
    if kind == "messages":
        return [_argument({**spec, "kind": "message"})]
    if kind == "message":
        from google.protobuf import descriptor_pool, message_factory

        made = message_factory.GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(spec["message"]))()
        made.ParseFromString(base64.b64decode(value))
        return made
    return value


def _shown(value: Any) -> dict[str, Any]:
    """A result so that two can be compared: messages as bytes, everything plain as its text."""
    from google.protobuf.message import Message

    if isinstance(value, Message):
        data = value.SerializePartialToString(deterministic=True)
        return {"message": value.DESCRIPTOR.full_name, "data": base64.b64encode(data).decode()}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    return {"text": _plain(value), "nothing": value is None}


def _plain(value: Any, depth: int = 0) -> str:
    if isinstance(value, str | int | float | bool | None):
        return f"{type(value).__name__} {value!r}"
    if depth < 5 and isinstance(value, dict):
        return f"dict {[(_plain(key, depth + 1), _plain(each, depth + 1)) for key, each in value.items()]}"
    if depth < 5 and isinstance(value, list | tuple | set | frozenset):
        each = [_plain(item, depth + 1) for item in value]
        return f"{type(value).__name__} {sorted(each) if isinstance(value, set | frozenset) else each}"
    # The address of an object is no result.
    return type(value).__name__


def _failure(error: BaseException, path: str) -> dict[str, Any]:
    """The exception's class and the lines of the module on its way, outermost first; its text may hold data."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    if isinstance(error, SyntaxError) and error.lineno is not None:
        lines.append(error.lineno)
    return {"class": type(error).__name__, "lines": lines}


if __name__ == "__main__":
    main()
