"""What distributions require by their metadata: what of it is not installed, and which requirement brings a module.

This is looked at after a failure, and by `ferrule doctor`; it takes the libraries that read metadata and versions.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ferrule.text.names import same_distribution

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packaging.requirements import Requirement


class Unmet(NamedTuple):
    """A requirement that this environment does not meet.

    requirement: as it is written, such as `uvicorn>=0.31.1`. version: what is installed, None where nothing is.
    by: the distribution that requires it.
    """

    requirement: str
    version: str | None
    by: str


def unmet(distribution: str) -> list[Unmet]:
    """What a distribution requires, and what that requires, and is not met; without its extras."""
    found: dict[tuple[str, str], Unmet] = {}
    for name, one, version in _walk(distribution):
        if version is None or (version and not one.specifier.contains(version, prereleases=True)):
            found.setdefault((one.name, name), Unmet(_written(one), version, name))
    return list(found.values())


def brought_by(distribution: str) -> set[str]:
    """The names of a distribution and of all that it may import: what it requires, with its extras, and so on.

    Of that, what is installed.
    """
    needed = _walk(distribution, *_extras(distribution))
    return {same_distribution(distribution), *(same_distribution(one.name) for _, one, version in needed if version)}


def _walk(distribution: str, *extras: str) -> Iterator[tuple[str, Requirement, str | None]]:
    """Each requirement of a distribution and of what that requires: who has it, and `_version` of what it names."""
    seen: set[tuple[str, str]] = set()
    waiting = [(distribution, extra) for extra in ("", *extras)]
    while waiting:
        name, extra = waiting.pop(0)
        if (same_distribution(name), extra) in seen:
            continue
        seen.add((same_distribution(name), extra))
        for one in _requirements(name, extra):
            version = _version(one.name)
            yield name, one, version
            if version is not None:
                waiting += [(one.name, inner) for inner in ("", *sorted(one.extras))]


def requirement_for(module: str, *distributions: str) -> str | None:
    """What to install for a module that is missing: `ferrule-serve[traces]`, or a distribution that lacks something.

    distributions: which are asked, in this order; an extra is known by its name, which resembles that of the module.
    None where no distribution says anything of the module.
    """
    for name in distributions:
        for extra in _extras(name):
            if any(_resembles(one.name, module) for one in _requirements(name, extra) if one.marker):
                return f"{name}[{extra}]"
        if any(one.version is None for one in unmet(name)):
            return name
    return None


def _requirements(distribution: str, extra: str) -> Iterator[Requirement]:
    """What it requires here: with an extra only what that adds."""
    for one in _declared(distribution):
        is_plain = one.marker is None or one.marker.evaluate({"extra": ""})
        if is_plain != bool(extra) and (is_plain or (one.marker and one.marker.evaluate({"extra": extra}))):
            yield one


@cache
def _declared(distribution: str) -> tuple[Requirement, ...]:
    from importlib.metadata import PackageNotFoundError, requires

    from packaging.requirements import InvalidRequirement, Requirement

    found = []
    try:
        written = requires(distribution) or []
    except (PackageNotFoundError, OSError, ValueError):
        return ()
    for text in written:
        try:
            found.append(Requirement(text))
        except InvalidRequirement:
            continue  # the installer has not read it either
    return tuple(found)


def _extras(distribution: str) -> list[str]:
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        return metadata(distribution).get_all("Provides-Extra") or []
    except (PackageNotFoundError, OSError, ValueError):
        return []


@cache
def _version(distribution: str) -> str | None:
    """The version that is installed, an empty text where it cannot be read, None where nothing is installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return str(version(distribution) or "")
    except PackageNotFoundError:
        return None
    except (OSError, ValueError, KeyError):
        return ""


def _written(one: Requirement) -> str:
    extras = f"[{','.join(sorted(one.extras))}]" if one.extras else ""
    return f"{one.name}{extras}{one.specifier}"


def _resembles(distribution: str, module: str) -> bool:
    """Whether a distribution may have a module, by their names: opentelemetry-sdk may have opentelemetry."""
    name, top = same_distribution(distribution), same_distribution(module.partition(".")[0])
    return name == top or name.startswith(f"{top}-") or name.endswith(f"-{top}")
