"""The texts of a template under another name: each name in all its spellings, the description, the author. Pure."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

MAX_DESCRIPTION_CHARS = 110  # with its quotes and its indentation, that is a line of code
_DESCRIPTION = re.compile(r'^description = ".*"$', re.MULTILINE)


class Texts(NamedTuple):
    """What is replaced in the files of a template.

    old, new: names in snake_case. sentence: the description in the template's files. description: what replaces it,
    and the description of the package; nothing if empty. author: `NAME` or `NAME <ADDRESS>`; nobody if empty.
    """

    old: str
    new: str
    sentence: str
    description: str = ""
    author: str = ""

    def renamed(self, text: str) -> str:
        """The text with the new name in place of the old one: `new_hooks`, `new-hooks`, `NEW_HOOKS`, `New hooks`."""
        for old, new in zip(_spellings(self.old), _spellings(self.new), strict=True):
            text = text.replace(old, new)
        return text

    def written(self, text: str, path: str) -> str:
        """The content of a file with all that is new in it, each as the kind of file has to write it."""
        text = self.renamed(text)
        if path.endswith("pyproject.toml"):
            text = _DESCRIPTION.sub(lambda found: self._package_lines(found[0]), text, count=1)
        return self._described(text, path) if self.description else text

    def _package_lines(self, line: str) -> str:
        described = f"description = {json_text(self.description)}" if self.description else line
        return f"{described}\nauthors = [{_author_table(self.author)}]" if self.author else described

    def _described(self, text: str, path: str) -> str:
        if path.endswith(".py"):
            pattern = re.compile(rf'^( *)"""{re.escape(self.sentence)}', re.MULTILINE)
            return pattern.sub(lambda found: f'{found[1]}"""{_in_docstring(self.description)}', text)
        escaped = self.description if path.endswith(".md") else json_text(self.description)[1:-1]
        return text.replace(self.sentence, escaped)


def fits(description: str) -> bool:
    """True where a description can stand in every file: on one line, and that is not too long."""
    return description.isprintable() and len(_in_docstring(description)) <= MAX_DESCRIPTION_CHARS


def json_text(text: str) -> str:
    """The text in quotes, as JSON, JavaScript and TOML write it."""
    return json.dumps(text, ensure_ascii=False)


def _spellings(name: str) -> tuple[str, ...]:
    words = name.split("_")
    return (
        name,
        "-".join(words),
        name.upper(),
        " ".join(words).capitalize(),
    )


def _author_table(author: str) -> str:
    name, _, address = author.partition("<")
    fields = [f"name = {json_text(name.strip())}"] if name.strip() else []
    if address:
        fields.append(f"email = {json_text(address.rstrip('> '))}")
    return f"{{ {', '.join(fields)} }}"


def _in_docstring(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
