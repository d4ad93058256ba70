"""Where links lead: a path to what it names, a wiki link also to the one note of that file name or title."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ferrule_opennotes.notebook.paths import leads_out, list_entries

if TYPE_CHECKING:
    from ferrule_opennotes.links.markdown import Link
    from ferrule_opennotes.notebook.notes import Note


class Places:
    """The notes and files of a notebook. root: the absolute folder of the notes."""

    def __init__(self, notes: Sequence[Note], root: str) -> None:
        self._notes = notes
        self._root = root
        self._paths = {note.path for note in notes}
        self._exists: dict[str, bool] = {}

    def find_note(self, link: Link, folder: str) -> str | None:
        """The path of the note that a link in a note of `folder` leads to, None where it leads to none or to several.

        A markdown link means its own folder before the root, as markdown does; the others the root, as the CLI does.
        """
        for path in self._candidates(link, folder):
            for candidate in (path, f"{path}.md"):
                if candidate in self._paths:
                    return candidate
        named = self._find_named(link)
        return named[0] if len(named) == 1 else None

    def exists(self, link: Link, folder: str) -> bool:
        """Whether a link names anything in the notebook: a note, another file, a folder, or one of several notes."""
        return (
            any(self._is_there(path) or f"{path}.md" in self._paths for path in self._candidates(link, folder))
            or bool(self._find_named(link))
            or (link.kind == "wiki" and any(form in self._file_names for form in _list_forms(link)))
        )

    def _candidates(self, link: Link, folder: str) -> Iterator[str]:
        for form in _list_forms(link):
            below = _join("", form)
            beside = below if form.startswith("/") else _join(folder, form)
            first, second = (beside, below) if link.kind in ("link", "image") or form[0] == "." else (below, beside)
            if first is not None:
                yield first
            if second is not None and second != first:
                yield second

    def _find_named(self, link: Link) -> list[str]:
        """The notes of that file name, or else of that alias or that title, for a wiki link."""
        if link.kind != "wiki":
            return []
        for form in _list_forms(link):
            if found := self._stems.get(form.removesuffix(".md")) or self._aliases.get(form) or self._titles.get(form):
                return found
        return []

    @cached_property
    def _stems(self) -> dict[str, list[str]]:
        stems: defaultdict[str, list[str]] = defaultdict(list)
        for path in self._paths:
            stems[path.rpartition("/")[2].removesuffix(".md")].append(path)
        return stems

    @cached_property
    def _aliases(self) -> dict[str, list[str]]:
        aliases: defaultdict[str, list[str]] = defaultdict(list)
        for note in self._notes:
            for alias in note.aliases:
                aliases[alias].append(note.path)
        return aliases

    @cached_property
    def _titles(self) -> dict[str, list[str]]:
        titles: defaultdict[str, list[str]] = defaultdict(list)
        for note in self._notes:
            if note.title:
                titles[note.title].append(note.path)
        return titles

    @cached_property
    def _file_names(self) -> set[str]:
        """Of all files, since editors find what is embedded wherever it lies."""
        found: set[str] = set()
        waiting = [self._root]
        while waiting:
            for entry in list_entries(waiting.pop()):
                if not entry.is_dir(follow_symlinks=False):
                    found.add(entry.name)
                elif not entry.name.startswith("."):
                    waiting.append(entry.path)
        return found

    def _is_there(self, path: str) -> bool:
        if path in self._paths:
            return True
        if path not in self._exists:
            absolute = os.path.join(self._root, path)
            # What lies outside is none of a note's business, not even whether it is there.
            self._exists[path] = os.path.lexists(absolute) and not leads_out(absolute, self._root)
        return self._exists[path]


def _list_forms(link: Link) -> list[str]:
    """What a destination may mean: all of it, and what is left without an anchor and a query."""
    whole = link.destination
    cut = whole.partition("#")[0]
    if link.kind != "wiki":
        cut = cut.partition("?")[0]
    forms = [whole, cut.strip()]
    if "%" in whole:
        from urllib.parse import unquote

        forms += [unquote(form) for form in forms]
    return [form for form in dict.fromkeys(forms) if form]


def _join(folder: str, path: str) -> str | None:
    """A path from the root, without `.` and `..`; None where it leads out of the root."""
    parts = folder.split("/") if folder else []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
