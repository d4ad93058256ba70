"""What a call answers with: the fields, their sizes, and what is left out where."""

import base64
import json
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ferrule import Context
from ferrule_dev.testing import Exchange, Server, schema_of
from ferrule_research import page
from ferrule_testkit.runs import run_tool

pytestmark = pytest.mark.process


Scrape = Callable[..., dict[str, Any]]
At = Callable[..., str]

PROSE = "There are some words in this sentence, and it goes on for a while. "
ALWAYS = {
    *("url", "content", "contentType", "trust", "contentLength", "truncated", "estimatedTokens", "sizeCategory"),
    *("citation", "sourceType", "authorityTier", "domainCategory"),
}


def json_ld(value: Any) -> str:
    return f'<script type="application/ld+json">{json.dumps(value, ensure_ascii=False)}</script>'


def test_the_file_the_hook_and_the_executable_have_one_schema() -> None:
    file = Path(page.__file__).with_name("schema.json")
    assert json.loads(file.read_bytes()) == page.schema() == schema_of("scrape_page")
    assert list(page.schema()["parameters"]["properties"]) == [
        *("url", "mode", "max_length", "include_citation", "include_structured_data", "include_links"),
        *("include_metadata", "sessionId"),
    ]


def test_its_results_may_be_cached_for_an_hour_and_linked() -> None:
    policy = page.result_policy()
    assert (policy.cache_seconds, policy.linkable, policy.paging) == (1800, True, ("max_length",))


def test_a_plain_page_has_exactly_these_fields(server: Server, scrape: Scrape) -> None:
    url = server.page("/guide", f"<title>A guide</title><h1>Guide</h1><p>{PROSE * 4}</p>")
    answer = scrape(url)
    assert set(answer) == {*ALWAYS, "extractedBy", "extractionQuality"}
    assert (answer["url"], answer["contentType"], answer["extractedBy"]) == (url, "html", "html")
    assert answer["trust"] == "untrusted-external-content"
    assert answer["trust"] not in answer["content"]
    assert answer["citation"]["metadata"]["title"] == "A guide"
    assert (answer["sourceType"], answer["authorityTier"], answer["domainCategory"]) == ("unknown", "low", "general")
    assert (answer["truncated"], answer["extractionQuality"]) == (False, "complete")


@pytest.mark.slow
def test_of_a_page_that_drips_there_is_a_part(
    server: Server, scrape: Scrape, make_context: Callable[..., Context]
) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + f"<p>{PROSE * 4}".encode())
        exchange.drip(b" more")

    answered = scrape(server.route("/", answer), within=make_context(seconds=3))
    assert answered["content"].startswith(PROSE)
    assert answered["content"].endswith("[The page goes on: the rest had not come in the time there was.]")
    assert answered["extractionQuality"] == "partial"


def test_a_page_without_a_title_has_no_metadata_and_a_citation_all_the_same(server: Server, scrape: Scrape) -> None:
    url = server.page("/", f"<p>{PROSE * 4}</p>")
    assert "metadata" not in scrape(url, include_citation=False)
    answer = scrape(url)
    assert set(answer["citation"]) == {"url", "accessedDate", "metadata", "formatted"}
    assert set(answer["citation"]["formatted"]) == {"apa", "mla", "bibtex"}
    assert answer["citation"]["accessedDate"] == datetime.now(UTC).date().isoformat()


@pytest.mark.parametrize(
    ("size", "category"),
    [
        (4_999, "small"),
        (5_000, "medium"),
        (19_999, "medium"),
        (20_000, "large"),
        (49_999, "large"),
        (50_000, "very_large"),
    ],
)
def test_sizes_are_those_of_the_content_in_bytes(server: Server, scrape: Scrape, size: int, category: str) -> None:
    answer = scrape(server.page("/", "x" * size, "text/plain"), max_length=60_000)
    assert (answer["contentLength"], answer["sizeCategory"]) == (size, category)


def test_letters_of_several_bytes_count_as_such(server: Server, scrape: Scrape) -> None:
    answer = scrape(server.page("/", "漢字" * 100, "text/plain; charset=utf-8"))
    assert answer["contentLength"] == 600


@pytest.mark.parametrize("mode", ["full", "raw"])
def test_the_tokens_are_those_of_the_whole_answer(server: Server, make_context: Any, scrape: Scrape, mode: str) -> None:
    answer = scrape(server.page("/", f"<title>T</title><p>{PROSE * 40}</p>"), mode=mode)
    assert abs(answer["estimatedTokens"] - make_context().size(answer) // 4) <= 1


def test_a_page_of_an_article_costs_little_more_than_the_article(
    server: Server, make_context: Any, scrape: Scrape
) -> None:
    said = {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": "Storm closes harbour of Lindvik",
        "author": [{"@type": "Person", "name": "Ann Lee"}, {"@type": "Person", "name": "Bo Ek"}],
        "datePublished": "2026-03-05T06:00:00Z",
        "publisher": {"@type": "Organization", "name": "The Daily Sound", "logo": "https://sound.example/l.png"},
        "articleBody": PROSE * 80,
    }
    graph = "".join(
        f'<meta property="og:{name}" content="{value}">'
        for name, value in {"title": said["headline"], "site_name": "The Daily Sound", "type": "article"}.items()
    )
    body = "".join(f"<p>{PROSE * 5}</p>" for _ in range(17))
    answer = scrape(server.page("/2026/03/05/storm", f"{graph}{json_ld(said)}<h1>Storm</h1>{body}"))
    assert 5_700 < len(answer["content"]) < 5_900
    assert answer["citation"]["formatted"]["mla"].startswith("Lee, Ann, and Bo Ek.")
    assert make_context().size(answer) <= 7_500
    assert answer["structuredData"] == {"openGraph": {"og:type": "article"}}


def test_each_part_can_be_left_out(server: Server, scrape: Scrape) -> None:
    source = json_ld({"@type": "Article", "headline": "H", "text": "y" * 3_000})
    url = server.page("/", f'{source}<p><a href="/there">a link</a> <img src="i.png" alt="a dam"> {PROSE * 3}</p>')
    whole = scrape(url, include_structured_data=True)
    assert whole["structuredData"]["jsonLd"][0]["headline"] == "H"
    assert "structuredData" not in scrape(url, include_structured_data=False)
    assert scrape(url, include_citation=False)["metadata"] == {"title": "H", "author": ""}
    assert not {"citation", "metadata"} & set(scrape(url, include_citation=False, include_metadata=False))
    content = scrape(url, include_links=False)["content"]
    assert content.startswith("a link a dam There are")
    assert whole["content"].startswith(f"[a link]({url}there) ![a dam]({url}i.png)")


def test_raw_can_be_had_without_a_citation(server: Server, scrape: Scrape) -> None:
    assert "citation" not in scrape(server.page("/", "x", "text/plain"), mode="raw", include_citation=False)


def test_links_and_the_indentation_of_code_are_kept(server: Server, scrape: Scrape) -> None:
    html = f'<p><a href="/there">a link</a> {PROSE * 3}</p><pre><code>if x:\n    y  =  1\n\tz</code></pre>'
    content = scrape(server.page("/here", html))["content"]
    assert f"[a link]({server.url}/there)" in content
    assert "if x:\n    y  =  1\n\tz" in content


def test_a_text_about_hidden_styles_is_kept_whole(server: Server, scrape: Scrape) -> None:
    lines = "<p>Write display:none to hide it.</p><p>visibility:hidden and font-size:0 do so, too.</p>"
    content = scrape(server.page("/", lines + f"<p>{PROSE * 3}</p>"))["content"]
    assert "display:none" in content
    assert "visibility:hidden and font-size:0" in content


def test_quotations_and_nested_items_stand_there_once(server: Server, scrape: Scrape) -> None:
    html = (
        f"<blockquote><p>Only once said.</p></blockquote><ul><li>Outer<ul><li>Innermost</li></ul></li></ul>{PROSE * 3}"
    )
    content = scrape(server.page("/", html))["content"]
    assert (content.count("Only once said"), content.count("Innermost")) == (1, 1)


def test_persian_and_emoji_keep_their_joiners(server: Server, scrape: Scrape) -> None:
    text = "می‌خواهم 👩‍💻 " * 20
    assert "می‌خواهم 👩‍💻" in scrape(server.page("/", f"<meta charset=utf-8><p>{text}"))["content"]


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<p>Grüße aus Köln, </p>".encode("latin-1") * 9, "text/html; charset=iso-8859-1"),
        (b"<meta charset=windows-1252>" + "<p>Grüße aus Köln, </p>".encode("cp1252") * 9, "text/html"),
        (b"\xff\xfe" + ("<p>Grüße aus Köln, </p>" * 9).encode("utf-16-le"), "text/html"),
    ],
    ids=["header", "meta", "byte order mark"],
)
def test_a_page_is_read_in_its_own_charset(server: Server, scrape: Scrape, body: bytes, content_type: str) -> None:
    assert "Grüße aus Köln" in scrape(server.page("/", body, content_type))["content"]


def test_preview_has_five_thousand_bytes_whatever_is_asked_for(
    server: Server, make_context: Any, scrape: Scrape
) -> None:
    url = server.page("/", f"<p>{PROSE * 200}</p>")
    answer = scrape(url, mode="preview", max_length=40_000)
    assert 4_500 < make_context().size(answer) <= 5_000
    assert answer["truncated"] is True
    assert answer["content"].endswith("\n\n[content truncated]")


@pytest.mark.slow
def test_more_than_five_million_bytes_count_as_that(server: Server, scrape: Scrape, make_context: Any) -> None:
    url = server.page("/", "x" * 5_000_100, "text/plain")
    within = make_context(max_bytes=20_000_000)
    answer = scrape(url, max_length=9_000_000, within=within)
    assert 4_990_000 < answer["contentLength"] < within.size(answer) <= 5_000_000
    assert answer["truncated"] is True


@pytest.mark.slow
def test_the_length_that_is_asked_for_is_never_passed(server: Server, make_context: Any, scrape: Scrape) -> None:
    url = server.page("/", "漢字かな交じり文。" * 300, "text/plain; charset=utf-8")
    for length in (*range(1, 100), *range(2_000, 2_100)):
        answer = scrape(url, max_length=length)
        assert length < 2_000 or make_context().size(answer) <= length
        assert len(answer["content"].encode()) <= length
        assert "\ufffd" not in answer["content"]
        assert answer["truncated"] is True


def test_a_session_is_accepted_and_told_to_be_ignored(server: Server, scrape: Scrape) -> None:
    url = server.page("/", PROSE * 3)
    answer = scrape(url, sessionId="s")
    assert [one["name"] for one in answer["ignoredParameters"]] == ["sessionId"]
    assert answer["_meta"] == {"cacheable": False}
    assert "ignoredParameters" not in scrape(url)


def test_raw_gives_what_the_server_sent(server: Server, scrape: Scrape) -> None:
    html = "<title>T</title>\r\n<script>var a = '\u200b\t  x'</script><p>é&eacute;"
    answer = scrape(server.page("/", html, "Text/HTML; charset=UTF-8"), mode="raw")
    assert answer["content"] == html
    assert answer["contentType"] == "Text/HTML; charset=UTF-8"
    assert answer["raw"] is True
    assert not {"metadata", "structuredData", "extractedBy", "extractionQuality"} & set(answer)
    assert set(answer) == {*ALWAYS, "raw"}


def test_raw_has_an_empty_type_where_the_server_names_none(server: Server, scrape: Scrape) -> None:
    assert scrape(server.page("/", "x", ""), mode="raw")["contentType"] == ""


def test_raw_has_a_type_of_one_line_that_is_no_longer_than_it_can_mean(server: Server, scrape: Scrape) -> None:
    content_type = "text/plain; charset=utf-8; x=\u202e\u200b" + "y" * 40_000
    found = scrape(server.page("/", "x", content_type.encode().decode("latin-1")), mode="raw")["contentType"]
    assert len(found.encode()) <= 1024
    assert found.startswith("text/plain; charset=utf-8; x=")


def test_raw_bytes_that_are_no_text_come_as_base64(server: Server, scrape: Scrape) -> None:
    body = bytes(range(256)) * 3
    answer = scrape(server.page("/", body, "image/png"), mode="raw")
    assert answer["contentEncoding"] == "base64"
    assert base64.b64decode(answer["content"]) == body


def test_raw_is_cut_at_the_length_without_half_of_a_letter_or_a_mark(server: Server, scrape: Scrape) -> None:
    answer = scrape(server.page("/", "é" * 100, "text/plain"), mode="raw", max_length=51)
    assert (answer["content"], answer["truncated"], answer["contentLength"]) == ("é" * 25, True, 50)


def test_raw_that_does_not_fit_the_client_is_cut_and_says_so(server: Server) -> None:
    url = server.page("/", '"\n' * 40_000, "text/plain")
    run = run_tool("scrape_page", {"url": url, "mode": "raw", "max_length": 100_000})
    assert run.exit_code == 0
    assert run.document["truncated"] is True
    assert '"\n' * 15_000 in run.document["content"]


def test_a_page_that_does_not_fit_the_client_is_cut_and_the_rest_can_be_had(server: Server) -> None:
    lines = [f'Line {number} has "quotes" and \\backslashes\\ in it.' for number in range(3_000)]
    url = server.page("/", "\n".join(lines), "text/plain")
    run = run_tool("scrape_page", {"url": url, "max_length": 200_000})
    assert run.document["truncated"] is True
    shown = run.document["content"].removesuffix("\n\n[content truncated]").split("\n")
    offset = int(run.document["truncationHint"].partition("offset ")[2].split()[0])
    rest = run_tool("web_fetch", {"url": url, "offset": offset})
    assert run.document["truncationHint"].endswith(", or raise max_length.")
    most = run_tool("scrape_page", {"url": url, "max_length": 5_000_000})
    assert most.document["truncationHint"].endswith("for what follows.")
    first = rest.document["content"].split("\n")[0]
    assert first == lines[offset - 1]
    assert offset in (len(shown), len(shown) + 1)
    assert len(run.document["content"]) > 50_000


def test_json_ld_does_not_push_the_content_out(server: Server) -> None:
    blocks = "".join(
        f'<script type="application/ld+json">{json.dumps({"n": number, "text": "y" * 15_000})}</script>'
        for number in range(4)
    )
    url = server.page("/", f"{blocks}<p>{PROSE * 1_500}</p>")
    run = run_tool("scrape_page", {"url": url, "max_length": 100_000, "include_structured_data": True})
    assert run.exit_code == 0
    assert run.document["contentLength"] > 25_000
    assert [block["n"] for block in run.document["structuredData"]["jsonLd"]] == [0, 1]
    assert run.document["truncated"] is True


def test_with_room_for_it_nothing_is_left_out(server: Server, scrape: Scrape, make_context: Any) -> None:
    within = make_context(max_bytes=1 << 20)
    answer = scrape(server.page("/", "word " * 40_000, "text/plain"), max_length=300_000, within=within)
    assert (answer["contentLength"], answer["truncated"]) == (200_000, False)


@pytest.mark.parametrize(
    ("path", "content_type", "kind"),
    [
        ("/a", "text/markdown", "markdown"),
        ("/a.md", "text/plain", "markdown"),
        ("/a", "text/plain", "text"),
        ("/a", "application/json", "json"),
        ("/a", "application/xml", "xml"),
    ],
)
def test_other_text_is_told_by_its_kind(
    server: Server, scrape: Scrape, path: str, content_type: str, kind: str
) -> None:
    answer = scrape(server.page(path, "# A title\n\nwords", content_type))
    assert answer["contentType"] == kind
    assert answer.get("extractedBy") == ("markdown" if kind == "markdown" else None)
    assert bool(answer["citation"]["metadata"]["title"]) == (kind == "markdown")


def test_the_url_is_the_one_after_redirects(server: Server, scrape: Scrape) -> None:
    there = server.page("/there", f"<p>{PROSE * 3}")
    answer = scrape(server.redirect("/here", "/there"))
    assert answer["url"] == there == answer["citation"]["url"]


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        (zlib.compress(b"words"), "zlib"),
        (b"\xe9 \\ud800", "unicode_escape"),
        (b"\xe9 \\ud800", "raw-unicode-escape"),
        (b"\xe9", "base64"),
        (b"\xe9", "rot13"),
        (b"\xff\xff", "undefined"),
    ],
)
def test_raw_takes_only_charsets_for_charsets(server: Server, scrape: Scrape, body: bytes, charset: str) -> None:
    answer = scrape(server.page("/", body, f"text/plain; charset={charset}"), mode="raw", max_length=1_000_000)
    assert answer["contentEncoding"] == "base64"
    assert body.startswith(base64.b64decode(answer["content"]))


@pytest.mark.slow
def test_raw_is_not_unpacked_by_its_charset(server: Server) -> None:
    url = server.page("/", zlib.compress(bytes(1 << 30), 1), "text/plain; charset=zlib")
    run = run_tool("scrape_page", {"url": url, "mode": "raw", "max_length": 5_000_000})
    assert (run.exit_code, run.document.get("contentEncoding")) == (0, "base64")


def test_raw_text_in_a_charset_of_the_header_is_text(server: Server, scrape: Scrape) -> None:
    for charset in ("iso-8859-1", "windows-1252", "shift_jis", "koi8-r", "utf-16", "gb18030"):
        text = "Grüße" if charset[0] in "iw" else "Привет" if charset[0] == "k" else "漢字"
        answer = scrape(server.page("/", text.encode(charset), f"text/plain; charset={charset}"), mode="raw")
        assert answer["content"] == text


def test_a_text_whose_mark_has_more_letters_than_were_cut_is_truncated(server: Server, scrape: Scrape) -> None:
    answer = scrape(server.page("/", "漢" * 21, "text/plain; charset=utf-8"), max_length=100)
    assert answer["content"].endswith("[content truncated]")
    assert answer["truncated"] is True


@pytest.mark.parametrize(
    "source",
    [
        json_ld({"@type": "Article", "author": [{"name": f"A{n} " + "b" * 280} for n in range(100)]}),
        json_ld({"@type": "Article", "author": [{"@type": "Organization", "name": "ä" * 300} for n in range(50)]}),
        json_ld({"@type": "Article", "headline": "~" * 500, "author": ["~" * 290] * 50}),
        json_ld({"@type": "DiscussionForumPosting", "datePublished": "x" * 30_000}),
        "".join(
            f'<meta name="citation_{name}" content="{"~" * 2048}">' for name in ("journal_title", "volume", "title")
        )
        + f'<meta name="citation_issue" content="{"~" * 2048}"><meta name="citation_publisher" content="{"^" * 2048}">',
    ],
    ids=["people", "organisations", "signs of TeX", "forum", "Highwire"],
)
# The long address is what leaves less room; the short one is for the tier `full`.
@pytest.mark.parametrize("path", [pytest.param("/", marks=pytest.mark.full), "/" + "x" * 8_000])
def test_what_a_page_says_of_itself_does_not_make_the_answer_too_large(server: Server, source: str, path: str) -> None:
    run = run_tool("scrape_page", {"url": server.page(path, source + f"<p>{PROSE * 20}</p>")})
    assert run.exit_code == 0, run.document
    assert PROSE * 2 in run.document["content"]
    assert set(run.document["citation"]["formatted"]) == {"apa", "mla", "bibtex"}


def test_as_many_authors_are_cited_as_have_room(scrape: Scrape, server: Server) -> None:
    source = json_ld({"@type": "Article", "author": [{"name": f"A{n} " + "b" * 280} for n in range(100)]})
    answer = scrape(server.page("/", source + f"<p>{PROSE * 20}</p>"))
    assert answer["citation"]["metadata"]["author"].count("; ") in range(10, 20)
    assert all(answer["citation"]["formatted"].values())


def test_where_only_json_ld_is_left_out_nothing_of_the_text_is_said_to_follow(server: Server) -> None:
    blocks = "".join(json_ld({"n": number, "text": "y" * 30_000}) for number in range(2))
    url = server.page("/" + "x" * 4_000, f"{blocks}<p>{PROSE * 10}</p>")
    run = run_tool("scrape_page", {"url": url, "include_structured_data": True})
    assert run.document["truncated"] is True
    assert "offset" not in run.document["truncationHint"]
