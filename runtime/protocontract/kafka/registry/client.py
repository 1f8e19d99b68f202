"""What is asked of a Confluent Schema Registry, and the kinds of answers: a schema, "there is none", and no answer.

The only module that imports confluent-kafka's registry client. Its own retries are switched off (they would sleep on
the guard's thread) and every request has an end. No error text holds what the client or the registry said: it may hold
an address with a password.
"""

from __future__ import annotations

import uuid
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

from protocontract.kafka.errors import GuardError
from protocontract.violations import MissingExtra

try:
    from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
    from confluent_kafka.schema_registry.error import SchemaRegistryError
except ImportError as error:
    raise MissingExtra("a schema registry", "confluent-kafka[schemaregistry]", "registry") from error

T = TypeVar("T")

PROTOBUF: Final = "PROTOBUF"
#: Seconds after which a request that has no answer is given up; ``timeout`` of the configuration replaces it.
TIMEOUT: Final = 5.0
# The registry's own codes for a subject, a version and a schema that do not exist. A 404 without one of them comes
# from something else: a proxy, a wrong path.
_NONE: Final = frozenset({40401, 40402, 40403})
_FILES: Final = ("ssl.ca.location", "ssl.certificate.location", "ssl.key.location")
_DEFAULTS: Final[Mapping[str, Any]] = {"timeout": TIMEOUT, "max.retries": 0}


class Missing(Exception):
    """The registry answered: there is no such schema, subject or version."""


class Unreachable(Exception):
    """The registry did not answer, or something else than a schema. The text is fit for logs."""

    def __init__(self, reason: str, *, forbidden: bool = False) -> None:
        super().__init__(reason)
        #: Whether credentials are missing or refused.
        self.forbidden: Final = forbidden


class Reference(NamedTuple):
    """One import of a registered schema: the name that the import uses, and where that file is registered."""

    name: str
    subject: str
    version: int


class Registered(NamedTuple):
    """A schema as the registry holds it. ``text`` is .proto source, or a FileDescriptorProto in base64."""

    text: str
    kind: str
    references: tuple[Reference, ...] = ()
    schema_id: int | None = None
    guid: bytes | None = None
    subject: str | None = None
    version: int | None = None


class RegistryClient:
    """A registry's REST API. Every method raises Missing or Unreachable, and nothing else."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        """``config``: options of confluent-kafka's SchemaRegistryClient. Raises GuardError naming what to change."""
        settings = {**_DEFAULTS, **config}
        #: Where the registry is, without credentials.
        self.place: Final = shown(settings.get("url"))
        credentials = _credentials(settings["url"])
        if credentials is not None:
            # Out of the address: HTTP libraries log it.
            if "basic.auth.user.info" in settings:
                raise GuardError("registry: credentials are in its address and in basic.auth.user.info; keep one")
            settings["basic.auth.user.info"] = credentials
        settings["url"] = self.place
        info = settings.get("basic.auth.user.info")
        if info is not None and (not isinstance(info, str) or ":" not in info):
            raise GuardError("registry: basic.auth.user.info is not of the form USER:PASSWORD")
        try:
            self._client = SchemaRegistryClient(settings)
        except OSError as error:
            # OpenSSL names no file.
            named = [
                name for name in _FILES if isinstance(settings.get(name), str) and not Path(settings[name]).exists()
            ]
            what = " and ".join(named) or "a certificate or key"
            raise GuardError(f"registry: {what} cannot be read ({type(error).__name__})") from None
        except (TypeError, ValueError) as error:
            # Some of these texts quote values, so only the one that lists names is passed on.
            text = str(error)
            reason = (
                text[0].lower() + text[1:] if text.startswith("Unrecognized properties: ") else type(error).__name__
            )
            raise GuardError(f"registry: the configuration is refused: {reason}") from None
        # Connections end with the last user, closed or not.
        self._finalizer = weakref.finalize(self, self._client.close)

    def by_id(self, schema_id: int) -> Registered:
        """The schema of an id."""
        return self._ask(lambda: _registered(self._client.get_schema(schema_id, fmt="serialized"), schema_id))

    def by_guid(self, guid: bytes) -> Registered:
        """The schema of a GUID of 16 bytes."""
        name = str(uuid.UUID(bytes=guid))
        return self._ask(lambda: _registered(self._client.get_schema_by_guid(name, fmt="serialized"), guid=guid))

    def version(self, subject: str, version: int | None = None, *, source: bool = False) -> Registered:
        """One version of a subject, by default the latest.

        ``source`` asks for .proto source, which keeps every option; else for the descriptor, which needs no compiler.
        Older registries give source in any case.
        """
        wanted: Any = "latest" if version is None else version
        # A version that was deleted softly is still what its records and references mean.
        deleted = version is not None

        def ask() -> Registered:
            found = self._client.get_version(subject, wanted, deleted, None if source else "serialized")
            guid = None if found.guid is None else uuid.UUID(found.guid).bytes
            return _registered(found.schema, found.schema_id, guid, subject, found.version)

        return self._ask(ask)

    def versions(self, subject: str) -> list[int]:
        """The numbers of a subject's versions, newest first."""
        return self._ask(lambda: sorted(self._client.get_versions(subject), reverse=True))

    def register(self, subject: str, text: str, references: tuple[Reference, ...]) -> None:
        """Register a schema under a subject. That it is there already is no error."""
        schema = Schema(text, PROTOBUF, [SchemaReference(*reference) for reference in references])
        self._ask(lambda: self._client.register_schema(subject, schema))

    def lookup(self, subject: str, text: str, references: tuple[Reference, ...]) -> int:
        """The version of a subject that is this very schema."""
        schema = Schema(text, PROTOBUF, [SchemaReference(*reference) for reference in references])
        return self._ask(lambda: int(self._client.lookup_schema(subject, schema).version or 0))

    def close(self) -> None:
        """Close the connections."""
        self._finalizer()

    def _ask(self, request: Callable[[], T]) -> T:
        try:
            return request()
        except SchemaRegistryError as error:
            status = error.http_status_code
            if status == 404 and error.error_code in _NONE:
                raise Missing from None
            raise Unreachable(f"HTTP {status}", forbidden=status in (401, 403)) from None
        except Exception as error:
            # Whatever the HTTP library, TLS, a token provider or a JSON parser raises: the registry gave no answer
            # that can be read. Nothing of it says anything about a record.
            raise Unreachable(type(error).__name__) from None
        finally:
            # The client caches without a bound, and one form of a schema for another. What is to be kept, is kept here.
            self._client.clear_caches()  # type: ignore[no-untyped-call]


def builtin(name: str) -> bytes | None:
    """A serialised FileDescriptorProto of the files that Confluent's serializers leave out of references, or None.

    They are ``google/type/`` and ``confluent/``; there where the packages that bring them are installed.
    """
    import importlib

    if name.startswith("google/type/"):
        module = name
    elif name.startswith("confluent/"):
        module = f"confluent_kafka/schema_registry/{name}"
    else:
        return None
    path = module.removesuffix(".proto").replace("/", ".")
    if not all(part.isidentifier() for part in path.split(".")):
        return None
    try:
        found: bytes = importlib.import_module(f"{path}_pb2").DESCRIPTOR.serialized_pb
    except ImportError:
        return None
    return found


def shown(url: Any) -> str:
    """A registry's address (several, comma-separated) without credentials. Raises GuardError where it is none."""
    places: list[str] = []
    for one in url.split(",") if isinstance(url, str) else ():
        try:
            parts = urlsplit(one.strip())
            host, port = parts.hostname, parts.port
        except ValueError:
            break
        if host is None or parts.scheme not in ("http", "https"):
            break
        places.append(f"{parts.scheme}://{host}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}")
    else:
        if places:
            return ",".join(places)
    raise GuardError("registry: its address is not a URL; expected http:// or https:// and a host")


def _credentials(url: str) -> str | None:
    """``user:password`` in the first of the addresses, which counts for all of them."""
    parts = urlsplit(url.split(",")[0].strip())
    if parts.username is None and parts.password is None:
        return None
    return f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"


def _registered(
    schema: Schema,
    schema_id: int | None = None,
    guid: bytes | None = None,
    subject: str | None = None,
    version: int | None = None,
) -> Registered:
    references = tuple(
        Reference(str(each.name), str(each.subject), int(each.version or 0)) for each in schema.references or ()
    )
    if schema.schema_str is None:
        raise ValueError("an answer without a schema")
    return Registered(schema.schema_str, schema.schema_type or "AVRO", references, schema_id, guid, subject, version)
