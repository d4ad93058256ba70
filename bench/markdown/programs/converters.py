"""Every converter as a function from a page to markdown, set up as its own documents advise for CommonMark and GFM.

Where a choice is left, the one that scores best here is taken, and raw HTML is off. Each setup imports what it needs,
so that a process loads one library alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

Convert = Callable[[str, str], str]
"""HTML and the address of the page, to markdown."""

_MAY_HOLD_IMAGES = ["td", "th", "h1", "h2", "h3", "h4", "h5", "h6"]


def ours(parser: str) -> Convert:
    """The writer of web_fetch, on one of its parsers."""
    from ferrule_fetch.markdown import convert

    return lambda html, url: convert(html, url, parser=parser)[1]


def turbohtml() -> Convert:
    """The writer in C on its tree. A list in a cell becomes text, where it would write raw HTML by itself."""
    from turbohtml import Markdown, parse

    options = Markdown(tables=Markdown.Tables(cell_blocks="text"))
    return lambda html, url: parse(html).to_markdown(options)


def html_to_markdown() -> Convert:
    """Without what it adds to the page: metadata, citations, expanded abbreviations and a mark that is not GFM's."""
    from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

    options = ConversionOptions(
        escape_asterisks=True,
        escape_underscores=True,
        escape_misc=True,
        autolinks=False,
        expand_abbreviations=False,
        include_blockquote_citations=False,
        highlight_style="none",
        extract_metadata=False,
        keep_inline_images_in=_MAY_HOLD_IMAGES,
        preprocessing=PreprocessingOptions(enabled=False),
    )
    return lambda html, url: str(convert(html, options).content)


def mdka() -> Convert:
    """Without the anchors of raw HTML that it writes for ids."""
    from mdka import html_to_markdown_with as convert

    return lambda html, url: str(convert(html, preserve_ids=False))


def htmd() -> Convert:
    """Without scripts and styles, which it writes as text unless it is told to skip them."""
    from htmd import convert_html, create_options_with_skip_tags

    options = create_options_with_skip_tags(["script", "style", "head"])
    options.bullet_list_marker = "dash"
    options.br_style = "backslash"
    options.preformatted_code = True
    return lambda html, url: str(convert_html(html, options))


def markdownify() -> Convert:
    """With the headings of ATX, since those that it underlines by default know two levels only."""
    from markdownify import markdownify as convert

    return lambda html, url: str(
        convert(
            html,
            heading_style="ATX",
            bullets="-*+",
            escape_misc=True,
            table_infer_header=True,
            keep_inline_images_in=_MAY_HOLD_IMAGES,
        )
    )


def html2text() -> Convert:
    """Without wrapped lines and letters made ASCII. Its fences break lists, so code is indented."""
    from html2text import HTML2Text

    def convert(html: str, url: str) -> str:
        writer = HTML2Text(bodywidth=0)
        writer.unicode_snob = True
        writer.escape_snob = True
        writer.protect_links = True
        writer.emphasis_mark = "*"
        return str(writer.handle(html))

    return convert


def lexbor_in_c() -> Convert:
    """No converter: lexbor's parse, and its walk over the tree for the text, both in C."""
    from selectolax.lexbor import LexborHTMLParser

    return lambda html, url: str(LexborHTMLParser(html).text())


def lexbor_in_python() -> Convert:
    """No converter: lexbor's parse, and Python that touches every node for its name."""
    from selectolax.lexbor import LexborHTMLParser

    def convert(html: str, url: str) -> str:
        root = LexborHTMLParser(html).root
        for node in root.traverse(include_text=True) if root else ():
            _ = node.tag
        return ""

    return convert


OURS: dict[str, Callable[[], Convert]] = {
    f"ours on {parser}": partial(ours, parser) for parser in ("turbohtml", "html5lib")
}
PEERS: dict[str, Callable[[], Convert]] = {
    "turbohtml": turbohtml,
    "html-to-markdown": html_to_markdown,
    "mdka": mdka,
    "htmd-py": htmd,
    "markdownify": markdownify,
    "html2text": html2text,
}
FLOORS: dict[str, Callable[[], Convert]] = {
    "lexbor parsed and walked in C": lexbor_in_c,
    "lexbor walked in Python": lexbor_in_python,
}
