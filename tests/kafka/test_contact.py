"""When a guard gives up on a source, on a clock of the test's own."""

from __future__ import annotations

from typing import Any

import pytest

from protocontract.kafka.client import errors, of
from protocontract.kafka.contact import Contact
from protocontract.kafka.errors import UnreachableError
from tests.kafka.conftest import Broker
from tests.kafka.support import TOPIC, new_log
from tests.kafka.test_broker import KEEPS_ALL, guard_process, wait_until, write
from tests.kafka.transactions import stream


class Source:
    """A consumer that answers as told, and a clock."""

    def __init__(self) -> None:
        self.consumer = new_log().consumer(TOPIC)
        self.now = 0.0
        self.asked = 0
        self.answer: BaseException | None = None
        self.consumer.end_offsets = self._end_offsets  # type: ignore[method-assign]

    def _end_offsets(self, partitions: Any, timeout_ms: int | None = None) -> dict[Any, int]:
        self.asked += 1
        if self.answer is not None:
            raise self.answer
        return dict.fromkeys(partitions, 0)

    def contact(self, give_up_after: float | None) -> Contact:
        return Contact(of(self.consumer), give_up_after, lambda: self.now)


def test_nobody_is_asked_where_nobody_gives_up() -> None:
    source = Source()
    contact = source.contact(None)
    source.now = 1e6
    contact.check()
    assert source.asked == 0


def test_silence_is_asked_about_and_ends_in_an_error() -> None:
    source = Source()
    contact = source.contact(20.0)
    for second in range(100):
        source.now = float(second)
        contact.check()
    # An idle topic that answers, every five seconds.
    assert source.asked == 19
    source.answer = errors.KafkaTimeoutError("secret")
    source.now = 114.0
    contact.check()
    source.now = 120.0
    with pytest.raises(
        UnreachableError, match=r"^source: topic payments does not answer \(KafkaTimeoutError\); gave"
    ) as e:
        contact.check()
    assert "secret" not in str(e.value)


def test_what_arrives_is_an_answer() -> None:
    source = Source()
    source.answer = errors.KafkaConnectionError()
    contact = source.contact(10.0)
    for second in range(100):
        source.now = float(second)
        contact.heard()
        contact.check()
    assert source.asked == 0


def test_a_refusal_is_an_answer() -> None:
    source = Source()
    source.answer = errors.TopicAuthorizationFailedError()
    contact = source.contact(10.0)
    for second in range(100):
        source.now = float(second)
        contact.check()
    assert source.asked > 10


@pytest.mark.kafka
def test_the_process_ends_with_2_where_its_source_is_gone(broker: Broker) -> None:
    source, sink, dead = broker.topic("raw"), broker.topic("clean"), broker.topic("dead", 1, **KEEPS_ALL)
    write(broker, source, stream(50, seed=6))
    group = f"g-{source}"
    process = guard_process(broker, source, sink, dead, "--group", group, "--give-up-after", "3", "--grace", "2")
    wait_until(lambda: broker.committed(source, group) == broker.ends(source))
    broker.admin.delete_topics([source])
    _, err = process.communicate(timeout=180)
    assert process.returncode == 2, err
    assert f"topic {source} does not answer" in err
    assert "gave up after 3 s: nothing is lost" in err
