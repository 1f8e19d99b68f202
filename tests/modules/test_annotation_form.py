"""The annotation form in a real browser: it says of a text what Python says, and what it saves keeps the contract."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import pytest

from acme.text.v1.text_contract import TEXT_SAMPLE
from acme.text.v1.text_pb2 import NamedEntity, TextSample

Step = dict[str, Any]


class _Page(SimpleHTTPRequestHandler):
    """Serves the module's folder, and keeps what is posted to it."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (its name there)
        """Says nothing."""

    def do_POST(self) -> None:
        record = self.rfile.read(int(self.headers["content-length"]))
        cast("Server", self.server).records.append(record)
        self.send_response(204)
        self.end_headers()


class Server(ThreadingHTTPServer):
    """A server of one page, with the records that it was sent."""

    records: list[bytes]


@pytest.fixture(scope="module")
def browser() -> str:
    found = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not found:
        pytest.skip("CHROMIUM names no browser (.ci/chromium installs one)")
    return found


@pytest.fixture(scope="module")
def server(browser: str, web_module: Path) -> Iterator[Server]:
    served = Server(("127.0.0.1", 0), partial(_Page, directory=str(web_module)))
    served.records = []
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    try:
        yield served
    finally:
        served.shutdown()
        thread.join()
        served.server_close()


@pytest.fixture(scope="module")
def steps(browser: str, server: Server, web_module: Path) -> dict[str, Step]:
    """What the page showed after each step of form.mjs. SCREENSHOTS names a folder for pictures of it."""
    # Where the packages are: a module of JavaScript finds them from its own place.
    shutil.copy(Path(__file__).with_name("form.mjs"), web_module)
    command = [
        "node",
        "form.mjs",
        f"http://127.0.0.1:{server.server_port}/",
        browser,
        os.environ.get("SCREENSHOTS", ""),
    ]
    done = subprocess.run(
        command, cwd=web_module, check=False, capture_output=True, text=True, encoding="utf-8", timeout=120
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    # The server that is gone is told by the browser, too.
    assert [line for line in answer["said"] if "ERR_FAILED" not in line] == []
    return cast("dict[str, Step]", answer["steps"])


def sample(step: Step) -> TextSample:
    """What the page shows as a message."""
    made = TextSample(id="7f3c0d9e-96f5-4a58-8d9b-2b1f5f1f2a3b", raw_text=step["text"])
    made.created_at.FromJsonString("2026-11-30T00:00:00Z")
    for each in step["entities"]:
        made.entities.append(
            NamedEntity(
                text=each["text"], label=each["label"], start_offset=int(each["start"]), end_offset=int(each["end"])
            )
        )
    return made


def shown(step: Step) -> list[tuple[str, str, str, str]]:
    """All problems that the page shows: where, rule, code, message."""
    places = [
        ("", step["problems"]),
        *((f"entities[{at}]", each["problems"]) for at, each in enumerate(step["entities"])),
    ]
    return sorted((place, one["ruleId"], one["code"], one["message"]) for place, found in places for one in found)


def expected(step: Step) -> list[tuple[str, str, str, str]]:
    """What Python says of the same sample."""
    outcome = TEXT_SAMPLE.process(sample(step).SerializeToString())
    return sorted(
        (
            each.field_path.partition(".")[0] if each.field_path.startswith("entities[") else "",
            each.rule_id, f"{each.code:#010x}", each.message,
        )
        for each in outcome.violations
    )  # fmt: skip


@pytest.mark.parametrize(
    ("step", "rules"),
    [
        ("marked", []),
        ("order", ["spans.order"]),
        ("empty", ["spans.empty", "string.min_len"]),
        ("edge", ["spans.edge"]),
        ("lost", ["spans.lost"]),
        ("overlap", ["spans.overlap"]),
        ("typed", []),
        ("refused", ["text.replacement"]),
        ("offline", []),
    ],
)
def test_the_page_says_what_python_says(steps: dict[str, Step], step: str, rules: list[str]) -> None:
    assert [rule for _, rule, _, _ in shown(steps[step])] == rules
    assert shown(steps[step]) == expected(steps[step])
    assert steps[step]["saves"] is (not rules)


def test_marks_count_code_points(steps: dict[str, Step]) -> None:
    """In front of them stand an emoji of four code points (seven UTF-16 units), and letters with combining marks."""
    step = steps["marked"]
    places = [(each["text"], int(each["start"]), int(each["end"])) for each in step["entities"]]
    assert places == [
        ("Ada Lovelace", 5, 17),
        ("A\u030angstro\u0308m", 22, 32),
        ("University of Oxford", 40, 60),
        ("Oxford", 54, 60),
    ]
    assert all(step["text"][start:end] == text for text, start, end in places)
    assert step["marked"] == ["Ada Lovelace", "A\u030angstro\u0308m", "University of ", "Oxford"]


def test_marks_stay_with_their_words(steps: dict[str, Step]) -> None:
    before, after = steps["marked"]["entities"], steps["typed"]["entities"]
    assert steps["typed"]["text"] == "\U0001f600\U0001f600 " + steps["marked"]["text"]
    assert [each["text"] for each in after] == [each["text"] for each in before[:3]]
    assert [int(each["start"]) for each in after] == [int(each["start"]) + 3 for each in before[:3]]


def test_what_is_saved_keeps_the_contract(steps: dict[str, Step], server: Server) -> None:
    """The text is normalised as Python does it, and marks have moved with it: combined letters are one code point."""
    assert steps["saved"]["text"] == ""
    (record,) = server.records
    saved = TEXT_SAMPLE.parse(record)
    normalised = TEXT_SAMPLE.process(sample(steps["typed"]).SerializeToString()).message
    assert normalised is not None
    assert saved.raw_text == normalised.raw_text
    assert saved.entities == normalised.entities
    assert [each.text for each in saved.entities][1] == "\xc5ngstr\xf6m"
    assert all(saved.raw_text[each.start_offset : each.end_offset] == each.text for each in saved.entities)


def test_nothing_is_lost_where_the_server_is_gone(steps: dict[str, Step]) -> None:
    assert steps["offline"]["text"] == "Ada"
    assert steps["offline"]["status"].startswith("Not saved")


def test_the_page_fits_a_narrow_screen(steps: dict[str, Step]) -> None:
    assert steps["narrow"] is True
