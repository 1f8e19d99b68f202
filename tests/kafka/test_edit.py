"""``protocontract dead-letter edit``: one record is fixed by hand, judged, sent, and it is known who did it."""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from protocontract import cli
from protocontract.kafka import DeadLetterForm, Guard
from protocontract.kafka.client import TopicPartition
from protocontract.kafka.letters import edit_command
from protocontract.kafka.letters.command import text_report
from protocontract.kafka.letters.dead_letter import Letter, truncated
from protocontract.kafka.letters.oldest import replay_group
from protocontract.kafka.letters.reading import DeadLetter
from protocontract.kafka.letters.review import Judgement
from protocontract.kafka.memory import MemoryLog
from tests.kafka.conftest import Broker
from tests.kafka.support import DEAD, GARBAGE, TOPIC, dead_headers, drain, new_guard, new_log
from tests.kafka.test_replay import RETRY, MemoryCluster, replay
from tests.kafka.transactions import EIGHT, PROTOS, make, transaction

Run = Callable[..., int]

ACCOUNT = "6222021234567890123"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """The command over an in-memory log."""

    contract = transaction()

    def command(log: MemoryLog, *arguments: str, to: str | None = RETRY, reason: str | None = "ticket 4711") -> int:
        def there(_: argparse.Namespace) -> Any:
            return MemoryCluster(log)

        monkeypatch.setattr(edit_command, "cluster", there)
        # Compiling it each time takes a second.
        monkeypatch.setattr("protocontract.loading.resolve", lambda *_args, **_more: contract)
        more = ["--state", str(tmp_path), "--proto-path", str(PROTOS)]
        more += ["--to", to] if to is not None else []
        more += ["--reason", reason, "--by", "ada"] if reason is not None else []
        return cli.main(["dead-letter", "edit", DEAD, *arguments, *more])

    return command


def fields(**changed: Any) -> Any:
    """A transaction that keeps its contract, but for what is given."""
    given = {
        "id": "6fa459ea-ee8a-4ca4-894e-db77e160355e",
        "amount": "12.00",
        "booked_at": "2026-03-09 08:00:25",
        "account": ACCOUNT,
        "kind": 1,
        **changed,
    }
    return transaction().message_type(**given)


def log_with(*values: bytes, **options: Any) -> MemoryLog:
    """A log whose records a guard has rejected."""
    log = new_log()
    log.create_topic(RETRY)
    for value in values:
        log.append(TOPIC, value, key=str(fields().id).encode(), headers=[("trace", b"t"), ("null", None)])
    drain(new_guard(log, contract=transaction(), **options))
    return log


def retried(log: MemoryLog) -> list[Any]:
    """What a guard of the target topic delivers."""
    return drain(new_guard(log, log.consumer(RETRY), contract=transaction()))


AMBIGUOUS = fields(amount="1.234").SerializeToString()


def test_a_field_is_set_and_the_record_goes_again(run: Run, capsys: Any, tmp_path: Path) -> None:
    log = log_with(AMBIGUOUS)
    assert run(log, "0:0", "--set", "amount=1234.00") == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{DEAD} 0:0 · {TOPIC}:0:0 · acme.finance.v1.Transaction 1.4.0",
        '  amount   "1.234" → "1234.00"',
        f"sent to {RETRY}:0:0",
    ]
    (sent,) = log.records(RETRY)
    assert sent.value == fields(amount="1234.00").SerializeToString()
    assert sent.key == str(fields().id).encode()
    headers = dead_headers(sent)
    assert headers["protocontract.edited_by"] == b"ada"
    assert headers["protocontract.edited_fields"] == b"amount"
    assert headers["protocontract.edit_reason"] == b"ticket 4711"
    assert headers["protocontract.edited_at"].endswith(b"Z")
    assert (headers["protocontract.offset"], headers["protocontract.attempt"]) == (b"0", b"1")
    assert headers["protocontract.replays"] == b"1"
    assert DeadLetter(sent).restored().headers == [("trace", b"t"), ("null", None)]
    (record,) = retried(log)
    assert (str(record.id), record.message.amount) == (f"{TOPIC}:0:0", "1234.00")
    # Resolved: a replay passes it over, and so does another edit.
    assert replay(log, tmp_path, plan="p").done == 1
    assert run(log, "0:0", "--set", "amount=9") == 2
    assert "was replayed or edited after this failure" in capsys.readouterr().err
    assert len(log.records(RETRY)) == 1
    assert run(log, f"{TOPIC}:0:0", "--set", "amount=9", "--again") == 0
    assert len(log.records(RETRY)) == 2


def test_an_edit_settles_the_oldest_letter(run: Run) -> None:
    log = log_with(AMBIGUOUS, AMBIGUOUS, AMBIGUOUS)
    there = TopicPartition(DEAD, 0)
    assert run(log, "0:1", "--set", "amount=1.00") == 0
    assert log.committed(replay_group(DEAD), there) is None
    assert run(log, "0:0", "--set", "amount=1.00") == 0
    # Over the one that was edited before, too.
    assert log.committed(replay_group(DEAD), there) == 2
    assert run(log, "0:2", "--set", "amount=1.00") == 0
    assert log.committed(replay_group(DEAD), there) == 3


def test_the_log_says_who_when_why_and_where_and_no_value(run: Run, tmp_path: Path) -> None:
    log = log_with(AMBIGUOUS)
    assert run(log, "0:0", "--set", "amount=1234.00") == 0
    text = (tmp_path / DEAD / "edits.jsonl").read_text()
    sending, edited = map(json.loads, text.splitlines())
    assert [sending["outcome"], edited["outcome"]] == ["sending", "edited"]
    assert (edited["by"], edited["reason"], edited["fields"]) == ("ada", "ticket 4711", ["amount"])
    assert (edited["record"], edited["letter"], edited["sent"]) == (f"{TOPIC}:0:0", "0:0", f"{RETRY}:0:0")
    assert edited["sha256_before"] == hashlib.sha256(AMBIGUOUS).hexdigest()
    assert edited["sha256_after"] == hashlib.sha256(fields(amount="1234.00").SerializeToString()).hexdigest()
    assert "1.234" not in text
    assert "1234.00" not in text


def test_what_the_contract_does_not_take_is_not_sent(run: Run, capsys: Any, tmp_path: Path) -> None:
    log = log_with(AMBIGUOUS)
    assert run(log, "0:0", "--set", "amount=12.00", "--set", "account=123") == 1
    out = capsys.readouterr().out
    assert "  account   (sensitive) → (sensitive)" in out
    assert "  ✗ acme.finance.v1.Transaction account:" in out
    assert "not sent: the contract does not take it" in out
    assert log.records(RETRY) == []
    assert not (tmp_path / DEAD).exists()


def test_a_dry_run_shows_and_sends_nothing(run: Run, capsys: Any, tmp_path: Path) -> None:
    log = log_with(AMBIGUOUS)
    assert run(log, "0:0", "--set", "amount=1234.00", "--dry-run", to=None, reason=None) == 0
    assert "would be sent: the contract takes it" in capsys.readouterr().out
    assert log.records(RETRY) == []
    assert not (tmp_path / DEAD).exists()


def test_nothing_is_changed(run: Run, capsys: Any) -> None:
    log = log_with(AMBIGUOUS)
    assert run(log, "0:0", "--set", "amount=1.234") == 1
    assert "not sent: the contract does not take it" in capsys.readouterr().out
    assert log.records(RETRY) == []


def test_as_json(run: Run, capsys: Any) -> None:
    log = log_with(AMBIGUOUS)
    arguments = ("0:0", "--set", "amount=1234.00", "--set", f"account={ACCOUNT[::-1]}", "--format", "json")
    assert run(log, *arguments) == 0
    out = capsys.readouterr().out
    report = json.loads(out)
    assert (report["accepted"], report["sent"], report["fields"]) == (True, f"{RETRY}:0:0", ["amount", "account"])
    assert report["changes"] == [
        {"field_path": "amount", "before": '"1.234"', "after": '"1234.00"', "redacted": False},
        {"field_path": "account", "before": None, "after": None, "redacted": True},
    ]
    assert ACCOUNT not in out


def test_a_sensitive_value_is_a_mark_that_stays(run: Run, capsys: Any, tmp_path: Path) -> None:
    log = log_with(AMBIGUOUS)
    assert run(log, "0:0", "--export", to=None, reason=None) == 0
    text = capsys.readouterr().out
    assert ACCOUNT not in text
    assert '"account": "(sensitive value 1)"' in text
    file = tmp_path / "record.json"
    file.write_text(text.replace('"1.234"', '"1234.00"'))
    assert run(log, "0:0", "--file", str(file)) == 0
    (sent,) = log.records(RETRY)
    assert transaction().message_type.FromString(sent.value).account == ACCOUNT
    assert dead_headers(sent)["protocontract.edited_fields"] == b"amount"
    assert run(log, "0:0", "--export", "--show-sensitive", to=None, reason=None) == 0
    assert ACCOUNT in capsys.readouterr().out


def test_a_mark_that_stands_for_nothing_is_refused(run: Run, capsys: Any, tmp_path: Path) -> None:
    log = log_with(AMBIGUOUS)
    file = tmp_path / "record.json"
    file.write_text('{"id": "(sensitive value 7)"}')
    assert run(log, "0:0", "--file", str(file)) == 2
    assert "(sensitive value 7) stands for no value of this record" in capsys.readouterr().err


def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> Path:
    """An editor that changes the text as a program does, and notes what it was shown."""
    script, seen = tmp_path / "editor.py", tmp_path / "seen"
    script.write_text(
        "import pathlib, sys\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "text = path.read_text()\n"
        f"with pathlib.Path({str(seen)!r}).open('a') as file: file.write(text + '----')\n"
        f"{code}\n"
        "path.write_text(text)\n"
    )
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{shlex.quote(sys.executable)} {shlex.quote(str(script))}")
    return seen


def test_in_an_editor(run: Run, capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = log_with(AMBIGUOUS)
    seen = editor(tmp_path, monkeypatch, """text = text.replace('"1.234"', '"1234.00"')""")
    assert run(log, "0:0") == 0
    assert f"sent to {RETRY}:0:0" in capsys.readouterr().out
    shown = seen.read_text()
    assert f"# {TOPIC}:0:0   acme.finance.v1.Transaction 1.4.0   attempt 1" in shown
    assert "# money.ambiguous   amount" in shown
    assert ACCOUNT not in shown


def test_an_editor_that_is_left(run: Run, capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = log_with(AMBIGUOUS)
    editor(tmp_path, monkeypatch, "")
    assert run(log, "0:0") == 1
    assert "nothing is changed, and nothing is sent" in capsys.readouterr().err
    editor(tmp_path, monkeypatch, "sys.exit(3)")
    assert run(log, "0:0") == 1
    assert "the editor ended in 3; nothing is sent" in capsys.readouterr().err
    monkeypatch.setenv("EDITOR", "no-such-editor")
    assert run(log, "0:0") == 2
    assert "set $EDITOR, or use --set or --file" in capsys.readouterr().err
    assert log.records(RETRY) == []


def test_an_editor_is_opened_again(run: Run, capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = log_with(AMBIGUOUS)
    code = (
        "text = text.replace('\"1.234\"', '\"1.2345\" x') if '1.234\"' in text else "
        "text.replace('\"1.2345\" x', '\"1234.00\"')"
    )
    seen = editor(tmp_path, monkeypatch, code)
    monkeypatch.setattr(edit_command, "_asked", lambda _: True)
    assert run(log, "0:0") == 0
    said = capsys.readouterr()
    assert "the text is no Transaction" in said.err
    assert "1.2345" not in said.err
    assert seen.read_text().split("----")[1].startswith("# the text is no Transaction")


def test_bytes_that_cannot_be_read(run: Run, capsys: Any, tmp_path: Path) -> None:
    log = log_with(GARBAGE)
    assert run(log, "0:0", "--set", "amount=1") == 2
    assert "the value cannot be read" in capsys.readouterr().err
    file = tmp_path / "value"
    file.write_bytes(fields().SerializeToString())
    assert run(log, "0:0", "--value", str(file)) == 0
    assert f"  (value)   {len(GARBAGE)} bytes → {file.stat().st_size} bytes" in capsys.readouterr().out
    (sent,) = log.records(RETRY)
    assert sent.value == file.read_bytes()
    assert dead_headers(sent)["protocontract.edited_fields"] == b"(value)"
    assert len(retried(log)) == 1
    text = tmp_path / "record.json"
    text.write_text('{"id": "6fa459ea-ee8a-4ca4-894e-db77e160355e"}')
    assert run(log, "0:0", "--file", str(text), "--again") == 1
    assert run(log, "0:0", "--export", to=None, reason=None) == 0
    assert capsys.readouterr().err.startswith("the value cannot be read")


def test_a_value_that_was_cut(run: Run, capsys: Any, tmp_path: Path) -> None:
    log = log_with(GARBAGE)
    raw = log.records(DEAD)[0]
    letter = truncated(Letter(DEAD, raw.key, raw.value, [(name, value or b"") for name, value in raw.headers]), 3)
    log.delete_topic(DEAD)
    log.create_topic(DEAD)
    log.append(DEAD, letter.value, letter.key, letter.headers)
    assert run(log, "0:0", "--set", "amount=1") == 2
    assert "the letter has only the beginning of the value; give the whole record" in capsys.readouterr().err
    file = tmp_path / "value"
    file.write_bytes(fields().SerializeToString())
    assert run(log, "0:0", "--value", str(file)) == 0
    assert "protocontract.truncated" not in dead_headers(log.records(RETRY)[0])


def test_a_key_that_the_letter_has_not(run: Run, capsys: Any) -> None:
    for form in (DeadLetterForm("hash"), DeadLetterForm("drop")):
        log = log_with(AMBIGUOUS, dead_letter_form=form)
        # Its topic has it still.
        assert run(log, "0:0", "--set", "amount=1234.00", "--again") == 0
        assert log.records(RETRY)[0].key == str(fields().id).encode()
        assert dead_headers(log.records(RETRY)[0])["protocontract.edited_fields"] == b"amount,(key)"
        assert "protocontract.key" not in dead_headers(log.records(RETRY)[0])
        log.delete_topic(TOPIC)
        log.create_topic(TOPIC)
        assert run(log, "0:0", "--set", "amount=1234.00", "--again") == 2
        assert f"{TOPIC}:0:0 is no more; give --key" in capsys.readouterr().err
        assert run(log, "0:0", "--set", "amount=1234.00", "--again", "--key", str(fields().id)) == 0


def test_another_key(run: Run, capsys: Any) -> None:
    made = make(random.Random(1), "key")
    log = new_log()
    log.create_topic(RETRY)
    log.append(TOPIC, made.value, key=made.key)
    drain(new_guard(log, contract=transaction()))
    assert run(log, "0:0", "--key", transaction().message_type.FromString(made.value).id) == 0
    assert "(key)" in capsys.readouterr().out
    assert log.records(RETRY)[0].value == made.value
    assert len(retried(log)) == 1


def test_it_fails_again_and_the_story_stays(run: Run, capsys: Any, tmp_path: Path) -> None:
    log = log_with(AMBIGUOUS)
    assert run(log, "0:0", "--set", "amount=1234.00") == 0
    guard = new_guard(log, log.consumer(RETRY), contract=transaction())
    with guard:
        for record in guard:
            record.reject("no such account")
    again = log.records(DEAD)[1]
    headers = dead_headers(again)
    assert (headers["protocontract.attempt"], headers["protocontract.edited_by"]) == (b"2", b"ada")
    told = DeadLetter(again).as_dict()
    assert (told["edited_by"], told["edited_fields"], told["edit_reason"]) == ("ada", "amount", "ticket 4711")
    written = text_report(DEAD, [(DeadLetter(again), Judgement("rejected", []))])
    assert f"amount edited by ada at {told['edited_at']}: ticket 4711" in written
    # The first letter is superseded; the second one is open.
    assert run(log, "0:0", "--set", "amount=5.00") == 2
    assert "is superseded; the newest of its record is at 0:1" in capsys.readouterr().err
    assert run(log, f"{TOPIC}:0:0", "--set", "amount=5.00", reason="second try") == 0
    headers = dead_headers(log.records(RETRY)[1])
    assert [value for name, value in log.records(RETRY)[1].headers if name == "protocontract.edit_reason"] == [
        b"second try"
    ]
    assert headers["protocontract.replays"] == b"2"


def test_a_replay_of_an_edited_record_keeps_who_edited_it_and_so_does_the_sink(run: Run, tmp_path: Path) -> None:
    from protocontract.kafka.letters.dead_letter import sendable_headers

    log = log_with(AMBIGUOUS)
    assert run(log, "0:0", "--set", "amount=1234.00") == 0
    with new_guard(log, log.consumer(RETRY), contract=transaction()) as guard:
        for record in guard:
            assert dict(sendable_headers(record.headers))["protocontract.edited_by"] == b"ada"
            record.reject("no")
    assert replay(log, tmp_path, plan="p").replayed == 1
    assert dead_headers(log.records(RETRY)[1])["protocontract.edited_by"] == b"ada"


def test_to_the_source_for_the_group_that_rejected(run: Run) -> None:
    log = log_with(AMBIGUOUS)
    assert run(log, "0:0", "--set", "amount=1234.00", "--to-source", to=None) == 0
    assert dead_headers(log.records(TOPIC)[1])["protocontract.target_group"] == b"group"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("0:0", "--set", "amount=1"), "is where the record came from"),
        (("0:9", "--set", "amount=1"), "has no letter at 0:9"),
        (("9:0", "--set", "amount=1"), "has no letter at 9:0"),
        ((f"{TOPIC}:0:9", "--set", "amount=1"), f"has no letter of the record {TOPIC}:0:9"),
        (("zero", "--set", "amount=1"), "`zero` is no letter"),
        (("0:0", "--set", "amount"), "expected FIELD=VALUE"),
        (("0:0", "--set", "amuont=1"), "has no field amuont"),
        (("0:0", "--set", "kind=REFUNDED"), "--set kind:"),
        (("0:0", "--set", "amount=1", "--value", "x"), "--set and --value both say"),
        (("0:0", "--export", "--set", "amount=1"), "--export only writes"),
    ],
)
def test_what_cannot_be(run: Run, capsys: Any, arguments: tuple[str, ...], said: str) -> None:
    log = log_with(AMBIGUOUS)
    assert run(log, *arguments, to=TOPIC if "came from" in said else RETRY) == 2
    assert said in capsys.readouterr().err
    assert log.records(RETRY) == []


def test_where_to_and_why_are_asked_for(run: Run, capsys: Any) -> None:
    log = log_with(AMBIGUOUS)
    assert run(log, "0:0", "--set", "amount=1", to=None) == 2
    assert "say where to" in capsys.readouterr().err
    assert run(log, "0:0", "--set", "amount=1", reason=None) == 2
    assert "say why in --reason" in capsys.readouterr().err


def test_a_target_that_is_not_there_resolves_nothing(run: Run, capsys: Any, tmp_path: Path) -> None:
    log = log_with(AMBIGUOUS)
    assert run(log, "0:0", "--set", "amount=1234.00", to="nowhere") == 2
    assert "topic nowhere cannot be written" in capsys.readouterr().err
    assert run(log, "0:0", "--set", "amount=1234.00") == 0


@pytest.mark.kafka
def test_on_a_real_broker(broker: Broker, group: str, capsys: Any, tmp_path: Path) -> None:
    source, dead, retry = broker.topic("tx"), broker.topic("tx.dead", 2), broker.topic("tx.retry")
    producer = broker.producer()
    for number in range(16):
        made = make(random.Random(number), EIGHT[number % 8])
        producer.send(source, made.value, key=made.key)
    producer.close()
    with Guard(broker.consumer(source, group), transaction(), dead_letter_topic=dead, stop_at_end=True) as guard:
        assert list(guard) == []
    ambiguous = EIGHT.index("ambiguous")
    common = ["--bootstrap-servers", broker.servers, "--proto-path", str(PROTOS), "--state", str(tmp_path)]
    edit = ["dead-letter", "edit", dead, f"{source}:0:{ambiguous}", *common, "--reason", "typo", "--to", retry]
    assert cli.main([*edit, "--set", "amount=1234.00", "--dry-run"]) == 0
    assert broker.read(retry) == []
    assert cli.main([*edit, "--set", "amount=1234.00"]) == 0
    assert f"sent to {retry}:0:0" in capsys.readouterr().out
    value = tmp_path / "value"
    value.write_bytes(fields().SerializeToString())
    assert cli.main([*edit[:3], f"{source}:0:0", *edit[4:], "--value", str(value), "--key", fields().id]) == 0
    consumer = broker.consumer(retry, f"{group}-retry")
    with Guard(consumer, transaction(), dead_letter_topic=dead, stop_at_end=True) as guard:
        delivered = [(str(record.id), record.message.amount) for record in guard if record.message]
    assert delivered == [(f"{source}:0:{ambiguous}", "1234.00"), (f"{source}:0:0", "12.00")]
    # A replay passes over what is edited, and sends the rest.
    capsys.readouterr()
    assert cli.main(["replay", dead, *common[:2], *common[4:], "--to", retry, "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["replayed"], report["already_replayed"]) == (14, 2)
