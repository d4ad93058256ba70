"""What the elements of HTML become, one after the other; docs/reference/markdown.md shows the common ones."""

import pytest

from ferrule_fetch.markdown import convert
from ferrule_fetch.tree import parsers

URL = "http://host.example/folder/page.html"

LISTS = {
    "numbers go on where the page says": ("<ol><li>a<li value=7>b<li>c</ol>", "1. a\n7. b\n8. c"),
    "a reversed list counts down to one": ("<ol reversed><li>a<li>b<li>c</ol>", "3. a\n2. b\n1. c"),
    "a reversed list starts where it says": ("<ol reversed start=10><li>a<li>b</ol>", "10. a\n9. b"),
    "nested items are not counted": ("<ol reversed><li>a<ul><li>x<li>y</ul><li>b</ol>", "2. a\n   - x\n   - y\n1. b"),
    "a negative number is none": ("<ol start=-5><li>a</ol>", "1. a"),
    "a list directly in a list belongs to the item before": (
        "<ul><li>a</li><ul><li>b</li></ul><li>c</ul>",
        "- a\n  - b\n- c",
    ),
    "a task's box may stand in a label": ("<ul><li><label><input type=checkbox>a</label></ul>", "- [ ] a"),
    "a task's box may stand in a paragraph": (
        "<ul><li><p><input type=checkbox checked>a</p><li><p>b</ul>",
        "- [x] a\n\n- b",
    ),
    "a box within the words is left out": ("<ul><li>a <input type=checkbox> b</ul>", "- a b"),
    "text that looks like a box is text": ("<ul><li>[ ] a</ul>", "- \\[ \\] a"),
    "lists side by side stay two": ("<ul><li>a</ul><ul><li>b</ul>", "- a\n* b"),
    "numbered lists side by side stay two": ("<ol><li>a</ol><ol><li>b</ol>", "1. a\n1) b"),
    "a rule in an item is no item": ("<ul><li><hr></ul>", "-\n  ---"),
    "an item without a list is a paragraph": ("<div><li>a<li>b</div>", "a\n\nb"),
    "a definition that is a list": ("<dl><dt>t<dd><ul><li>a</ul></dl>", "- t\n  - a"),
    "a list that does not begin with one needs an empty line": (
        "<ul><li>a<ol start=2><li>b</ol></ul>",
        "- a\n\n  2. b",
    ),
    "a quote and code touch the text of an item": (
        "<ul><li>a<blockquote>q</blockquote><pre>c</pre><li>b</ul>",
        "- a\n  > q\n  ```\n  c\n  ```\n\n- b",
    ),
}

TABLES = {
    "cells that span rows stand in all of them": (
        "<table><tr><th rowspan=2>a<th colspan=2>b<tr><th>c<th>d<tr><td>1<td>2<td>3</table>",
        "| a | b |  |\n| --- | --- | --- |\n| a | c | d |\n| 1 | 2 | 3 |",
    ),
    "columns are aligned by style or attribute": (
        '<table><tr><th style="text-align: center">a<th align=LEFT>b<th align=right>c</table>',
        "| a | b | c |\n| :---: | :--- | ---: |",
    ),
    "a bar in code is escaped too": (
        "<table><tr><th>a<th>b<tr><td><code>x|y</code><td>\\|</table>",
        "| a | b |\n| --- | --- |\n| `x\\|y` | \\\\\\| |",
    ),
    "paragraphs in a cell are one line": (
        "<table><tr><th>a<th>b<tr><td><p>x<p>y<td>z</table>",
        "| a | b |\n| --- | --- |\n| x y | z |",
    ),
    "a table in a list stands in its item": (
        "<ul><li>t<table><tr><th>a<th>b</table></ul>",
        "- t\n  | a | b |\n  | --- | --- |",
    ),
    "a cell of nothing but a no-break space is empty": (
        "<table><tr><th>a<th>&nbsp;</table>",
        "| a |  |\n| --- | --- |",
    ),
    "a table with headers may have anything in its cells": (
        "<table><tr><th>a<th>b<tr><td><h4>x</h4><pre>y</pre><td><table><tr><td>1<td>2</table></table>",
        "| a | b |\n| --- | --- |\n| x `y` | 1 2 |",
    ),
    "a table for the layout is no table": ("<table role=presentation><tr><td>a<td>b</table>", "a\n\nb"),
    "a table with code blocks stays a table": (
        "<table><tr><th>a<th>b<tr><td><pre>c\nd</pre><td>e</table>",
        "| a | b |\n| --- | --- |\n| `c` `d` | e |",
    ),
}

SPANS = {
    "emphasis beside punctuation and letters": ("<b>a:</b>b", "**a**:b"),
    "emphasis of punctuation alone": ("a<i>,</i>b", "a,b"),
    "emphasis within a word": ("a<i>b</i>c", "a*b*c"),
    "emphasis next to its like": ("<i>a</i><i>b</i> <s>c</s><s>d</s>", "*ab* ~~cd~~"),
    "emphasis next to another": ("<b>a</b><i>b</i>", "**a**_b_"),
    "emphasis with East Asian punctuation": ("日本<b>「語」</b>です", "日本「**語**」です"),
    "emphasis around blanks": ("a<b> </b>b", "a b"),
    "emphasis around a no-break space": ("a <b>&nbsp;b</b>", "a \xa0**b**"),
    "a link in strong words": ("<b><a href=/x>a</a></b>", "**[a](http://host.example/x)**"),
    "deleted beside deleted": ("<del>a</del> <s>b</s>", "~~a~~ ~~b~~"),
    "code whose end was forgotten": ("<p>Run <code>a<h2>b</h2><ul><li>c</ul>", "Run `a`\n\n## `b`\n\n- `c`"),
    "code beside code": ("<code>a</code><code>b</code>", "`ab`"),
    "a link within code": ("<code>f(<a href=/x>T</a>)</code>", "`f(`[`T`](http://host.example/x)`)`"),
    "a link to an icon": ('<a href=/x aria-label="Home"></a>', "[Home](http://host.example/x)"),
    "an address as its own text": ("<a href=http://a.example/b>http://a.example/b</a>", "<http://a.example/b>"),
    "a link with nothing but a title": ('<a href="/x?a&amp;b" title=t></a>', "[t](http://host.example/x?a&b)"),
    "text behind a hidden picture": ("a <img src=x hidden>b", "a b"),
    "an exclamation mark before a link": ("!<a href=/x>a</a>", "\\![a](http://host.example/x)"),
    "brackets before brackets": ("[a]<b></b>(b)", "\\[a\\](b)"),
    "raised and lowered digits": ("x<sup>2</sup> a<sub>10</sub>", "x² a₁₀"),
    "an ordinal": ("1<sup>st</sup>", "1st"),
    "an exponent": ("2<sup>k</sup> x<sub>max</sub>", "2^k x_max"),
    "a raised sentence": ("a<sup>see below</sup>", "asee below"),
    "a raised link": ("a<sup><a href=#n>1</a></sup>", "a[1](#n)"),
    "an abbreviation is told once": ("<abbr title=b>a</abbr> <abbr title=b>a</abbr>", "a (b) a"),
    "ruby": ("<ruby>a<rp>(</rp><rt>b</rt><rp>)</rp></ruby>", "a(b)"),
    "keys": ("<kbd>Ctrl</kbd>+<kbd>C</kbd>", "`Ctrl`+`C`"),
    "a picture of several": ("<picture><source srcset=a.webp><img src=/b.png alt=b></picture>", "![b](http://host.example/b.png)"),
    "a picture that a script brings": ('<img src="data:x" data-src=/b.png alt=b>', "![b](http://host.example/b.png)"),
    "a picture of several sizes": ("<img srcset='/b.png 2x' alt=b>", "![b](http://host.example/b.png)"),
    "a formula as a picture": (
        '<img class="mwe-math-fallback-image-inline" src=/x.svg alt="{\\displaystyle x^{2}}">',
        "$`x^{2}`$",
    ),
    "code in a link": ("<a href=/x><pre>c</pre></a>", "```\nc\n```"),
    "two breaks part paragraphs": ("a<br><br>b", "a\n\nb"),
    "a break in a heading": ("<h1>a<br>b</h1>", "# a b"),
}  # fmt: skip

CODE = {
    "a class with a prefix": ('<pre><code class="language-c++">x</code></pre>', "```c++\nx\n```"),
    "a class of its own": ('<pre class="code ruby">x</pre>', "```ruby\nx\n```"),
    "highlight.js": ('<pre><code class="hljs python">x</code></pre>', "```python\nx\n```"),
    "SyntaxHighlighter": ('<pre class="brush: php; gutter: false">x</pre>', "```php\nx\n```"),
    "an attribute": ('<pre data-lang="go">x</pre>', "```go\nx\n```"),
    "an element around it": ('<div class="highlight-js"><div><pre>x</pre></div></div>', "```js\nx\n```"),
    "not that of an earlier element": (
        '<div class="highlight-js"><pre>x</pre></div><pre>y</pre>',
        "```js\nx\n```\n\n```\ny\n```",
    ),
    "numbers of lines beside it": (
        '<table><tr><td class="linenos"><pre>1\n2</pre><td class="code"><pre>a\nb</pre></table>',
        "```\na\nb\n```",
    ),
    "numbers of lines in a header": (
        '<table><tr><th class="gutter">1<td><pre>a\nb</pre></table>',
        "```\na\nb\n```",
    ),
    "numbers of lines within it": ('<pre><span class="lineno">1</span>a</pre>', "```\na\n```"),
    "breaks and blocks are lines": ("<pre>a<br>b<div>c</div>d</pre>", "```\na\nb\nc\nd\n```"),
    "fences in it": ("<pre>```</pre>", "````\n```\n````"),
}  # fmt: skip

FORMULAS = {
    "its own TeX": ("<math><annotation encoding=application/x-tex>x_1*y</annotation></math>", "$`x_1*y`$"),
    "TeX made from MathML": (
        "<math><msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><mfrac><mn>1</mn><msqrt><mi>y</mi></msqrt></mfrac></math>",
        "$`x^{2} + \\frac{1}{\\sqrt{y}}`$",
    ),
    "one that stands alone": (
        "a<math display=block><mi>x</mi></math>b",
        "a\n\n```math\nx\n```\n\nb",
    ),
    "one that a script would write": ('<p><script type="math/tex">x^2</script>', "$`x^2`$"),
    "one that is drawn besides": (
        "<math><annotation encoding=application/x-tex>x</annotation></math>"
        '<span class="katex-html" aria-hidden="true">x</span>',
        "$`x`$",
    ),
    "with a fraction of the wrong kind": ("<math><mfrac><mn>1</mn></mfrac></math>", "$`1`$"),
}

LEFT_OUT = {
    "hidden": "<p hidden>x",
    "not displayed": '<p style="color:red; DISPLAY : none">x',
    "not visible": '<p style="visibility:hidden">x',
    "transparent": '<p style="opacity:0.0">x',
    "of no size": '<p style="font-size:0px">x',
    "beside the screen": '<p style="position:absolute;left:-9999px">x',
    "behind a comment in the style": '<p style="display:/**/none">x',
    "navigation": "<nav><p>x</nav>",
    "a script": "<script>document.write('<p>x</p>')</script>",
    "a script in a script's comment": "<script><!--<script>x</script>-->x</script>",
    "a style": "<style>x</style>",
    "a comment": "<!-- <p>x</p> -->",
    "a template": "<template>x</template>",
    "a closed dialog": "<dialog>x</dialog>",
    "the fields of a form": "<input value=x><select><option>x</select><textarea>x</textarea><button>x</button>",
    "what needs a program": "<canvas>x</canvas><video>x</video><audio>x</audio>",
}

SHOWN = {
    "until it is found": "<p hidden=until-found>x",
    "an open dialog": "<dialog open>x</dialog>",
    "a shadow root": "<div><template shadowrootmode=open><p>x</template></div>",
    "a form": "<form><p>x</form>",
    "without scripts": "<noscript><p>x</noscript>",
    "to eyes alone": '<p aria-hidden="true">x',
    "nearly transparent": '<p style="opacity:0.05">x',
    "a name that looks like it": '<p title="hidden display:none">x',
}


def _markdown(html: str, parser: str) -> str:
    return convert(html, URL, parser).markdown


def _cases(*tables: dict[str, tuple[str, str]]) -> list[object]:
    return [pytest.param(*pair, id=name) for table in tables for name, pair in table.items()]


@pytest.mark.parametrize("parser", parsers.PARSERS)
@pytest.mark.parametrize(("html", "markdown"), _cases(LISTS, TABLES, SPANS, CODE, FORMULAS))
def test_a_construct_becomes_its_markdown(html: str, markdown: str, parser: str) -> None:
    assert _markdown(html, parser) == markdown


@pytest.mark.parametrize("parser", parsers.PARSERS)
@pytest.mark.parametrize("html", LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_is_not_to_be_read_is_left_out(html: str, parser: str) -> None:
    assert _markdown(f"<p>before</p>{html}</p><p>after", parser) == "before\n\nafter"


@pytest.mark.parametrize("parser", parsers.PARSERS)
@pytest.mark.parametrize("html", SHOWN.values(), ids=SHOWN)
def test_what_a_reader_would_see_stays(html: str, parser: str) -> None:
    assert _markdown(f"<p>before</p>{html}", parser) == "before\n\nx"


def test_the_first_base_counts_for_all_links() -> None:
    html = "<base href=http://other.example/a/><base href=http://third.example/><a href=b>c</a>"
    assert _markdown(html, "html5lib") == "[c](http://other.example/a/b)"


@pytest.mark.parametrize("parser", parsers.PARSERS)
def test_depth_costs_no_recursion_and_marks_are_not_piled_up(parser: str) -> None:
    depth = 200
    markdown = _markdown("<ul><li><blockquote>" * depth + "x", parser)
    assert markdown.endswith("x")
    assert len(markdown) < 10_000
