"""How a page is read, as the administrator decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

from ferrule import ToolError

if TYPE_CHECKING:
    from ferrule import Context

MAIN_FIRST, ARTICLE, PAGE = "main-first", "article", "page"
CONTENTS = (MAIN_FIRST, ARTICLE, PAGE)
PARSERS = ("turbohtml", "html5lib")


class ReadingPolicy(NamedTuple):
    """How HTML is read.

    content: "main-first", the main content and behind it what surrounds it; "article", the same, but an answer ends
    with the main content; "page", the page in its own order. parser: which library builds the tree.
    """

    content: str = MAIN_FIRST
    parser: str = PARSERS[0]

    @classmethod
    def from_context(cls, context: Context) -> Self:
        """What the settings ask for. Raises ToolError PARSE_ERROR where one cannot be understood."""
        return cls(
            _choice(context, "content", "FERRULE_FETCH_CONTENT", CONTENTS),
            _choice(context, "parser", "FERRULE_FETCH_PARSER", PARSERS),
        )


def _choice(context: Context, key: str, variable: str, choices: tuple[str, ...]) -> str:
    value = context.setting(key, variable)
    if value is None:
        return choices[0]
    word = str(value).strip().lower()
    if word not in choices:
        what = f"{variable}, or {key!r} in the tool's table of config.toml, holds {str(value)[:80]!r}"
        raise ToolError("PARSE_ERROR", f"Failed to read the page: {what}.", hint=f"It takes {', '.join(choices)}.")
    return word
