"""Tabs, accordions, forms, landmarks and formulas."""

from collections.abc import Callable

import pytest

Write = Callable[[str], str]
URL = "https://site.example/"

TABS = (
    '<div class="tabs-container"><ul role="tablist"><li role="tab" aria-selected="true">npm</li>'
    '<li role="tab" aria-selected="false">Yarn</li></ul><div><div role="tabpanel"><pre>npm i</pre></div>'
    '<div role="tabpanel" hidden><pre>yarn add</pre></div></div></div>'
)
RADIX = (
    '<div data-orientation="vertical"><div data-state="closed"><h3><button type="button" aria-controls="radix-1"'
    ' aria-expanded="false" id="radix-2">Is it free?</button></h3><div data-state="closed" id="radix-1" hidden role="region"'  # noqa: E501 - a page's own line
    ' aria-labelledby="radix-2"><p>Yes.</p></div></div></div>'
)
BOOTSTRAP = (
    '<div class="accordion-item"><h2 class="accordion-header"><button class="accordion-button collapsed" type="button"'
    ' data-bs-toggle="collapse" data-bs-target="#c1" aria-expanded="false" aria-controls="c1">Is it free?</button></h2>'
    '<div id="c1" class="accordion-collapse collapse"><div class="accordion-body">Yes.</div></div></div>'
)


def test_the_name_of_a_tab_stands_above_its_panel(write: Write) -> None:
    assert write(TABS) == "**npm**\n\n```\nnpm i\n```\n\n**Yarn**\n\n```\nyarn add\n```"


def test_the_tabs_of_mkdocs_are_labels(write: Write) -> None:
    html = (
        '<div class="tabbed-set tabbed-alternate"><input checked type="radio" id="a"><input type="radio" id="b">'
        '<div class="tabbed-labels"><label for="a">pip</label><label for="b">uv</label></div><div class="tabbed-content">'  # noqa: E501 - a page's own line
        '<div class="tabbed-block"><p>pip install</p></div><div class="tabbed-block"><p>uv add</p></div></div></div>'
    )
    assert write(html) == "**pip**\n\npip install\n\n**uv**\n\nuv add"


def test_tabs_are_found_by_what_they_control(write: Write) -> None:
    html = (
        '<div role="tablist"><button role="tab" aria-controls="b">Two</button><button role="tab" aria-controls="a">One</button>'  # noqa: E501 - a page's own line
        '</div><div role="tabpanel" id="a"><p>first</p></div><div role="tabpanel" id="b" hidden><p>second</p></div>'
    )
    assert write(html) == "**One**\n\nfirst\n\n**Two**\n\nsecond"


def test_an_accordion_keeps_its_headings_and_all_its_panels(write: Write) -> None:
    assert write(RADIX) == "### Is it free?\n\nYes."
    assert write(BOOTSTRAP) == "## Is it free?\n\nYes."
    assert write("<details><summary>Is it free?</summary><p>Yes.</p></details>") == "Is it free?\n\nYes."


def test_a_question_that_is_a_button_is_told(write: Write) -> None:
    html = '<button aria-expanded="false" aria-controls="x">Is it free?</button><div id="x" hidden><p>Yes.</p></div>'
    assert write(html) == "**Is it free?**\n\nYes."


def test_the_fields_of_a_page_that_is_a_form_are_told(write: Write) -> None:
    html = (
        "<h1>Sign up</h1><form><label>Name <input name=n required></label>"
        "<label>Mail <input type=email placeholder='you@mail.example'></label><label>Password <input type=password value=x></label>"  # noqa: E501 - a page's own line
        "<label>Plan <select><option>Free<option selected>Paid</select></label>"
        "<label><input type=checkbox checked> News</label><label><input type=radio disabled> Never</label>"
        "<textarea aria-label=Notes>As before</textarea><input type=hidden value=secret><button>Send</button></form>"
    )
    lines = [line for line in write(html).replace("\\", "").split("\n") if line]
    assert lines == [
        "# Sign up",
        "Name: … (required)",
        "Mail: … (such as you@mail.example)",
        "Password (password)",
        "Plan: one of Free; Paid (chosen)",
        "[x] News",
        "[ ] Never (disabled)",
        "Notes: As before",
        "[Send]",
    ]


def test_the_fields_of_other_pages_are_left_out(write: Write) -> None:
    fields = "<form><input placeholder=a><input placeholder=b><select><option>c</select><button>d</button></form>"
    assert write(f"<p>{'Some text. ' * 60}</p>{fields}") == ("Some text. " * 60).strip()


@pytest.mark.parametrize(
    "html",
    [
        "<nav><p>no</nav>",
        '<div role="navigation"><p>no</div>',
        '<ul role="navigation"><li>no</ul>',
        '<form role="search"><label>no</label><input></form>',
        "<search><label>no</label></search>",
        "<template>no</template>",
        "<button>no</button>",
        "<dialog>no</dialog>",
        "<canvas>no</canvas>",
        "<datalist><option>no</datalist>",
    ],
)
def test_what_leads_around_or_is_operated_is_left_out(write: Write, html: str) -> None:
    assert write(f"<p>before</p>{html}<p>after</p>") == "before\n\nafter"


def test_other_roles_are_their_elements(write: Write) -> None:
    html = "<div role=banner>Site</div><div role=heading aria-level=3>Part</div><div role=contentinfo>Imprint</div>"
    assert write(html) == "Site\n\n### Part\n\nImprint"


def test_elements_that_are_blocks_stand_on_lines_of_their_own(write: Write) -> None:
    html = "a<form>b</form>c<fieldset><legend>d</legend>e</fieldset><center>f</center>g"
    assert write(html) == "a\n\nb\n\nc\n\nd\n\ne\n\nf\n\ng"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<math><annotation encoding=application/x-tex>x_1*y</annotation></math>", "$`x_1*y`$"),
        ('<math alttext="\\alpha"><mi>α</mi></math>', "$`\\alpha`$"),
        ("<math><msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><msqrt><mi>y</mi></msqrt></math>", "$`x^{2} + \\sqrt{y}`$"),
        ("<p>a</p><math display=block><mi>x</mi></math>", "a\n\n```math\nx\n```"),
        (
            '<span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>x</mi></mrow>'
            '<annotation encoding="application/x-tex">x</annotation></semantics></math></span>'
            '<span class="katex-html" aria-hidden="true"><span class="base">x</span></span></span>',
            "$`x`$",
        ),
        (
            '<span class="katex-display"><span class="katex"><span class="katex-mathml"><math display="block"><semantics>'  # noqa: E501 - a page's own line
            '<mi>x</mi><annotation encoding="application/x-tex">x</annotation></semantics></math></span>'
            '<span class="katex-html" aria-hidden="true">x</span></span></span>',
            "```math\nx\n```",
        ),
        (
            '<span class="MathJax_Preview">x</span><span class="MathJax"><nobr>x</nobr></span>'
            '<script type="math/tex">x^2</script>',
            "$`x^2`$",
        ),
        (
            '<mjx-container class="MathJax" jax="SVG" display="true"><svg><path d="M0"></path></svg>'
            "<mjx-assistive-mml><math><mi>x</mi></math></mjx-assistive-mml></mjx-container>",
            "```math\nx\n```",
        ),
        (
            '<span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: none;">'
            '<math alttext="{\\displaystyle x^{2}}"><mi>x</mi></math></span>'
            '<img src="/x.svg" class="mwe-math-fallback-image-inline" aria-hidden="true" alt="{\\displaystyle x^{2}}"></span>',  # noqa: E501 - a page's own line
            "$`x^{2}`$",
        ),
    ],
)
def test_formulas(write: Write, html: str, markdown: str) -> None:
    assert write(html) == markdown


def test_the_labels_of_a_code_group_stand_above_their_blocks(write: Write) -> None:
    html = (
        '<div class="vp-code-group"><div class="tabs"><input type="radio" id="a" checked><label for="a">npm</label>'
        '<input type="radio" id="b"><label for="b">yarn</label></div><div class="blocks">'
        '<div class="language-sh active"><pre><code>npm i</code></pre></div>'
        '<div class="language-sh"><pre><code>yarn add</code></pre></div></div></div>'
    )
    assert write(html) == "**npm**\n\n```sh\nnpm i\n```\n\n**yarn**\n\n```sh\nyarn add\n```"


def test_tasks_of_mkdocs_tell_whether_they_are_done(write: Write) -> None:
    item = (
        '<li class="task-list-item"><label class="task-list-control"><input type="checkbox" disabled{}>'
        '<span class="task-list-indicator"></span></label> {}</li>'
    )
    html = f'<ul class="task-list">{item.format(" checked", "done")}{item.format("", "open")}</ul>'
    assert write(html) == "- [x] done\n- [ ] open"


def test_a_closed_dialog_of_bootstrap_is_left_out_also_behind_an_accordion(write: Write) -> None:
    dialog = '<div class="modal fade" style="display:none"><h5>Subscribe</h5><p>Join us.</p></div>'
    assert write(f"{BOOTSTRAP}{dialog}") == write(BOOTSTRAP)


@pytest.mark.parametrize(
    "html",
    [
        '<ol class="carousel-indicators"><li data-slide="0"></li><li data-slide="1"></li></ol>',
        '<ul><li><i class="icon"></i><span></span></li></ul>',
        '<ul><li><ul><li class="gap"> </li></ul></li></ul>',
        '<h2 class="ad-slot"></h2>',
        "<h3><span></span></h3>",
        "<p>&nbsp;</p>",
        "<br>",
    ],
)
def test_what_holds_nothing_leaves_no_mark(html: str, write: Write) -> None:
    assert write(f"<p>before</p>{html}<p>behind</p>") == "before\n\nbehind"
    assert write(f"{html}<p>behind</p>") == "behind"
    assert write(f"<p>before</p>{html}") == "before"


def test_an_item_begins_with_its_first_words(write: Write) -> None:
    picture = '<picture><!--[if IE 9]><video><![endif]--><source srcset="/a.jpg"><img alt="" src="/a.jpg"></picture>'
    assert write("<ul><li><p></p>text</li></ul>") == "- text"
    assert write(f"<ul><li><div>{picture}</div><h3>Title</h3></li></ul>") == "- ### Title"


def test_a_break_at_the_end_of_bold_words_stands_behind_them(write: Write) -> None:
    assert write("<p><b>Queue<br></b>It is one.</p>") == "**Queue**  \nIt is one."


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<s class="old">$140.00</s><span class="now">$98.00</span><span class="badge">Sale</span>', "$98.00 Sale"),
        ('<span class="reputation">1,234</span><span title="1 gold badge">1</span>', "1,234 1"),
        (
            '<a class="user" href="/u">bob</a><span class="date">January 3</span>',
            "bob](https://site.example/u) January",
        ),
        ("<label>41</label><input type=radio><label>42</label>", "41 42"),
        ("<span class=unseen>Credit</span><span>Ana Lee</span>", "Credit Ana Lee"),
        (
            '<a href="/s">Two gates were lifted<span class="source">Courier</span></a>',
            "[Two gates were lifted Courier]",
        ),
    ],
)
def test_parts_that_a_style_sheet_sets_apart_are_words_of_their_own(write: Write, html: str, expected: str) -> None:
    assert expected in write(f"<p>{html}</p>")


@pytest.mark.parametrize(
    "html",
    [
        "<span class=a>H</span><span class=b>e</span>",
        "<span class=letter>hel</span><span class=letter>lo</span>",
        "<code><span class=n>obj</span><span class=m>name</span></code>",
        "<span class=a>json.</span><span class=b>dumps</span><span class=c>(</span>",
        "<span>hyper</span><span class=mark>text</span>",
        "<span>hyper</span><span>Text</span>",
        "<span class=a>Mc</span><span>Donald</span>",
        "<a href=/>Hyper<span class=mark>Text</span></a>",
    ],
)
def test_parts_of_a_word_stay_together(write: Write, html: str) -> None:
    assert " " not in write(f"<p>{html}</p>")


def test_navigation_takes_its_small_heading_with_it_and_no_title(write: Write) -> None:
    nav = "<nav><a href=/x>x</a></nav>"
    assert write(f"<div><h3>Navigation</h3>{nav}</div><p>text</p>") == "text"
    assert write(f"<div><h2>The title</h2>{nav}</div><p>text</p>") == "## The title\n\ntext"
    assert write(f"<div><h3>Links</h3>{nav}<p>of use</p></div>") == "### Links\n\nof use"


def test_a_question_about_cookies_is_left_out_and_an_article_about_them_is_not(write: Write) -> None:
    question = "<p>We use cookies to improve this site.</p><button>Accept</button>"
    page = '<p>text</p><div id="cookie-notice">{0}</div><div role="dialog">{0}</div>'
    assert write(page.format(question)) == "text"
    recipe = "<h1>Oat cookies</h1><p>Bake the cookies for ten minutes.</p>"
    assert write(f'<div class="cookie-recipe">{recipe}</div>') == "# Oat cookies\n\nBake the cookies for ten minutes."


def test_of_two_links_of_a_card_the_one_in_the_heading_stays(write: Write) -> None:
    card = '<li><a href="/p"><span>Ridge Pack</span></a><h3><a href="/p">Ridge Pack</a></h3><span>$80</span></li>'
    assert "### [Ridge Pack](https://site.example/" in write(f"<ul>{card}</ul>")
    assert write(f"<ul>{card}</ul>").count("Ridge Pack") == 1


@pytest.mark.parametrize("label", ["js", "JavaScript"])
def test_the_name_of_the_language_above_its_code_is_said_by_the_block(write: Write, label: str) -> None:
    head = f'<div class="example-header"><span class="name">{label}</span><button>Copy</button></div>'
    code = '<pre class="brush: js"><code>at(index)\n</code></pre>'
    assert write(f'<div class="code-example">{head}{code}</div>') == "```js\nat(index)\n```"
    assert write(f"<div><p>Use it so:</p>{code}</div>") == "Use it so:\n\n```js\nat(index)\n```"


@pytest.mark.parametrize("html", ["<pre> </pre>", "<pre><code></code></pre>", "<blockquote><p></p></blockquote>"])
def test_a_block_that_holds_nothing_leaves_no_mark_on_a_page_with_text(html: str, write: Write) -> None:
    assert write(f"<p>A paragraph with some words.</p>{html}<p>b</p>") == "A paragraph with some words.\n\nb"


def test_a_definition_that_holds_nothing_leaves_no_mark(write: Write) -> None:
    assert write("<dl><dt>x<dd><dt>y<dd><span></span></dl>") == "- x\n- y"


def test_a_frame_with_a_text_of_its_own_is_read(write: Write) -> None:
    held = "<p>held</p><p hidden>hidden</p><script>x</script>"
    assert write(f"<p>a</p><iframe srcdoc='{held}'></iframe>") == "a\n\nheld"
    assert write(f"<p>a</p><iframe srcdoc='{held}' style='display:none'></iframe>") == "a"
