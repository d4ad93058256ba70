"""Where a note goes: the folder, and the name of its file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import groupby

from ferrule_opennotes.notebook.paths import normalize

MAX_NAME_BYTES = 255  # bytes, on nearly every file system
_SUFFIX = ".md"
_MAX_STEM_BYTES = MAX_NAME_BYTES - len(_SUFFIX)


def split_destination(path: str) -> tuple[Sequence[str], str | None]:
    """The folders from the notebook's root on, and the name of the file where the path says that, as with the CLI.

    A path that ends in `.md` names a file, every other one a folder. Raises PATH_TRAVERSAL.

    >>> split_destination("tasks/sub"), split_destination("tasks/one.md"), split_destination("")
    ((['tasks', 'sub'], None), (['tasks'], 'one.md'), ([], None))
    """
    parts = [part for part in normalize(path).split("/") if part]
    if path.endswith(_SUFFIX):
        return parts[:-1], parts[-1]
    return parts, None


def choose_file_name(title: str, by_cli: str | None) -> str:
    """The name of the file: the CLI's, or where it has none for the title, one of the title's letters of any script.

    A title without a single letter is spelt out, each sign once where it is repeated.

    >>> choose_file_name("第一章", None), choose_file_name("?!", None), choose_file_name("Alpha", "alpha.md")
    ('第一章.md', 'question-mark-exclamation-mark.md', 'alpha.md')
    """
    return by_cli or _cut(_slugify(title) or _spell_out(title)) + _SUFFIX


def _slugify(title: str) -> str:
    """The letters and digits of a title in lower case, and a hyphen for what is between them."""
    slug = ""
    for character in unicodedata.normalize("NFC", title.lower()):
        is_mark = unicodedata.category(character).startswith("M")  # such as the vowels of Indian scripts
        if character.isalnum() or (is_mark and slug and not slug.endswith("-")):
            slug += character
        elif slug and not slug.endswith("-"):
            slug += "-"
        if len(slug) > MAX_NAME_BYTES:
            break
    return slug.rstrip("-")


def _spell_out(title: str) -> str:
    """The characters by the names that Unicode gives them: the title itself would be no name of a file."""
    beginning = title[:MAX_NAME_BYTES]
    # Joiners and variation selectors say nothing to anybody, unless there is nothing else.
    visible = [character for character in beginning if unicodedata.category(character) not in ("Cf", "Mn", "Zs")]
    signs = (character for character, _ in groupby(visible or beginning))  # "!!!" needs no name as long as that
    names = (unicodedata.name(character, f"u {ord(character):x}").lower() for character in signs)
    return re.sub("[^a-z0-9]+", "-", "-".join(names)).strip("-")


def _cut(slug: str) -> str:
    """As much of a slug as fits into a file's name."""
    return slug.encode()[:_MAX_STEM_BYTES].decode(errors="ignore").rstrip("-")
