"""The options of ``protocontract guard`` about a schema registry, and what follows from them before it starts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from protocontract.cli import UsageError
from protocontract.kafka.connection import read_options
from protocontract.kafka.errors import GuardError

if TYPE_CHECKING:
    from protocontract.contract import Contract
    from protocontract.kafka.registry.registry import Registry


def add_registry(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("schema registry", "needs the extra registry; docs/registry.md tells more")
    group.add_argument(
        "--registry",
        metavar="URL",
        help="look up the schema of each framed record; records are taken for framed then, unless --encoding differs",
    )
    group.add_argument(
        "--registry-config",
        metavar="FILE",
        help="options of confluent-kafka's registry client in TOML (or .json): url, basic.auth.user.info, ssl.*",
    )
    group.add_argument(
        "--subject",
        metavar="NAME[@VERSION]",
        help="compile the contract from this registered schema, the latest where no version is named; --contract names "
        "the message where the schema has several",
    )
    group.add_argument(
        "--sink-subject",
        metavar="NAME",
        help="frame what goes to the sink, with the id that the contract's schema has under this subject",
    )
    group.add_argument(
        "--sink-frame",
        choices=("value", "header"),
        default="value",
        help="where the frame goes: before the value with the schema's id (default), or into __value_schema_id with "
        "its GUID",
    )
    group.add_argument(
        "--register", action="store_true", help="register the contract's schema under --sink-subject if it is not there"
    )


def contract_of(options: argparse.Namespace) -> Contract[Any]:
    """The contract that the options mean.

    Settles ``options.encoding`` (a Registry where records are looked up) and sets ``options.sink_frame``. Raises
    UsageError, ContractError and MissingExtra; UsageError too where the registry does not answer.
    """
    config = registry_config(options.registry_config)
    if options.registry is not None:
        config["url"] = options.registry
    registry = None
    if config:
        from protocontract.kafka.registry.registry import Registry

        try:
            registry = Registry(config)
            if not options.skip_checks:
                registry.check()
        except GuardError as error:
            raise UsageError(str(error)) from None
    _check(options, registry)
    try:
        contract = _contract(options, registry)
        options.sink_frame = _sink_frame(options, registry, contract)
    except GuardError as error:
        raise UsageError(str(error)) from None
    if registry is not None and options.encoding in (None, "confluent"):
        options.encoding = registry
    elif options.encoding is None:
        options.encoding = "protobuf"
    return contract


def registry_config(name: str | None) -> dict[str, Any]:
    """The options in a file. ``basic.auth.user.info = "..."`` and a table ``[basic.auth.user]`` mean the same.

    Raises UsageError, or OSError where it cannot be read.
    """
    if name is None:
        return {}
    return _flat(read_options(name, "a registry client's options"))


def _flat(options: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in options.items():
        if isinstance(value, Mapping):
            flat.update(_flat(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _check(options: argparse.Namespace, registry: Registry | None) -> None:
    """Options that do not go together. Raises UsageError."""
    if registry is None:
        for option in ("subject", "sink_subject"):
            if getattr(options, option) is not None:
                raise UsageError(f"--{option.replace('_', '-')} is one of a schema registry; add --registry URL")
    if options.subject is not None and (options.proto_path or options.descriptors):
        raise UsageError("--subject says where the contract is; leave out --proto-path and --descriptors")
    if options.subject is None and options.contract is None:
        raise UsageError("no contract is named; add --contract NAME, or --registry URL --subject NAME")
    if options.sink_subject is None:
        if options.register or options.sink_frame != "value":
            raise UsageError("--register and --sink-frame are about frames on the sink; add --sink-subject NAME")
        if options.sink_encoding == "confluent" and options.encoding not in (None, "confluent"):
            raise UsageError("frames on the sink need a schema id; add --registry URL --sink-subject NAME")
    elif options.sink_encoding not in (None, "confluent"):
        raise UsageError(f"--sink-subject is for frames, not for {options.sink_encoding}; leave out --sink-encoding")


def _contract(options: argparse.Namespace, registry: Registry | None) -> Contract[Any]:
    if registry is None or options.subject is None:
        from protocontract.loading import resolve

        return resolve(options.contract, proto_path=options.proto_path, descriptors=options.descriptors)
    from protocontract.kafka.registry.contract import Subject, contract_from

    try:
        subject = Subject.of(options.subject)
    except ValueError as error:
        raise UsageError(f"--subject {options.subject}: {error}") from None
    found = contract_from(registry, subject, options.contract)
    print(f"contract: {found}", file=sys.stderr)
    return found.contract


def _sink_frame(options: argparse.Namespace, registry: Registry | None, contract: Contract[Any]) -> Any:
    if registry is None or options.sink_subject is None:
        return None
    from protocontract.kafka.registry.contract import sink_frame
    from protocontract.kafka.registry.registry import described

    frame, registered = sink_frame(
        registry,
        contract,
        options.sink_subject,
        in_header=options.sink_frame == "header",
        register=options.register,
    )
    print(f"sink schema: {described(registered)}", file=sys.stderr)
    return frame
