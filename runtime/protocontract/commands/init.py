"""The command ``protocontract init``: the first contract and a consumer that runs, in a folder of one's own."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Final

from protocontract.arguments import Parser
from protocontract.cli import KEPT, UsageError
from protocontract.terminal import plural

_DESCRIPTION: Final = """\
Write a first contract, a Makefile that compiles it, buf's configuration, and a consumer that runs without a broker.
Nothing that is there is overwritten.
"""
_EPILOG: Final = """\
exit codes: 0 written; 2 a file is there already, or the name is none

example: protocontract init --message shop.orders.v1.Order && make run
"""
_MESSAGE: Final = re.compile(r"(?:[a-z][a-z0-9_]*\.)+[A-Z][A-Za-z0-9]*")

_CONTRACT: Final = """\
// What a record of type @MESSAGE@ holds. The fields are those of an example: put yours in their place.
syntax = "proto3";

package @PACKAGE@;

import "buf/validate/validate.proto";
import "protocontract/v1/contract.proto";

message @MESSAGE@ {
  option (protocontract.v1.contract) = {
    version: "1.0.0"
    owner: "you@example.com"
    topic: "@TOPIC@"
    dead_letter_topic: "@TOPIC@.dead"
  };

  string id = 1 [(buf.validate.field).string.uuid = true];

  // "1,000.00", "CNY 1000" and "1000" all become "1000.00"; "1.234" has two readings and is refused.
  string amount = 2 [(protocontract.v1.field).money = {
    default_currency: "CNY"
    currency_field: "currency"
  }];
  string currency = 3;

  // A moment in UTC. Shanghai's clock is meant where no zone is written.
  string ordered_at = 4 [(protocontract.v1.field).instant = {zone: "Asia/Shanghai"}];

  // Never in logs, errors, metrics or headers.
  string email = 5 [
    (protocontract.v1.field).sensitive = true,
    (buf.validate.field).string.email = true
  ];
}
"""

_CONSUMER: Final = """\
\"\"\"Reads @TOPIC@ and handles what keeps its contract; the rest goes to @TOPIC@.dead with the reason.

In memory, with three records of its own; with KAFKA_BOOTSTRAP_SERVERS set, on that broker until it is stopped
(both topics have to be there). Where you change the contract's fields, change EXAMPLES and handle.
\"\"\"

import os
import sys

from @PACKAGE@.@FILE@_contract import @CONSTANT@
from @PACKAGE@.@FILE@_pb2 import @MESSAGE@
from protocontract.kafka import Guard, GuardError
from protocontract.kafka.memory import MemoryLog

AT = "2026-03-09 08:00"
EXAMPLES = (
    @MESSAGE@(id="7f8c6b1e-52d0-4a44-9c1f-0d6a3f6f2a11", amount="1,000.00", ordered_at=AT, email="a@example.com"),
    @MESSAGE@(id="7f8c6b1e-52d0-4a44-9c1f-0d6a3f6f2a12", amount="1.234", ordered_at=AT, email="b@example.com"),
    @MESSAGE@(id="12", amount="5", ordered_at=AT, email="c@example.com"),
)


def handle(message: @MESSAGE@) -> None:
    print("accepted", message.id, message.amount, message.currency, message.ordered_at)


def in_memory() -> Guard[@MESSAGE@]:
    log = MemoryLog()
    for topic in ("@TOPIC@", "@TOPIC@.dead"):
        log.create_topic(topic)
    for message in EXAMPLES:
        log.append("@TOPIC@", message.SerializeToString())
    return Guard(log.consumer("@TOPIC@"), @CONSTANT@, dead_letters=log.producer, stop_at_end=True)


def on_broker(servers: str) -> Guard[@MESSAGE@]:
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(
        "@TOPIC@",
        group_id="@TOPIC@-reader",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        bootstrap_servers=servers,
    )
    return Guard(consumer, @CONSTANT@, dead_letters={"bootstrap_servers": servers})


def main() -> None:
    servers = os.environ.get("KAFKA_BOOTSTRAP_SERVERS")
    with on_broker(servers) if servers else in_memory() as guard:
        for record in guard:
            handle(record.message)
        print("dead letters by rule:", dict(guard.stats.by_rule))


if __name__ == "__main__":
    try:
        main()
    except GuardError as error:  # a topic is not there, or may not be written
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
"""

_MAKEFILE: Final = """\
# gen/ is the compiler's output: commit it, so that reviewers see what a change of a contract does.
gen: $(shell find contracts -name '*.proto')
\tprotocontract compile contracts --out gen
\t@touch gen

run: gen
\tPYTHONPATH=gen python consumer.py

.PHONY: run
"""

_BUF_GEN: Final = """\
version: v2
plugins:
  - {protoc_builtin: python, protoc_path: [python, -m, grpc_tools.protoc], out: gen, include_imports: true}
  - {protoc_builtin: pyi, protoc_path: [python, -m, grpc_tools.protoc], out: gen, include_imports: true}
  - {local: protoc-gen-contract, out: gen, strategy: all}
"""


def init_command(argv: list[str]) -> int:
    """Start a folder: a first contract, what compiles it, and a consumer that runs"""
    options = _parser().parse_args(argv)
    folder: Path = options.folder
    files = first_files(options.message)
    there = [name for name in files if (folder / name).exists()]
    if there:
        verb = "is" if len(there) == 1 else "are"
        told = f"{', '.join(there)} {verb} there already; expected a folder without, nothing was written"
        if any(name.endswith(".proto") for name in there):
            told += "; `protocontract compile contracts --out gen` compiles contracts that are there"
        raise UsageError(told)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if options.format == "json":
        print(json.dumps({"written": sorted(files)}))
        return KEPT
    print(f"{plural(len(files), 'file')} written:")
    for name in files:
        print(f"  {folder / name}")
    where = "" if folder == Path() else f"cd {folder} && "
    print(f'next: {where}make run    # needs pip install "protocontract[compiler,kafka]"', file=sys.stderr)
    return KEPT


def first_files(message: str) -> dict[str, str]:
    """The files, by their path in the folder. ``message`` is a full name. Raises UsageError where it is none."""
    if not _MESSAGE.fullmatch(message):
        raise UsageError(f"`{message}` is no full name of a message; expected package and name, such as shop.v1.Order")
    package, _, name = message.rpartition(".")
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    words = {
        "PACKAGE": package,
        "MESSAGE": name,
        "FILE": snake,
        "CONSTANT": snake.upper(),
        "TOPIC": f"{snake.replace('_', '-')}s",
    }

    def filled(text: str) -> str:
        return re.sub(r"@([A-Z]+)@", lambda found: words[found.group(1)], text)

    return {
        f"contracts/{package.replace('.', '/')}/{snake}.proto": filled(_CONTRACT),
        "consumer.py": filled(_CONSUMER),
        "Makefile": _MAKEFILE,
        "buf.gen.yaml": _BUF_GEN,
    }


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="protocontract init",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="DIR", help="default: the current one")
    parser.add_argument(
        "--message",
        default="shop.orders.v1.Order",
        metavar="NAME",
        help="full name of the message; default %(default)s",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how the report is written")
    return parser
