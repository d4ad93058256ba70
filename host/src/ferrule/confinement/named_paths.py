"""Paths that stand in what a program was told, and in what was said of its failure.

Of the files that interpreters read, the kernel tells nothing. So it is looked for where they stand by their names.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

_REFUSALS = ("permission denied", "not permitted", "access denied", "access is denied", "eacces", "eperm")
_PATH = r"""(?<![\w.~*/-])/(?!/)[^\s'"`,;:()<>|&\[\]{}\\=?*]+"""
_MAX_PATHS = 100
_MAX_CHARS = 1 << 16


def speaks_of_refusal(text: str) -> bool:
    """Whether words of a failure say that something was not allowed."""
    small = text[:_MAX_CHARS].casefold()
    return any(words in small for words in _REFUSALS)


def find_paths(texts: Iterable[str]) -> list[str]:
    """The absolute paths in these texts, such as in a program on a command line, in their order."""
    import re

    found = (path.rstrip(".!/") for text in texts if "/" in text for path in re.findall(_PATH, text[:_MAX_CHARS]))
    return list(dict.fromkeys(filter(None, found)))[:_MAX_PATHS]


def find_relative(words: Iterable[str]) -> list[str]:
    """The words of a command line that can be paths from the working folder."""
    return [word for word in words if word and not word.startswith(("/", "-")) and "\n" not in word][:_MAX_PATHS]
