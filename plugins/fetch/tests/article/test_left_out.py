"""What stands inside an article and is none of it, and what looks like that and is."""

import pytest

PAGE = """
<html><head><title>Storm closes harbour of Lindvik - The Daily Sound</title>
<meta property="og:type" content="article"><link rel="canonical" href="https://sound.example/storm"></head><body>
<div id="top"><ul><li><a href="/">Home</a></li><li><a href="/sport">Sport</a></li></ul></div>
<div class="article-body"><h1>Storm closes harbour of Lindvik</h1>{story}{part}{story}</div>
<div id="bottom"><a href="/imprint">Imprint</a></div></body></html>
"""

LEFT_OUT = {
    "a share bar": '<div class="share-tools"><ul><li><a href="#">THEPART on Facebook</a></li></ul></div>',
    "related links in a box": '<div class="related-stories"><h3>THEPART</h3><ul><li><a href="/a">A</a></li></ul></div>',
    "related links in an aside": "<aside><h4>THEPART</h4><p>Ferries are old, say critics of the ministry.</p></aside>",
    "a list of headlines of the same site": (
        '<ul><li><a href="/ferries">THEPART: why the ferries of the islands are so old</a></li>'
        '<li><a href="https://www.sound.example/quay">Who pays for the new quay, and who for the old one</a></li></ul>'
    ),
    "a newsletter's form": '<div class="newsletter-signup"><p>THEPART every morning.</p><input type="email"></div>',
    "a form": '<form action="/vote"><p>THEPART</p><label><input type="radio">Yes</label><button>Vote</button></form>',
    "a link to another article": '<p>Read more: <a href="/ferries">THEPART of the ferries</a></p>',
    "an advertisement's notice": '<p>Advertisement</p><div class="ad-slot">THEPART</div>',
    "tags": '<div class="tags"><a href="/t/sea">THEPART</a> <a href="/t/storm">Storm</a></div>',
    "a byline": '<p class="byline">By THEPART, Lindvik</p>',
    "comments": '<div id="comments"><p>THEPART. I was there, and it was a crane, a truck and two containers.</p></div>',
    "videos beside": '<div class="video-playlist"><div>THEPART told in ninety seconds</div><span>01:22</span></div>',
    "a request for money": '<div class="donate-box"><p>THEPART is paid for by our readers.</p></div>',
    "what leads on": '<div class="nextpage"><div>THEPART</div></div>',
    "cards of other articles": (
        '<div><div><h3><a href="/a">THEPART</a></h3><p>The ferries of the islands.</p></div>'
        '<div><h3><a href="/b">Quay</a></h3><p>A new quay for Lindvik.</p></div></div>'
    ),
}
KEPT = {
    "a caption": '<figure><img src="a.jpg"><figcaption>THEPART at the quay, photographed at noon</figcaption></figure>',
    "a quotation": "<blockquote><p>THEPART, and the sea gives back what it took.</p></blockquote>",
    "a heading": "<h2>THEPART</h2>",
    "a list": "<ul><li>THEPART</li><li>two trucks</li></ul>",
    "a list of links that lead elsewhere": (
        '<ul><li><a href="https://weather.example/storms/3">THEPART and the storms before it, in figures</a></li>'
        '<li><a href="https://ferries.example/timetable">The timetable for the week after the storm</a></li></ul>'
    ),
    "code": '<div class="highlight share-me"><pre><code>THEPART = crane + truck</code></pre></div>',
    "a table of figures": "<table><tr><th>Wind</th><th>km/h</th></tr><tr><td>THEPART</td><td>130</td></tr></table>",
    "a short line": "<p>THEPART.</p>",
    "a paragraph with a name that is meant for scripts": (
        '<p class="paywall">THEPART is what this paragraph speaks of, at such a length that it can be nothing but the '
        "article itself, whatever the name that its author gave to it.</p>"
    ),
    "notes": '<div class="references"><ol><li><a href="#r1">^</a> <a href="/b">THEPART, a history</a></li></ol></div>',
    "words in a link": '<p>The <a class="popup" href="/x">THEPART</a> was found on Tuesday.</p>',
}


@pytest.mark.parametrize("part", LEFT_OUT.values(), ids=LEFT_OUT)
def test_left_out_inside_an_article(read, story, part):
    text = read(PAGE.format(story=story, part=part))
    assert "THEPART" not in text
    assert text.count("Lindvik was closed") == text.count("coffee machine") == 2


@pytest.mark.parametrize("part", KEPT.values(), ids=KEPT)
def test_kept_inside_an_article(read, story, part):
    assert "THEPART" in read(PAGE.format(story=story, part=part))


def test_nothing_around_the_article_is_in_it(read, story):
    text = read(PAGE.format(story=story, part=""))
    assert not any(word in text for word in ("Home", "Sport", "Imprint", "Daily Sound"))


def test_the_article_begins_with_the_heading_that_says_the_title(read, story):
    assert read(PAGE.format(story=story, part="")).startswith("Storm closes harbour of Lindvik")


def test_a_name_of_chrome_around_everything_is_not_believed(read, story):
    text = read(f'<body><div class="two-col-sidebar-right"><h1>Storm</h1><div class="text">{story}</div></div>')
    assert "coffee machine" in text


def test_names_of_chrome_on_most_of_the_article_are_not_believed(read, story):
    paragraphs = story.replace("<p>", '<div class="subscribe-only"><p>').replace("</p>", "</p></div>")
    assert "coffee machine" in read(f'<body><h1>Storm</h1><div class="text">{paragraphs}</div>')


def test_a_heading_goes_with_what_it_announced(read, story):
    box = '<div class="related-stories"><a href="/a">Why the ferries are old</a></div>'
    text = read(PAGE.format(story=story, part=f"<h3>Also today</h3>{box}<h2>The night</h2>"))
    assert "Also today" not in text


def test_on_a_page_that_does_not_say_that_it_is_an_article_linked_words_are_content(read, story):
    page = PAGE.format(story=story, part=LEFT_OUT["cards of other articles"])
    assert "THEPART" in read(page.replace('content="article"', 'content="website"'))
