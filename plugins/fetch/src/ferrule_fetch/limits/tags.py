"""The tags and the text of a page, one after the other, in time that grows with the page's length alone.

No tree is built, and nothing is read twice, so no page takes longer than others of its size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Possessive throughout (`*+`): what has matched once is never tried in another way. An unfinished tag or comment goes
# on to the end of the page, as in a browser.
_TOKEN = re.compile(
    r"""
    <!--(?:-?>|.*?(?:--!?>|\Z))
    |<(?P<tag>/?[a-zA-Z][^\s/>]*+)(?P<attributes>(?:[^>=]++|=\s*+(?:"[^"]*+"?|'[^']*+'?)?+)*+)>?
    |<[!?/][^>]*+>?
    |(?P<text>[^<]{1,4096}+[^<\s]{0,256}+\s?|<)
    """,
    re.VERBOSE | re.DOTALL,
)
_HOLDS_TEXT = ("iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp")
_ENDS = {name: re.compile(rf"</{name}(?=[\s/>])|\Z", re.IGNORECASE) for name in _HOLDS_TEXT}
_MAX_PIECE_CHARS = 65_536


def tokens(html: str) -> Iterator[tuple[str, str]]:
    """Yield a name and a content for each tag, and for each piece of text.

    The name is the tag's, in small letters, as in `p` and `/p`, and empty for text. The content is the attributes, or
    a few thousand characters of text at the most, to the end of a word, as they are written. Of what is in a
    `<script>` and its like, the rest is left out, and so are comments.
    """
    position = 0
    while found := _TOKEN.match(html, position):
        position = found.end()
        tag, attributes, text = found.groups()
        if text:
            yield "", text
        elif tag:
            name = tag.lower()
            yield name, attributes
            if (end := _ENDS.get(name)) and (ending := end.search(html, position)):
                yield "", html[position : min(ending.start(), position + _MAX_PIECE_CHARS)]
                position = ending.start()
