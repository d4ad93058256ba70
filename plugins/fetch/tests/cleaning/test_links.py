"""Links lead somewhere, and are told once."""

from collections.abc import Callable

import pytest

from ferrule_fetch.markdown import convert

Write = Callable[[str], str]
SITE = "https://site.example"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ('<p>See <a href="#two">part two</a>.</p>', "See [part two](#two)."),
        (f'<p>See <a href="{SITE}/guide/page.html#two">part two</a>.</p>', "See [part two](#two)."),
        ('<h2>Install<a class="headerlink" href="#install" title="Permalink">¶</a></h2>', "## Install"),
        (
            '<h2>Install<a class="hash-link" href="#install" aria-label="Direct link to Install">\u200b</a></h2>',
            "## Install",
        ),
        (
            '<h2 id=i tabindex=-1>Install <a class="header-anchor" href="#i" aria-label="Permalink to Install">#</a></h2>',  # noqa: E501 - a page's own line
            "## Install",
        ),
        ('<h2><a href="#install">Install</a></h2>', "## Install"),
        ('<p><a href="#fragment">link</a></p>', "[link](#fragment)"),
        ('<p><a href="/u">a</a> <a href="/u">a</a></p>', f"[a]({SITE}/u) [a]({SITE}/u)"),
        ('<p>a<a href="#"></a>b</p>', "ab"),
        ('<p>a <a href="/x"></a>b</p>', "a b"),
        ('<p>a <a href="/x"><i class="icon"></i></a> b</p>', "a b"),
        ('<p><a href="#">More</a></p>', "More"),
        ('<p><a href="#main">Skip to main content</a></p><p>Text</p>', "Text"),
        (
            '<a href="/wiki/Brain_drain" title="Brain drain">brain drains</a>',
            f"[brain drains]({SITE}/wiki/Brain_drain)",
        ),
        ('<a href="/x" title="Read the guide">read the guide</a>', f"[read the guide]({SITE}/x)"),
        ('<a href="/x" title="A long history">more</a>', f'[more]({SITE}/x "A long history")'),
        ('<a href="/home" aria-label="Home"><svg><path d="M0"/></svg></a>', f"[Home]({SITE}/home)"),
        ('<a href="/home"><svg><title>Home</title><path d="M0"/></svg></a>', f"[Home]({SITE}/home)"),
        (
            '<a href="/a"><div><img src="a.png" alt=""></div><div><h3>Title</h3><p>Summary</p></div></a>',
            f"### [Title]({SITE}/a)\n\nSummary",
        ),
        ('<a href="/a"><div><p>Title</p><p>Summary</p></div></a>', f"[Title]({SITE}/a)\n\nSummary"),
        (
            '<ul><li><a href="/a"><img src="t.jpg" alt="Title"></a><h3><a href="/a">Title</a></h3>'
            '<p>Summary</p><a href="/a">Read more</a></li></ul>',
            f"- ### [Title]({SITE}/a)\n\n  Summary",
        ),
        (
            '<article><a href="/a"><img src="t.jpg" alt="A cat"></a><h3><a href="/a">Title</a></h3></article>',
            f"![A cat]({SITE}/guide/t.jpg)\n\n### [Title]({SITE}/a)",
        ),
        (
            '<ul><li><a href="/a">20 comments</a><h3><a href="/a">Title</a></h3></li></ul>',
            f"- 20 comments\n  ### [Title]({SITE}/a)",
        ),
        (
            '<p>Both <a href="/a">this</a> and <a href="/a">that</a> lead there.</p>',
            f"Both [this]({SITE}/a) and [that]({SITE}/a) lead there.",
        ),
        (
            '<ul><li><a href="/a">A</a></li><li><a href="/b">B</a></li><li><a href="/a">A again</a></li></ul>',
            f"- [A]({SITE}/a)\n- [B]({SITE}/b)\n- [A again]({SITE}/a)",
        ),
    ],
)
def test_links(shown: Write, html: str, markdown: str) -> None:
    assert shown(html).replace("\n  \n", "\n\n") == markdown


def test_a_note_keeps_its_link_and_none_back(shown: Write) -> None:
    html = (
        '<p>So it was.<sup id="r1"><a href="#n1">[1]</a></sup></p><ol><li id="n1"><a href="#r1">^</a> A book.</li></ol>'
    )
    assert shown(html) == "So it was.[[1]](#n1)\n\n1. A book."


def test_a_place_of_another_page_is_no_place_of_this_one(shown: Write) -> None:
    html = f'<base href="{SITE}/other/"><p><a href="#two">two</a></p>'
    assert shown(html) == f"[two]({SITE}/other/#two)"


def test_an_item_whose_links_were_empty_is_removed(write: Write) -> None:
    assert write('<ul><li><a href="/f"><i></i></a></li><li>b</li></ul>') == "- b"
    assert write('<ul><li><a href="#content">Skip to content</a></li><li>b</li></ul>') == "- b"


def test_a_sentence_keeps_the_words_of_a_link_that_was_told_before(write: Write) -> None:
    html = (
        '<div><p>It equals its <a href="/t">conjugate transpose</a>.</p>'
        '<p>If the <a href="/t">conjugate transpose</a> of a matrix is known, so is the matrix.</p></div>'
    )
    assert "If the [conjugate transpose](" in write(html)


def test_a_note_of_a_generator_has_no_link_back(write: Write) -> None:
    link = '<a class="footnote-backref" href="#r1" title="Back to the text">↩</a>'
    html = f'<ol><li id="n1"><p>A book.\xa0{link}</p></li></ol>'
    assert write(html).rstrip() == "1. A book."


@pytest.mark.parametrize(
    "address",
    [
        "https://www.facebook.com/sharer/sharer.php?u=x",
        "https://twitter.com/intent/tweet?url=x",
        "mailto:?subject=News&amp;body=x",
    ],
)
def test_links_that_share_the_page_are_left_out_but_those_of_a_sentence(address: str, write: Write) -> None:
    assert write(f'<p>Text.</p><ul><li><a href="{address}">Share</a></li></ul>') == "Text."
    assert "[this](" in write(f'<p>Such a link looks like <a href="{address}">this</a> one.</p>')


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (
            '<p>Written by <a href="/john">John Smith</a>.</p><p>By <a href="/john">John Smith</a>.</p>',
            f"Written by [John Smith]({SITE}/john).\n\nBy [John Smith]({SITE}/john).",
        ),
        (
            '<p>With <b>bold</b> and <a href="/x">link</a>.</p>' * 2,
            f"With **bold** and [link]({SITE}/x).\n\nWith **bold** and [link]({SITE}/x).",
        ),
        ('<p>See the <i><a href="/d">docs</a></i>.</p>' * 3, "\n\n".join([f"See the *[docs]({SITE}/d)*."] * 3)),
    ],
)
def test_a_sentence_keeps_its_link_though_another_one_has_it(write: Write, html: str, markdown: str) -> None:
    assert write(html) == markdown


@pytest.mark.parametrize("more", ["Read more<i> about Title</i>", "Read more: Title", "Continue reading Title"])
def test_a_link_that_says_more_and_the_title_is_left_out_of_its_card(write: Write, more: str) -> None:
    html = f'<article><h3><a href="/x">Title</a></h3><p>In short</p><a href="/x">{more}</a></article>'
    assert write(html) == f"### [Title]({SITE}/x)\n\nIn short"


def test_places_of_a_page_with_a_query_are_short() -> None:
    page = f"{SITE}/a/p?q=1"
    written = ("/a/p?q=1#z", "?q=1#z", "p?q=1#z", f"{page}#z", f"{SITE}/a/p#z", "/a/p#z")
    for href in written:
        assert convert(f'<h2 id="z">h</h2><p><a href="{href}">it</a></p>', page).markdown == "## h\n\n[it](#z)"
    for href in ("/a/p?q=2#z", "/a/p#other"):
        html = f'<h2 id="z">h</h2><p><a href="{href}">it</a></p>'
        assert convert(html, page).markdown == f"## h\n\n[it]({SITE}{href})"
