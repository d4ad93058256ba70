"""Images and embedded things that tell a reader something."""

from collections.abc import Callable

import pytest

Write = Callable[[str], str]
SITE = "https://site.example"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ('<p>a <img src="/b.png"> c</p>', "a c"),
        ('<p>a <img src="/b.png" alt=""> c</p>', "a c"),
        ('<p>a <img src="/b.gif" alt="x" width="1" height="1"> c</p>', "a c"),
        ('<img src="/b.png" alt="A cat" title="A cat">', f"![A cat]({SITE}/b.png)"),
        ('<img src="data:image/gif;base64,AA" data-src="/b.png" alt="A cat">', f"![A cat]({SITE}/b.png)"),
        ("""<img src="/b.png" data-src='{"s":"/x.png"}' alt="A cat">""", f"![A cat]({SITE}/b.png)"),
        ("""<img data-src='[{"s":"/x.png"}]' alt="A cat">""", "A cat"),
        ('<img data-srcset="/s.png 320w, /l.png 800w" alt="A cat">', f"![A cat]({SITE}/s.png)"),
        (
            '<picture><source srcset="/b.webp"><img src="data:image/gif;base64,AA" alt="A cat"></picture>',
            f"![A cat]({SITE}/b.webp)",
        ),
        (
            '<div><img src="data:image/gif;base64,AA" alt="A cat"><noscript><img src="/b.png" alt="A cat"></noscript></div>',  # noqa: E501 - a page's own line
            f"![A cat]({SITE}/b.png)",
        ),
        (
            '<div class="lazy" data-src="/b.png"><noscript><img src="/b.png" alt="A cat"></noscript></div>',
            f"![A cat]({SITE}/b.png)",
        ),
        ('<p>Hi<noscript><img height="1" width="1" src="https://t.example/tr?id=1" alt="t"></noscript></p>', "Hi"),
        ("<noscript><p>Without scripts</p></noscript>", "Without scripts"),
        ('<p>Good <img class="emoji" src="/1f600.png" alt="😀"></p>', "Good 😀"),
        ('<a href="/x"><img src="/b.png" alt="The shop">The shop</a>', f"[The shop]({SITE}/x)"),
        ('<video src="/v.mp4" title="How it works"></video>', f"[Video: How it works]({SITE}/v.mp4)"),
        (
            '<video poster="/p.jpg"><source src="https://cdn.example/v.mp4"></video>',
            "[Video: cdn.example](https://cdn.example/v.mp4)",
        ),
        ('<audio><source src="/a.mp3"></audio>', f"[Audio]({SITE}/a.mp3)"),
        (
            '<iframe src="https://www.youtube.com/embed/dQw4w9WgXcQ?rel=0" title="A talk"></iframe>',
            "[Embedded page: A talk](https://www.youtube.com/watch?v=dQw4w9WgXcQ)",
        ),
        ('<p>a</p><iframe src="https://ads.example/f?%s"></iframe>' % ("x=1&" * 60), "a"),
        ('<p>a</p><iframe src="https://ads.example/f" title="Advertisement"></iframe>', "a"),
        ('<iframe data-src="https://maps.example/m" src="about:blank"></iframe>', ""),
        ('<iframe src="https://maps.example/m"></iframe>', "[Embedded page: maps.example](https://maps.example/m)"),
        ('<p>a</p><iframe src="https://www.googletagmanager.com/ns.html?id=G" height="0" width="0"></iframe>', "a"),
        ("<svg viewBox='0 0 9 9'><text>Q1</text><text>42 %</text></svg>", "Q1, 42 %"),
        ("<h2><svg><text>icon</text></svg>Title</h2>", "## Title"),
    ],
)
def test_images_and_embeds(write: Write, html: str, markdown: str) -> None:
    assert write(html).replace(f"]({SITE}", "](").replace("](/guide/", "](") == markdown.replace(f"]({SITE}", "](")
