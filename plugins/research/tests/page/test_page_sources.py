"""Places that are read in a way of their own: Hacker News, YouTube, documents."""

import json
import random
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest

from ferrule import Context, ToolError
from ferrule.discovery import scan
from ferrule.plugin.loader import load
from ferrule_dev.testing import Server
from ferrule_fetch.formats.documents import readers
from ferrule_research.page.sources.url_kinds import Place, hacker_news_place, watch_url
from ferrule_testkit.documents import pdf
from ferrule_testkit.runs import run_tool

pytestmark = pytest.mark.process


Scrape = Callable[..., dict[str, Any]]
Problem = Callable[..., ToolError]
At = Callable[..., str]
PROSE = "There are some words in this sentence, and it goes on for a while. "
HN = "http://news.ycombinator.com"


@pytest.fixture
def items(web: Server, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have a server instead of the API hold these: paths, and the JSON that is there."""
    monkeypatch.setenv("FERRULE_HN_ENDPOINT", f"{web.url}/v0")

    def hold(documents: dict[str, Any]) -> None:
        for path, document in documents.items():
            web.page(f"/v0/{path}.json", json.dumps(document), "application/json; charset=utf-8")

    return hold


def titled(answer: dict[str, Any]) -> tuple[str, str]:
    """The title and the author, as they are cited."""
    metadata = answer["citation"]["metadata"]
    return metadata["title"], metadata["author"]


def story(number: int, **more: Any) -> dict[str, Any]:
    facts = {"id": number, "type": "story", "by": f"user{number}", "time": 1_700_000_000, "title": f"Story {number}"}
    return {**facts, "url": f"https://site.example/{number}", "score": 1234, "descendants": 56, **more}


def comment(number: int, **more: Any) -> dict[str, Any]:
    link = '<a href="https:&#x2F;&#x2F;x.example&#x2F;">link</a>'
    text = f"<i>Comment</i> {number} &amp; a {link}<p><pre><code>a  =  1</code></pre>"
    return {"id": number, "type": "comment", "by": f"user{number}", "time": 1_700_000_100, "text": text, **more}


def test_a_story_has_its_ten_top_comments(scrape: Scrape, items: Callable[..., None], web: Server) -> None:
    kids = list(range(100, 115))
    items({"item/42": story(42, kids=kids, text="<p>Its text."), **{f"item/{kid}": comment(kid) for kid in kids}})
    answer = scrape(f"{HN}/item?id=42")
    content = answer["content"]
    assert content.startswith(
        "# [Story 42](https://site.example/42)\n\nby user42 · 2023-11-14 · 1,234 points · 56 comments"
    )
    assert "Its text." in content
    assert [f"### user{kid}" in content for kid in kids] == [True] * 10 + [False] * 5
    assert content.index("user100") < content.index("user109")
    assert "*Comment* 100 & a [link](https://x.example/)" in content
    assert "a  =  1" in content
    assert len(web.requests) == 11
    assert titled(answer) == ("Story 42", "user42")
    assert (answer["contentType"], answer["sourceType"], answer["authorityTier"]) == ("markdown", "forum", "low")
    assert answer["citation"]["metadata"]["site"] == "Hacker News"
    assert answer["citation"]["metadata"]["date"] == "2023-11-14"


def test_comments_that_are_gone_are_left_out(scrape: Scrape, items: Callable[..., None]) -> None:
    gone = {"item/101": comment(101, deleted=True), "item/102": comment(102, dead=True), "item/103": None}
    items({"item/42": story(42, kids=[100, 101, 102, 103, 104]), "item/100": comment(100), **gone})
    content = scrape(f"{HN}/item?id=42")["content"]
    assert content.count("### ") == 1


def test_a_story_whose_comments_did_not_come_is_no_whole_page(
    scrape: Scrape, items: Callable[..., None], web: Server
) -> None:
    items({"item/42": story(42, kids=[100, 101]), "item/100": comment(100)})
    web.page("/v0/item/101.json", "busy", status=503)
    answer = scrape(f"{HN}/item?id=42")
    assert (answer["extractionQuality"], answer["content"].count("### ")) == ("partial", 1)
    items({"item/101": comment(101)})
    answer = scrape(f"{HN}/item?id=42")
    assert (answer["extractionQuality"], answer["content"].count("### ")) == ("complete", 2)


def test_a_title_cannot_forge_markdown(scrape: Scrape, items: Callable[..., None]) -> None:
    items({"item/42": story(42, title="[x](https://evil.example) <b>", url="javascript:alert(1)")})
    content = scrape(f"{HN}/item?id=42")["content"]
    assert not re.search(r"(?<!\\)\]\(https://evil", content)
    assert "javascript:" not in content


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/", "topstories"),
        ("/news", "topstories"),
        ("/newest", "newstories"),
        ("/best", "beststories"),
        ("/ask", "askstories"),
        ("/show", "showstories"),
        ("/jobs", "jobstories"),
    ],
)
def test_a_list_has_its_twenty_first_stories(
    scrape: Scrape, items: Callable[..., None], web: Server, path: str, name: str
) -> None:
    items({name: list(range(1, 31)), **{f"item/{number}": story(number) for number in range(1, 31)}})
    content = scrape(HN + path)["content"]
    assert "20. [Story 20](https://site.example/20) ([discussion](https://news.ycombinator.com/item?id=20))" in content
    assert "Story 21" not in content
    assert len(web.requests) == 21


def test_a_user_has_a_profile(scrape: Scrape, items: Callable[..., None]) -> None:
    items({"user/pg": {"id": "pg", "created": 1_160_418_092, "karma": 155_000, "about": "Bug <i>fixer</i>."}})
    answer = scrape(f"{HN}/user?id=pg")
    assert answer["content"] == "# pg\n\n155,000 karma, here since 2006-10-09\n\nBug *fixer*."


def test_what_no_answer_may_hold_is_left_out_of_every_field(scrape: Scrape, items: Callable[..., None]) -> None:
    items({"item/42": story(42, title="A\ud800\u0000\u202e title", by="b\ud800y")})
    answer = scrape(f"{HN}/item?id=42")
    assert titled(answer) == ("A title", "by")
    json.dumps(answer, ensure_ascii=False).encode()


def test_an_item_that_is_not_there_is_not_found(page_error: Problem, items: Callable[..., None]) -> None:
    items({"item/42": None})
    error = page_error(f"{HN}/item?id=42")
    assert error.details is not None
    assert error.details["kind"] == "not_found"


def test_where_the_api_cannot_be_asked_the_page_itself_is_read(scrape: Scrape, at: At) -> None:
    assert "some words" in scrape(at(f"{HN}/item?id=42"))["content"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/item?id=42", Place("item", "42")),
        ("/item/42", Place("item", "42")),
        ("/user/pg", Place("user", "pg")),
        ("/item?id=x", None),
        ("/item?id=../user/pg", None),
        ("/newsguidelines.html", None),
        ("/newest/x", None),
    ],
)
def test_a_place_is_known_by_its_path(path: str, expected: Place | None) -> None:
    assert hacker_news_place(HN + path) == expected
    assert hacker_news_place(f"http://news.ycombinator.com.example{path}") is None


VIDEO = "http://www.youtube.com/watch?v=dQw4w9WgXcQ"


def player(tracks: Any = None, **details: Any) -> str:
    facts = {"title": "A <talk>", "author": "A Channel", "shortDescription": "First line.\nSecond *line*.", **details}
    response = {
        "videoDetails": facts,
        "microformat": {"playerMicroformatRenderer": {"publishDate": "2024-05-06T00:00:00-07:00"}},
        **({"captions": {"playerCaptionsTracklistRenderer": {"captionTracks": tracks}}} if tracks else {}),
    }
    return f"<script>var ytInitialPlayerResponse = {json.dumps(response)};var meta = {{}};</script><p>Sign in"


def captions(*lines: str) -> str:
    events = [
        {"tStartMs": 10_000 * at, "segs": [{"utf8": word + " "} for word in line.split()]}
        for at, line in enumerate(lines)
    ]
    return json.dumps({"wireMagic": "pb3", "events": [{"tStartMs": 0, "id": 1}, *events]})


def track(language: str, kind: str = "") -> dict[str, str]:
    facts = {"baseUrl": f"/api/timedtext?v=x&lang={language}&kind={kind}", "languageCode": language}
    return {**facts, **({"kind": kind} if kind else {})}


@pytest.mark.parametrize(
    "url",
    [
        VIDEO,
        f"{VIDEO}&t=5s",
        "http://youtu.be/dQw4w9WgXcQ?si=x",
        "http://m.youtube.com/shorts/dQw4w9WgXcQ",
        "http://www.youtube-nocookie.com/embed/dQw4w9WgXcQ",
    ],
)
def test_a_video_gives_what_is_said_in_it(scrape: Scrape, web: Server, url: str) -> None:
    web.page(VIDEO, player([track("de"), track("en", "asr"), track("en")]))
    said = captions("hello there", "*not* emphasis", "and more", "the end")
    web.page("http://www.youtube.com/api/timedtext?v=x&lang=en&kind=&fmt=json3", said, "application/json")
    answer = scrape(url)
    assert answer["content"] == (
        "# A \\<talk>\n\nA Channel\n\n## Transcript\n\n(0:00) hello there \\*not\\* emphasis and more\n\n(0:30) the end"
    )
    assert (answer["contentType"], answer["extractionQuality"]) == ("youtube", "complete")
    assert answer["url"] == VIDEO
    assert titled(answer) == ("A <talk>", "A Channel")
    assert answer["citation"]["metadata"]["date"] == "2024-05-06"
    assert answer["sourceType"] == "social_media"


def test_captions_may_come_as_xml(scrape: Scrape, web: Server) -> None:
    web.page(VIDEO, player([track("en")]))
    texts = '<text start="0.5" dur="1">it&amp;#39;s</text><text start="2">so</text>'
    xml = f'<?xml version="1.0"?><transcript>{texts}</transcript>'
    web.page("http://www.youtube.com/api/timedtext?v=x&lang=en&kind=&fmt=json3", xml, "text/xml")
    assert "(0:00) it's so" in scrape(VIDEO)["content"]


@pytest.mark.parametrize("when", ["1e400", "NaN", "-5", "1" + "0" * 400, '"soon"', "null", "true"])
def test_captions_at_no_time_are_read_all_the_same(scrape: Scrape, web: Server, when: str) -> None:
    web.page(VIDEO, player([track("en")]))
    said = f'{{"events": [{{"tStartMs": {when}, "segs": [{{"utf8": "hello"}}]}}, {{"segs": 5}}, 7]}}'
    web.page("http://www.youtube.com/api/timedtext?v=x&lang=en&kind=&fmt=json3", said, "application/json")
    assert scrape(VIDEO)["content"].endswith("(0:00) hello")


@pytest.mark.slow
@pytest.mark.parametrize("tracks", [5, "words", {"baseUrl": "/x"}, [5, None, {"baseUrl": ""}]])
def test_tracks_of_another_shape_are_none(scrape: Scrape, web: Server, tracks: Any) -> None:
    web.page(VIDEO, player(tracks))
    assert "## Description" in scrape(VIDEO)["content"]


@pytest.mark.slow
def test_captions_that_never_end_a_line_are_none(scrape: Scrape, web: Server) -> None:
    web.page(VIDEO, player([track("en")]))
    hostile = "<text start=" * 200_000 + "<p><text>" * 100_000
    web.page("http://www.youtube.com/api/timedtext?v=x&lang=en&kind=&fmt=json3", hostile, "text/xml")
    assert scrape(VIDEO)["contentType"] == "youtube"


@pytest.mark.slow
def test_without_tracks_the_timed_text_api_is_asked_and_then_the_description(scrape: Scrape, web: Server) -> None:
    web.page(VIDEO, player())
    answer = scrape(VIDEO)
    assert answer["content"].endswith("## Description\n\nFirst line.  \nSecond \\*line\\*.")
    assert answer["extractionQuality"] == "partial"
    base = "http://www.youtube.com/api/timedtext?v=dQw4w9WgXcQ&lang="
    assert [one.target for one in web.requests][1:] == [f"{base}{name}&fmt=json3" for name in ("en", "en-US", "en-GB")]
    web.page(f"{base}en-GB&fmt=json3", captions("at last"), "application/json")
    assert "(0:00) at last" in scrape(VIDEO)["content"]


def test_a_page_of_youtube_that_holds_no_video_is_a_page(scrape: Scrape, at: At) -> None:
    assert scrape(at("http://www.youtube.com/about"))["contentType"] == "html"
    assert scrape(at(VIDEO))["contentType"] == "html"


@pytest.mark.parametrize("url", ["http://notyoutube.com/watch?v=dQw4w9WgXcQ", "http://www.youtube.com/watch?v=short"])
def test_what_is_no_video_is_not_taken_for_one(url: str) -> None:
    assert watch_url(url) is None


@pytest.mark.slow
@pytest.mark.parametrize("address", ["http://10.0.0.1/secret?a=b", "file:///etc/passwd", "http://[", "http://x\ud800/"])
def test_captions_are_not_fetched_from_inside(scrape: Scrape, web: Server, address: str) -> None:
    inside = {"baseUrl": address, "languageCode": "en"}
    web.page(VIDEO, player([inside]))
    assert "Description" in scrape(VIDEO)["content"]
    assert not [one for one in web.requests if "10.0.0.1" in one.target]


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
CORE = (
    '<cp:coreProperties xmlns:cp="c" xmlns:dc="d" xmlns:dcterms="t"><dc:title>Plan &amp; more</dc:title>'
    "<dc:creator>Ann Lee</dc:creator><dcterms:created>2024-03-05T10:00:00Z</dcterms:created></cp:coreProperties>"
)
TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)


def word(body: str, *, first: bytes = b"", core: str = CORE) -> bytes:
    """A Word document with these paragraphs. first: a picture that is packed before them. core: its properties."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("_rels/.rels", RELATIONS)
        if first:
            archive.writestr("docProps/thumbnail.jpeg", first)
        archive.writestr("word/document.xml", f"<w:document {W}><w:body>{body}</w:body></w:document>")
        archive.writestr("docProps/core.xml", core)
    return file.getvalue()


def paragraph(text: str, style: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{properties}<w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


DOCX_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def test_the_properties_of_a_document_lose_what_is_invisible(server: Server, scrape: Scrape) -> None:
    pytest.importorskip("mammoth")
    core = CORE.replace("Plan", "Pl\u200ban\U000e0041\u202e").replace("Ann", "A\u2060nn")
    answer = scrape(server.page("/file.docx", word(paragraph(PROSE), core=core), DOCX_TYPE))
    assert titled(answer) == ("Plan & more", "Ann Lee")


@pytest.mark.parametrize("content_type", [DOCX_TYPE, "application/octet-stream", "application/zip", ""])
def test_a_word_document_is_read(server: Server, scrape: Scrape, content_type: str) -> None:
    pytest.importorskip("mammoth")
    table = f"<w:tbl><w:tr><w:tc>{paragraph('a | b')}</w:tc><w:tc>{paragraph('c')}</w:tc></w:tr></w:tbl>"
    body = word(paragraph("Heading", "Heading1") + paragraph(f"Some *words*. {PROSE}") + table)
    answer = scrape(server.page("/file", body, content_type))
    assert answer["contentType"] == "docx"
    assert answer["content"].startswith("# Heading\n\nSome \\*words\\*. There are")
    assert "a \\| b" in answer["content"] or "a | b" in answer["content"]
    assert titled(answer) == ("Plan & more", "Ann Lee")
    assert answer["citation"]["metadata"]["date"] == "2024-03-05"
    assert "structuredData" not in answer
    assert "extractedBy" not in answer


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def test_text_that_word_hides_is_left_out(server: Server, scrape: Scrape) -> None:
    pytest.importorskip("mammoth")
    hidden = run("secret one", "<w:b/><w:vanish/>") + run("secret two", '<w:vanish w:val="true"/>')
    shown = run(f"Seen. {PROSE}") + run("Seen, too.", '<w:vanish w:val="0"/>') + run("Bold.", "<w:b/>")
    answer = scrape(server.page("/file.docx", word(f"<w:p>{hidden}{shown}</w:p>"), DOCX_TYPE))
    assert answer["content"] == f"Seen. {PROSE}Seen, too.**Bold.**"


def test_a_document_that_hides_all_of_its_text_is_not_lost(server: Server, scrape: Scrape) -> None:
    pytest.importorskip("mammoth")
    answer = scrape(server.page("/file.docx", word(f"<w:p>{run(PROSE, '<w:vanish/>')}</w:p>"), DOCX_TYPE))
    assert answer["content"] == PROSE.strip()


def test_a_document_is_known_however_large_the_picture_before_its_text_is(server: Server, scrape: Scrape) -> None:
    pytest.importorskip("mammoth")
    body = word(paragraph(PROSE * 3), first=random.Random(3).randbytes(100_000))
    assert scrape(server.page("/file.docx", body, DOCX_TYPE))["content"].startswith("There are some words")


def test_a_presentation_is_read(server: Server, scrape: Scrape) -> None:
    pptx = pytest.importorskip("pptx")
    show = pptx.Presentation()
    show.core_properties.title, show.core_properties.author = "The show", "Bo Ek"
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "First <slide>"
    slide.placeholders[1].text = f"A point\nAnother *point*. {PROSE}"
    slide.notes_slide.notes_text_frame.text = "Say hello."
    table = slide.shapes.add_table(2, 2, 0, 0, 100, 100).table
    for row in range(2):
        for column in range(2):
            table.cell(row, column).text = f"{row}{column}"
    file = BytesIO()
    show.save(file)
    answer = scrape(server.page("/show.pptx", file.getvalue(), "application/octet-stream"))
    assert answer["contentType"] == "pptx"
    assert answer["content"].startswith("## Slide 1: First \\<slide>\n\nA point\n\nAnother \\*point\\*.")
    assert "| 00 | 01 |" in answer["content"]
    assert answer["content"].endswith("### Notes\n\nSay hello.")
    assert titled(answer) == ("The show", "Bo Ek")


def slides(*texts: str) -> Any:
    """A presentation with a slide for each text."""
    show = pytest.importorskip("pptx").Presentation()
    for text in texts:
        show.slides.add_slide(show.slide_layouts[1]).placeholders[1].text = text
    return show


def saved(show: Any) -> bytes:
    file = BytesIO()
    show.save(file)
    return file.getvalue()


def test_a_hidden_slide_is_called_so(server: Server, scrape: Scrape) -> None:
    show = slides(PROSE, "In reserve.", "Last.")
    show.slides[1]._element.set("show", "0")
    content = scrape(server.page("/show.pptx", saved(show), "application/octet-stream"))["content"]
    assert "## Slide 2 (hidden)\n\nIn reserve.\n\n## Slide 3\n\nLast." in content


def test_one_malformed_slide_does_not_cost_the_others(server: Server, scrape: Scrape) -> None:
    show = slides(PROSE, "Broken.", "Last.")
    tree = show.slides[1].shapes._spTree
    tree.getparent().remove(tree)
    content = scrape(server.page("/show.pptx", saved(show), "application/octet-stream"))["content"]
    assert "## Slide 2\n\n[This slide cannot be read.]\n\n## Slide 3\n\nLast." in content


def test_without_the_extra_the_error_says_how_to_install_it_here(
    server: Server, make_context: Callable[..., Context], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "find_spec", lambda library: None)
    url = server.page("/file.docx", word(paragraph("x")), DOCX_TYPE)
    with pytest.raises(ToolError) as raised:
        load(scan()["scrape_page"][0]).execute({"url": url}, make_context())
    assert raised.value.details is not None
    assert raised.value.details["kind"] == "config"
    assert str(raised.value.hint).startswith("It needs the module mammoth (reads Word documents): ")
    assert str(raised.value.hint).endswith("ferrule install 'ferrule-research[documents]'")


@pytest.mark.parametrize(
    "body",
    [
        lambda: word("")[:-200],
        lambda: word("<w:p><w:unclosed></w:p>"),
        lambda: word(paragraph("")),
        lambda: word(paragraph(" " * (101 << 20))),
        lambda: word(paragraph("&bomb;")),
    ],
    ids=["cut off", "malformed", "empty", "unpacks to too much", "an entity"],
)
def test_a_document_that_cannot_be_read_is_no_content(
    server: Server, page_error: Problem, body: Callable[[], bytes]
) -> None:
    pytest.importorskip("mammoth")
    error = page_error(server.page("/file.docx", body(), DOCX_TYPE))
    assert error.details is not None
    assert error.details["kind"] == "content_empty"
    assert "DOCX" in error.message


def test_a_pdf_is_read_by_the_fetcher(server: Server, scrape: Scrape) -> None:
    answer = scrape(server.page("/a.pdf", pdf(["Some words of a paper."]), "application/pdf"))
    assert answer["contentType"] == "pdf"
    assert "Some words of a paper." in answer["content"]


def test_nothing_heavy_is_imported_before_the_url_is_sound() -> None:
    run = run_tool("scrape_page", {"url": "nonsense"})
    assert run.document["kind"] == "validation"
    script = (
        "import sys, ferrule, ferrule_research.page as page\n"
        "page.schema()\n"
        "before = set(sys.modules)\n"
        "try:\n    page.execute({'url': 'nonsense'}, ferrule.Context('scrape_page', 0))\n"
        "except ferrule.ToolError:\n    pass\n"
        "print(*before); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    before, after = (set(line.split()) for line in done.stdout.splitlines())
    assert not {"ferrule_fetch", "httpcore", "urllib.parse", "json", "ferrule_research.page.call"} & before
    assert not {"httpcore", "ssl", "turbohtml._html", "html5lib", "mammoth", "pptx"} & after
