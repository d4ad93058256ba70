"""Markdown back to HTML, by renderers that have nothing to do with any of the converters."""

from __future__ import annotations

from markdown_it import MarkdownIt


def renderer(*, raw_html: bool = False) -> MarkdownIt:
    """CommonMark 0.31.2 with GFM's tables, strikethrough and task lists. Raw HTML is text where it is off."""
    options = {"html": raw_html, "tasklists": True, "strikethrough_single_tilde": True}
    markdown = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    markdown.options["maxNesting"] = 200
    markdown.validateLink = lambda url: True  # type: ignore[method-assign] # the renderer is to judge no address
    markdown.normalizeLink = lambda url: url  # type: ignore[method-assign] # the renderer is to judge no address
    return markdown
