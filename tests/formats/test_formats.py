"""The formats against protovalidate: specimens, their mutations, and random text over the formats' own alphabets."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from protocontract.formats.email import is_email
from protocontract.formats.hostname import is_host_and_port, is_hostname
from protocontract.formats.ip import is_ip, is_ip_prefix
from protocontract.formats.uri import is_uri, is_uri_ref
from tests.cel.support import Field, reference, schema
from tests.support.timing import within

FORMATS: dict[str, Callable[[str], bool]] = {
    "this.s.isEmail()": is_email,
    "this.s.isHostname()": is_hostname,
    "this.s.isHostAndPort(true)": lambda text: is_host_and_port(text, True),
    "this.s.isHostAndPort(false)": lambda text: is_host_and_port(text, False),
    "this.s.isIp()": is_ip,
    "this.s.isIp(4)": lambda text: is_ip(text, 4),
    "this.s.isIp(6)": lambda text: is_ip(text, 6),
    "this.s.isIpPrefix()": is_ip_prefix,
    "this.s.isIpPrefix(true)": lambda text: is_ip_prefix(text, 0, True),
    "this.s.isIpPrefix(4)": lambda text: is_ip_prefix(text, 4),
    "this.s.isIpPrefix(6)": lambda text: is_ip_prefix(text, 6),
    "this.s.isIpPrefix(4, true)": lambda text: is_ip_prefix(text, 4, True),
    "this.s.isIpPrefix(6, true)": lambda text: is_ip_prefix(text, 6, True),
    "this.s.isUri()": is_uri,
    "this.s.isUriRef()": is_uri_ref,
}
SPECIMENS = [
    "", "a", "foo@example.com", "a.b+c@d-e.f", "foo@a" + "b" * 62, "foo@a" + "b" * 63, "foo@x.", "example.com",
    "example.com.", "a.b.c.d.e", "a" * 63 + ".b", "a" * 64 + ".b", ("a" * 62 + ".") * 4 + "b",
    ("a" * 62 + ".") * 4 + "bc",
    ("a" * 62 + ".") * 4 + "b.", "1.2.3", "a.1", "a.1b", "xn--bcher-kva.example", "127.0.0.1", "255.255.255.255",
    "0.0.0.0", "01.2.3.4", "1.2.3.4.5", "256.1.1.1", "::", "::1", "1::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::",
    "::2:3:4:5:6:7:8", "1::3:4:5:6:7:8", "1:2:3:4:5:6:7", "1::2::3", ":::", "::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4",
    "::1.2.3.4", "1.2.3.4::", "fe80::1%eth0", "fe80::1%", "fe80::1%a%b", "::1%\n", "::%é", "12345::", "::g",
    "10.0.0.0/8",
    "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/", "::/0", "2001:db8::/32", "2001:db8::1/32", "::1/128",
    "::1/129", "::1%a/64", "fe80::1/64%a", "::ffff:1.2.0.0/112", "[::1]:80", "[::1]", "[::1%a]:80", "::1:80", "a.b:80",
    "a.b:0", "a.b:65535", "a.b:65536", "a.b:080", "a.b:", ":80", "1.2.3.4:80", "[1.2.3.4]:80", "[::1]80", "[]:80",
    "[::1]]:80", "http://example.com", "https://a@b.c:8080/d/e;f?g=h&i#j/k?", "ftp://[::1]/x", "ftp://[::1%25eth0]/x",
    "ftp://[::1%eth0]/x", "ftp://[v1.a:b]/x", "ftp://[vx.a]/", "mailto:a@b.c", "urn:isbn:123", "a:", "a://", "a:///b",
    "a://b:", "a://b:8x", "//a/b", "/a/b", "/", "//", "///", "a/b:c", "a:b/c", ":a", "./a:b", "?q", "#f", "a?b?c#d#e",
    "http://a/%zz", "http://a/%41", "http://%41/", "http://%ff/", "http://%c3%a9/", "http://[::1%25%ff]/", "http://a b",
    "http://é", "http://a/<", "http://a/[", "http://a@b@c/", "http://a:b@c", "http://[::1]:8", "http://[::1]x",
    "1http://a", "h+t-t.p://a", "h_t://a", "http://a\\b", "http://a/^", "http://a/`", "http://[::1%25]/", "http://[]/",
    "http://[::1%2525a]/", "http://[1.2.3.4]/", "http://1.2.3.4.5/", "http://a/?%", "http://a/#%f", "x://%", "//%41",
    "%41",
    "\x00", "a\n", "::1\n", "http://a\n", "foo@example.com\n", "١.2.3.4", "1.2.3.４", "é.com", "a.é", "foo@é.com",
    "http://[fe80::1%25a%2541]/", "[fe80::1%25a]:80", "[fe80::1%a]", "a.b:１", "10.0.0.0/８",
]  # fmt: skip
ALPHABET = "aZ09.:-_@/%[]?#+!~v25f*,; é\n"


def _mutations(rng: random.Random, count: int) -> Iterator[str]:
    for _ in range(count):
        text = rng.choice(SPECIMENS)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(text) + 1)
            match rng.randrange(4):
                case 0:
                    text = text[:at] + rng.choice(ALPHABET) + text[at:]
                case 1:
                    text = text[:at] + text[at + 1 :]
                case 2:
                    text = text[:at] + rng.choice(ALPHABET) + text[at + 1 :]
                case _:
                    text = text[:at] + rng.choice(SPECIMENS)[:20] + text[at:]
        yield text


def _short(rng: random.Random, count: int) -> Iterator[str]:
    for _ in range(count):
        alphabet = rng.choice(["01.:/", ":1a%/", ALPHABET, "a:/?#@[]%4", "a-.0", "[:1]%25a/"])
        yield "".join(rng.choice(alphabet) for _ in range(rng.randrange(1, 12)))


def test_agrees_with_protovalidate() -> None:
    rng = random.Random(20)
    message_type = schema([Field("s", "string")], list(FORMATS))
    texts = [*SPECIMENS, *_mutations(rng, 6000), *_short(rng, 6000)]
    for text in texts:
        judged = reference(message_type(s=text))
        refused = {rule_id for rule_id, _ in judged}
        ours = {f"c{number}" for number, accepts in enumerate(FORMATS.values()) if not accepts(text)}
        assert ours == refused, (text, [list(FORMATS)[int(c[1:])] for c in ours ^ refused])


def test_specimens_reach_both_sides() -> None:
    for name, accepts in FORMATS.items():
        assert {accepts(text) for text in SPECIMENS} == {True, False}, name


@pytest.mark.parametrize("name", FORMATS)
def test_is_linear(name: str) -> None:
    """Hostile texts of 100 kB take no longer than their length explains."""
    accepts = FORMATS[name]
    for unit in ("a", "a.", "a@", ":", "1:", "%41", "a:", "[", "]", "/", "//", "?", "a-", "0", "1.", "::", "@a", "%"):
        text = unit * (100_000 // len(unit))
        assert within(0.25, partial(accepts, text)), unit
        assert within(0.25, partial(accepts, f"http://{text}\n")), unit
