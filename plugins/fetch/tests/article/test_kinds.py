"""Pages of other kinds than news: found whole, or no article at all."""

import pytest

WORDS = (
    "This paragraph explains one of the settings, says what happens without it, and names the file in which it stands, "
    "so that a reader can change it, look at the effect, and change it back."
)
SPHINX = f"""
<div class="related"><ul><li><a href="genindex.html">index</a></li></ul></div>
<div class="document"><div class="documentwrapper"><div class="bodywrapper"><div class="body" role="main">
<section id="a"><h1>Settings<a class="headerlink" href="#a">¶</a></h1><p>{WORDS}</p>
<div class="highlight-python"><div class="highlight"><pre>set(CODE1)</pre></div></div>
<dl class="py function"><dt id="f">f(DEFINED, b=1)</dt><dd><p>{WORDS}</p>
<div class="admonition note"><p class="admonition-title">Note</p><p>NOTED</p></div></dd></dl>
<section id="related-comments"><h2>See also</h2><p><a href="c.html">SEEN</a></p></section>
<table class="docutils"><tbody><tr><td><p>CELL</p></td><td><p>2</p></td></tr></tbody></table></section>
</div></div></div><div class="sphinxsidebar"><a href="b.html">Next topic</a></div></div>
"""
DOCUSAURUS = f"""
<nav class="navbar"><a href="/">Docs</a></nav><div class="main-wrapper"><aside class="theme-doc-sidebar-container">
<ul class="menu__list"><li><a href="/a">Install</a></li></ul></aside><main class="docMainContainer"><article>
<div class="theme-doc-markdown markdown"><h1>Settings</h1><p>{WORDS}</p><div class="language-js codeBlockContainer">
<div class="codeBlockContent"><pre><code><span class="token-line">CODE1</span></code></pre></div></div>
<div class="theme-admonition alert alert--info"><div>NOTED</div></div><dl><dt>DEFINED</dt><dd>{WORDS}</dd></dl>
<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>CELL</td></tr></tbody></table></div></article>
<nav class="pagination-nav"><a href="/b">Next</a></nav></main></div>
"""
POST = (
    '<div class="post" id="p{number}"><div class="author">user{number}</div>'
    '<div class="content"><p>{words}</p> POST{number}</div></div>'
)
THREAD = "<h1>Which setting?</h1>" + "".join(POST.format(number=number, words=WORDS) for number in range(6))
ISSUE = '<h1>Setting is lost</h1><div class="js-discussion">' + "".join(
    f'<div class="timeline-comment"><div class="comment-body"><p>{WORDS} POST{number}</p></div></div>'
    for number in range(6)
)
SHOP = f"""
<html><head><meta property="og:type" content="product"></head><body><header><a href="/">Shop</a></header><main>
<div class="product"><h1>Kettle K3</h1><div class="price">PRICE 39,90</div><ul class="features"><li>1.7 l</li>
<li>STEEL</li></ul><div class="description"><p>{WORDS}</p><p>{WORDS}</p></div>
<table class="specs"><tr><th>Power</th><td>2400 W</td></tr><tr><th>Colour</th><td>GREEN</td></tr></table>
<div class="reviews"><div class="review"><p>REVIEWED. {WORDS}</p></div></div></div></main></body></html>
"""
ENCYCLOPEDIA = f"""
<div id="mw-navigation"><a href="/">Main page</a></div><div id="content" class="mw-body" role="main"><h1>Kettle</h1>
<div id="mw-content-text"><div class="mw-parser-output"><table class="infobox"><tbody><tr><th>Invented</th>
<td>INFOBOX</td></tr></tbody></table><p>{WORDS}</p><h2>History</h2><p>{WORDS}</p><ul><li>LISTED</li></ul><p>{WORDS}</p>
<div class="reflist"><ol class="references"><li><a href="#r1">^</a> <a href="http://a.example">NOTED</a></li></ol></div>
</div></div></div>
"""
README = f"""
<div class="Layout-sidebar"><h2>About</h2><p>Kettle firmware</p></div><div class="Layout-main">
<table class="files"><tr><td><a href="/src">src</a></td></tr></table><article class="markdown-body entry-content">
<h1>kettle</h1><p>{WORDS}</p><pre>make CODE1</pre><p>{WORDS}</p><ul><li>LISTED</li></ul>
<div class="markdown-alert"><p>NOTED</p></div></article></div>
"""
ABSTRACT = f"""
<div id="header"><a href="/">Papers</a></div><main><div id="abs"><h1 class="title">Heat in kettles</h1>
<div class="authors"><a href="/a">AUTHOR</a></div><blockquote class="abstract">{WORDS} {WORDS} ABSTRACT</blockquote>
<table class="metatable"><tr><td>Subjects:</td><td>SUBJECT</td></tr></table></div></main>
"""
WHOLE = {
    "documentation of Sphinx": (SPHINX, ["CODE1", "DEFINED", "NOTED", "CELL", "SEEN"]),
    "documentation of Docusaurus": (DOCUSAURUS, ["CODE1", "DEFINED", "NOTED", "CELL"]),
    "a forum's thread": (THREAD, [f"POST{number}" for number in range(6)]),
    "an issue whose posts are called comments": (ISSUE, [f"POST{number}" for number in range(6)]),
    "a product": (SHOP, ["PRICE", "STEEL", "2400 W", "GREEN", "REVIEWED"]),
    "an encyclopedia": (ENCYCLOPEDIA, ["INFOBOX", "LISTED", "NOTED"]),
    "a project's readme": (README, ["CODE1", "LISTED", "NOTED"]),
    "a paper's abstract": (ABSTRACT, ["AUTHOR", "ABSTRACT", "SUBJECT"]),
}
CARD = (
    '<div class="card"><h3><a href="/{number}">Kettle number {number} boils faster than the ones before</a></h3>'
    "<p>{words}</p></div>"
)
NONE = {
    "a list of articles": "<h1>Kettles</h1>" + "".join(CARD.format(number=n, words=WORDS) for n in range(9)),
    "a list of links": "<h1>Index</h1><ul>" + "".join(f'<li><a href="/{n}">Setting {n}</a></li>' for n in range(60)),
    "a table of data": "<table>" + "".join(f"<tr><td>{n}</td><td>{n * n}</td></tr>" for n in range(60)) + "</table>",
    "a forum's index": "<table>"
    + "".join(
        f'<tr><td><a href="/t/{n}">Why does kettle {n} not boil, and what did you try?</a></td><td>{n}</td></tr>'
        for n in range(40)
    ),
    "a form": '<form><label>Name <input name="n"></label><label>City <input name="c"></label></form>',
    "words that are too few": "<p>Nothing is here yet.</p>",
    "nothing": "",
}


@pytest.mark.parametrize(("page", "words"), WHOLE.values(), ids=WHOLE)
def test_found_whole_or_not_at_all(read, page, words):
    text = read(page)
    assert text is None or [word for word in words if word not in text] == []


@pytest.mark.parametrize("kind", ["documentation of Sphinx", "documentation of Docusaurus", "an encyclopedia"])
def test_what_surrounds_documentation_is_left_out(read, kind):
    text = read(WHOLE[kind][0])
    assert text is not None
    assert not any(word in text for word in ("index", "Next topic", "Install", "Main page"))


@pytest.mark.parametrize("page", NONE.values(), ids=NONE)
def test_no_article(read, page):
    assert read(page) is None


def test_a_short_article_in_chinese_is_long_enough(read):
    words = "<p>港口星期一早上关闭，因为暴风雨把两艘渡轮从停泊处冲走，市议会中午开会，决定本周如何向各岛供应物资。</p>"
    links = '<ul><li><a href="/a">首页</a></li></ul>'
    assert "市议会" in read(f"{links}<div class='text'>{words * 4}</div>")


def test_an_article_in_pieces_is_found_whole(read, story):
    pieces = "".join(
        f'<div class="piece"><div class="body">{story}</div></div><div class="ad">Ad</div>' for _ in range(3)
    )
    text = read(f"<body><main><article>{pieces}</article></main>")
    assert text.count("coffee machine") == 3


def test_a_page_of_elements_too_deep_in_each_other_has_no_article(read, story):
    assert read("<div>" * 100 + story) is not None
    assert read("<div>" * 30_000 + story) is None


def test_linked_data_tells_an_article_where_other_words_are_more(read, story):
    stream = "".join(f'<div><a href="/{n}">Kettle {n} is faster</a><p>{WORDS[:70]}</p></div>' for n in range(20))
    page = f"<body><div class='text'>{story * 2}</div><div>{stream}</div>"
    data = '<script type="application/ld+json">{"@type": "NewsArticle"}</script>'
    assert read(page) is None or "Kettle 3" in read(page)
    assert "Kettle 3" not in read(data + page)


def test_teasers_near_the_article_are_none_of_it(read, story):
    mark = '<meta property="og:type" content="article">'
    teasers = "".join(f"<div><h4>Kettle {n}</h4><p>{WORDS[:90]}</p></div>" for n in range(8))
    text = read(f"<head>{mark}</head><body><div class='text'>{story * 2}</div><div>{teasers}</div>")
    assert "Kettle 3" not in text
    assert text.count("coffee machine") == 2


def test_text_with_line_breaks_in_a_cell_that_holds_a_table_too(read):
    text = "<br><br>".join(f"Paragraph {n}. {WORDS}" for n in range(5))
    box = '<table><tr><td><a href="/a">Archive</a></td></tr></table>'
    page = f'<table><tr><td><a href="/">Home</a></td><td>{box}{text}</td></tr></table>'
    assert "Paragraph 4" in read(page)
    assert "Home" not in read(page)


def test_a_short_article_among_links_is_found_where_the_page_says_that_it_is_one(read, story):
    names = "".join(f"<div>Kettle {n} and its many sisters</div>" for n in range(20))
    page = f"<body><div class='text'>{story[:480]}</p></div><div>{names}</div>"
    assert read(page) is None
    text = read(f'<head><meta property="og:type" content="article"></head>{page}')
    assert "Lindvik was closed" in text
    assert "Kettle" not in text


@pytest.mark.parametrize("name", ["sf_comment_list", "comment-list"])
def test_comments_on_the_one_article_of_a_main_content_are_none_of_it(read, story, name):
    comments = f'<div id="{name}"><p>SAID {WORDS}</p></div>'
    beside = "<aside><article><p>Other news</p></article></aside>"
    text = read(f"<body><main><article><h1>Storm</h1>{story}{comments}</article>{beside}</main>")
    assert "coffee machine" in text
    assert "SAID" not in text


@pytest.mark.parametrize("posts", [1, 2])
def test_comments_in_a_thread_are_what_it_is_about(read, story, posts):
    comments = f'<div class="comment-list"><p>SAID {WORDS}</p></div>'
    post = f"<div>{story}{comments}</div>" if posts == 1 else f"<article>{story}{comments}</article>"
    text = read(f"<body><main>{post * posts}</main>")
    assert text is not None
    assert text.count("SAID") == posts


def test_quotations_and_previews_in_posts_stay(read):
    quoted = '<aside class="quote"><div class="title">user1:</div><blockquote><p>QUOTED</p></blockquote></aside>'
    preview = '<aside class="onebox"><article><h3><a href="/m">Manual</a></h3><p>PREVIEW</p></article></aside>'
    text = read(f'<main>{THREAD}<div class="post"><p>{WORDS}</p>{quoted}{preview}</div></main>')
    assert text is not None
    assert "QUOTED" in text
    assert "PREVIEW" in text
