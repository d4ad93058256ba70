"""Random texts in every context that markdown has."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, NamedTuple

from markdown.sources import texts
from markdown.sources.examples import Case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SEED = 20
PER_CONTEXT = 120


class Context(NamedTuple):
    """A place for a text. html and markdown: templates with {} where it goes, escaped. text: how to draw one."""

    name: str
    html: str
    markdown: str
    text: Callable[[texts.Draw], str]
    escape: Callable[[str], str]


def cases(seed: int = SEED, per_context: int = PER_CONTEXT) -> Iterator[Case]:
    """The same cases for the same seed. `Case.markdown` is the plain proof that markdown can say it."""
    for context in CONTEXTS:
        draw = texts.Draw(f"{seed} {context.name}")
        for number in range(per_context):
            text = context.text(draw)
            page = context.html.replace("{}", html.escape(text))
            yield Case(f"{context.name} {number}", page, context.markdown.replace("{}", context.escape(text)))


def _references(text: str) -> str:
    """Every character that could be markup as a numeric reference, which never is markup."""
    return "".join(char if char.isalnum() or char == " " else f"&#{ord(char)};" for char in text)


def _fenced(text: str) -> str:
    return f"{'~' * 20}\n{text}{'~' * 20}"


def _fenced_in_item(text: str) -> str:
    return "- a\n\n" + "\n".join(f"  {line}" for line in _fenced(text).split("\n"))


def _span(text: str) -> str:
    fence = "`" * 20
    return f"{fence} {text} {fence}"


def _span_in_cell(text: str) -> str:
    return _span(text).replace("|", "\\|")


_TABLE = "<table><thead><tr><th>h</th><th>i</th></tr></thead><tbody><tr><td>{}</td><td>z</td></tr></tbody></table>"
_HEADER = "<table><thead><tr><th>{}</th><th>i</th></tr></thead><tbody><tr><td>y</td><td>z</td></tr></tbody></table>"
_CODE_IN_CELL = _TABLE.replace("{}", "<code>{}</code>")
_CODE_IN_ITEM = "<ul><li><p>a</p><pre><code>{}</code></pre></li></ul>"

CONTEXTS = (
    Context("paragraph", "<p>{}</p>", "{}", texts.line, _references),
    Context("line start", "<p>{}</p>", "{}", texts.starting, _references),
    Context("two paragraphs", "<p>a</p><p>{}</p>", "a\n\n{}", texts.starting, _references),
    Context("after a break", "<p>a<br>{}</p>", "a\\\n{}", texts.starting, _references),
    Context("before a break", "<p>{}<br>a</p>", "{}\\\na", texts.line, _references),
    Context("heading", "<h2>{}</h2>", "## {}", texts.line, _references),
    Context("item", "<ul><li>{}</li><li>b</li></ul>", "- {}\n- b", texts.starting, _references),
    Context("numbered item", "<ol><li>{}</li><li>b</li></ol>", "1. {}\n2. b", texts.line, _references),
    Context("nested item", "<ul><li>a<ul><li>{}</li></ul></li></ul>", "- a\n  - {}", texts.starting, _references),
    Context("quote", "<blockquote><p>{}</p></blockquote>", "> {}", texts.starting, _references),
    Context("cell", _TABLE, "|h|i|\n|-|-|\n|{}|z|", texts.line, _references),
    Context("header cell", _HEADER, "|{}|i|\n|-|-|\n|y|z|", texts.line, _references),
    Context("code in cell", _CODE_IN_CELL, "|h|i|\n|-|-|\n|{}|z|", texts.code, _span_in_cell),
    Context("link text", '<p>a <a href="/u">{}</a> b</p>', "a [{}](/u) b", texts.line, _references),
    Context("link target", '<p><a href="{}">a</a></p>', "[a](<{}>)", texts.target, _references),
    Context("link title", '<p><a href="/u" title="{}">a</a></p>', '[a](/u "{}")', texts.line, _references),
    Context("image text", '<p><img src="/u" alt="{}"></p>', "![{}](/u)", texts.line, _references),
    Context("image title", '<p><img src="/u" alt="a" title="{}"></p>', '![a](/u "{}")', texts.line, _references),
    Context("emphasis", "<p>a <em>{}</em> b</p>", "a *{}* b", texts.bounded, _references),
    Context("strong", "<p>a<strong>{}</strong>b</p>", "a**{}**b", texts.bounded, _references),
    Context("struck", "<p>a <del>{}</del> b</p>", "a ~~{}~~ b", texts.bounded, _references),
    Context("marked up at its ends", "<p>a <em>{}</em> b</p>", "a *{}* b", texts.line, _references),
    Context("after an element", "<p><em>a</em> {} b</p>", "*a* {} b", texts.line, _references),
    Context("against elements", "<p><strong>a</strong>{}<em>b</em></p>", "**a**{}*b*", texts.bounded, _references),
    Context("against a link", '<p>{}<a href="/u">a</a>{}</p>', "{}[a](/u){}", texts.line, _references),
    Context("code", "<p>a <code>{}</code> b</p>", "a {} b", texts.code, _span),
    Context("code block", "<pre><code>{}</code></pre>", "{}", texts.block, _fenced),
    Context("code block in an item", _CODE_IN_ITEM, "{}", texts.block, _fenced_in_item),
)
