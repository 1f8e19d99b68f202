"""Versions of what is below a runtime: the driver, CUDA, TensorRT, and the device with its compute capability.

Each is read where it can be, through NVIDIA's own libraries, and left out elsewhere; nothing here fails.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

Load = Callable[[str], Any]

_DRIVER: Final = Path("/proc/driver/nvidia/version")
# CUdevice_attribute: the compute capability's two numbers (cuda.h).
_MAJOR, _MINOR = 75, 76


def device_facts(device: int = 0, *, load: Load = ctypes.CDLL, driver: Path = _DRIVER) -> dict[str, str]:
    """``driver``, ``cuda_driver``, ``cuda_runtime``, ``tensorrt``, ``device``, ``compute_capability``: what is known.

    ``device`` is its number. ``load`` opens a shared library and raises OSError where it is not there.
    """
    found: dict[str, str] = {}
    try:
        # NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023
        first = driver.read_text(encoding="ascii", errors="replace").partition("\n")[0]
        found["driver"] = " ".join(first.partition(":")[2].split())
    except OSError:  # no driver, or none of NVIDIA's
        pass
    cuda = _library(load, "libcuda.so.1")
    if cuda is not None and cuda.cuInit(0) == 0:
        version = ctypes.c_int()
        if cuda.cuDriverGetVersion(ctypes.byref(version)) == 0:
            found["cuda_driver"] = _cuda(version.value)
        found.update(_device(cuda, device))
    for name in ("libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"):
        runtime = _library(load, name)
        if runtime is not None:
            version = ctypes.c_int()
            if runtime.cudaRuntimeGetVersion(ctypes.byref(version)) == 0:
                found["cuda_runtime"] = _cuda(version.value)
            break
    for name in ("libnvinfer.so.11", "libnvinfer.so.10", "libnvinfer.so.8"):
        tensorrt = _library(load, name)
        if tensorrt is not None:
            found["tensorrt"] = _tensorrt(tensorrt.getInferLibVersion())
            break
    return found


def _device(cuda: Any, number: int) -> dict[str, str]:
    handle = ctypes.c_int()
    if cuda.cuDeviceGet(ctypes.byref(handle), number) != 0:
        return {}
    found: dict[str, str] = {}
    name = ctypes.create_string_buffer(256)
    if cuda.cuDeviceGetName(name, len(name), handle) == 0:
        found["device"] = name.value.decode("ascii", "replace")
    parts = []
    for attribute in (_MAJOR, _MINOR):
        value = ctypes.c_int()
        if cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, handle) != 0:
            return found
        parts.append(str(value.value))
    found["compute_capability"] = ".".join(parts)
    return found


def _library(load: Load, name: str) -> Any | None:
    try:
        return load(name)
    except OSError:
        return None


def _cuda(version: int) -> str:
    """12040 is 12.4."""
    return f"{version // 1000}.{version % 1000 // 10}"


def _tensorrt(version: int) -> str:
    """100300 is 10.3.0; up to 8, 8601 is 8.6.1."""
    if version >= 100_000:
        return f"{version // 10_000}.{version % 10_000 // 100}.{version % 100}"
    return f"{version // 1000}.{version % 1000 // 100}.{version % 100}"
