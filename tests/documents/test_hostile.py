"""Texts of a contract that would be something else in HTML, in a script, or in Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from protocontract_compiler.emit.documents import markdown
from tests.documents.support import pages, read

#: Ends whatever it can stand in, and begins something of its own.
EVIL = "</code></td></script><script>alert(1)</script><img src=x onerror=alert(1)> | `a` ``b`` \\ &lt; [x](y) *b* <!--"

SOURCE = """
syntax = "proto3";
package evil;
import "buf/validate/validate.proto";
import "protocontract/v1/contract.proto";
// %(evil)s
message Evil {
  option (protocontract.v1.contract) = {version: "1.0.0-a" owner: %(quoted)s};
  option (buf.validate.message).cel = {
    id: "evil.rule" expression: "this.a != this.b" message: %(quoted)s
  };
  // %(evil)s
  string a = 1 [(buf.validate.field).string = {in: [%(quoted)s, "x|y", "`"]}];
  string b = 2 [(buf.validate.field).string.const = %(quoted)s];
  string c = 3 [(protocontract.v1.field).label = {aliases: {key: %(quoted)s value: {alias: ["x"]}}}];
  Odd odd = 4;
}
enum Odd {
  ODD_NONE = 0 [(protocontract.v1.value) = {code: %(quoted)s aliases: ["|", "<b>"]}];
}
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The pages of a contract whose every text is hostile."""
    folder = tmp_path_factory.mktemp("evil")
    quoted = json.dumps(EVIL)
    (folder / "evil.proto").write_text(SOURCE % {"evil": EVIL, "quoted": quoted})
    (folder / "history").mkdir()
    (folder / "history" / "evil.Evil.toml").write_text(
        f'[[version]]\nversion = "1.0.0"\ndate = {quoted}\n[[version.change]]\n'
        f'path = {quoted}\ndirection = "added"\ntext = {quoted}\n'
    )
    (folder / "modules.toml").write_text(
        f'[[module]]\nname = {quoted}\nowner = {quoted}\nlanguages = [{quoted}]\ncontracts = ["evil"]\n'
    )
    return pages(folder)


def test_nothing_runs_and_nothing_is_fetched(site: Mapping[str, str]) -> None:
    for name, text in site.items():
        if not name.endswith(".html"):
            continue
        page = read(text)
        assert "img" not in page.elements
        assert page.elements.count("script") == (1 if name.startswith("index") else 0)
        assert page.handlers == []
        assert page.resources == []
        if not name.startswith("index"):
            assert page.text.count("<img src=x onerror=alert(1)>") >= 8
            # Not cut short anywhere.
            assert "<!--" in page.text


def test_the_data_of_the_search_is_data(site: Mapping[str, str]) -> None:
    script = site["index.html"].partition("<script>")[2].partition("</script>")[0]
    entries = re.search(r"const entries = (.*?);\nconst field", script, re.DOTALL)
    assert entries is not None
    rows = json.loads(entries[1])
    assert all(len(row) == 5 for row in rows)
    assert any(EVIL[:40] in text for row in rows for text in row)
    assert script.count("<") == script.count("<=") + script.count(" < ")


@pytest.mark.parametrize("ending", markdown.ENDINGS.values())
def test_tables_of_markdown_keep_their_cells(site: Mapping[str, str], ending: str) -> None:
    text = site[f"evil.Evil{ending}"]
    tables = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    assert len(tables) >= 5
    for table in tables:
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(counts) == 1, table
    # Outside of code nothing is left that begins HTML; the anchors are ours.
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    assert set(re.findall(r"(?<!\\)<[^>\n]*>", outside)) <= set(re.findall(r'<a id="[^"<>]*">|</a>', outside))


@pytest.mark.parametrize(
    ("text", "code"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), ("a``", "``` a`` ```"), ("a|b", "`a\\|b`"), (" ", "`   `")],
)
def test_code_of_markdown(text: str, code: str) -> None:
    assert markdown.code(text, in_cell=True) == code


@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "a\x02b\x03c", "`odd"])
def test_texts_stay_on_their_line(tmp_path: Path, text: str) -> None:
    quoted = json.dumps(text)
    (tmp_path / "line.proto").write_text(
        'syntax = "proto3"; package line; import "protocontract/v1/contract.proto";\n'
        'import "buf/validate/validate.proto";\n'
        f"message Line {{ option (protocontract.v1.contract).owner = {quoted};\n"
        f"  option (buf.validate.message).cel = {{"
        f'id: "line.rule" expression: "this.a != \\"x\\"" message: {quoted}}};\n'
        f"  string a = 1 [(buf.validate.field).string.prefix = {quoted}]; }}"
    )
    found = pages(tmp_path)
    assert all("\x02" not in page and "\x03" not in page for page in found.values())
    for line in found["line.Line.md"].splitlines():
        assert line.startswith(("#", "|", "-", "<a", "[", "`", " ", "{", "}")) or line[:1].isalpha() or not line
    assert read(found["line.Line.html"]).elements.count("table") >= 2
