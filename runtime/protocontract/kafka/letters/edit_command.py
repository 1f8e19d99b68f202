"""The command ``protocontract dead-letter edit``: fix the record of one dead letter and send it again."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final, NamedTuple

from protocontract.arguments import add_sources
from protocontract.cli import BROKEN, COULD_NOT_CHECK, KEPT, UsageError
from protocontract.kafka.connection import add_connection, add_state, check_topic, cluster, login
from protocontract.kafka.errors import GuardError
from protocontract.kafka.judge import ENCODINGS, Judge
from protocontract.kafka.letters import editing
from protocontract.kafka.letters.edit import Change, change, find, send, settle
from protocontract.kafka.letters.oldest import replay_group
from protocontract.kafka.letters.reading import DeadLetter, Restored, key_at_source
from protocontract.kafka.letters.replay_log import ReplayLog, default_state, new_plan_id
from protocontract.kafka.letters.review import Reviewer
from protocontract.terminal import tell_error
from protocontract.verify.report import shown
from protocontract.violations import Refusal

_DESCRIPTION: Final = """\
Fix the record of one dead letter and send it again. LETTER is PARTITION:OFFSET of the letter, as `inspect` shows it, or
TOPIC:PARTITION:OFFSET of its record. Without --set, --clear, --file, --value or a key, $EDITOR opens with the record as
JSON, where marks stand for the values of sensitive fields. What the contract does not take is not sent.
"""
_EPILOG: Final = """\
A value that cannot be read is replaced as a whole, by --value (bytes) or --file (JSON). Headers say who changed the
record, when, why and in which fields; the log of replays notes the same, and the letter is resolved.

exit codes: 0 sent (or would be); 1 the contract does not take it, or nothing is changed; 2 could not

example: protocontract dead-letter edit payments.dead 0:17 --set amount=1234.00 --reason "typo, ticket 4711" \\
             --to payments.retry --dry-run
"""
#: Lines of comment at the top of what the editor shows.
_COMMENT: Final = "# "


class _Read(NamedTuple):
    """A letter, and its record as far as it can be read."""

    letter: DeadLetter
    judge: Judge
    record: Restored
    encoding: Any
    message: Any
    #: Why the value cannot be read; None where it can.
    refusal: str | None


class _Nothing(Exception):
    """The user changed nothing, or gave up."""


def add_edit(commands: Any) -> None:
    """Add the command to those of ``dead-letter``."""
    parser = commands.add_parser(
        "edit",
        help="fix one record and send it again",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        usage="protocontract dead-letter edit TOPIC LETTER [--set FIELD=VALUE ...] --to TARGET --reason TEXT [options]",
    )
    parser.add_argument("topic", metavar="TOPIC", help="the dead-letter topic")
    parser.add_argument("letter", metavar="LETTER", help="which letter, or the newest of which record")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help="amount=1.00, lines[0].id=a")
    parser.add_argument("--clear", action="append", default=[], metavar="FIELD", help="take a field away")
    parser.add_argument("--file", metavar="FILE", help="the record as JSON, as --export writes it; - is standard input")
    parser.add_argument("--value", metavar="FILE", help="the value as bytes; - is standard input")
    key = parser.add_mutually_exclusive_group()
    key.add_argument("--key", metavar="TEXT", help="another key; a hashed one is looked up in the record's topic")
    key.add_argument("--key-file", metavar="FILE", help="another key, as bytes")
    key.add_argument("--no-key", action="store_true", help="send it without a key")
    parser.add_argument("--export", action="store_true", help="write the record as JSON to standard output, and end")
    parser.add_argument("--show-sensitive", action="store_true", help="show and edit sensitive values as well")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--to", metavar="TARGET", help="the topic to which it is sent")
    where.add_argument("--to-source", action="store_true", help="send it to the topic that it came from")
    parser.add_argument("--target-group", metavar="NAME", help="the consumer group it is for; see replay --help")
    parser.add_argument("--group", metavar="NAME", help="the group in which it failed, where there are several")
    parser.add_argument("--reason", metavar="TEXT", help="why it is changed; without any value of the record")
    parser.add_argument("--by", metavar="NAME", help="who changes it; default your login")
    parser.add_argument("--dry-run", action="store_true", help="show and judge the change; nothing is sent or noted")
    parser.add_argument("--again", action="store_true", help="also if it was replayed or edited before")
    add_state(parser)
    add_sources(parser)
    parser.add_argument("--encoding", choices=ENCODINGS, default="headers", help="how the record is written")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how the report is written")
    add_connection(parser)
    parser.set_defaults(run=edit_command)


def edit_command(options: argparse.Namespace) -> int:
    """Fix one record and send it again."""
    _check(options)
    history = ReplayLog(options.state or default_state(), options.topic)
    there = cluster(options)
    try:
        with there.reader() as consumer:
            found = _read(options, consumer)
            if options.export:
                if found.refusal is not None:
                    print(f"{found.refusal}; this is a record without any field", file=sys.stderr)
                sys.stdout.write(_as_text(found, options.show_sensitive)[0])
                return KEPT
            if not options.dry_run:
                _check_unresolved(options, history, found.letter)
            key = _key(options, found, consumer)
        wanted = _changed(options, found, key)
        if options.dry_run or not wanted.accepted or not wanted.touched:
            return _report(options, wanted, None)
        with history.locked():
            # Again: while the user thought about it, somebody else may have been quicker.
            _check_unresolved(options, history, found.letter)
            sent = send(
                wanted,
                there.producers(),
                history,
                f"edit-{new_plan_id()}",
                target=options.to,
                target_group=options.target_group,
                by=options.by or login(),
                reason=options.reason,
            )
            with there.reader(replay_group(options.topic)) as consumer:
                settle(consumer, options.topic, found.letter.raw.partition, history.done())
        return _report(options, wanted, sent)
    except _Nothing as nothing:
        print(str(nothing), file=sys.stderr)
        return BROKEN
    except GuardError as error:
        tell_error(error)
        return COULD_NOT_CHECK


def _check(options: argparse.Namespace) -> None:
    check_topic(options.topic)
    if options.to is not None:
        check_topic(options.to)
    if options.to == options.topic:
        raise UsageError("a letter cannot be sent to its own topic; name another with --to")
    forms = [name for name in ("set", "clear", "file", "value") if getattr(options, name)]
    if len(forms) > 1 and forms != ["set", "clear"]:
        raise UsageError(f"--{forms[0]} and --{forms[-1]} both say what becomes of the value; give one")
    if options.export and (forms or options.dry_run):
        raise UsageError("--export only writes the record; leave the other options out")
    if options.export or options.dry_run:
        return
    if options.to is None and not options.to_source:
        raise UsageError("say where to: --to TOPIC, or --to-source; --dry-run only shows the change")
    if not options.reason or not options.reason.strip():
        raise UsageError("say why in --reason: it stays with the record, so it must not quote a value")


def _check_unresolved(options: argparse.Namespace, history: ReplayLog, letter: DeadLetter) -> None:
    if letter.failure in history.done() and not options.again:
        raise UsageError(f"{letter.origin} was replayed or edited after this failure; add --again to send it once more")


def _read(options: argparse.Namespace, consumer: Any) -> _Read:
    letter = find(consumer, options.topic, options.letter, options.group)
    if options.to == letter.origin.topic:
        raise UsageError(
            f"{options.to} is where the record came from, and other groups may read it too; type --to-source if that "
            "is meant"
        )
    reviewer = Reviewer(proto_path=options.proto_path, descriptors=options.descriptors, encoding=options.encoding)
    judge = reviewer.judge_of(letter.contract)
    if judge is None:
        raise UsageError(f"no contract to judge the record by: {reviewer.missing[letter.contract]}")
    record = letter.restored()
    encoding = judge.encoding_of(record)
    message: Any = None
    refusal: str | None
    if letter.unread:
        refusal = "nothing of the record is in its letter"
    elif letter.truncated:
        refusal = "the letter has only the beginning of the value"
    else:
        read = editing.decode(judge.contract_of(record.topic), record.value, encoding)
        if isinstance(read, Refusal):
            refusal = f"the value cannot be read: {read.message} ({read.rule_id})"
        else:
            message, refusal = read, None
    return _Read(letter, judge, record, encoding, message, refusal)


def _key(options: argparse.Namespace, found: _Read, consumer: Any) -> bytes | None:
    if options.key is not None:
        return bytes(options.key.encode())
    if options.key_file is not None:
        return Path(options.key_file).read_bytes()
    if options.no_key:
        return None
    if not found.letter.key_form:
        return found.record.key
    known = key_at_source(consumer, found.letter)
    if known is None:
        raise UsageError(
            f"the letter's key is {found.letter.key_form}, and {found.letter.origin} is no more; "
            "give --key, --key-file or --no-key"
        )
    return known[0]


# ----------------------------------------------------------------------------------------------------------------------
# What becomes of the value


def _changed(options: argparse.Namespace, found: _Read, key: bytes | None) -> Change:
    if options.value is not None:
        value = _bytes(options.value)
        contract = found.judge.contract_of(found.record.topic)
        read = editing.decode(contract, value, found.encoding)
        return change(found.letter, found.judge, found.message, None if isinstance(read, Refusal) else read, value, key)
    if options.file is not None:
        text, hidden = _bytes(options.file).decode("utf-8", "replace"), _as_text(found, options.show_sensitive)[1]
        return _of_text(found, text, hidden, key)
    if options.set or options.clear:
        return _of_fields(options, found, key)
    if options.key is not None or options.key_file is not None or options.no_key:
        return change(found.letter, found.judge, found.message, found.message, found.record.value, key)
    return _in_editor(options, found, key)


def _of_fields(options: argparse.Namespace, found: _Read, key: bytes | None) -> Change:
    if found.message is None:
        raise UsageError(f"{found.refusal}; give the whole record: --value or --file")
    after = type(found.message)()
    after.CopyFrom(found.message)
    for path in options.clear:
        editing.clear_field(after, path)
    for each in options.set:
        path, equals, text = each.partition("=")
        if not equals:
            raise UsageError(f"--set {path}: expected FIELD=VALUE")
        editing.set_field(after, path, text)
    return _of_message(found, after, key)


def _of_text(found: _Read, text: str, hidden: list[str], key: bytes | None) -> Change:
    after = editing.from_text(text, found.judge.contract_of(found.record.topic), hidden)
    if found.message is not None:
        after = editing.keep_unknown(found.message, after)
    return _of_message(found, after, key)


def _of_message(found: _Read, after: Any, key: bytes | None) -> Change:
    value = found.record.value
    if found.message is None or found.message != after:
        value = editing.encode(after, found.encoding, None if found.refusal else value)
    return change(found.letter, found.judge, found.message, after, value, key)


def _as_text(found: _Read, show_sensitive: bool) -> tuple[str, list[str]]:
    contract = found.judge.contract_of(found.record.topic)
    message = contract.message_type() if found.message is None else found.message
    return editing.to_text(message, contract, show_sensitive=show_sensitive)


def _in_editor(options: argparse.Namespace, found: _Read, key: bytes | None) -> Change:
    """Let the user change the text until the contract takes it, or nothing more is changed."""
    text, hidden = _as_text(found, options.show_sensitive)
    head = [f"{found.letter.origin}   {found.letter.contract} {found.letter.version}   attempt {found.letter.attempt}"]
    head += [f"{each.rule_id}   {each.field_path or 'message'}" for each in found.letter.findings]
    if found.refusal is not None:
        head.append(f"{found.refusal}; write the whole record")
    head.append("Leave it as it is to send nothing. (sensitive value N) stands for a value that is not shown.")
    while True:
        edited = _edit([*head, ""], text)
        if not edited.strip() or edited == text:
            raise _Nothing("nothing is changed, and nothing is sent")
        text = edited
        try:
            wanted = _of_text(found, text, hidden, key)
        except UsageError as error:
            problems = [str(error)]
        else:
            if wanted.accepted:
                return wanted
            problems = [str(violation) for violation in wanted.violations]
        for problem in problems:
            print(problem, file=sys.stderr)
        if not _asked("edit again?"):
            raise _Nothing("nothing is sent")
        head = problems


def _edit(head: list[str], text: str) -> str:
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    # A folder that only this user can look into; the file may hold what the contract calls sensitive.
    with tempfile.TemporaryDirectory(prefix="protocontract-") as folder:
        path = Path(folder) / "record.json"
        comment = "".join(f"{_COMMENT}{line}".rstrip() + "\n" for line in head)
        path.write_text(comment + text, encoding="utf-8")
        try:
            done = subprocess.run([*shlex.split(command), str(path)], check=False)
        except OSError as error:
            reason = (error.strerror or "").lower()
            raise UsageError(f"no editor: {command}: {reason}; set $EDITOR, or use --set or --file") from None
        if done.returncode != 0:
            raise _Nothing(f"the editor ended in {done.returncode}; nothing is sent")
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(_COMMENT.strip()))


def _asked(question: str) -> bool:
    if not sys.stdin.isatty():
        return False
    print(f"{question} [Y/n] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("", "y", "yes")


def _bytes(name: str) -> bytes:
    return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()


# ----------------------------------------------------------------------------------------------------------------------
# What is told


def _report(options: argparse.Namespace, wanted: Change, sent: str | None) -> int:
    if options.format == "json":
        print(json.dumps(_as_dict(options, wanted, sent), ensure_ascii=False))
    else:
        sys.stdout.write(text_report(options.topic, wanted, sent, dry_run=options.dry_run))
    return KEPT if wanted.accepted and wanted.touched else BROKEN


def text_report(topic: str, wanted: Change, sent: str | None, *, dry_run: bool) -> str:
    """What is changed, and what came of it: one line a fact."""
    letter = wanted.letter
    lines = [f"{topic} {letter.position} · {letter.origin} · {letter.contract} {letter.version}".rstrip()]
    rows = [(each.path, *_sides(each)) for each in wanted.differences]
    before, after = wanted.before.value, wanted.after.value
    if not rows and before != after:
        rows.append(("(value)", _size(before), _size(after)))
    if wanted.before.key != wanted.after.key:
        rows.append(("(key)", letter.key_form or _size(wanted.before.key), _size(wanted.after.key)))
    first = max((len(row[0]) for row in rows), default=0)
    lines += [f"  {path:<{first}}   {left} → {right}" for path, left, right in rows]
    if wanted.violations:
        lines += [f"  ✗ {violation}" for violation in wanted.violations]
        lines.append("not sent: the contract does not take it")
    elif not wanted.touched:
        lines.append("not sent: nothing is changed, and the contract takes it as it is; replay it")
    elif sent is not None:
        lines.append(f"sent to {sent}")
    elif dry_run:
        lines.append("would be sent: the contract takes it")
    return "\n".join(lines) + "\n"


def _as_dict(options: argparse.Namespace, wanted: Change, sent: str | None) -> dict[str, Any]:
    letter = wanted.letter
    return {
        "topic": options.topic,
        "letter": letter.position,
        "record": str(letter.origin),
        "contract": letter.contract,
        "dry_run": options.dry_run,
        "accepted": wanted.accepted,
        "fields": wanted.fields,
        "changes": [
            {
                "field_path": each.path,
                "before": None if each.sensitive or each.before is None else shown(each.before),
                "after": None if each.sensitive or each.after is None else shown(each.after),
                "redacted": each.sensitive,
            }
            for each in wanted.differences
        ],
        "violations": [
            {"rule_id": each.rule_id, "code": f"{each.code:#010x}", "field_path": each.redacted_path}
            for each in wanted.violations
        ],
        "sent": sent,
    }


def _sides(each: editing.Difference) -> tuple[str, str]:
    if each.sensitive:
        return "(sensitive)", "(sensitive)"
    left, right = ("nothing" if side is None else shown(side) for side in (each.before, each.after))
    return left, right


def _size(value: bytes | None) -> str:
    return "nothing" if value is None else f"{len(value):,} bytes"
