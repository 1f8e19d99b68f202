"""The protocontract compiler: annotated .proto files in, typed validators and normalizers out.

``compile`` and ``load_protos`` make contracts at run time; everything else is reached through the plugin
``protoc-gen-contract`` and the command ``protocontract compile``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from protocontract_compiler.dynamic import compile, load_protos  # noqa: A004

__all__ = ["compile", "load_protos"]


def __getattr__(name: str) -> Any:
    # On first use: the plugin starts faster without the runtime's contracts.
    if name in __all__:
        from protocontract_compiler import dynamic

        return getattr(dynamic, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
