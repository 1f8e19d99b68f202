"""Leaves out what needs another build of onnxruntime than the one that is here (`.ci/elsewhere` has it)."""

from __future__ import annotations

import onnxruntime as ort

available = ort.get_available_providers()
collect_ignore = []
if "OpenVINOExecutionProvider" not in available:
    collect_ignore += ["test_second_provider.py", "test_second_provider_fallback.py"]
if "CUDAExecutionProvider" not in available:
    collect_ignore += ["test_without_a_gpu.py"]
