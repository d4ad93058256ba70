"""What a user types for a package, and which packages it may mean: a tool's name finds the one that has the tool."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ferrule import discovery
from ferrule.errors import FerruleError
from ferrule.installed import known_distributions
from ferrule.text.names import SUFFIX, same_distribution, tool_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from packaging.requirements import Requirement

HOST = "ferrule"
NAME, WHEEL, FOLDER, BUILT = "name", "wheel", "folder", "built"
_ARCHIVES = (".tar.gz", ".zip", ".tar.bz2", ".tar.xz", ".tgz")
_EXTRAS = re.compile(r"\[[\w\s,.-]+\]$")


class Wanted(NamedTuple):
    """One thing that the user names. text: as typed. kind: `name`, `wheel` (a file or an address of one), `folder` of a
    project, or `built`, which has to be built before anything can be read.
    """

    text: str
    kind: str


class Candidate(NamedTuple):
    """One distribution that may be meant. requirement: as an installer takes it. tool: the one that it has to have;
    empty where any plugin will do.
    """

    requirement: str
    tool: str = ""


def wanted(text: str) -> Wanted:
    """What kind of thing is named. Raises FerruleError for a file that is not there, and for what is none of them."""
    text = text.strip()
    path = _EXTRAS.sub("", text)
    address = text.partition(" @ ")[2].strip() or text
    if "://" in address or address.startswith("git+"):
        file = address.partition("#")[0].partition("?")[0]
        return Wanted(text, WHEEL if file.endswith(".whl") and not address.startswith("git+") else BUILT)
    if os.sep in path or path.startswith(".") or (path.endswith((".whl", *_ARCHIVES)) and os.path.isfile(path)):
        if os.path.isdir(path):
            return Wanted(text, FOLDER)
        if not os.path.isfile(path):
            raise FerruleError(f"There is no {path}.", hint="Name a package, a project's folder or a wheel.")
        return Wanted(text, WHEEL if path.endswith(".whl") else BUILT)
    _parse(text)
    return Wanted(text, NAME)


def candidates(text: str) -> list[Candidate]:
    """The distributions that a name may mean, the first of them first.

    A name that begins with `ferrule-` means itself. Any other one is a tool or a command first, which its distribution
    brings, then a plugin by the last part of its name. The package of exactly that name comes last.
    """
    requirement = _parse(text)
    name = same_distribution(requirement.name)
    if name == HOST or name.startswith(f"{HOST}-"):
        return [Candidate(text)]
    owner = _owner(requirement.name)
    if owner is not None:
        return [Candidate(_renamed(requirement, owner))]
    plain = name.removesuffix(SUFFIX)
    parts = plain.split("-")
    tool = tool_name(name)
    found = {f"{HOST}-{name}": "", f"{HOST}-{plain}": ""}
    if len(parts) > 1:
        found |= {f"{HOST}-{parts[-1]}": tool, f"{HOST}-{parts[0]}": tool}
    return [*(Candidate(_renamed(requirement, one), needed) for one, needed in found.items()), Candidate(text)]


def distribution_name(text: str) -> str:
    """The normalised name of the distribution that a requirement or a wheel names; empty where it names none."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return same_distribution(Requirement(text).name)
    except InvalidRequirement:
        file = os.path.basename(_EXTRAS.sub("", text).partition("#")[0].partition("?")[0])
        return same_distribution(file.partition("-")[0]) if file.endswith(".whl") else ""


def project(path: str) -> tuple[bool | None, list[str]]:
    """Whether a project's folder is a plugin, and what it requires, both as its pyproject.toml says without being run.

    None where that does not say it, because it is computed or written elsewhere.
    """
    folder = _EXTRAS.sub("", path)
    extras = path[len(folder) :]
    try:
        facts = tomllib.loads(Path(folder, "pyproject.toml").read_text(encoding="utf-8"))["project"]
        dynamic, groups = facts.get("dynamic", []), facts.get("entry-points", {})
        required = [*facts.get("dependencies", [])]
        for extra in filter(None, re.split(r"[\s,\[\]]+", extras)):
            required += facts.get("optional-dependencies", {}).get(extra, [])
        required = [one for one in required if isinstance(one, str)]
        is_plugin = any(group.startswith(f"{HOST}.") for group in groups) or requires_host(
            map(distribution_name, required)
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None, []
    return (None if not is_plugin and dynamic else is_plugin), required


def requires_host(names: Iterable[str]) -> bool:
    """Whether ferrule or one of its distributions is among these: what plugs into it requires it."""
    return any(name == HOST or name.startswith(f"{HOST}-") for name in names)


def _owner(name: str) -> str | None:
    """The distribution that has a tool or command of this name: an installed one, else one that is known."""
    claims = discovery.scan().get(tool_name(name), [])
    if len(claims) == 1:
        return claims[0].distribution
    return known_distributions.owner_of_tool(name) or known_distributions.owner_of_command(name)


def _parse(text: str) -> Requirement:
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return Requirement(text)
    except InvalidRequirement:
        raise FerruleError(
            f"{text!r} names no package.", hint="Name one as in ferrule-fetch, web_fetch or 'ferrule-fetch>=1'."
        ) from None


def _renamed(requirement: Requirement, name: str) -> str:
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    marker = f" ; {requirement.marker}" if requirement.marker else ""
    return f"{name}{extras}{requirement.specifier}{marker}"
