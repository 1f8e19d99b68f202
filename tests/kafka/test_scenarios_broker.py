"""The failure scenarios that a broker can produce by itself, on a real one: the functions of test_scenarios.

Those that need a second process, a transaction or a fault of the network have tests of their own there, marked with
the scenario that they stand for.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kafka import scenarios_running, test_scenarios  # noqa: F401  # they enter their scenarios into the table
from tests.kafka.broker_log import BrokerLog
from tests.kafka.conftest import Broker
from tests.kafka.scenario_table import SCENARIOS
from tests.kafka.support import DEAD, TOPIC, make_log

#: Scenarios that use nothing of the in-memory log but records, topics and clients.
ON_A_BROKER = (
    *("K03", "K04", "K05", "K07", "K08", "K09", "K10", "K12", "K13", "K15", "K19", "K20", "K29", "K31", "K36"),
    *("K37", "K38", "K41", "K47", "K51", "K56", "K66", "K73", "K83", "K84", "K87"),
)


@pytest.fixture
def on_the_broker(broker: Broker) -> Iterator[None]:
    """Logs are made on the real broker."""
    made: list[BrokerLog] = []

    def make(partitions: int) -> BrokerLog:
        made.append(BrokerLog(broker, (TOPIC, DEAD), partitions))
        return made[-1]

    before = make_log.set(make)
    try:
        yield
    finally:
        make_log.reset(before)
        for log in made:
            log.close()


@pytest.mark.kafka
@pytest.mark.usefixtures("on_the_broker")
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.scenario(name)) for name in ON_A_BROKER])
def test_scenario(name: str) -> None:
    SCENARIOS[name]()
