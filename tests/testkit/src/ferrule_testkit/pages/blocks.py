"""The fenced blocks of a page, those in lists among them."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, NamedTuple

from ferrule_testkit import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

SHELLS = ("sh", "console")
_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A block. language: what stands behind the fence."""

    language: str
    text: str

    @property
    def is_typed(self) -> bool:
        """Whether its lines are commands."""
        return self.language in SHELLS

    def lines(self) -> list[str]:
        """The commands: of a console, what stands behind the prompt."""
        lines = self.text.replace("\\\n", " ").splitlines()
        if self.language == "console":
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        return [line for line in lines if line.strip()]


def read_blocks(page: Path) -> list[Block]:
    """All blocks of a page, in its order."""
    return [Block(language, textwrap.dedent(text)) for _, language, text in _FENCE.findall(page.read_text())]


def find_pages() -> dict[str, Path]:
    """README, the tutorials and the how-to guides, by their paths in the repository."""
    found = [
        PROJECT / "README.md",
        *sorted(PROJECT.glob("docs/tutorial/*.md")),
        *sorted(PROJECT.glob("docs/how-to/*.md")),
    ]
    return {str(page.relative_to(PROJECT)): page for page in found}
