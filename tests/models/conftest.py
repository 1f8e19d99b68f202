"""Leaves out what needs another build of onnxruntime than the one that is here (`.ci/elsewhere` has it)."""

from __future__ import annotations

import onnxruntime as ort

collect_ignore = (
    []
    if "OpenVINOExecutionProvider" in ort.get_available_providers()
    else ["test_second_provider.py", "test_second_provider_fallback.py"]
)
