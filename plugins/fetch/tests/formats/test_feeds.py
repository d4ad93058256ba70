"""Feeds come back as markdown: title, links, dates, summaries."""

from collections.abc import Callable
from typing import Any

import pytest

from ferrule_dev.testing import Server

pytestmark = pytest.mark.process


Fetch = Callable[..., dict[str, Any]]

RSS = """<?xml version="1.0"?><!-- made by hand -->
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:media="http://search.yahoo.com/mrss/"
 xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<title>News &amp;amp; more</title><atom:link rel="self" href="http://news.example/feed"/>
<link>http://news.example/</link><description>All &lt;b&gt;the&lt;/b&gt; news</description>
<image><title>A logo</title><link>http://logo.example/</link></image>
<item><title>The &lt;b&gt; element</title><link>one</link><pubDate>Tue, 10 Jun 2003 04:00:00 GMT</pubDate>
<dc:creator>Ann</dc:creator><media:title>Another title</media:title>
<description><![CDATA[<p>Left <em>open <!-- here</p>]]></description></item>
<item><title>Caf&eacute;</title><guid>http://news.example/2</guid><content:encoded>The &lt;i&gt;whole&lt;/i&gt; text
</content:encoded></item>
<item><guid isPermaLink="false">17</guid><description>Nothing else</description></item>
</channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">A &lt;i&gt;</title><link rel="self" href="/s"/>
<link href="/blog/"/><updated>2024-01-01T00:00:00Z</updated>
<entry><title type="html">x &lt;em&gt;y&lt;/em&gt;</title><link rel="alternate" href="post"/><id>urn:x</id>
<published>2024-02-01</published><author><name>Bob</name><uri>http://bob.example/</uri></author>
<summary>a &lt; b</summary><content>longer</content></entry>
<entry><title>Second</title><link href="second"/><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">
<p>A <a href="there">link</a></p></div></content></entry></feed>"""

RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="x"><title>Old</title></channel>
<item><title>One</title><link>http://old.example/1</link><dc:date>2004-05-06</dc:date></item></rdf:RDF>"""


def test_rss_is_given_back_as_markdown(server: Server, fetch: Fetch) -> None:
    answer = fetch(server.page("/", RSS, "application/rss+xml"))
    assert answer["title"] == "News & more"
    assert answer["content"] == (
        "# [News & more](http://news.example/)\n\nAll **the** news\n\n"
        "## [The \\<b> element](http://news.example/one)\n\nTue, 10 Jun 2003 04:00:00 GMT · Ann\n\nLeft *open*\n\n"
        "## [Café](http://news.example/2)\n\nThe *whole* text\n\n## Untitled\n\nNothing else"
    )


def test_atom_is_given_back_as_markdown(server: Server, fetch: Fetch) -> None:
    answer = fetch(server.page("/feed", ATOM, "application/atom+xml"))
    assert answer["title"] == "A <i>"
    assert answer["content"] == (
        f"# [A \\<i>]({server.url}/blog/)\n\n2024-01-01T00:00:00Z\n\n"
        f"## [x *y*]({server.url}/blog/post)\n\n2024-02-01 · Bob\n\na < b\n\n"
        f"## [Second]({server.url}/blog/second)\n\nA [link]({server.url}/blog/there)"
    )


def test_the_oldest_rss_is_given_back_as_markdown(server: Server, fetch: Fetch) -> None:
    content = fetch(server.page("/", RDF, "text/xml"))["content"]
    assert content == "# Old\n\n## [One](http://old.example/1)\n\n2004-05-06"


@pytest.mark.parametrize("content_type", ["text/xml", "text/html", "application/octet-stream", ""])
def test_a_feed_is_known_by_its_beginning(server: Server, fetch: Fetch, content_type: str) -> None:
    assert fetch(server.page("/", RSS, content_type))["title"] == "News & more"


def test_a_feed_that_is_cut_off_is_given_back_up_to_there(server: Server, fetch: Fetch) -> None:
    cut = RSS[: RSS.index("<item><guid")]
    assert fetch(server.page("/", cut, "text/xml"))["content"].endswith("The *whole* text")


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE rss [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><rss><channel><title>&b;</title></channel></rss>',
        '<!DOCTYPE rss [<!ENTITY a SYSTEM "file:///etc/hostname">]><rss><channel><title>&a;</title></channel></rss>',
        "<rss><channel><title>never closed</channel></rss>",
        "<rss>" + "<a>" * 1_000,
        "<rss></rss>",
    ],
    ids=["entities", "an external entity", "malformed", "too deep", "empty"],
)
def test_a_feed_that_cannot_be_read_or_is_a_trap_is_only_text(server: Server, fetch: Fetch, text: str) -> None:
    answer = fetch(server.page("/", text, "application/rss+xml"))
    assert answer["title"] == ""
    assert "".join(answer["content"].split()) == "".join(text.split())


def test_a_feed_of_very_many_entries_is_cut_and_says_so(server: Server, fetch: Fetch) -> None:
    text = "<rss><channel><title>Many</title>" + "<item><title>x</title></item>" * 2_100 + "</channel></rss>"
    answer = fetch(server.page("/", text, "text/xml"), offset=3)
    assert answer["content"].count("## x") == 2_000
    assert answer["content"].endswith("[Only the first 2,000 entries of this feed are shown.]")


@pytest.mark.parametrize(
    ("entry", "link"),
    [
        ("<link>http://host.example/?a=1&amp;copy=2</link>", "http://host.example/?a=1&copy=2"),
        ("<link>\n http://host.example/ </link>", "http://host.example/"),
        ("<guid>http://host.example/?a&amp;b</guid>", "http://host.example/?a&b"),
        ('<a:link href="http://host.example/?a&amp;b"/>', "http://host.example/?a&b"),
        ('<a:link rel="enclosure" href="http://media.example/"/><link>/there</link>', "http://base.example/there"),
        ('<link>/there"onclick="x</link>', "http://base.example/there%22onclick=%22x"),
    ],
)
def test_the_link_of_an_entry_is_whole(server: Server, fetch: Fetch, entry: str, link: str) -> None:
    item = f"<item><title>x</title>{entry}</item>"
    channel = f"<channel><link>http://base.example/</link>{item}</channel>"
    text = f'<rss xmlns:a="http://www.w3.org/2005/Atom">{channel}</rss>'
    assert fetch(server.page("/", text, "text/xml"))["content"].endswith(f"## [x]({link})")


@pytest.mark.parametrize("entry", ["<guid>17</guid>", "<a:id>urn:x</a:id>", "<a:link rel='self' href='/'/>", "<link/>"])
def test_an_entry_need_not_have_a_link(server: Server, fetch: Fetch, entry: str) -> None:
    text = f'<rss xmlns:a="http://www.w3.org/2005/Atom"><channel><item><title>x</title>{entry}</item></channel></rss>'
    assert fetch(server.page("/", text, "text/xml"))["content"].endswith("## x")


def test_a_feed_whose_own_link_is_malformed_is_read_all_the_same(server: Server, fetch: Fetch) -> None:
    text = "<rss><channel><title>T</title><link>http://[</link><item><title>x</title><link>/y</link></item></channel></rss>"
    assert fetch(server.page("/", text, "text/xml"))["content"].endswith(f"## [x]({server.url}/y)")
