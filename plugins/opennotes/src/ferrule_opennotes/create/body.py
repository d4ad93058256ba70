"""The text of a new note: one block of frontmatter, made of all that want to be in it, an empty line, and the body."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule import ToolError
from ferrule_opennotes.create import fields
from ferrule_opennotes.notebook import frontmatter

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_opennotes.create.fields import Fields

_MARK = "{{title}}"


class Parts(NamedTuple):
    """A text that may begin with frontmatter of its own: its fields, `{}` where there are none, and the rest."""

    fields: Fields
    body: str


def parse_template(template: str, title: str) -> Parts:
    """A template's fields, with the title where they ask for it, and its body, in which the CLI fills it in.

    `title: {{title}}` is YAML only by luck, with the title put in as without: hence a word in its place.
    """
    block, rest = frontmatter.split(template)
    if block is None or _MARK not in block:
        return parse(template)
    word = "x"
    while word in block:
        word += "x"
    found = fields.parse(block.replace(_MARK, word))
    if found is None:
        return Parts({}, template)
    return Parts(fields.replace(found, word, title), _strip_empty_line(rest))


def parse(text: str) -> Parts:
    """A text's own frontmatter and its body; what looks like frontmatter and is no YAML mapping is body."""
    text = text.removeprefix("\ufeff")
    block, rest = frontmatter.split(text)
    found = None if block is None else fields.parse(block)
    return Parts({}, text) if found is None else Parts(found, _strip_empty_line(rest))


def compose(title: str, written: str, template: Fields, content: str | None, data: JSONObject) -> str:
    """The whole note.

    Args:
        written: the note as the CLI wrote it. Of two values for a field the latter holds: the template's, the CLI's
            (title and created), the content's, the one of `data`; but the title is always the one that was asked for.

    Raises:
        ToolError INVALID_INPUT for fields that would not be read back.
    """
    by_cli = _parse_written(written)
    own = by_cli if content is None else parse(content)
    explicit = fields.represent(data | {"title": title})
    others = {key: pair for key, pair in template.items() if key not in by_cli.fields}
    # The title first, where readers look for it.
    merged = {"title": explicit["title"]} | by_cli.fields | others | own.fields | explicit
    block = fields.write(merged)
    text = f"---\n{block}---\n"
    if own.body:
        end = "" if own.body.endswith("\n") else "\r\n" if "\r\n" in own.body else "\n"
        text += f"\n{own.body}{end}"
    _check(text, block)
    return text


def _parse_written(written: str) -> Parts:
    """What the CLI wrote, whose first block is frontmatter even where it cannot be read."""
    block, rest = frontmatter.split(written)
    return Parts({} if block is None else fields.parse(block) or {}, _strip_empty_line(rest))


def _check(text: str, block: str) -> None:
    """Raise ToolError INVALID_INPUT where the text's frontmatter would not be read back."""
    found, _ = frontmatter.split(text)
    if found == block and frontmatter.load(block) is not None:
        return
    raise ToolError(
        "INVALID_INPUT",
        f"title and data: all fields together take {len(block):,} characters in the file; {frontmatter.MAX_CHARS:,} at "
        "most are read back, of fields that are not too many and not nested too deeply",
        hint="Put long text into 'content'.",
    )


def _strip_empty_line(body: str) -> str:
    """A body without the one empty line that parts it from the frontmatter."""
    return body.removeprefix("\r\n") if body.startswith("\r\n") else body.removeprefix("\n")
