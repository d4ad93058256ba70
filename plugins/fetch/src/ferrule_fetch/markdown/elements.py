"""Which element is what."""

from __future__ import annotations

# They have no end tag.
VOID = frozenset(
    {"area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen"}
    | {"link", "meta", "param", "source", "track", "wbr"}
)

# Their text is written as it is, and ends with their end tag only.
RAW_TEXT = frozenset(["iframe", "noembed", "noframes", "plaintext", "script", "style", "xmp"])

# What a browser does not show, what is there to be filled in, and what leads around the site instead of being the page.
LEFT_OUT = frozenset(
    {"audio", "button", "canvas", "datalist", "frameset", "iframe", "nav", "noembed", "noframes", "rp"}
    | {"script", "select", "style", "svg", "template", "textarea", "video"}
)

# They stand on lines of their own. Those with a meaning in markdown are not among them.
BLOCKS = frozenset(
    {"address", "article", "aside", "body", "center", "dialog", "details", "div", "dl", "fieldset"}
    | {"figcaption", "figure", "footer", "form", "header", "hgroup", "legend", "main", "noscript", "option"}
    | {"optgroup", "search", "section", "summary"}
)

# Inline elements without a block around it end here; what is inside belongs to running text.
EMPHASIS = frozenset(["cite", "dfn", "em", "i", "var"])
STRONG = frozenset(["b", "strong"])
DELETED = frozenset(["del", "s", "strike"])
CODE = frozenset(["code", "kbd", "samp", "tt"])
CODE_BLOCKS = frozenset(["listing", "plaintext", "pre", "xmp"])
