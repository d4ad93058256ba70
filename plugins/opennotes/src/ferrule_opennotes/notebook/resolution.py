"""Which notebook is meant: the one that the call names, else the one around the working directory.

In this order, as the CLI documents it: the argument (which the CLI would let the environment overrule), the variable
OPENNOTES_NOTEBOOK or JOT_NOTEBOOK, the working directory itself, a registered notebook one of whose contexts it lies
in, its ancestors.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from ferrule_opennotes import errors
from ferrule_opennotes.notebook import global_config
from ferrule_opennotes.notebook.notebook import Malformed, Notebook, read
from ferrule_opennotes.notebook.paths import absolute
from ferrule_opennotes.notebook.storable import storable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VARIABLES = {"opennotes": "OPENNOTES_NOTEBOOK", "jot": "JOT_NOTEBOOK"}


class Found(NamedTuple):
    """A notebook and how it was found: `explicit`, `registered` or `ancestor`."""

    notebook: Notebook
    source: str


def kinds(kind: str) -> list[str]:
    """Both CLIs, the one that is installed first."""
    return [kind, *(other for other in VARIABLES if other != kind)]


def opened(argument: str | None, kind: str) -> Notebook:
    """The notebook that a call means. argument: its `notebook`. kind: of the installed CLI.

    Raises NOTEBOOK_NOT_FOUND with the reason, or the folders that were looked at.
    """
    if argument:
        return _named(argument, kind)
    found = current(kind)
    if found is None:
        raise errors.notebook_not_found(searched=[storable(folder) for folder in _ancestors()])
    return found.notebook


def current(kind: str) -> Found | None:
    """The notebook of the context, None where there is none. Raises NOTEBOOK_NOT_FOUND where it cannot be read."""
    try:
        return _from_environment(kind) or _from_folder(kind)
    except Malformed as error:
        raise errors.notebook_not_found(reason=storable(str(error))) from None


def known(kind: str) -> Iterator[Found]:
    """Every notebook that is registered, then every one around the working directory; none of them twice."""
    seen: set[str] = set()
    for source, folders in (("registered", global_config.registered(kinds(kind))), ("ancestor", _ancestors())):
        for folder in folders:
            notebook = _readable(folder, kind)
            if notebook and (place := os.path.realpath(notebook.path)) not in seen:
                seen.add(place)
                yield Found(notebook, source)


def _named(argument: str, kind: str) -> Notebook:
    if "\0" in argument:
        raise errors.notebook_not_found(argument.replace("\0", "\ufffd"), "a path holds no NUL")
    folder = absolute(os.path.expanduser(argument))
    if os.path.basename(folder) in (".opennotes.json", ".jot.json"):
        folder = os.path.dirname(folder)
    try:
        notebook = read(folder, kinds(kind))
    except (Malformed, OSError) as error:
        raise errors.notebook_not_found(argument, storable(str(error))) from None
    if notebook is None:
        notebook = next((each.notebook for each in known(kind) if each.notebook.name == argument), None)
    if notebook is None:
        reason = "it holds no .opennotes.json or .jot.json" if os.path.isdir(folder) else "there is no such folder"
        raise errors.notebook_not_found(argument, reason)
    return notebook


def _from_environment(kind: str) -> Found | None:
    for each in kinds(kind):
        if folder := os.environ.get(VARIABLES[each], "").strip():
            notebook = read(absolute(folder), [each, *kinds(each)[1:]])
            if notebook is None:
                raise Malformed(f"{VARIABLES[each]} names {folder}, which holds no notebook")
            return Found(notebook, "explicit")
    return None


def _from_folder(kind: str) -> Found | None:
    folders = _ancestors()
    if not folders:
        return None
    if notebook := read(folders[0], kinds(kind)):
        return Found(notebook, "ancestor")
    everything = list(known(kind))
    for found in everything:
        if _has_context(found.notebook, folders):
            return found
    return next((found for found in everything if found.source == "ancestor"), _registered_around(everything, folders))


def _registered_around(everything: Sequence[Found], folders: Sequence[str]) -> Found | None:
    """The nearest ancestor that happens to be registered as well."""
    places = {found.notebook.path: found for found in everything}
    return next((places[folder] for folder in folders if folder in places), None)


def _has_context(notebook: Notebook, folders: Sequence[str]) -> bool:
    """Whether the working directory is one of the notebook's contexts or below it, part by part."""
    contexts = notebook.config.get("contexts")
    listed = contexts if isinstance(contexts, list) else []
    return any(isinstance(each, str) and _is_around(each, folders) for each in listed)


def _is_around(context: str, folders: Sequence[str]) -> bool:
    """Whether a context is one of the folders, of which the working directory is the first, or all there is."""
    if not os.path.isabs(context):
        return False
    # The system names the working directory without symbolic links; a context is written as its shell names it.
    return os.path.normpath(context) in (*folders, os.sep) or os.path.realpath(context) in folders


def _ancestors() -> list[str]:
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


def _readable(folder: str, kind: str) -> Notebook | None:
    try:
        return read(folder, kinds(kind))
    except Malformed:
        return None
