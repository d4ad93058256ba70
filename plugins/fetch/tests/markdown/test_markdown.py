"""HTML to markdown."""

import pytest

from ferrule_fetch.markdown import convert

URL = "http://host.example/dir/page?q=1"


def _markdown(html: str) -> str:
    return convert(html, URL)[1]


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<h1>One</h1>", "# One"),
        ("<h2>Two</h2><h6>Six</h6>", "## Two\n\n###### Six"),
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("<div>a<div>b</div>c</div>", "a\n\nb\n\nc"),
        ('<a href="http://x.example/">text</a>', "[text](http://x.example/)"),
        ("<strong>a</strong> <b>b</b>", "**a** **b**"),
        ("<em>a</em> <i>b</i>", "*a* *b*"),
        ("<del>a</del> <s>b</s>", "~~a~~ ~~b~~"),
        ("<code>a</code> <kbd>b</kbd>", "`a` `b`"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("<ol><li>a</li><li>b</li></ol>", "1. a\n2. b"),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("a<br>b", "a  \nb"),
        ('<img src="/i.png" alt="A [b]">', "![A [b]](http://host.example/i.png)"),
        ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"),
        ("<details><summary>More</summary>text</details>", "More\n\ntext"),
        ("<dl><dt>t</dt><dd>d</dd></dl>", "- t\n  - d"),
        ("<select><option>a</select><button>b</button>c", "c"),
    ],
)
def test_an_element_becomes_its_markdown(html: str, markdown: str) -> None:
    assert _markdown(html) == markdown


@pytest.mark.parametrize(
    "html",
    [
        "<script>no</script>",
        "<style>no</style>",
        "<nav><ul><li>no</li></ul></nav>",
        "<template><p>no</p></template>",
        "<!-- no -->",
        "<p hidden>no</p>",
        '<div style="color: red; display:none">no</div>',
        '<div style="VISIBILITY : hidden">no</div>',
        "<iframe>no</iframe>",
        "<svg><title>no</title><path d=M0></svg>",
        "<title>no</title>",
        '<meta name="description" content="no">',
    ],
)
def test_what_is_not_the_content_is_left_out(html: str) -> None:
    assert _markdown(f"<p>before</p>{html}<p>after</p>") == "before\n\nafter"


def test_text_after_what_is_left_out_stays() -> None:
    assert _markdown("a <script>x</script>b<!-- c -->c <span hidden>no</span> d") == "a bc d"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("  a \n\t b  ", "a b"),
        ("a&nbsp; b", "a\u00a0 b"),
        ("a<b> b </b>c", "a **b** c"),
        ("<b> </b>a<i></i>", "a"),
        ("<b>a</b><b>b</b>", "**ab**"),
        ("<b>a <strong>b</strong></b>", "__a **b**__"),
        ("<b><i>a</i></b>", "**_a_**"),
        ("<i><b>a</b></i>", "***a***"),
        ("<b>a<br>b</b>", "**a  \nb**"),
        ("<b><p>a</p><p>b</p></b>", "**a**\n\n**b**"),
        ("<h1>a<br>b</h1>", "# a b"),
        ("<h2>C#</h2><h2>a #</h2>", "## C#\n\n## a \\#"),
        ("a<br><br><br>b<br>", "a\n\nb"),
        ("<p><br>a</p>", "a"),
        ("un<wbr>broken", "unbroken"),
    ],
)
def test_white_space_and_emphasis_are_tidied(html: str, markdown: str) -> None:
    assert _markdown(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("*a* and `b`", "\\*a\\* and \\`b\\`"),
        ("snake_case _private_ __init__", "snake_case \\_private\\_ \\__init\\_\\_"),
        ("1 &lt; 2, &lt;b&gt; &amp;amp;", "1 < 2, \\<b> \\&amp;"),
        ("C:\\dir \\* end\\", "C:\\dir \\\\\\* end\\\\"),
        ("[1] [a](b)", "[1] \\[a\\](b)"),
        ("[a]<span>(b)</span>", "\\[a\\](b)"),
        ("~~a~~ ~b", "\\~\\~a\\~\\~ \\~b"),
        ("1. a", "1\\. a"),
        ("2024) b", "2024\\) b"),
        ("1.5", "1.5"),
        ("- a", "\\- a"),
        ("-a +b", "-a +b"),
        ("+ a", "\\+ a"),
        ("# a", "\\# a"),
        ("#a", "#a"),
        ("> a", "\\> a"),
        ("a<br>===", "a  \n\\==="),
        ("---", "\\---"),
        ("~~~", "\\~\\~\\~"),
        ("~1 to ~2", "\\~1 to \\~2"),
        ("[a]: b", "\\[a\\]: b"),
        ("hello!<a href='/x'>y</a>", "hello\\![y](http://host.example/x)"),
    ],
)
def test_text_is_not_taken_for_markup(html: str, markdown: str) -> None:
    assert _markdown(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<code>a`b</code>", "``a`b``"),
        ("<code>`a`</code>", "`` `a` ``"),
        ("<code> a\n b </code>", "`  a  b  `"),
        ("<code></code>a", "a"),
        ("<code><b>*a*</b> <a href='/x'>b</a></code>", "`*a*` [`b`](http://host.example/x)"),
        ("<pre>  a\n\n\tb  \n</pre>", "```\n  a\n\n\tb  \n```"),
        ("<pre>\n\na</pre>", "```\n\na\n```"),
        ("<pre>a<br>b</pre>", "```\na\nb\n```"),
        ("<pre>``` a</pre>", "````\n``` a\n````"),
        ('<pre><code class="hl language-py">x = 1\n</code></pre>', "```py\nx = 1\n```"),
        ('<pre class="lang-c++"><b>int</b> a;</pre>', "```c++\nint a;\n```"),
        ("<pre> \n </pre>a", "```\n \n \n```\n\na"),
        ("<pre>a<script>x</script><!-- y -->b</pre>", "```\nab\n```"),
    ],
)
def test_code_keeps_every_character(html: str, markdown: str) -> None:
    assert _markdown(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<ul><li>a<ul><li>b<ol><li>c</ol></ul><li>d</ul>", "- a\n  - b\n    1. c\n- d"),
        ("<ul><li>a</li><ul><li>b</li></ul></ul>", "- a\n  - b"),
        ("<ol start=9><li>a<li>b<p>c</ol>", "9. a\n\n10. b\n\n    c"),
        ("<ol start=x><li>a</ol>", "1. a"),
        ("<ul><li>a<ol start=3><li>b</ol></ul>", "- a\n\n  3. b"),
        ("<ul><li><p>a</p><li><p>b</p></ul>", "- a\n\n- b"),
        ("<ul><li><pre>a\n b</pre></ul>", "- ```\n  a\n   b\n  ```"),
        ("<ul><li><h2>a</h2>b</ul>", "- ## a\n  b"),
        ("<ul><li></li><li>a</ul>", "-\n- a"),
        ("<ol><li></li><li>a</ol>", "1.\n2. a"),
        ("<ul></ul>a", "a"),
        ("<li>a</li>", "a"),
        ("<ul><li>a<br>b</ul>", "- a  \n  b"),
        ("<ul><li><blockquote>a</blockquote></ul>", "- > a"),
        ("<blockquote><ul><li>a</ul><pre>b</pre></blockquote>", "> - a\n>\n> ```\n> b\n> ```"),
        ("<ul><li><input type=checkbox checked> a<li><input type=checkbox>b</ul>", "- [x] a\n- [ ] b"),
    ],
)
def test_lists_and_quotes_nest(html: str, markdown: str) -> None:
    assert _markdown(html) == markdown


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("other", "http://host.example/dir/other"),
        ("/root", "http://host.example/root"),
        ("//cdn.example/x", "http://cdn.example/x"),
        ("?a=b", "http://host.example/dir/page?a=b"),
        ("#part", "#part"),
        (" http://x.example/a b\n", "http://x.example/a%20b"),
        ("http://x.example/a_(b)", "http://x.example/a_(b)"),
        ("http://x.example/a)b(", "http://x.example/a\\)b\\("),
        ("http://x.example/<a>", "http://x.example/%3Ca%3E"),
        ("mailto:a@b.example", "mailto:a@b.example"),
    ],
)
def test_a_link_is_resolved(href: str, target: str) -> None:
    assert _markdown(f'<a href="{href}">x</a>') == f"[x]({target})"


@pytest.mark.parametrize("href", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd"])
def test_a_link_that_cannot_be_followed_is_its_text(href: str) -> None:
    assert _markdown(f'<a href="{href}">x</a>') == "x"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<a href=/x></a>a", "a"),
        ("<a href=#x></a>a", "a"),
        ("<a>x</a>", "x"),
        ("<a href=/x>a [b]</a>", "[a [b]](http://host.example/x)"),
        ("<a href=/x><b>a</b></a>", "[**a**](http://host.example/x)"),
        ("<a href=/x><h2>a</h2><p>b</p></a>", "## [a](http://host.example/x)\n\nb"),
        ("<a href=/x><img src=/i alt=a></a>", "[![a](http://host.example/i)](http://host.example/x)"),
        ("<img src='data:image/png;base64,AA' alt='a b'>", "a b"),
        ("<img src='data:image/png;base64,AA'>", ""),
        ("<img alt=a>", "a"),
        ("<img src=i>", ""),
    ],
)
def test_links_and_images_are_whole(html: str, markdown: str) -> None:
    assert _markdown(html) == markdown


@pytest.mark.parametrize(
    ("base", "target"),
    [
        ("http://other.example/b/", "http://other.example/b/x"),
        ("/b/", "http://host.example/b/x"),
        ("http://[", "http://host.example/dir/x"),
    ],
)
def test_a_base_element_moves_links(base: str, target: str) -> None:
    assert _markdown(f'<base href="{base}"><a href=x>x</a>') == f"[x]({target})"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (
            "<table><tr><th>a<th>b<tr><td>1<td>2</table>",
            "| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
        (
            "<table><caption>c</caption><tr><td>a<td>b|c<br>d</table>",
            "c\n\n| a | b\\|c d |\n| --- | --- |",
        ),
        (
            "<table><tr><td colspan=2>a<td>b<tr><td rowspan=2>1<td>2<td>3<tr><td>4<td>5</table>",
            "| a |  | b |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 1 | 4 | 5 |",
        ),
        (
            "<table><tr><th rowspan=3>a<th>b<tr><td>c<tr><td>d<tr><td>e<td>f</table>",
            "| a | b |\n| --- | --- |\n| a | c |\n| a | d |\n| e | f |",
        ),
        ("a<table><tr><th>b<th>c<tr><td>d<td>e</table>", "a\n\n| b | c |\n| --- | --- |\n| d | e |"),
        (
            "<table><tr><td colspan=1 rowspan=1>a<td colspan=1>b<tr><td>1<td>2</table>",
            "| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
        (
            "<table><tr><th>a<tr><td>1<td>2</table>",
            "| a |  |\n| --- | --- |\n| 1 | 2 |",
        ),
        ("<table><tr><th>a<th>b<tr><td>-<td>1.</table>", "| a | b |\n| --- | --- |\n| - | 1. |"),
        (
            "<table><tr><th>a<th>b<tr><td><ul><li>x<li>y</ul><td>z</table>",
            "| a | b |\n| --- | --- |\n| - x - y | z |",
        ),
        ("<table><tr><td>a<tr><td>b</table>", "a\n\nb"),
        ("<table><tr><td><h2>a</h2>b<td>c</table>", "## a\n\nb\n\nc"),
        ("<table><tr><td>a<td><table><tr><td>b<td>c</table></table>", "a\n\n| b | c |\n| --- | --- |"),
        ("<table></table>a", "a"),
        ("<table><tr><td colspan=99999999999>a<td>b</table>", "| a | b |\n| --- | --- |"),
    ],
)
def test_a_table_is_a_grid_where_it_is_one(html: str, markdown: str) -> None:
    assert _markdown(html) == markdown


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> a\n b </title>", "a b"),
        ("<title>a</title><title>b</title>", "a"),
        ("<title>a &amp; <b></title>", "a & <b>"),
        ("<svg><title>a</title></svg>", ""),
        ("<h1>a</h1>", ""),
        ("<body><title>late</title>", "late"),
    ],
)
def test_the_title_is_that_of_the_first_title_element(html: str, title: str) -> None:
    assert convert(html, URL)[0] == title


@pytest.mark.parametrize("tag", ["div", "b", "span", "blockquote", "section", "em", "font"])
def test_a_deep_page_is_converted(tag: str) -> None:
    assert "deep" in _markdown(f"<{tag}>" * 3_000 + "deep")


@pytest.mark.parametrize("html", ["<ul><li>" * 150, "<table><tr><td>" * 150, "<a href=/x>" * 300])
def test_deep_nesting_of_blocks_is_converted(html: str) -> None:
    assert "deep" in _markdown(html + "deep")


def test_a_fragment_without_a_body_is_a_page() -> None:
    assert _markdown("just text") == "just text"
    assert _markdown("") == ""


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>/lib<em><code>&lt;q&gt;</code></em> x</p>", "/lib`<q>` x"),
        ("<p>a <em><code>&lt;q&gt;</code></em> x</p>", "a *`<q>`* x"),
        ("<p>&#12288;你好</p><p>&#12288;&#12288;世界</p>", "你好\n\n世界"),
        (
            "<p>This sentence has more than forty characters.&nbsp;</p><p>b",
            "This sentence has more than forty characters.\n\nb",
        ),
        (
            "<p>a</p><p>&nbsp;This sentence has more than forty characters.",
            "a\n\nThis sentence has more than forty characters.",
        ),
        (r"<p>Let $\alpha_1 \in \{1,2\}$ be.", r"Let $`\alpha_1 \in \{1,2\}`$ be."),
        (r"<p>Let \(x_1\) and \[\frac{a}{b}\] be.", r"Let $`x_1`$ and $`\frac{a}{b}`$ be."),
        (r"<p>\alpha costs $5 or C:\dir, $6", r"\alpha costs $5 or C:\dir, $6"),
    ],
)
def test_no_html_no_entity_and_no_doubled_backslash_is_written(html: str, markdown: str) -> None:
    assert _markdown(html) == markdown


def test_formulas_without_an_end_are_read_in_time() -> None:
    assert _markdown("<p>" + r"$\alpha \( \[ " * 20_000).count("alpha") == 20_000
