"""What a call gives back, from a real server on loopback."""

import gzip
import json
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trustme

from ferrule import Context
from ferrule_dev.testing import Exchange, Server, refused_port

Fetch = Callable[..., dict[str, Any]]
Error = Callable[..., tuple[str, str]]
MakeContext = Callable[..., Context]


@pytest.mark.process
def test_a_page_comes_back_with_its_url_title_and_markdown(server: Server, fetch: Fetch) -> None:
    url = server.page("/guide", "<title>A  guide\n to</title><h1>Guide</h1><p>Some <b>text</b>.</p>")
    assert fetch(url) == {
        "success": True,
        "url": url,
        "title": "A guide to",
        "content": "# Guide\n\nSome **text**.",
    }


@pytest.mark.process
def test_blanks_around_the_url_do_not_matter(server: Server, fetch: Fetch) -> None:
    url = server.page("/", "x")
    assert fetch(f" {url}\n")["url"] == url


@pytest.mark.process
def test_the_query_is_sent_and_the_fragment_is_not(server: Server, fetch: Fetch) -> None:
    server.page("/a%20b?c=d%26e", "found")
    answer = fetch(f"{server.url}/a%20b?c=d%26e#part")
    assert answer["content"] == "found"
    assert answer["url"] == f"{server.url}/a%20b?c=d%26e#part"


@pytest.mark.process
def test_letters_of_any_script_may_stand_in_the_path(server: Server, fetch: Fetch) -> None:
    server.page("/%C3%BCber?q=%E6%BC%A2", "found")
    assert fetch(f"{server.url}/über?q=漢")["content"] == "found"


@pytest.mark.process
def test_the_request_says_what_it_takes(server: Server, fetch: Fetch) -> None:
    fetch(server.page("/", "x"))
    headers = server.requests[0].headers
    assert headers["accept"].startswith("text/html,")
    assert headers["accept-encoding"] == "gzip"
    assert "ferrule-fetch" in headers["user-agent"]


@pytest.mark.process
def test_a_compressed_page_is_read(server: Server, fetch: Fetch) -> None:
    url = server.page("/", gzip.compress(b"<p>small</p>"), headers={"Content-Encoding": "gzip"})
    assert fetch(url)["content"] == "small"


@pytest.mark.process
def test_a_chunked_page_is_read(server: Server, fetch: Fetch) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")
        exchange.send(b"3\r\n<p>\r\n5\r\nchunk\r\n0\r\n\r\n")

    assert fetch(server.route("/", answer))["content"] == "chunk"


@pytest.mark.process
def test_links_are_resolved_against_the_last_url(server: Server, fetch: Fetch) -> None:
    server.page("/new/page", '<a href="other">x</a>')
    assert fetch(server.redirect("/old", "/new/page"))["content"] == f"[x]({server.url}/new/other)"


@pytest.mark.process
@pytest.mark.parametrize(
    ("content_type", "text"),
    [
        ("text/plain", "<b>not</b> markup &amp;\n\n  indented"),
        ("text/markdown; charset=utf-8", "# Title\n\n*text*"),
        ("application/json", '{"a": [1, 2]}'),
        ("application/ld+json", "{}"),
        ("application/xml", '<?xml version="1.0"?>\n<food><title>x</title></food>'),
        ("application/atom+xml", "<feed/>"),
        ("text/x-markdown", "# Title\n\n* text"),
        ("text/javascript", "if (a<b) { c() }"),
        ("text/css", "p > a { color: red }"),
        ("image/svg+xml", "<svg/>"),
        ("", "plain words"),
        ("application/octet-stream", "plain words"),
    ],
)
def test_other_text_comes_back_as_it_is(server: Server, fetch: Fetch, content_type: str, text: str) -> None:
    answer = fetch(server.page("/", text, content_type))
    assert (answer["title"], answer["content"]) == ("", text)


@pytest.mark.process
@pytest.mark.parametrize(
    "content_type", ["application/xhtml+xml", "TEXT/HTML", "text/html, text/html", "", "application/octet-stream"]
)
def test_html_is_known_by_its_type_or_by_its_beginning(server: Server, fetch: Fetch, content_type: str) -> None:
    answer = fetch(server.page("/", "<!DOCTYPE html><title>T</title><h1>H</h1>", content_type))
    assert (answer["title"], answer["content"]) == ("T", "# H")


@pytest.mark.process
def test_line_ends_of_any_system_end_a_line(server: Server, fetch: Fetch) -> None:
    assert fetch(server.page("/", b"a\r\nb\rc\n", "text/plain"))["content"] == "a\nb\nc"


@pytest.mark.process
def test_only_a_line_feed_ends_a_line(server: Server, fetch: Fetch) -> None:
    text = "one\u2028still\x85one\x0bone\x0cone\nlast"
    answer = fetch(server.page("/", text, "text/plain; charset=utf-8"), offset=2)
    assert answer["content"] == "last"


@pytest.mark.process
@pytest.mark.parametrize("content_type", ["text/html; charset=utf-8", "text/plain; charset=utf-8"])
def test_what_json_cannot_hold_is_left_out(server: Server, fetch: Fetch, content_type: str) -> None:
    body = b"<title>t\x01\x7f&#xD800;</title>a\x02\x1bb\xc2\x85c\xed\xa0\x80d&#0;&#xDFFF;" + b"x" * 1024 + b"\0"
    answer = fetch(server.page("/", body, content_type))
    text = answer["title"] + answer["content"]
    assert not [letter for letter in text if ord(letter) < 32 or 127 <= ord(letter) < 160]
    assert json.loads(json.dumps(answer, ensure_ascii=False).encode("utf-8")) == answer


@pytest.mark.process
def test_a_page_that_is_too_large_is_cut_and_says_so(
    server: Server, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.page("/", "word " * (11 << 20 >> 2), "text/plain")
    last = fetch(url, offset=2)
    assert last["content"].split("\n") == ["", "[The page goes on: only its first 10 MiB were read.]"]


@pytest.mark.process
def test_a_long_title_is_shortened(server: Server, fetch: Fetch) -> None:
    title = fetch(server.page("/", f"<title>{'t' * 9_000}</title>text"))["title"]
    assert len(title) == 500
    assert title.endswith("t…")


@pytest.mark.process
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed(server: Server, fetch: Fetch, status: int) -> None:
    there = server.page("/there?a=b", "arrived")
    answer = fetch(server.redirect("/here", "there?a=b", status))
    assert (answer["url"], answer["content"]) == (there, "arrived")


@pytest.mark.process
def test_the_fragment_stays_when_a_redirect_has_none(server: Server, fetch: Fetch) -> None:
    server.page("/b", "x")
    server.redirect("/a", "/b")
    server.redirect("/c", "/b#own")
    assert fetch(f"{server.url}/a#mine")["url"] == f"{server.url}/b#mine"
    assert fetch(f"{server.url}/c#mine")["url"] == f"{server.url}/b#own"


@pytest.mark.process
def test_ten_redirects_are_followed_and_no_more(server: Server, fetch: Fetch, error: Error) -> None:
    server.page("/0", "arrived")
    for number in range(1, 12):
        server.redirect(f"/{number}", f"/{number - 1}")
    assert fetch(f"{server.url}/10")["content"] == "arrived"
    assert error(f"{server.url}/11") == ("NETWORK_ERROR", "Failed to fetch URL: More than 10 redirects")


@pytest.mark.process
def test_a_redirect_that_leads_in_a_circle_ends(server: Server, error: Error) -> None:
    assert error(server.redirect("/", "/"))[0] == "NETWORK_ERROR"
    assert len(server.requests) == 11


@pytest.mark.process
@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/", "http://[", "http://a..b/"])
def test_a_redirect_to_what_is_not_fetched_is_an_error(server: Server, error: Error, target: str) -> None:
    code, message = error(server.redirect("/", target))
    assert code == "INVALID_URL"
    assert message.startswith("The server redirects to an invalid URL: ")


@pytest.mark.process
def test_a_redirect_without_a_target_is_a_page(server: Server, fetch: Fetch) -> None:
    assert fetch(server.page("/", "choose", status=300))["content"] == "choose"
    assert fetch(server.page("/", "nowhere", status=302))["content"] == "nowhere"


@pytest.mark.process
def test_the_body_of_a_redirect_is_not_read(server: Server, fetch: Fetch) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 302 Found\r\nLocation: /there\r\n\r\n")
        exchange.drip(b"x")

    server.page("/there", "arrived")
    assert fetch(server.route("/", answer))["content"] == "arrived"


@pytest.mark.process
def test_a_refused_connection_is_an_error(error: Error) -> None:
    expected = ("NETWORK_ERROR", "Failed to fetch URL: Connection refused")
    assert error(f"http://127.0.0.1:{refused_port()}/") == expected


@pytest.mark.parametrize("url", ["", "page", "ftp://h/x", "http://", "http://a b/", "http://u:p@h/"])
def test_a_malformed_url_is_an_error(error: Error, url: str) -> None:
    code, message = error(url)
    assert code == "INVALID_URL"
    assert message.startswith("Invalid URL: ")


@pytest.mark.process
def test_a_download_is_not_waited_for(server: Server, error: Error) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\n\r\n")
        exchange.drip(b"x")

    assert error(server.route("/", answer))[0] == "PARSE_ERROR"


@pytest.mark.process
def test_a_server_that_says_nothing_is_an_error_in_time(
    server: Server, error: Error, make_context: MakeContext
) -> None:
    url = server.route("/", Exchange.hang)
    expected = ("NETWORK_ERROR", "Failed to fetch URL: Connection timeout")
    assert error(url, within=make_context(seconds=0.4)) == expected


@pytest.mark.process
def test_redirects_share_one_deadline(server: Server, error: Error, make_context: MakeContext) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 302 Found\r\nLocation: /\r\n")
        exchange.drip(b"X-More: 1\r\n")

    server.redirect("/", "/slow")
    server.route("/slow", answer)
    expected = ("NETWORK_ERROR", "Failed to fetch URL: Connection timeout")
    assert error(f"{server.url}/", within=make_context(seconds=0.4)) == expected


@pytest.mark.process
@pytest.mark.parametrize("kind", ["image/png", "application/zip", "application/pdf"])
def test_an_error_quotes_nothing_raw_of_a_content_type(server: Server, error: Error, kind: str) -> None:
    header = f"{kind}; \x1b[31mred=\u202e\U000e0041{'y' * 60_000}, \x1b]0;title\x07/x".encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: " + header + b"\r\n\r\n%PDF-"
    code, message = error(server.route("/", lambda exchange: exchange.send(head)))
    assert code == "PARSE_ERROR"
    assert message.isprintable()
    assert len(message) < 200


@pytest.mark.process
def test_what_comes_after_the_announced_length_is_not_read(server: Server, fetch: Fetch) -> None:
    assert fetch(server.page("/", "whole and more", headers={"Content-Length": "5"}))["content"] == "whole"


@pytest.mark.process
@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
def test_a_compression_that_was_not_asked_for_is_an_error(server: Server, error: Error, encoding: str) -> None:
    code, message = error(server.page("/", gzip.compress(b"x"), headers={"Content-Encoding": encoding}))
    assert code == "NETWORK_ERROR"
    assert message == "Failed to fetch URL: The body has a content encoding that was not asked for"


@pytest.mark.process
@pytest.mark.parametrize("content_type", ["text/html", "text/plain", "application/json"])
def test_entities_are_those_of_html_alone(server: Server, fetch: Fetch, content_type: str) -> None:
    content = fetch(server.page("/", "caf&eacute;&#33; &#x1F600; &copy", content_type))["content"]
    assert content == ("café! 😀 ©" if content_type == "text/html" else "caf&eacute;&#33; &#x1F600; &copy")


@pytest.mark.process
def test_no_error_holds_the_query(error: Error) -> None:
    _, message = error(f"http://127.0.0.1:{refused_port()}/?key=SECRET")
    assert "SECRET" not in message


@pytest.mark.process
def test_a_page_is_fetched_through_the_proxy_of_the_environment(
    server: Server, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    server.page("http://far.example/page", "<p>far")
    assert fetch("http://far.example/page")["content"] == "far"


@pytest.mark.process
def test_a_proxy_is_passed_by_where_no_proxy_says_so(
    server: Server, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{refused_port()}")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert fetch(server.page("/", "near"))["content"] == "near"


@pytest.mark.process
def test_a_proxy_that_is_none_is_an_error(server: Server, error: Error, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "garbage://x")
    code, message = error(server.url)
    assert code == "NETWORK_ERROR"
    assert "HTTP_PROXY" in message


@pytest.mark.process
def test_a_secure_page_is_fetched_where_its_authority_is_trusted(
    fetch: Fetch, error: Error, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with Server(context) as server:
        url = server.page("/", "<p>safe")
        code, message = error(url)
        assert code == "NETWORK_ERROR"
        assert message.startswith("Failed to fetch URL: TLS certificate verify failed: ")
        authority.cert_pem.write_to_path(tmp_path / "authority.pem")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
        assert fetch(url)["content"] == "safe"
