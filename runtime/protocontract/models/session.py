"""A model in ONNX Runtime, on the provider that was declared and on no other. All of onnxruntime is here.

ONNX Runtime starts on the CPU where a provider cannot be had, says so in a log, and runs single nodes there at will;
``get_providers()`` shows none of that. So a session gets one provider alone, its fallbacks are switched off, and which
node is assigned to which provider is read back and compared with what was declared.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

import ctypes
import logging
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import onnxruntime as ort

from protocontract._files import file_sha256
from protocontract.models.devices import device_facts
from protocontract.models.errors import NoProvider, RunFailed
from protocontract.models.identity import Identity, precision_flags
from protocontract.models.inputs import check_inputs, check_outputs
from protocontract.models.onnx_file import files
from protocontract.models.providers import CPU, Attempt, Provider, runtime_name, short_name, some
from protocontract.models.signature import Signature
from protocontract.violations import ContractError

log: Final = logging.getLogger("protocontract.models")

#: The packages that bring the module onnxruntime: of two, the one installed last is what runs.
_PACKAGES: Final = ("onnxruntime", "onnxruntime-gpu", "onnxruntime-openvino", "onnxruntime-directml", "onnxruntime-qnn")
_WITH: Final = {"cuda": "onnxruntime-gpu", "tensorrt": "onnxruntime-gpu", "openvino": "onnxruntime-openvino"}
# Where a provider's shared library cannot be loaded, the linker says which other one is missing.
_LIBRARIES: Final = {"cuda": "cuda", "tensorrt": "tensorrt", "openvino": "openvino"}
_ASSIGNMENT: Final = "session.record_ep_graph_assignment_info"
_ONNX_BFLOAT16: Final = 16  # TensorProto.DataType
_LONGEST: Final = 200  # characters of somebody else's message
_NO_CPU: Final = "session.disable_cpu_ep_fallback"
_MEMORY: Final = re.compile(
    r"out of memory|failed to allocate|bad_alloc|OUT_OF_MEMORY|CUDA failure 2\b|CUBLAS_STATUS_ALLOC", re.I
)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run gave: arrays by output, the provider that it ran on, and facts for evidence."""

    outputs: dict[str, Any]
    provider: str
    facts: Mapping[str, str]


class Model:
    """A model that runs on one of the declared providers. Runs may come from several threads at once."""

    def __init__(
        self,
        path: str | Path,
        providers: Sequence[Provider] = (Provider(CPU),),
        *,
        threads: int | None = None,
        deterministic: bool = False,
    ) -> None:
        """Start on the first of ``providers`` that runs the model as declared.

        ``threads`` are those of one operator on the CPU (None: as many as cores); the order of sums, and so the last
        bits, depend on it. ``deterministic`` asks for kernels that give the same bits each time. Raises NoProvider
        where none does, with what is wrong with each; ContractError where the file is no ONNX model; OSError.
        """
        self.path: Final = Path(path)
        self.name: Final = self.path.name
        if not providers:
            raise ContractError("no provider is declared; expected one at least, such as cpu")
        parts = files(self.path)
        hashes = {name: file_sha256(file) for name, file in parts.items()}
        self._threads: Final = threads
        self._deterministic: Final = deterministic
        #: Providers that were declared before the one that runs, and why they do not.
        self.skipped: tuple[Attempt, ...]
        self._session: Any
        self._session, self._declared, self.skipped = self._first(providers)
        if {name: file_sha256(file) for name, file in parts.items()} != hashes:
            raise ContractError(f"{self.path.name} was changed while it was loaded; expected a file that stays")
        self.provider: Final = short_name(self._declared.runtime_name)
        self.signature: Final = Signature.of(self._session)
        self.identity: Final = self._identity(hashes)
        self._inputs: Final = {port.name: port for port in self.signature.inputs}
        self._outputs: Final = tuple(port.name for port in self.signature.outputs)
        ports = (*self.signature.inputs, *self.signature.outputs)
        self._bfloat16: Final = any(port.dtype == "bfloat16" for port in ports)
        #: The nodes that run on another provider, as declared: ``2 Shape on cpu``. Empty where there are none.
        self.elsewhere: Final = some(_counted(self._session, self._declared)) if self._declared.elsewhere else ""
        facts = {"model": self.identity.sha256, "identity": self.identity.digest, "provider": self.provider}
        if self.elsewhere:
            facts["elsewhere"] = self.elsewhere
        self._facts: Final[Mapping[str, str]] = MappingProxyType(facts)

    def run(self, inputs: Mapping[str, Any], outputs: Sequence[str] | None = None) -> Ran:
        """Run the model on arrays by input name. ``outputs`` are those to compute; None: all.

        Raises WrongInput before anything is run, RunFailed where the runtime or its device fails.
        """
        check_inputs(self.name, self._inputs, inputs)
        names = self._outputs if outputs is None else tuple(outputs)
        check_outputs(self.name, self._outputs, names)
        if self._session is None:
            raise RunFailed(f"{self.path.name} is closed", "runtime")
        try:
            found = self._by_values(names, inputs) if self._bfloat16 else self._session.run(list(names), dict(inputs))
        except Exception as error:  # onnxruntime's errors share no base class
            raise self._failed(error) from error
        return Ran(dict(zip(names, found, strict=True)), self.provider, self._facts)

    def close(self) -> None:
        """Let go of the session: its memory is free when the last run has ended. A run after this is RunFailed."""
        self._session = None

    # -- starting

    def _first(self, providers: Sequence[Provider]) -> tuple[Any, Provider, tuple[Attempt, ...]]:
        """A session on the first provider that runs the model as declared, and what was wrong with those before it."""
        failed: list[Attempt] = []
        for provider in providers:
            started = self._start(provider)
            if not isinstance(started, Attempt):
                return started, provider, tuple(failed)
            failed.append(started)
            log.warning("%s %s", self.path.name, started)
        raise NoProvider(self.path.name, failed)

    def _start(self, provider: Provider) -> Any:
        """A session on a provider, or the Attempt that says why there is none.

        Raises ContractError where the file is no model that ONNX Runtime can read.
        """
        name = short_name(provider.runtime_name)
        available = ort.get_available_providers()
        for wanted in provider.declared:
            if wanted not in available:
                has = some(short_name(each) for each in available)
                return Attempt(name, f"this onnxruntime has no {wanted}, only {has}", _install(short_name(wanted)))
            missing = _missing_library(short_name(wanted))
            if missing is not None:
                # Asked before onnxruntime, which would write pages to standard error and go on without it.
                return Attempt(
                    name, missing, f"install what {wanted} needs (docs/models.md), or declare another provider"
                )
        try:
            session = self._session_on(provider)
        except Exception as error:  # onnxruntime's errors share no base class
            if type(error).__name__ in {"InvalidProtobuf", "NoSuchFile", "InvalidGraph", "NoModel"}:
                raise ContractError(f"{self.path.name} cannot be read by onnxruntime: {_reason(error)}") from error
            return self._not_started(provider, error)
        return self._misplaced(provider, session) or session

    def _session_on(self, provider: Provider, *, only_look: bool = False) -> Any:
        """A session on a provider. ``only_look``: one that is not to be run, in which nodes may be on the CPU."""
        options = self._options()
        if runtime_name(CPU) not in provider.declared and not only_look:
            options.add_session_config_entry(_NO_CPU, "1")
        arguments = [
            (each, dict(provider.options) if each == provider.runtime_name else {}) for each in provider.declared
        ]
        session = ort.InferenceSession(str(self.path), options, providers=arguments, enable_fallback=0)
        session.disable_fallback()
        return session

    def _options(self) -> Any:
        options = ort.SessionOptions()
        options.log_severity_level = 4  # what it would say on standard error is said by the errors here
        options.use_deterministic_compute = self._deterministic
        if self._threads is not None:
            options.intra_op_num_threads = self._threads
        options.add_session_config_entry(_ASSIGNMENT, "1")
        return options

    def _not_started(self, provider: Provider, error: Exception) -> Attempt:
        name = short_name(provider.runtime_name)
        if "fallback to CPU EP has been explicitly disabled" in str(error):
            # It does not say which nodes these are: a session that is thrown away does.
            told = self._misplaced(provider, self._session_on(provider, only_look=True))
            return told or Attempt(name, "nodes would run on the CPU", "declare the operators that may (elsewhere)")
        return Attempt(name, f"onnxruntime does not start ({_reason(error)})", "mend that, or declare another provider")

    def _misplaced(self, provider: Provider, session: Any) -> Attempt | None:
        """What is wrong with where the nodes run; None where it is as declared."""
        name = short_name(provider.runtime_name)
        in_session = session.get_providers()
        if provider.runtime_name not in in_session:
            has = some(short_name(each) for each in in_session)
            return Attempt(name, f"the session has only {has}", "install what the provider needs, or declare another")
        if not hasattr(session, "get_provider_graph_assignment_info"):
            return Attempt(
                name, f"onnxruntime {ort.__version__} does not say where nodes run", "install onnxruntime 1.24 or later"
            )
        odd: Counter[tuple[str, str]] = Counter()
        nodes = here = 0
        for part in session.get_provider_graph_assignment_info():
            for node in part.get_nodes():
                nodes += 1
                here += part.ep_name == provider.runtime_name
                if not provider.allows(part.ep_name, node.op_type, node.name):
                    odd[short_name(part.ep_name), node.op_type] += 1
        if odd:
            told = some(f"{count} {operator} on {where}" for (where, operator), count in sorted(odd.items()))
            return Attempt(
                name,
                f"{odd.total():,} of {nodes:,} nodes run elsewhere: {told}",
                "declare the operators that may (elsewhere), or another provider",
            )
        if nodes and not here:
            return Attempt(name, f"none of its {nodes:,} nodes runs there", "declare the provider that runs them")
        return None

    # -- what it is

    def _identity(self, hashes: Mapping[str, str]) -> Identity:
        options = {each: {**given} for each, given in self._session.get_provider_options().items()}
        # The CPU is in every list of get_providers(); what was not declared runs nothing.
        order = self._declared.declared
        chosen = options.get(order[0], {})
        on_gpu = {"cuda", "tensorrt"} & {short_name(each) for each in order}
        session = {
            "deterministic": str(self._deterministic).lower(),
            "threads": "all" if self._threads is None else str(self._threads),
            "graph_optimization": "all",
        }
        return Identity(
            name=self.path.name,
            sha256=hashes[self.path.name],
            files=dict(hashes),
            format="onnx",
            runtime="onnxruntime",
            runtime_version=ort.__version__,
            runtime_build=str(ort.get_build_info()),
            providers=tuple((short_name(each), options.get(each, {})) for each in order),
            devices=device_facts(int(chosen.get("device_id", "0") or 0)) if on_gpu else {},
            precision=precision_flags({**self._declared.options, **chosen}, session),
        )

    # -- running

    def _by_values(self, names: Sequence[str], inputs: Mapping[str, Any]) -> list[Any]:
        """A run with bfloat16 among inputs or outputs: NumPy has none, so its bits go by onnxruntime's own values."""
        value = ort.OrtValue
        given = {
            name: value.ortvalue_from_numpy_with_onnx_type(np.ascontiguousarray(array), _ONNX_BFLOAT16)
            if self._inputs[name].dtype == "bfloat16"
            else value.ortvalue_from_numpy(array)
            for name, array in inputs.items()
        }
        return [_array(each) for each in self._session.run_with_ort_values(list(names), given)]

    def _failed(self, error: Exception) -> RunFailed:
        text = str(error)
        if isinstance(error, MemoryError) or _MEMORY.search(text):
            return RunFailed(f"{self.path.name} failed on {self.provider}: out of memory", "memory")
        kind = type(error).__name__
        if kind in {"EPFail", "EngineError", "DeviceReset"} or re.search(r"\b(?:CUDA|CUDNN|CUBLAS|TensorRT)\b", text):
            return RunFailed(f"{self.path.name} failed on {self.provider}: the provider failed ({kind})", "provider")
        return RunFailed(f"{self.path.name} failed on {self.provider} ({kind})", "runtime")


def _counted(session: Any, provider: Provider) -> list[str]:
    """The operators that run on other providers than this one, with how many of each there are."""
    found = Counter(
        (short_name(part.ep_name), node.op_type)
        for part in session.get_provider_graph_assignment_info()
        for node in part.get_nodes()
        if part.ep_name != provider.runtime_name
    )
    return [f"{count} {operator} on {where}" for (where, operator), count in sorted(found.items())]


def read_signature(path: str | Path) -> Signature:
    """What a model takes and gives, without running it. Raises ContractError where it is no ONNX model; OSError."""
    model = Path(path)
    files(model)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = ort.InferenceSession(str(model), options, providers=[runtime_name(CPU)], enable_fallback=0)
    except Exception as error:  # onnxruntime's errors share no base class
        raise ContractError(f"{model.name} cannot be read by onnxruntime: {_reason(error)}") from error
    return Signature.of(session)


def _array(value: Any) -> Any:
    if value.data_type() != "tensor(bfloat16)":
        return value.numpy()
    if value.device_name() != "cpu":
        raise RuntimeError("bfloat16 outputs that are not in the CPU's memory cannot be read")
    bits = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    return np.frombuffer(bits, "<u2").reshape(value.shape())


def _reason(error: Exception) -> str:
    """What onnxruntime says of a model that it cannot load: of its structure, as there is no data yet."""
    text = re.sub(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ", "", str(error)).strip().partition("\n")[0]
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _install(provider: str) -> str:
    """What to do where this build of onnxruntime has no such provider."""
    there = []
    for package in _PACKAGES:
        try:
            version(package)
        except PackageNotFoundError:
            continue
        there.append(package)
    wanted = _WITH.get(provider)
    if wanted in there:
        return f"install {wanted} anew, and no other package that brings the module onnxruntime ({some(there)})"
    if wanted is not None:
        return f"install {wanted} instead of {some(there)}"
    return "install the onnxruntime that has it, or declare another provider"


def _missing_library(provider: str) -> str | None:
    """Why a provider's own library cannot be loaded; None where it can, or it has none."""
    if provider not in _LIBRARIES:
        return None
    folder = Path(ort.__file__).parent / "capi"
    file = folder / f"libonnxruntime_providers_{_LIBRARIES[provider]}.so"
    if not file.exists():
        return None
    try:
        ctypes.CDLL(str(folder / "libonnxruntime_providers_shared.so"), mode=ctypes.RTLD_GLOBAL)
        ctypes.CDLL(str(file))
    except OSError as error:
        missing = re.match(r"(\S+): cannot open shared object file", str(error))
        return f"the library {missing.group(1)} is missing" if missing else "its library cannot be loaded"
    return None
