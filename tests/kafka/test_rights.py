"""docs/rights.md is enough: every command runs on a broker with an authorizer, as a user with just these rights."""

from __future__ import annotations

import os
import random
import re
import subprocess
import uuid
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from protocontract.cli import main
from protocontract.kafka import client
from protocontract.kafka.client import TopicPartition
from protocontract.kafka.connection import Cluster
from protocontract.kafka.halting import halt_metadata
from protocontract.kafka.letters.oldest import look
from tests.kafka.transactions import NAME, PROTOS, make

pytestmark = pytest.mark.kafka

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| `([\w -]+)`[^|]*\| (topic|group|transactional id) (\S+) \| ([A-Z_, ]+) \|$", re.MULTILINE)
#: Command -> [(kind, name, rights)], as the table lists them.
RIGHTS: dict[str, list[tuple[str, str, list[str]]]] = {}
for _command, _kind, _name, _rights in ROW.findall((ROOT / "docs" / "rights.md").read_text()):
    RIGHTS.setdefault(_command, []).append((_kind, _name, _rights.split(", ")))

PROPERTIES = """
listener.security.protocol.map=PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
sasl.enabled.mechanisms=PLAIN
sasl.mechanism.inter.broker.protocol=PLAIN
listener.name.plaintext.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
username="admin" password="of-admin" {users};
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:admin;User:ANONYMOUS
"""


def user_of(command: str) -> str:
    return command.replace(" ", "-")


@dataclass
class Secured:
    """A broker that asks who one is, and what one may do."""

    servers: str
    folder: Path
    admin: Any = None
    names: dict[str, str] = field(default_factory=dict)

    def options(self, user: str) -> dict[str, Any]:
        return {
            "bootstrap_servers": [self.servers],
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": "PLAIN",
            "sasl_plain_username": user,
            "sasl_plain_password": f"of-{user}",
        }

    def config(self, user: str) -> str:
        """A file for --client-config."""
        path = self.folder / f"{user}.toml"
        options = self.options(user).items()
        path.write_text("\n".join(f'{name} = "{value}"' for name, value in options if name != "bootstrap_servers"))
        return str(path)

    def prepare(self, records: int = 20) -> None:
        """Topics of a run's own, and records in its source: one of two is bad. Names by those of the table."""
        from kafka.admin import NewTopic

        run = uuid.uuid4().hex[:8]
        names = self.names
        names |= {kind: f"{kind.lower()}-{run}" for kind in ("SOURCE", "SINK", "DEAD", "TARGET")}
        names["GROUP"] = f"protocontract.{names['SOURCE']}.{names['SINK']}"
        names["PREFIX"] = "protocontract"
        settings = {"DEAD": {"retention.ms": "-1", "max.message.bytes": "2000000"}}
        self.admin.create_topics(
            [
                NewTopic(names[kind], 1, 1, topic_configs=settings.get(kind, {}))
                for kind in ("SOURCE", "SINK", "DEAD", "TARGET")
            ]
        )
        if records:
            producer = client.producer_factory(self.options("admin"))()
            generator = random.Random(1)
            for number in range(records):
                made = make(generator, "account" if number % 2 else None)
                producer.send(names["SOURCE"], made.value, key=made.key)
            producer.flush()
            producer.close()

    def named(self, name: str) -> str:
        """A name of the table, as it is in this run."""
        return re.sub(r"\b[A-Z]+\b", lambda found: self.names.get(found[0], found[0]), name)

    def grant(self, command: str) -> None:
        """Give a command's user the rights of the table."""
        from kafka.admin import (
            ACL,
            ACLOperation,
            ACLPermissionType,
            ACLResourcePatternType,
            ResourcePattern,
            ResourceType,
        )

        acls = []
        for kind, name, rights in RIGHTS[command]:
            prefixed = name.endswith("*")
            pattern = ResourcePattern(
                ResourceType[kind.upper().replace(" ", "_")],
                self.named(name.rstrip("*")),
                ACLResourcePatternType.PREFIXED if prefixed else ACLResourcePatternType.LITERAL,
            )
            acls += [
                ACL(f"User:{user_of(command)}", "*", ACLOperation[right], ACLPermissionType.ALLOW, pattern)
                for right in rights
            ]
        found = self.admin.create_acls(acls)
        assert not found["failed"]

    def run(self, command: str, *arguments: str) -> int:
        """The command, as its user."""
        return self.as_user(user_of(command), *command.split(), *map(self.named, arguments))

    def as_user(self, user: str, *arguments: str) -> int:
        """``protocontract`` with these arguments."""
        where = ("--bootstrap-servers", self.servers, "--client-config", self.config(user))
        return main([*arguments, *where])

    def count(self, topic: str) -> int:
        """Committed records of a topic."""
        import kafka

        consumer = kafka.KafkaConsumer(
            **self.options("admin"), isolation_level="read_committed", auto_offset_reset="earliest"
        )
        try:
            tp = TopicPartition(self.names[topic], 0)
            consumer.assign([tp])
            end, found = consumer.end_offsets([tp])[tp], 0
            while consumer.position(tp) < end:
                found += sum(map(len, consumer.poll(timeout_ms=500).values()))
            return found
        finally:
            consumer.close(autocommit=False)


@pytest.fixture(scope="module")
def secured(servers: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    del servers  # where there is a broker, another one can be started
    folder = tmp_path_factory.mktemp("secured")
    users = ["nobody", *map(user_of, RIGHTS)]
    properties = folder / "properties"
    properties.write_text(PROPERTIES.format(users=" ".join(f'user_{user}="of-{user}"' for user in ("admin", *users))))
    script = [ROOT / ".ci" / "kafka" / "broker"]
    environment = {**os.environ, "KAFKA_PROPERTIES": str(properties)}
    started = subprocess.run(
        [*script, "start", folder / "kafka"], env=environment, capture_output=True, text=True, check=True
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            from kafka.admin import KafkaAdminClient
        found = Secured(started.stdout.strip(), folder)
        found.admin = KafkaAdminClient(**found.options("admin"))
        yield found
        found.admin.close()
    finally:
        subprocess.run([*script, "stop", folder / "kafka"], check=True)


GUARD = (
    "--contract", NAME, "--proto-path", str(PROTOS), "--source", "SOURCE", "--sink", "SINK", "--dead-letter", "DEAD",
    "--exit-at-end",
)  # fmt: skip


def test_who_has_no_rights_is_told(secured: Secured, capsys: pytest.CaptureFixture[str]) -> None:
    """The authorizer works: what the other tests show is worth something."""
    secured.prepare(0)
    assert secured.as_user("nobody", "guard", *map(secured.named, GUARD)) == 2
    assert "does not exist (or this user may not DESCRIBE it)" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["guard", "guard --exactly-once"])
def test_guard(command: str, secured: Secured) -> None:
    secured.prepare()
    secured.grant(command)
    assert secured.run(command, *GUARD) == 0
    assert (secured.count("SINK"), secured.count("DEAD")) == (10, 10)


def test_watching_the_oldest_dead_letter(secured: Secured) -> None:
    secured.prepare(0)
    producer = client.producer_factory(secured.options("admin"))()
    producer.send(secured.names["DEAD"], b"bad", key=b"k")
    producer.close()
    command = "guard --watch-dead-letters"
    secured.grant(command)
    found = look(Cluster(secured.options(user_of(command))), secured.names["DEAD"])
    assert found.oldest is not None
    assert (found.oldest.position, found.retention) == ("0:0", None)


def test_status_and_resume(secured: Secured, capsys: pytest.CaptureFixture[str]) -> None:
    import kafka

    secured.prepare()
    consumer = kafka.KafkaConsumer(
        **secured.options("admin"), group_id=secured.names["GROUP"], enable_auto_commit=False
    )
    tp = TopicPartition(secured.names["SOURCE"], 0)
    consumer.assign([tp])
    consumer.commit({tp: client.offset_to_commit(5, -1, halt_metadata(NAME, "a test", 0.0))})
    consumer.close(autocommit=False)
    where = ("--source", "SOURCE", "--sink", "SINK")
    secured.grant("guard status")
    assert secured.run("guard status", *where) == 1
    assert "a test" in capsys.readouterr().out
    secured.grant("guard skip")
    record = ("SOURCE:0:5", "--sink", "SINK", "--dead-letter", "DEAD", "--contract", NAME, "--proto-path", str(PROTOS))
    assert secured.run("guard skip", *record, "--reason", "a test") == 0
    assert secured.count("DEAD") == 1
    secured.grant("guard resume")
    assert secured.run("guard resume", *where, "--reason", "the test goes on") == 0
    assert secured.run("guard status", *where) == 0


def test_inspect_and_replay(secured: Secured, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    secured.prepare()
    secured.grant("guard")
    assert secured.run("guard", *GUARD) == 0
    secured.grant("dead-letter inspect")
    capsys.readouterr()
    assert secured.run("dead-letter inspect", "DEAD", "--last", "3") == 0
    told = capsys.readouterr()
    assert "string.len" in told.out
    assert "oldest unresolved: 0:0" in told.out
    assert told.err == ""
    secured.grant("dead-letter edit")
    change = ("--set", "account=6222021234567890123", "--reason", "a test", "--state", str(tmp_path))
    arguments = ("DEAD", "0:0", *change, "--to", "TARGET", "--proto-path", str(PROTOS))
    assert secured.run("dead-letter edit", *arguments) == 0
    assert secured.count("TARGET") == 1
    secured.grant("replay")
    assert secured.run("replay", "DEAD", "--to", "TARGET", "--state", str(tmp_path)) == 0
    assert secured.count("TARGET") == 10
    secured.grant("sample")
    assert secured.run("sample", "--source", "SOURCE", "--out", str(tmp_path / "sample.binpb")) == 0
    assert (tmp_path / "sample.binpb").stat().st_size > 0
