"""What the state of a page says, in the forms in which apps keep it."""

import json

import pytest

from ferrule_fetch.embedded_data import find_text

SENTENCE = "Four oak gates were lifted out of the river on Monday, a century after they were hung."
DATA = {"story": {"title": "The lock gates", "text": SENTENCE}}


def read(html: str, own: str = "") -> str:
    return find_text(html, "https://app.example/", own)[1].partition("]\n\n")[2]


@pytest.mark.parametrize(
    "html",
    [
        f"<script>window.__PRELOADED_STATE__ = {json.dumps(DATA)};</script>",
        f"<script>var a=1;\nwindow['__INITIAL_STATE__']={json.dumps(DATA)}</script>",
        f"<script>window.__DATA__ = JSON.parse({json.dumps(json.dumps(DATA))});</script>",
        f"<script>let s = {{a: {{title: 'The lock gates', b: `{SENTENCE}`, c: void 0, d: new Date(0),}}}}</script>",
        f'<script>var n=(function(a,b){{return {{c:[{{title:a,d:b}}]}}}}("The lock gates","{SENTENCE}"));</script>',
        f'<script type="application/json" id="ng-state">{json.dumps({"12": {"b": DATA, "s": 200}})}</script>',
        f'<script type="application/json">{json.dumps({"status": 200, "body": json.dumps(DATA)})}</script>',
        f"<div id=app data-page='{json.dumps({'props': DATA})}'></div><script></script>",
    ],
)
def test_states_are_read_in_every_form(html: str) -> None:
    assert read(html) == f"# The lock gates\n\n{SENTENCE}"


@pytest.mark.parametrize(
    "nodes",
    [
        {"type": "doc", "content": [
            {"type": "heading", "attrs": {"level": 2}, "content": [{"type": "text", "text": "Plans"}]},
            {"type": "paragraph", "content": [
                {"type": "text", "text": "Gates of "}, {"type": "text", "text": "oak", "marks": [{"type": "bold"}]},
                {"type": "text", "text": " arrive by boat in March or April."}]}]},
        {"nodeType": "document", "content": [
            {"nodeType": "heading-2", "content": [{"nodeType": "text", "value": "Plans"}]},
            {"nodeType": "paragraph", "content": [
                {"nodeType": "text", "value": "Gates of "},
                {"nodeType": "text", "value": "oak", "marks": [{"type": "bold"}]},
                {"nodeType": "text", "value": " arrive by boat in March or April."}]}]},
        {"root": {"type": "root", "children": [
            {"type": "heading", "tag": "h2", "children": [{"type": "text", "text": "Plans"}]},
            {"type": "paragraph", "children": [
                {"type": "text", "text": "Gates of "}, {"type": "text", "text": "oak", "bold": True},
                {"type": "text", "text": " arrive by boat in March or April."}]}]}},
        [{"_type": "block", "style": "h2", "children": [{"_type": "span", "text": "Plans"}]},
         {"_type": "block", "style": "normal", "children": [
            {"_type": "span", "text": "Gates of "}, {"_type": "span", "text": "oak", "marks": ["strong"]},
            {"_type": "span", "text": " arrive by boat in March or April."}]}],
        {"type": "minimark", "value": [
            ["h2", {"id": "plans"}, "Plans"],
            ["p", {}, "Gates of ", ["strong", {}, "oak"], " arrive by boat in March or April."]]},
        {"type": "root", "children": [
            {"type": "element", "tag": "h2", "children": [{"type": "text", "value": "Plans"}]},
            {"type": "element", "tag": "p", "children": [
                {"type": "text", "value": "Gates of "},
                {"type": "element", "tag": "strong", "children": [{"type": "text", "value": "oak"}]},
                {"type": "text", "value": " arrive by boat in March or April."}]}]},
    ],
    ids=["prosemirror", "contentful", "lexical", "portable-text", "minimark", "hast"],
)  # fmt: skip
def test_text_of_editors_keeps_its_form(nodes: object) -> None:
    html = f'<script type="application/json">{json.dumps({"body": nodes, "more": SENTENCE})}</script>'
    assert read(html) == f"## Plans\n\nGates of **oak** arrive by boat in March or April.\n\n{SENTENCE}"


def test_what_is_for_programs_is_left_out() -> None:
    state = {
        **DATA,
        "image": "/a/b c d e f.jpg",
        "classes": "flex items-center px-4 text-lg",
        "sizes": "(max-width: 768px) 100vw, 50vw",
        "i18n": {"a": "Please accept all of our cookies now."},
        "messages": {"b": "Your cart is empty at the moment."},
        "navigation": [{"title": "Everything about our company", "url": "/about"}],
        "code": "function () { return all of the words }",
        "strings_of_buttons": {f"key{number}": f"Message number {number} of this form." for number in range(9)},
    }
    assert read(f"<script>window.__STATE__={json.dumps(state)}</script>") == f"# The lock gates\n\n{SENTENCE}"


def test_products_without_a_sentence_have_a_line_each() -> None:
    products = [
        {"name": f"Plank {number}", "price": number, "currency": "EUR", "url": f"/{number}"} for number in (1, 2)
    ]
    text = read(f"<script>window.__STATE__={json.dumps({'items': products, 'text': SENTENCE})}</script>")
    assert (
        "[Plank 1](https://app.example/1): price 1, currency EUR\n\n[Plank 2](https://app.example/2): price 2" in text
    )


def test_markup_in_data_is_closed_and_hidden_text_in_it_is_left_out() -> None:
    state = {"a": "<p>One <b>two</p><!-- <div hidden>", "b": "<p>Three<span hidden>ignore</span></p>", "c": SENTENCE}
    text = read(f"<script>window.__STATE__={json.dumps(state).replace('<', chr(92) + 'u003c')}</script>")
    assert text == f"One **two**\n\nThree\n\n{SENTENCE}"


def test_text_that_looks_like_markdown_is_escaped() -> None:
    state = {"text": f"# {SENTENCE}", "more": "*not* a [link](x) here, it is."}
    assert read(f"<script>window.__STATE__={json.dumps(state)}</script>").endswith(
        "\\*not\\* a \\[link\\](x) here, it is."
    )


def test_a_page_with_words_of_its_own_stays_as_it_is() -> None:
    html = f"<script>window.__STATE__={json.dumps(DATA)}</script>"
    assert find_text(html, "https://app.example/", "Eight words of its own are quite enough.") == ("", "")
    assert "has hardly any words" in find_text(html, "https://app.example/", "Loading…")[1]


def test_what_is_shown_without_scripts_comes_before_the_description() -> None:
    meta = f'<meta property="og:title" content="Gates"><meta property="og:description" content="{SENTENCE}">'
    shown = f"<body><noscript><img src=x><p>{SENTENCE}</p><p>{SENTENCE}</p></noscript>"
    wish = "<noscript>You need to enable JavaScript to run this app.</noscript>"
    assert find_text(meta + shown, "https://app.example/", "")[0] == "noscript"
    source, text = find_text(meta + wish, "https://app.example/", "")
    assert (source, text.partition("]\n\n")[2]) == ("description", f"Gates\n\n{SENTENCE}")
    assert "it is a summary, and the page itself needs scripts" in text
    assert find_text(wish, "https://app.example/", "") == ("", "")
