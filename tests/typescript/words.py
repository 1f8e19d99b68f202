"""Contracts with every word of the vocabulary, and messages for them: texts in which the words find something to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.message import Message
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from protocontract import Contract, testing
from protocontract_compiler import ir, pipeline, protoc
from protocontract_compiler.descriptors import load
from protocontract_compiler.diagnostics import Diagnostics
from protocontract_compiler.dynamic import contracts_of
from tests.fuzz.messages import random_message
from tests.support.messages import is_map
from tests.typescript.support import Case, exact_messages, write

ROOT: Final = Path(__file__).parents[2]
_COMPILER: Final = ROOT / "tests" / "compiler"

Source = tuple[Path, tuple[str, ...]]
#: Folders of imports with the files that are compiled from them.
SOURCES: Final[tuple[Source, ...]] = (
    (ROOT / "contracts", tuple(
        f"acme/{name}.proto" for name in (
            "finance/v1/transaction", "inference/v1/content_type", "inference/v1/model_service",
            "pipeline/v1/pipeline", "text/v1/text",
        )
    )),
    (_COMPILER / "odd", ("exact.proto", "keys.proto", "private.proto", "words.proto")),
    (_COMPILER / "protos", ("good/every_word.proto", "words/class.proto", "words/other-file.proto")),
    (_COMPILER / "protos", ("custom.proto", "modern.proto", "old.proto")),
)  # fmt: skip

#: What texts are made of: marks that combine, what normalises to more and to less, pairs of surrogates, controls.
_PIECES: Final = (
    "Zoe", "e\u0301", "\u00e9", "\ufb01", "\uff21\uff11", "\u1100\u1161\u11a8", "\uac01", "\U0001f469\u200d\U0001f4bb",
    "\U0001f1e9\U0001f1ea", " ", "  ", "\t", "\u3000", "\u00a0", "\u2028", "\n", "\r\n", "\x00", "\x07", "\ufffd",
    "\ufeff", "\ufdd0", "\u200b", "\u0130", "\u03a3\u03c2", "\ue000", "\u202e", "\U000e0041",
    "\u0344", "\u0f73", "\U0001d15e", "-", ".",
)  # fmt: skip
_WHOLE: Final = (
    "", "kitty", "CAT", "cat", "KITTY ", "key", "1", "0", "-100", "2", "+7", "1e3", " 42 ", "true", "yes", "NaN",
    "2024-02-29T23:59:60Z", "2024-03-10 02:30", "2020-01-01T00:00:00+08:00", "1969-12-31", "9999-12-31T23:59:59Z",
    "USD", "EUR", "buck", "12,50 EUR", "3 kg", "250 g", "a@b.example", "192.0.2.1", "id-1",
    "123e4567-e89b-12d3-a456-426614174000",
)  # fmt: skip


def some_text(random: Random) -> str:
    """A text."""
    if random.random() < 0.3:
        return random.choice(_WHOLE)
    return "".join(random.choices(_PIECES, k=random.randint(1, 7)))


def enlivened(random: Random, message: Message) -> None:
    """Puts such texts into a message, and spans that mostly lie within its longest one."""
    part: Any = message
    for field, value in message.ListFields():
        if isinstance(value, str):
            if random.random() < 0.7:
                setattr(part, field.name, some_text(random))
        elif is_map(field):
            for key in sorted(value):
                if isinstance(value[key], Message):
                    enlivened(random, value[key])
                elif isinstance(value[key], str) and random.random() < 0.7:
                    value[key] = some_text(random)
        elif isinstance(value, Message):
            enlivened(random, value)
        elif field.type == field.TYPE_STRING:
            value[:] = [some_text(random) for _ in value]
        elif field.type == field.TYPE_MESSAGE:
            for item in value:
                enlivened(random, item)
    texts = [value for _, value in message.ListFields() if isinstance(value, str)]
    for field, value in message.ListFields():
        if texts and field.type == field.TYPE_MESSAGE and not is_map(field) and not isinstance(value, Message):
            _spread(random, value, max(texts, key=len))


def _spread(random: Random, items: Any, text: str) -> None:
    """Makes spans of items that are spans: most of the time apart and with the text that is there."""
    cuts = sorted(random.choices(range(len(text) + 1), k=2 * len(items)))
    for number, item in enumerate(items):
        names = [field.name for field in item.DESCRIPTOR.fields]
        for start, end, surface in (("start", "end", "surface"), ("start_offset", "end_offset", "text")):
            if start not in names or end not in names or random.random() < 0.1:
                continue
            setattr(item, start, cuts[2 * number])
            setattr(item, end, cuts[2 * number + 1])
            if surface in names and random.random() < 0.9:
                setattr(item, surface, text[cuts[2 * number] : cuts[2 * number + 1]])


Compiled = tuple[FileDescriptorSet, ir.Schema, list[Contract[Any]], list[str]]


def compiled(folder: Path, sources: Sequence[Source] = SOURCES) -> Iterator[Compiled]:
    """The contracts of sources that TypeScript has exactly, written below ``folder``, and why others are not."""
    for root, names in sources:
        found_sources = protoc.find_sources([root / name for name in names], [root])
        diagnostics = Diagnostics()
        files = protoc.describe(found_sources, diagnostics)
        loaded = load(files, found_sources.names, diagnostics, source_roots=tuple(found_sources.roots))
        schema = pipeline.compile_schema(loaded, diagnostics, pipeline.CompileOptions())
        exact, reasons = exact_messages(schema)
        write(schema, exact, folder)
        found = contracts_of(loaded, schema, pipeline.CompileOptions())
        yield files, schema, [found[name] for name in exact], reasons


def at_random(contract: Contract[Any], count: int) -> list[Case]:
    """Messages of a contract: of random values, made interesting; some for each of its contexts."""
    random = Random(contract.full_name)
    contexts = [None, *sorted(contract.contexts)]
    cases: list[Case] = []
    for number in range(count):
        message = random_message(random, contract.message_type)
        enlivened(random, message)
        # What misses a required field of proto2 has no bytes.
        if message.IsInitialized():
            cases.append(Case(contract, message, contexts[number % len(contexts)]))
    return cases


def by_strategies(contract: Contract[Any], count: int) -> list[Case]:
    """Messages of a contract as protocontract.testing draws them: valid, at a bound, broken in one rule."""
    cases: list[Case] = []
    drawn = st.one_of(testing.valid(contract), testing.boundary(contract), testing.invalid(contract))

    # Not derandomised: that follows the function's text, and every run shall draw the same.
    @seed(1)
    @settings(
        max_examples=count, derandomize=False, deadline=None, database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )  # fmt: skip
    @given(drawn)
    def collect(message: Message) -> None:
        cases.append(Case(contract, message))

    collect()
    return cases
