"""What an operator does about the one fault of Kafka that stops everything: a transaction whose end it forgot to write.

Kafka 4.3.1 with one replica: the coordinator of a broker that was killed may hold a transaction for ended without a
marker in ``__consumer_offsets`` (docs/exactly-once.md). The offsets in it stay undecided, and whoever gets their
partitions waits for good. The marker that is missing is written here as the coordinator decided it.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Final

from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError
from kafka.protocol.producer.transaction import WriteTxnMarkersRequest

from protocontract.kafka.client import TopicPartition
from tests.chaos.logs import Decision, Decisions, GroupHistory, LogFile, without_markers

OFFSETS: Final = TopicPartition("__consumer_offsets", 0)
#: Milliseconds after which a marker that is not there is not on its way any more.
_PATIENCE: Final = 10_000
#: Seconds between two looks.
_EVERY: Final = 2.0


class Operator:
    """Looks for offsets in transactions without an end, and ends these."""

    def __init__(self, address: str, data: Path, history: GroupHistory) -> None:
        """``data``: the broker's folder of logs."""
        self._address = address
        self._history = history
        self._decisions = Decisions(LogFile(data / "__transaction_state-0"))
        self._looked = 0.0
        #: How many transactions it ended.
        self.ended = 0

    def look(self) -> None:
        """Write the markers that are missing. A broker that is away is asked again later."""
        if time.monotonic() - self._looked < _EVERY:
            return
        self._looked = time.monotonic()
        self._decisions.update()
        for decision in without_markers(self._history, self._decisions, int(time.time() * 1000) - _PATIENCE):
            try:
                admin = _Ender(bootstrap_servers=self._address, request_timeout_ms=5_000)
                try:
                    admin.abort_transaction(decision)
                finally:
                    admin.close()
            except KafkaError:
                continue
            self.ended += 1


class _Ender(KafkaAdminClient):  # type: ignore[misc]  # an untyped base class
    """The client's way of aborting a transaction, made to end it as it was decided."""

    async def _async_abort_transaction(self, spec: Decision) -> None:
        (leader,) = await self._async_get_leader_for_partitions([OFFSETS])
        response = await self._manager.send(_marker(spec), node_id=leader)
        for marker in response.markers:
            for topic in marker.topics:
                for partition in topic.partitions:
                    if partition.error_code:
                        raise KafkaError(f"the marker was refused with {partition.error_code}")


def _marker(decision: Decision) -> Any:
    marker = WriteTxnMarkersRequest.WritableTxnMarker
    return WriteTxnMarkersRequest(
        markers=[
            marker(
                producer_id=decision.producer,
                producer_epoch=decision.epoch,
                transaction_result=decision.committed,
                topics=[marker.WritableTxnMarkerTopic(name=OFFSETS.topic, partition_indexes=[OFFSETS.partition])],
                # As the broker's own tool has it: no coordinator speaks here.
                coordinator_epoch=-1,
            )
        ]
    )
