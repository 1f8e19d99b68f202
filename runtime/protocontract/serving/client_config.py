"""What a contract says to clients: gRPC's own service configuration, with its retry policy."""

from __future__ import annotations

import json
from typing import Any, Final

from google.protobuf import descriptor_pool

from protocontract._options import Options
from protocontract.serving.methods import level_of
from protocontract.violations import ContractError

#: gRPC takes at most so many attempts.
_MOST_ATTEMPTS: Final = 5


def service_config(service: str, *, pool: Any = None) -> str:
    """The service configuration of a service by its full name, as JSON, for a channel's options::

        grpc.aio.insecure_channel(target, options=[("grpc.service_config", service_config("acme.v1.Models"))])

    Retries are gRPC's own, as ``service_level.retry`` says; INVALID_ARGUMENT is never among them. Deadlines are not in
    it: gRPC for Python does not keep a timeout from here, a caller passes one with each call.

    Raises ContractError for a service that no loaded module defines.
    """
    known: Any = descriptor_pool.Default() if pool is None else pool
    try:
        descriptor = known.FindServiceByName(service)
    except KeyError:
        raise ContractError(f"no service {service}; import its generated module first") from None
    options = Options(known)
    found = []
    for method in descriptor.methods:
        retry = level_of(options.service_level(method)).retry
        if retry is None or retry[0] < 2:
            continue
        codes = [code for code in retry[1] if code != "INVALID_ARGUMENT"]
        found.append(
            {
                "name": [{"service": service, "method": method.name}],
                "retryPolicy": {
                    "maxAttempts": min(retry[0], _MOST_ATTEMPTS),
                    "initialBackoff": "0.1s",
                    "maxBackoff": "5s",
                    "backoffMultiplier": 2,
                    "retryableStatusCodes": codes,
                },
            }
        )
    return json.dumps({"methodConfig": found}, sort_keys=True)
