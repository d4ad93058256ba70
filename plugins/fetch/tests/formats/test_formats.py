"""What is no HTML is given back so that it can be read: JSON and XML in many lines, XHTML as HTML is."""

import json
import re
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from ferrule_dev.testing import Server
from ferrule_fetch.formats.line_breaks import readable_json, readable_xml
from ferrule_fetch.formats.xhtml import as_html
from ferrule_testkit.effort import examples

Fetch = Callable[..., dict[str, Any]]

LONG = " " * 200

_anything = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False) | some.text(),
    lambda inner: some.lists(inner) | some.dictionaries(some.text(), inner),
)


@pytest.mark.process
def test_json_of_one_long_line_is_broken_at_members_and_items(server: Server, fetch: Fetch) -> None:
    document = '{"b":[1,2.50,-0,1e400],"a":{},"c":[],"d":"x: [y], {z}\\" \\u00e9","long":"' + "x" * 200 + '"}'
    assert fetch(server.page("/", document, "application/json"))["content"] == (
        '{\n  "b": [\n    1,\n    2.50,\n    -0,\n    1e400\n  ],\n  "a": {},\n  "c": [],\n'
        '  "d": "x: [y], {z}\\" \\u00e9",\n  "long": "' + "x" * 200 + '"\n}'
    )


@pytest.mark.slow
@pytest.mark.process
@settings(max_examples=examples(50))
@given(_anything)
def test_json_is_the_same_document_afterwards(value: object) -> None:
    text = json.dumps(value) + LONG
    readable = readable_json(text)
    assert json.loads(readable) == value
    strings = r'"(?:[^"\\]|\\.)*"'
    assert re.findall(strings, readable) == re.findall(strings, text)
    assert readable_json(readable + LONG) in (readable, readable + LONG)


@pytest.mark.slow
@pytest.mark.process
@settings(max_examples=examples(50))
@given(_anything)
def test_json_is_laid_out_as_the_standard_library_does(value: object) -> None:
    text = json.dumps(value)
    outline = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    deepest = max(accumulate((c in "[{") - (c in "]}") for c in outline), default=0)
    if deepest <= 8:
        assert readable_json(text + LONG) == json.dumps(value, indent=2)


def test_json_that_is_nested_deeply_is_indented_no_further() -> None:
    text = "[" * 300 + "1,2" + "]" * 300
    readable = readable_json(text)
    assert json.loads(readable) == json.loads(text)
    assert max(map(len, readable.split("\n"))) < 700
    assert "\n" + " " * 18 not in readable


@pytest.mark.parametrize(
    "text",
    [
        '{"short": [1, 2]}',
        '{"a": "' + "x" * 300 + '",\n"b": 1}',
        '{"a": ' + "x" * 300 + "}",
        '{"a": [1, 2, ' + " " * 300,
        "[" * 100_000 + "]" * 100_000,
        '{"a": 1}' * 100,
    ],
    ids=["short", "of many lines", "malformed", "cut off", "too deep", "several"],
)
def test_json_that_is_readable_or_none_comes_back_as_it_is(text: str) -> None:
    assert readable_json(text) == text


@pytest.mark.process
def test_xml_of_one_long_line_is_broken_between_tags(server: Server, fetch: Fetch) -> None:
    document = (
        '<?xml version="1.0"?><!-- <a><b> --><list at="a>b"><item>text</item><none></none><empty/> '
        "<mixed>some <b>bold</b> text</mixed><![CDATA[<x><y>]]></list>" + "<!--" + "x" * 200 + "-->"
    )
    assert fetch(server.page("/", document, "application/xml"))["content"] == (
        '<?xml version="1.0"?>\n<!-- <a><b> -->\n<list at="a>b">\n  <item>text</item>\n  <none></none>\n  <empty/>\n'
        "  <mixed>some <b>bold</b> text</mixed><![CDATA[<x><y>]]></list>\n" + "<!--" + "x" * 200 + "-->"
    )


XML_PIECES = ["<a>", "</a>", "<b/>", "x", "<!--", "-->", "<![CDATA[", "]]>", "<", ">", '"', "'", "&", "<?", "é"]


@given(some.lists(some.sampled_from(XML_PIECES)))
def test_nothing_but_blanks_is_changed_in_xml(pieces: list[str]) -> None:
    text = "".join(pieces) + "x" * 200
    assert "".join(readable_xml(text).split()) == text


@pytest.mark.parametrize("text", ["<a><b/></a>", "<a>\n<b/>" + "<c/>" * 100], ids=["short", "of many lines"])
def test_xml_that_is_readable_comes_back_as_it_is(text: str) -> None:
    assert readable_xml(text) == text


@pytest.mark.process
def test_empty_elements_end_where_they_are_in_xhtml_alone(server: Server, fetch: Fetch) -> None:
    page = "<html><head><script src='a/b'/><title/></head><body><p>before</p><iframe title=\"/>\"/><p>after<br/>it</p>"
    xhtml = fetch(server.page("/", page, "application/xhtml+xml"))["content"]
    assert [line.strip(" \\") for line in xhtml.split("\n")] == ["before", "", "after", "it"]
    assert fetch(server.page("/", f"<p>first{page}", "text/html"))["content"] == "first"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("<a id='x'/>", "<a id='x'></a>"),
        ('<p title="a/>b" />', '<p title="a/>b" ></p>'),
        ("<br/><IMG src='x'/><hr />", "<br/><IMG src='x'/><hr />"),
        ("<p><![CDATA[a < b & <i>]]></p>", "<p>a &lt; b &amp; &lt;i&gt;</p>"),
        ("<!-- <a/> <![CDATA[x]]> --><a/>", "<!-- <a/> <![CDATA[x]]> --><a></a>"),
        ("<?php <a/> ?><a/>", "<?php <a/> ?><a></a>"),
        ("<![CDATA[<a/>", "&lt;a/&gt;"),
        ("<a href=x/y/>z", "<a href=x/y></a>z"),
        ("a < b /> <", "a < b /> <"),
        ("<svg><path d='M 0'/></svg>", "<svg><path d='M 0'></path></svg>"),
    ],
)
def test_xhtml_is_spelt_as_html(text: str, html: str) -> None:
    assert as_html(text) == html
