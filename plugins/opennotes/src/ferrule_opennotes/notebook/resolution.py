"""Which notebook is meant: the one that the call names, else the one around the working directory.

In this order, as the CLI documents it: the argument (which the CLI would let the environment overrule), the variable
OPENNOTES_NOTEBOOK or JOT_NOTEBOOK, the working directory itself, a registered notebook one of whose contexts it lies
in, its ancestors.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from ferrule_opennotes import errors
from ferrule_opennotes.notebook import configuration
from ferrule_opennotes.notebook.characters import make_storable
from ferrule_opennotes.notebook.notebook import CONFIG_FILES, ConfigurationError, Notebook, read
from ferrule_opennotes.notebook.paths import make_absolute

VARIABLES = {"opennotes": "OPENNOTES_NOTEBOOK", "jot": "JOT_NOTEBOOK"}


class Discovery(NamedTuple):
    """A notebook and how it was found: `explicit`, `registered` or `ancestor`."""

    notebook: Notebook
    source: str


def order_kinds(kind: str) -> list[str]:
    """Both CLIs, the one that is installed first."""
    return [kind, *(other for other in VARIABLES if other != kind)]


def open_notebook(argument: str | None, kind: str) -> Notebook:
    """The notebook that a call means. argument: its `notebook`. kind: of the installed CLI.

    Raises NOTEBOOK_NOT_FOUND with the reason, or the folders that were looked at.
    """
    if argument:
        return _open_named(argument, kind)
    found = find_current(kind)
    if found is None:
        searched = [make_storable(folder) for folder in _list_ancestors()]
        raise errors.notebook_not_found(searched=searched, program=kind)
    return found.notebook


def find_current(kind: str) -> Discovery | None:
    """The notebook of the context, None if there is none. Raises NOTEBOOK_NOT_FOUND where it cannot be read."""
    try:
        return _find_by_environment(kind) or _find_by_folder(kind)
    except ConfigurationError as error:
        raise errors.notebook_not_found(reason=make_storable(str(error)), program=kind) from None


def find_all(kind: str) -> Iterator[Discovery]:
    """Every notebook that is registered, then every one around the working directory; none of them twice."""
    seen: set[str] = set()
    sources = {"registered": configuration.list_registered(order_kinds(kind)), "ancestor": _list_ancestors()}
    for source, folders in sources.items():
        for folder in folders:
            notebook = _read_usable(folder, kind)
            if notebook and (place := os.path.realpath(notebook.path)) not in seen:
                seen.add(place)
                yield Discovery(notebook, source)


def _open_named(argument: str, kind: str) -> Notebook:
    folder = make_absolute(os.path.expanduser(argument))
    if os.path.basename(folder) in (".opennotes.json", ".jot.json"):
        folder = os.path.dirname(folder)
    try:
        _require_listable(folder)
        notebook = read(folder, order_kinds(kind)) or _read_around(folder, kind)
    except (ConfigurationError, OSError) as error:
        raise errors.notebook_not_found(argument, make_storable(str(error)), program=kind) from None
    if notebook is None:
        notebook = next((each.notebook for each in find_all(kind) if each.notebook.name == argument), None)
    if notebook is None:
        reason = "it holds no .opennotes.json or .jot.json" if os.path.isdir(folder) else "there is no such folder"
        raise errors.notebook_not_found(argument, reason, program=kind)
    return notebook


def _require_listable(folder: str) -> None:
    """Raise PermissionError for a notebook that this call may not list: what was refused then is all of it.

    The home is no such folder: its configuration may be read, and its notes are in a folder below it.
    """
    is_notebook = any(os.path.lexists(os.path.join(folder, file)) for file in CONFIG_FILES.values())
    if is_notebook and folder != os.path.expanduser("~"):
        with suppress(FileNotFoundError, NotADirectoryError):
            os.scandir(folder).close()


def _read_around(root: str, kind: str) -> Notebook | None:
    """The notebook in the folder above that has its notes in `root`, as `opennotes` makes them."""
    notebook = _read_usable(os.path.dirname(root), kind)
    return notebook if notebook and notebook.root == root else None


def _find_by_environment(kind: str) -> Discovery | None:
    for each in order_kinds(kind):
        if folder := os.environ.get(VARIABLES[each], "").strip():
            notebook = read(make_absolute(folder), [each, *order_kinds(each)[1:]])
            if notebook is None:
                raise ConfigurationError(f"{VARIABLES[each]} names {folder}, which holds no notebook")
            return Discovery(notebook, "explicit")
    return None


def _find_by_folder(kind: str) -> Discovery | None:
    folders = _list_ancestors()
    if not folders:
        return None
    if notebook := read(folders[0], order_kinds(kind)):
        return Discovery(notebook, "ancestor")
    everything = list(find_all(kind))
    for found in everything:
        if _has_context(found.notebook, folders):
            return found
    places = {os.path.realpath(found.notebook.path): found for found in everything}
    return next((places[folder] for folder in folders if folder in places), None)


def _has_context(notebook: Notebook, folders: Sequence[str]) -> bool:
    """Whether the working directory is one of the notebook's contexts or below it, part by part."""
    contexts = notebook.config.get("contexts")
    listed = contexts if isinstance(contexts, list) else []
    absolute = [each for each in listed if isinstance(each, str) and os.path.isabs(each)]
    # The system names the working directory without symbolic links; a context is written as its shell names it.
    return any(os.path.normpath(each) in (*folders, os.sep) or os.path.realpath(each) in folders for each in absolute)


def _list_ancestors() -> list[str]:
    """The working directory and every folder above it but the last; none where it has been removed."""
    try:
        folder = os.getcwd()
    except OSError:
        return []
    folders = []
    while folder != os.path.dirname(folder):
        folders.append(folder)
        folder = os.path.dirname(folder)
    return folders


def _read_usable(folder: str, kind: str) -> Notebook | None:
    try:
        return read(folder, order_kinds(kind))
    except ConfigurationError:
        return None
