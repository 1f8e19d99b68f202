"""Other servers that speak KServe v2 (Triton, MLServer, KServe), on either side of a contract (extra ``triton``).

``RemoteModel`` runs a model that such a server has. ``Proxy`` stands before such a server, speaks KServe v2 to its
callers, over gRPC and REST, and lets nothing pass in either direction that is outside of the contracts. docs/kserve.md.
"""

from __future__ import annotations

from protocontract.extras import missing_extra

try:
    from protocontract.serving.kserve.client import RemoteModel, Target
    from protocontract.serving.kserve.models import Declared
    from protocontract.serving.kserve.proxy import Proxy
except ImportError as error:
    raise (missing_extra("protocontract.serving.kserve", error, "triton") or error) from None

__all__ = ["Declared", "Proxy", "RemoteModel", "Target"]
