"""Bodies and their encodings, with a bound on what they may grow to."""

import gzip
import time
import zlib

import pytest

from ferrule.http import Client
from ferrule_dev.testing import Server
from ferrule_testkit.web.clients import LONG, get_body, reason_of_failure

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("ferrule_environment")]


@pytest.mark.parametrize(
    ("encoding", "encoded"),
    [
        pytest.param("gzip", gzip.compress(b"hello"), id="gzip"),
        pytest.param("x-gzip", gzip.compress(b"hello"), id="x-gzip"),
        pytest.param("gzip", gzip.compress(b"hel") + gzip.compress(b"lo"), id="two-members"),
        pytest.param("gzip", gzip.compress(b"hello") + b"\0\0\0", id="padded"),
        pytest.param("deflate", zlib.compress(b"hello"), id="deflate"),
        pytest.param("deflate", zlib.compress(b"hello")[2:-4], id="deflate-without-header"),
        pytest.param("identity", b"hello", id="identity"),
        pytest.param("", b"hello", id="none"),
    ],
)
def test_a_body_is_decoded(server: Server, encoding: str, encoded: bytes) -> None:
    assert get_body(server.page("/", encoded, headers={"Content-Encoding": encoding})) == b"hello"


def test_an_empty_body_needs_no_decoding(server: Server) -> None:
    assert get_body(server.page("/", b"", headers={"Content-Encoding": "gzip"})) == b""


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress"])
def test_an_encoding_that_was_not_asked_for_is_refused(server: Server, encoding: str) -> None:
    url = server.page("/", gzip.compress(b"x"), headers={"Content-Encoding": encoding})
    assert reason_of_failure(url) == "The body has a content encoding that was not asked for"


def test_a_body_that_is_not_encoded_as_its_headers_say_is_refused(server: Server) -> None:
    url = server.page("/", b"plain", headers={"Content-Encoding": "gzip"})
    assert reason_of_failure(url) == "The body is not compressed in the way its headers say"


def test_a_body_is_cut_at_the_limit(server: Server) -> None:
    with (
        Client(time.monotonic() + LONG) as client,
        client.open("GET", server.page("/", b"0123456789")) as response,
    ):
        assert (response.read(4), response.complete) == (b"0123", False)


def test_a_body_as_long_as_the_limit_is_complete(server: Server) -> None:
    with Client(time.monotonic() + LONG) as client, client.open("GET", server.page("/", b"0123")) as response:
        assert (response.read(4), response.complete) == (b"0123", True)


def test_what_a_body_grows_to_is_bounded(server: Server) -> None:
    bomb = gzip.compress(bytes(100 << 20))
    assert get_body(server.page("/", bomb, headers={"Content-Encoding": "gzip"}), limit=5_000) == bytes(5_000)


def test_a_body_that_decodes_to_nothing_ends_at_the_limit(server: Server) -> None:
    nothing = gzip.compress(b"") * 5_000
    url = server.page("/", nothing, headers={"Content-Encoding": "gzip"})
    with Client(time.monotonic() + LONG) as client, client.open("GET", url) as response:
        assert (response.read(1_000), response.complete) == (b"", False)
