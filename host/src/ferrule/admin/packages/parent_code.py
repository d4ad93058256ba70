"""What a distribution brings that takes effect in ferrule's own process, outside of calls, with all rights of the user.

A plugin's own modules are imported in a confined child only. These are not held by it: what Python runs at its start, a
file instead of another distribution's or among its modules, metadata in the name of another one, and names of
entry points that are paths. One reader looks at what is installed and at what is about to be.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from ferrule import discovery
from ferrule.admin.packages import path_files
from ferrule.admin.packages.distribution_files import METADATA_ENDINGS, DistributionFiles, names_in, path_of
from ferrule.text.names import is_tool_name
from ferrule.text.sha256 import sha256_hex

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

STARTS, PATH_ADDED = "code-at-start", "path-added"
TAKEN, INSIDE, METADATA, OUTSIDE, UNLISTED = (
    "file-of-another", "file-in-another", "metadata-of-another", "file-outside", "file-unlisted",
)  # fmt: skip
SCRIPT, NAME, LAUNCHER = "script-shadows", "entry-point-name", "launcher"
IDS = (STARTS, PATH_ADDED, TAKEN, INSIDE, METADATA, OUTSIDE, UNLISTED, SCRIPT, NAME, LAUNCHER)
HARMLESS = (PATH_ADDED, SCRIPT)
"""What is told only; all else is refused where it is not trusted."""

_IMPORTED = (".py", ".pyc", ".so", ".pyd")
_AT_START = (*_IMPORTED, *path_files.ENDINGS)
_COMPILED_FOLDER, _ELSEWHERE_TOP = "__pycache__", ""
_EXTENSIONS = re.compile(r"\.(?:py|pyc|(?:[\w-]+\.)?(?:so|pyd))")
_COMPILED = re.compile(r"\.[\w-]+\.pyc")
_ELSEWHERE = ("/bin/", "/share/", "/etc/", "/include/", "/man/", "/lib/", "/lib64/")
_OF_THE_ENVIRONMENT = re.compile(r"/lib(?:64)?/python.*|/bin/(?:python[\d.]*|pypy[\d.]*|activate[\w.]*)|/pyvenv\.cfg")
_SYSTEM_FOLDERS = ("/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin")
_OTHER_NAME = re.compile(r"\w[\w.-]*", re.ASCII)
_MAX_SHOWN_CHARS = 120
_RUNS = "which Python runs at each start, in ferrule itself and in each linked tool, with all rights of the user"


class ParentCode(NamedTuple):
    """One thing that takes effect in ferrule's own process. id: one of `IDS`. distribution: who brings it, empty where
    nobody says so. file: as `distribution_files` names it. message: sentences about it. known: what it is known as, so
    that nobody need look at it; empty for all else.
    """

    id: str
    distribution: str
    file: str
    message: str
    known: str = ""

    @property
    def subject(self) -> str:
        """Whom it is about: the distribution, or the file that nobody has installed."""
        return self.distribution or self.file

    @property
    def fix(self) -> str:
        """What to do about it where it is installed."""
        if self.distribution:
            return f"Where you do not know why, run: ferrule uninstall {self.distribution}"
        return "Where you do not know where it comes from, remove the file."

    def as_dict(self) -> JSONObject:
        """It as JSON."""
        return self._asdict()


def of_installed(found: list[DistributionFiles]) -> Iterator[ParentCode]:
    """All that the installed distributions, and files beside them that are nobody's, do in ferrule's own process."""
    for site in dict.fromkeys(one.site for one in found):
        together = [one for one in found if one.site == site]
        for name in names_in(site):
            if name.endswith(_AT_START):
                yield from _at_start(name, site, next((one for one in together if name in one.digests), None))
        yield from _between(together)
        yield from _impersonators(together)
    for one in found:
        yield from _of_itself(one, {other.name for other in found})
        # Whoever installed it has been asked, and `ferrule link` can do nothing but use it.
        yield from _launchers(one, known="launcher")
        yield from _scripts(one)


def of_arriving(
    arriving: list[DistributionFiles], unlisted: Iterable[str], present: list[DistributionFiles]
) -> Iterator[ParentCode]:
    """What distributions would do that have been unpacked to be read, and are not installed.

    unlisted: files among them that no RECORD has. present: what is installed. A distribution takes the place of the one
    of its own name.
    """
    from sysconfig import get_path

    names = {one.name for one in arriving}
    sites = (get_path("purelib"), get_path("platlib"))
    staying = [one for one in present if one.name not in names and one.site in sites]
    source = " or ".join(sorted(names))
    for name in unlisted:
        yield ParentCode(UNLISTED, source, name, f"It has {name}, which its own list of files has not.")
    for one in arriving:
        for name in one.digests:
            if "/" not in name:
                yield from _at_start(name, one.site, one, is_arriving=True)
        yield from _of_itself(one, names | {other.name for other in present})
        yield from _launchers(one)
        yield from _scripts(one)
        yield from _over_what_is_there(one, present)
    yield from (problem for problem in _between([*staying, *arriving]) if problem.distribution in names)


def _between(found: list[DistributionFiles]) -> Iterator[ParentCode]:
    """What distributions of one folder do to each other, by their files in places that several of them have."""
    owners = _owners_of_shared(found)
    yield from _conflicts(owners)
    yield from _intruders(found, owners)
    yield from _same_modules(owners)


def _owners_of_shared(found: Iterable[DistributionFiles]) -> dict[str, list[DistributionFiles]]:
    """Who has each file that stands where another distribution has one, too: most have a folder of their own."""
    users: dict[str, set[str]] = {}
    for one in found:
        for place in _places(one):
            users.setdefault(place, set()).add(one.metadata)
    shared = {place for place, who in users.items() if len(who) > 1} | {_COMPILED_FOLDER}
    owners: dict[str, list[DistributionFiles]] = {}
    for one in found:
        tops = {top for top in one.tops if top.partition(".")[0] in shared}
        for name in one.digests if tops else ():
            if name.partition("/")[0] in tops:
                owners.setdefault(name, []).append(one)
    return owners


def _places(one: DistributionFiles) -> set[str]:
    """The names of modules and folders that its files may be taken for, beside each other in one folder."""
    compiled = one.digests if _COMPILED_FOLDER in one.tops else ()
    modules = {_top_module(name) for name in compiled if name.startswith(f"{_COMPILED_FOLDER}/")}
    return {top.partition(".")[0] for top in one.tops} | modules


def _at_start(
    name: str, site: str, owner: DistributionFiles | None, *, is_arriving: bool = False
) -> Iterator[ParentCode]:
    """What Python does at its start because of one file in a folder of packages."""
    who = owner.name if owner else ""
    if name.endswith(path_files.ENDINGS):
        content = path_files.read(os.path.join(site, name), name)
        is_editable = owner is not None and not is_arriving and bool(_project(owner))
        if content.code:
            known = path_files.known_as(name, who, content.code, is_editable=is_editable)
            line = content.code[0][:_MAX_SHOWN_CHARS]
            yield ParentCode(STARTS, who, name, f"{name} has a line of code, {_RUNS}: {line}", known)
        if content.folders and not is_editable:
            folder = content.folders[0][:_MAX_SHOWN_CHARS]
            known = "pipx" if not who and name == "pipx_shared.pth" else ""
            yield ParentCode(PATH_ADDED, who, name, f"{name} has Python import modules from {folder}, too.", known)
    elif _module(name) in path_files.STARTING_MODULES:
        yield ParentCode(STARTS, who, name, f"{name} is a module {_RUNS}.")


def _project(one: DistributionFiles) -> str:
    """The project's folder of an editable installation, which is there and has a project in it; empty for others."""
    try:
        content = json.loads(Path(one.metadata, "direct_url.json").read_bytes())
        folder = unquote(urlsplit(content["url"]).path)
        is_editable = content["dir_info"]["editable"] is True
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ""
    has_project = any(os.path.isfile(os.path.join(folder, name)) for name in ("pyproject.toml", "setup.py"))
    return os.path.realpath(folder) if is_editable and has_project else ""


def _of_itself(one: DistributionFiles, names: Container[str]) -> Iterator[ParentCode]:
    """What its own list of files, its name and its entry points show. names: of all distributions."""
    own = os.path.basename(one.metadata)
    foreign = {folder for folder in one.tops if folder.endswith(METADATA_ENDINGS)}
    for folder in sorted(foreign - {own}):
        yield ParentCode(METADATA, one.name, folder, f"It brings {folder}, the metadata of another distribution.")
    told = one.told_name()
    if told != one.name and told in names:
        yield ParentCode(METADATA, one.name, own, f"Its folder {own} says in METADATA that it is {told}.")
    for name in one.digests if _ELSEWHERE_TOP in one.tops else ():
        if name.startswith("/") and (not name.startswith(_ELSEWHERE) or _OF_THE_ENVIRONMENT.fullmatch(name)):
            yield ParentCode(
                OUTSIDE, one.name, name, f"It brings {name}, which is outside of what a package may bring."
            )
    for group, name in one.entry_points():
        is_good = is_tool_name(name) if group == discovery.TOOLS else _OTHER_NAME.fullmatch(name)
        if not is_good:
            yield ParentCode(
                NAME, one.name, name, f"Its entry point {name!r} of {group} has a name that none can have."
            )


def _launchers(one: DistributionFiles, known: str = "") -> Iterator[ParentCode]:
    """The programs that `ferrule link` has start each tool."""
    for group, name in one.entry_points():
        if group == discovery.LAUNCHERS:
            message = f"Its program {name} starts each tool that is linked from now on, with all rights of the user."
            yield ParentCode(LAUNCHER, one.name, name, message, known)


def _scripts(one: DistributionFiles) -> Iterator[ParentCode]:
    """The scripts of a plugin that are instead of the system's programs, wherever PATH has its folder first."""
    names = one.digests if _ELSEWHERE_TOP in one.tops else ()
    scripts = [name.removeprefix("/bin/") for name in names if name.startswith("/bin/")]
    if not scripts or not one.entry_points():
        return
    for name in scripts:
        folder = next((folder for folder in _SYSTEM_FOLDERS if os.path.exists(os.path.join(folder, name))), None)
        if folder:
            message = f"Its script {name} has the name of {folder}/{name}, and takes its place on PATH."
            yield ParentCode(SCRIPT, one.name, f"/bin/{name}", message)


def _conflicts(owners: dict[str, list[DistributionFiles]]) -> Iterator[ParentCode]:
    """The files that two distributions of one folder have, with different content."""
    for name, claims in owners.items():
        if len(claims) < 2 or not _matters(name):
            continue
        if len({one.digests[name] for one in claims}) == 1 and claims[0].digests[name]:
            continue
        if len({one.name for one in claims}) == 1:
            continue  # one name twice is told for itself
        taker, others = _taker(name, claims)
        whose = " and of ".join(sorted({one.name for one in others}))
        yield ParentCode(TAKEN, taker, name, f"Its {name} is instead of the file of {whose}.")


def _matters(name: str) -> bool:
    """Whether a file can have an effect: a module, a script, metadata; not a licence or a readme."""
    folder = name.partition("/")[0]
    return name.endswith((*_IMPORTED, *path_files.ENDINGS)) or name.startswith("/") or folder.endswith(METADATA_ENDINGS)


def _taker(name: str, claims: list[DistributionFiles]) -> tuple[str, list[DistributionFiles]]:
    """Whose file it is that stands there, never ferrule's where another one claims it, and the others."""
    there = [one for one in claims if one.name != "ferrule" and _is_as_listed(one, name)]
    taker = there[-1] if there else next(one for one in reversed(claims) if one.name != "ferrule")
    return taker.name, [one for one in claims if one.name != taker.name]


def _is_as_listed(one: DistributionFiles, name: str) -> bool:
    import base64

    algorithm, _, value = one.digests[name].partition("=")
    if algorithm != "sha256":
        return False
    try:
        with open(path_of(name, one.site), "rb") as file:
            digest = sha256_hex(file.read())
        return base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)).hex() == digest
    except (OSError, ValueError):
        return False


def _intruders(found: list[DistributionFiles], owners: dict[str, list[DistributionFiles]]) -> Iterator[ParentCode]:
    """The modules that stand in a package of another distribution."""
    packages = {
        os.path.dirname(name): claims[0].name
        for name, claims in owners.items()
        if name.endswith("/__init__.py") and not name.startswith("/") and len({one.name for one in claims}) == 1
    }
    around_folder: dict[str, str] = {}
    for one in found:
        told = {""}
        for name in one.digests:
            if name not in owners:
                continue
            folder = name.rpartition("/")[0]
            around = around_folder.get(folder)
            if around is None:
                around = around_folder[folder] = _outermost_package(folder, packages)
            if around not in told and packages[around] != one.name and name.endswith(_IMPORTED):
                told.add(around)
                message = f"It puts {name} into the package {around} of {packages[around]}."
                yield ParentCode(INSIDE, one.name, name, message)


def _outermost_package(folder: str, packages: Container[str]) -> str:
    """The outermost of these packages around the files of a folder; empty if there is none."""
    parts = [] if folder.startswith("/") else folder.split("/")
    folders = ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
    return next((one for one in folders if one in packages), "")


def _same_modules(owners: dict[str, list[DistributionFiles]]) -> Iterator[ParentCode]:
    """A module and a package, or a module and its compiled form, of one name and of two distributions."""
    forms: dict[str, dict[str, list[DistributionFiles]]] = {}
    for name, claims in owners.items():
        if name.endswith(_IMPORTED) and (module := _top_module(name)):
            forms.setdefault(module, {})[name] = claims
    for module, files in forms.items():
        names = list(dict.fromkeys(one.name for claims in files.values() for one in claims))
        if len(files) > 1 and len(names) > 1 and not all(len(claims) == len(names) for claims in files.values()):
            last = next(name for name in reversed(names) if name != "ferrule")
            others = " and of ".join(name for name in names if name != last)
            yield ParentCode(INSIDE, last, module, f"Its module {module} has the name of one of {others}.")


def _impersonators(found: list[DistributionFiles]) -> Iterator[ParentCode]:
    """Two folders of metadata in one folder that name one distribution: discovery gives its tools to neither."""
    brought = {
        folder for one in found for folder in one.tops if folder != os.path.basename(one.metadata)
    }  # told of those who brought them
    seen: dict[str, DistributionFiles] = {}
    for one in (one for one in found if os.path.basename(one.metadata) not in brought):
        first = seen.setdefault(one.name, one)
        if first is not one:
            folders = f"{os.path.basename(first.metadata)} and {os.path.basename(one.metadata)}"
            message = f"{folders} both say that they are {one.name}, so none of its tools works."
            yield ParentCode(METADATA, one.name, os.path.basename(first.metadata), message)


def _over_what_is_there(one: DistributionFiles, present: list[DistributionFiles]) -> Iterator[ParentCode]:
    """The files and modules that the environment has from elsewhere: of no distribution, or of a project's folder."""
    from sysconfig import get_path

    site, listed = get_path("purelib"), {name for other in present for name in other.digests}
    for name in one.digests:
        if name.startswith("/bin/") and name not in listed and os.path.lexists(f"{sys.prefix}{name}"):
            message = f"It puts {name} instead of one that no distribution has brought."
            yield ParentCode(TAKEN, one.name, name, message)
    own = [folder for other in present if other.name == one.name if (folder := _project(other))]
    for module in {name.partition("/")[0].partition(".")[0] for name in one.digests if name.endswith(_IMPORTED)}:
        path = _editable_module(module, site)
        if path and not any(path.startswith(f"{folder}/") for folder in own):
            message = f"Its module {module} takes the place of {path}, which Python imports now."
            yield ParentCode(INSIDE, one.name, module, message)


def _editable_module(module: str, site: str) -> str | None:
    """The file of a module that is imported from a folder behind that of the packages."""
    from ferrule.schema.schema_file import find_module_file

    at = sys.path.index(site) if site in sys.path else len(sys.path)
    return find_module_file(module, sys.path[at + 1 :]) if module else None


def _top_module(name: str) -> str:
    """The module that Python would import from there: of a file, a package, or a compiled file without its source."""
    folder, slash, rest = name.partition("/")
    if slash and rest == "__init__.py":
        return folder
    return _COMPILED.sub("", rest) if folder == _COMPILED_FOLDER else _module(name)


def _module(name: str) -> str:
    """The module that a file in a folder of packages is; empty for another file."""
    stem, dot, ending = name.partition(".")
    return stem if dot and _EXTENSIONS.fullmatch(dot + ending) else ""
