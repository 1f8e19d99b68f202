"""Checks the contract option: version, topics, key, event time, levels."""

from __future__ import annotations

import re
from dataclasses import dataclass

from protocontract_compiler import ir
from protocontract_compiler.descriptors import Loaded
from protocontract_compiler.diagnostics import Diagnostics, one_of
from protocontract_compiler.passes.checking import SEMANTIC_VERSION, kind_of, short, singular
from protocontract_compiler.passes.pass_annotations import CONTRACT

# Kafka's own rule for names of topics (org.apache.kafka.common.internals.Topic).
_TOPIC = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}")

_KEY_TYPES = frozenset({ir.TYPE_STRING, ir.TYPE_BYTES}) | ir.INTEGER_TYPES


def check(loaded: Loaded, schema: ir.Schema, diagnostics: Diagnostics) -> None:
    """Notes the mistakes in the contract options of all messages."""
    for message in schema.messages.values():
        if message.contract is not None:
            _Contract(loaded, diagnostics, message, message.contract).check()


@dataclass(frozen=True)
class _Contract:
    loaded: Loaded
    diagnostics: Diagnostics
    message: ir.Message
    contract: ir.ContractOptions

    def check(self) -> None:
        contract = self.contract
        if contract.version and not SEMANTIC_VERSION.fullmatch(contract.version):
            self._error(
                "contract-version", ("version",),
                f'"{contract.version}" is no semantic version; expected MAJOR.MINOR.PATCH such as "1.4.0"',
            )  # fmt: skip
        for option in ("topic", "dead_letter_topic"):
            topic = getattr(contract, option)
            if topic and not _TOPIC.fullmatch(topic):
                self._error(
                    "contract-topic", (option,),
                    f'"{topic}" is no topic name; expected up to 249 of A-Z a-z 0-9 . _ -',
                )  # fmt: skip
        if contract.topic and contract.topic == contract.dead_letter_topic:
            self._error(
                "contract-topic", ("dead_letter_topic",),
                "dead letters would go back into the topic itself; expected another topic",
            )  # fmt: skip
        self._check_key_field()
        self._check_event_time()
        if contract.level is not None:
            self._check_level(contract.level)

    def _check_key_field(self) -> None:
        if not self.contract.key_field:
            return
        field = self._lookup("contract-key-field", "key_field", self.contract.key_field)
        if field is not None and not singular(field, *_KEY_TYPES):
            self._error(
                "contract-key-field", ("key_field",),
                f"`{field.name}` cannot be a record key; expected string, bytes or an integer, got {kind_of(field)}",
            )  # fmt: skip

    def _check_event_time(self) -> None:
        if not self.contract.event_time:
            return
        field = self._lookup("contract-event-time", "event_time", self.contract.event_time)
        if field is None or field.shape is not ir.Shape.SINGULAR:
            is_moment = field is None
        elif field.message is not None:
            is_moment = field.message == "google.protobuf.Timestamp"
        else:
            is_moment = field.normalizer is not None and field.normalizer.kind == "instant"
        if field is not None and not is_moment:
            self._error(
                "contract-event-time", ("event_time",),
                f"`{field.name}` is no moment; expected a Timestamp or a field with `instant`, got {kind_of(field)}",
            )  # fmt: skip

    def _check_level(self, level: ir.StreamLevel) -> None:
        if level == ir.StreamLevel():
            self._error("contract-level", ("level",), "the level promises nothing; expected at least one figure")
        for name in ("compliance", "error_rate"):
            share = getattr(level, name)
            if share is not None and not 0 < share <= 1:
                self._error("contract-level", ("level", name), f"`{name}` is a share; expected 0 to 1, got {share:g}")
        if level.throughput is not None and not 0 < level.throughput < float("inf"):
            self._error(
                "contract-level", ("level", "throughput"),
                f"`throughput` is records a second; expected a positive number, got {level.throughput:g}",
            )  # fmt: skip
        for name in ("latency", "frequency", "window"):
            duration = getattr(level, name)
            if duration is not None and duration <= 0:
                self._error("contract-level", ("level", name), f"`{name}` is no time; expected more than 0 seconds")
        if level.latency is not None and not self.contract.event_time:
            self._error(
                "contract-level", ("level", "latency"),
                "`latency` cannot be measured without `event_time`; expected the field that tells it",
            )  # fmt: skip

    def _lookup(self, id_: str, option: str, name: str) -> ir.Field | None:
        names = [field.name for field in self.message.fields]
        if name in names:
            return self.message.field(name)
        self._error(id_, (option,), f"`{name}` is not a field of {short(self.message.full_name)}", one_of(name, names))
        return None

    def _error(self, id_: str, steps: tuple[str | int, ...], message: str, hint: str | None = None) -> None:
        descriptor = self.loaded.pool.FindMessageTypeByName(self.message.full_name)
        self.diagnostics.error(id_, self.loaded.places.option(descriptor, CONTRACT, *steps), message, hint)
