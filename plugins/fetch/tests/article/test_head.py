"""The head of an article: a line each, before the article, whichever elements hold it."""

from collections.abc import Callable

import pytest

from ferrule_fetch.markdown import convert

TITLE = "Storm closes harbour of Lindvik"
STANDFIRST = "Three islands are supplied by air until the ferries are repaired"
PAGE = """
<html><head><title>{title} - The Daily Sound</title><meta property="og:type" content="article">
<meta name="description" content="{standfirst}"></head><body>{banner}
<div class="top">{above}</div><div class="article-body">{inside}{story}</div>
<div class="more"><p>Also read: <a href="/quay">A quay for Lindvik</a></p></div></body></html>
"""

Lines = Callable[..., tuple[list[str], list[str]]]


@pytest.fixture
def lines(story: str) -> Lines:
    """The lines of the article, and those of the rest, of a page with parts above the article and inside of it."""

    def lines(above: str = "", inside: str = "", banner: str = "", **named: str) -> tuple[list[str], list[str]]:
        said = {"title": TITLE, "standfirst": STANDFIRST, **named}
        html = PAGE.format(above=above, inside=inside, banner=banner, story=story, **said)
        done = convert(html, "https://sound.example/storm", is_split=True)
        return [[line for line in text.split("\n") if line] for text in (done.markdown, done.rest)]

    return lines


WAYS = {
    "plain": (
        f"<h1>{TITLE}</h1><p>{STANDFIRST}</p>"
        '<div class="byline">By <a href="/ann">Ann Lee</a></div><time datetime="2026-03-05">5 March 2026</time>'
        '<figure><img src="q.jpg" alt="A crane"><figcaption>The crane at noon</figcaption></figure>'
    ),
    "in another order": (
        '<header><figure><img src="q.jpg" alt="A crane"><figcaption>The crane at noon</figcaption></figure>'
        '<span class="post-date">5 March 2026</span>'
        f'<h1>{TITLE}</h1><ul class="authors"><li>By <a rel="author" href="/ann">Ann Lee</a></li></ul>'
        f'<h2 class="standfirst">{STANDFIRST}</h2></header>'
    ),
    "among other things": (
        f'<h1>{TITLE}</h1><div class="share-tools"><a href="#">SHARED</a></div><h4 class="dek">{STANDFIRST}</h4>'
        '<div class="meta"><address>By <a href="/ann">Ann Lee</a></address><div class="social">SHARED</div>'
        '<time>5 March 2026</time></div><div class="lead-caption">The crane at noon</div>'
    ),
}


@pytest.mark.parametrize("head", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("place", ["above", "inside"])
def test_it_stands_before_the_article_a_line_each(lines: Lines, head: str, place: str) -> None:
    article, rest = lines(**{place: head})
    assert article[0] == f"# {TITLE}"
    before = article[1 : next(at for at, line in enumerate(article) if "Lindvik was closed" in line)]
    said = [line.strip("#* ") for line in before]
    author = "By [Ann Lee](https://sound.example/ann)"
    assert [line for line in said if STANDFIRST in line] == [STANDFIRST]
    assert [line for line in said if "Ann Lee" in line] == [author]
    assert [line for line in said if "5 March" in line] == ["5 March 2026"]
    assert [line for line in said if "noon" in line] in (
        ["The crane at noon"],
        ["![A crane](https://sound.example/q.jpg) The crane at noon"],
    )
    assert not any(part in " ".join(rest) for part in (TITLE, STANDFIRST, "Ann Lee", "5 March", "noon"))
    assert "SHARED" not in " ".join(article)


def test_the_heading_that_says_the_title_wins_over_a_banner(lines: Lines) -> None:
    article, rest = lines(above=f"<h2>{TITLE}</h2>", banner="<h1>The Daily Sound</h1>")
    assert article[0] == f"# {TITLE}"
    assert "# The Daily Sound" in rest


def test_the_name_of_a_site_that_a_title_begins_with_is_none(lines: Lines) -> None:
    article, _ = lines(above=f"<h1>{TITLE}</h1>", title=f"Sound - {TITLE}", banner="<h1>Sound</h1>")
    assert article[0] == f"# {TITLE}"


def test_a_title_that_is_shorter_than_the_name_of_the_site_wins_inside_the_article(lines: Lines) -> None:
    site = "The Daily Sound of the Islands and the Coast"
    article, _ = lines(
        inside="<h1>Storm in Lindvik</h1>", title=f"Storm in Lindvik - {site}", banner=f"<h1>{site}</h1>"
    )
    assert article[0] == "# Storm in Lindvik"


def test_a_page_that_is_called_something_else_has_its_only_large_heading(lines: Lines) -> None:
    article, _ = lines(above="<h1>When the sea took the coffee machine</h1>")
    assert article[0] == "# When the sea took the coffee machine"


@pytest.mark.parametrize("element", ["div", "td", "strong"])
def test_a_title_that_is_no_heading_is_one(lines: Lines, element: str) -> None:
    above = f"<{element}>{TITLE}</{element}>"
    article, _ = lines(above=f"<table><tr>{above}</tr></table>" if element == "td" else above)
    assert article[0] == f"# {TITLE}"


def test_the_title_is_said_once(lines: Lines) -> None:
    article, rest = lines(above=f"<h1>{TITLE}</h1>", banner=f'<div class="sticky"><span>{TITLE}</span></div>')
    assert [line for line in article + rest if TITLE in line] == [f"# {TITLE}"]


def test_a_link_that_says_the_title_stays_in_the_rest(lines: Lines) -> None:
    _, rest = lines(above=f"<h1>{TITLE}</h1>", banner=f'<div><a href="/part-2">{TITLE}</a></div>')
    assert f"[{TITLE}](https://sound.example/part-2)" in rest


def test_the_same_byline_is_said_once(lines: Lines) -> None:
    byline = '<p class="byline">By Ann Lee, Lindvik</p>'
    article, _ = lines(above=f'<h1>{TITLE}</h1>{byline}<p class="author">Ann Lee</p>')
    assert [line for line in article if "Ann Lee" in line] == ["By Ann Lee, Lindvik"]


def test_paragraphs_between_the_heading_and_the_article_are_its_beginning(lines: Lines) -> None:
    first = "A storm from the north-west, with gusts of 130 kilometres an hour, tore two ferries from their moorings."
    article, rest = lines(above=f"<h1>{TITLE}</h1><div><p>{first}</p></div>")
    assert article[:2] == [f"# {TITLE}", first]
    assert first not in rest


def test_a_note_that_subscribers_are_asked_to_read_is_none_of_it(lines: Lines) -> None:
    note = "Get the news of the islands every morning, before the first ferry leaves, by electronic mail and for free."
    article, rest = lines(above=f'<h1>{TITLE}</h1><div class="newsletter"><p>{note}</p></div>')
    assert note not in article
    assert note in rest


LEADING = {
    "languages": "<div><ul>"
    + "".join(f'<li><a hreflang="l{n}" href="https://l{n}.example/">LEADING {n}</a></li>' for n in range(22))
    + "</ul></div>",
    "a table of contents": '<h4>LEADING</h4><ul><li><a href="#a">LEADING</a></li><li><a href="#b">LEADING to the '
    'islands</a></li><li><a href="#c">LEADING on</a></li></ul>',
    "a word about sharing": '<div>Share</div><div class="x"><span>Share this</span></div>',
}


@pytest.mark.parametrize("leading", LEADING.values(), ids=LEADING)
@pytest.mark.parametrize("around", ["<main>{}</main>", '<div class="article-body">{}</div>'])
def test_what_leads_elsewhere_before_the_first_sentence_goes_behind(story: str, leading: str, around: str) -> None:
    part = around.format(f"<h1>{TITLE}</h1>{leading}{story}")
    done = convert(f"<title>{TITLE}</title><body>{part}</body>", "https://sound.example/storm", is_split=True)
    article = [line for line in done.markdown.split("\n") if line]
    assert article[0] == f"# {TITLE}"
    assert "Lindvik was closed" in article[1]
    assert "LEADING" in done.rest or "Share" in done.rest


def test_links_that_an_article_begins_with_stay(story: str) -> None:
    links = "".join(f'<li><a href="https://sea{at}.example/">Ship {at}</a></li>' for at in range(5))
    page = f"<title>Ships</title><main><h1>Ships</h1><h2>All of them</h2><ul>{links}</ul>{story}</main>"
    done = convert(page, "https://sound.example/", is_split=True)
    assert "Ship 4" in done.markdown


def test_an_index_keeps_its_links() -> None:
    links = "".join(
        f'<li><a href="/{number}">Chapter {number}, of the sea and the ships</a></li>' for number in range(9)
    )
    page = f"<title>Contents</title><main><h1>Contents</h1><ul>{links}</ul></main>"
    done = convert(page, "https://sound.example/", is_split=True)
    assert "Chapter 8" in done.markdown


@pytest.mark.parametrize("name", ["navbox", "catlinks", "portalbox"])
def test_the_boxes_at_the_end_of_an_encyclopedias_entry_go(story: str, name: str) -> None:
    box = f'<div class="{name}"><a href="/a">LEADING</a> <a href="/b">on</a></div>'
    page = f"<title>Lindvik</title><main><h1>Lindvik</h1>{story}{box}</main>"
    done = convert(page, "https://sound.example/", is_split=True)
    assert "coffee machine" in done.markdown
    assert "LEADING" not in done.markdown
    assert "LEADING" in done.rest
