"""What `ferrule install` is to install: found by what the user typed, and read or refused before its code can run."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule import discovery
from ferrule.admin.packages import distribution_files, package_names, parent_code
from ferrule.admin.packages.package_names import BUILT, FOLDER, NAME, Candidate, Wanted
from ferrule.admin.packages.package_preview import NotFetched, PackagePreview, Unpacked, opened
from ferrule.admin.packages.parent_code import HARMLESS, METADATA, ParentCode
from ferrule.errors import FerruleError, PackageRefused
from ferrule.installed import known_distributions
from ferrule.text.names import same_distribution

if TYPE_CHECKING:
    from ferrule.admin.packages.distribution_files import DistributionFiles
    from ferrule.admin.packages.installer import Changes, Installer


_MAX_TOLD = 5


class PackagePlan(NamedTuple):
    """changes: what the installer is told. notes: sentences for the user. code: what comes along that takes effect in
    ferrule's own process, and is harmless or trusted.
    """

    changes: Changes
    notes: list[str]
    code: list[ParentCode]


def make(installer: Installer, changes: Changes, trusted: Collection[str] = ()) -> PackagePlan:
    """Find and read what is asked for. trusted: names of distributions that may run code outside of their tools' calls.

    Raises PackageRefused for what is no plugin, and for what runs code that is not trusted; FerruleError for what
    cannot be had. Nothing is installed, and no code of a package has run.
    """
    names = {package_names.distribution_name(one) or one for one in trusted}
    with opened(installer, changes.options, filter(None, names)) as preview:
        plan = _Planning(installer, changes, names, preview)
        return plan.finish()


class _Planning:
    def __init__(self, installer: Installer, changes: Changes, trusted: set[str], preview: PackagePreview) -> None:
        self._installer = installer
        self._changes = changes
        self._trusted = trusted
        self._preview = preview
        self._notes: list[str] = []
        self._read: list[Unpacked] = []
        self._required: list[str] = []  # what is asked for, and what projects require, as a resolver takes it

    def finish(self) -> PackagePlan:
        names = [self._name(package_names.wanted(text)) for text in self._changes.names]
        for folder in self._changes.editables:
            self._project(folder)
        code = self._code()
        return PackagePlan(self._changes._replace(names=names), self._notes, code)

    def _name(self, one: Wanted) -> str:
        """What the installer is told for one thing that the user names."""
        if one.kind == FOLDER:
            self._project(one.text)
            self._notes.append(f"{one.text} is built here, which runs the code of that project.")
            return one.text
        if one.kind == BUILT:
            self._require_trust(one.text)
            return one.text
        if one.kind == NAME:
            return self._by_name(one.text)
        unpacked = self._unpack(one.text)
        if not _plugins(unpacked):
            raise self._no_plugin(one.text, unpacked)
        self._accept(one.text, unpacked)
        return one.text

    def _by_name(self, text: str) -> str:
        failures: list[NotFetched] = []
        seen: Unpacked | None = None
        candidates = package_names.candidates(text)
        for candidate in candidates:
            try:
                unpacked = self._preview.unpack([candidate.requirement])
            except NotFetched as error:
                failures.append(error)
                continue
            if _fits(candidate, unpacked):
                self._tell_found(text, candidate, unpacked)
                self._accept(candidate.requirement, unpacked)
                return candidate.requirement
            seen = unpacked
        if seen is not None:
            raise self._no_plugin(text, seen)
        raise self._not_found(text, [one.requirement for one in candidates], failures)

    def _accept(self, requirement: str, unpacked: Unpacked) -> None:
        self._read.append(unpacked)
        self._required.append(requirement)

    def _tell_found(self, text: str, candidate: Candidate, unpacked: Unpacked) -> None:
        if candidate.requirement != text:
            self._notes.append(f"{text} is {_offer(text, unpacked)}{_plugins(unpacked)[0].source}.")

    def _project(self, folder: str) -> None:
        is_plugin, required = package_names.project(folder)
        if is_plugin is False:
            raise PackageRefused(
                f"The project in {folder} has no tool, wrapper or command for ferrule.",
                hint='Its pyproject.toml names them in [project.entry-points."ferrule.tools"].',
            )
        self._required += required

    def _unpack(self, text: str) -> Unpacked:
        try:
            return self._preview.unpack([text])
        except NotFetched as error:
            raise _cannot(self._installer, text, error) from None

    def _require_trust(self, text: str) -> None:
        name = package_names.distribution_name(text)
        if text not in self._trusted and name not in self._trusted:
            raise PackageRefused(
                f"{text} has to be built, which runs its code with all that you may do, before anything can be read.",
                hint=f"Where you trust it: ferrule install --trust '{name or text}' '{text}'. Or name a wheel of it.",
            )
        self._notes.append(f"{text} is built, which runs its code.")

    def _no_plugin(self, text: str, unpacked: Unpacked) -> PackageRefused:
        found = unpacked.distributions[0].source if unpacked.distributions else text
        close = known_distributions.probably_meant(package_names.distribution_name(text) or text)
        meant = f"Did you mean {' or '.join(close)}? " if close else ""
        other = " ".join(self._installer.install(self._changes._replace(names=[text], editables=(), options=())))
        return PackageRefused(
            f"{found} is no plugin of ferrule: it has no tool, wrapper or command, so it was not installed.",
            hint=f"{meant}Where you want that package all the same: {other}",
            details={"package": found, "close": close},
        )

    def _not_found(self, text: str, tried: list[str], failures: list[NotFetched]) -> FerruleError:
        typed = package_names.distribution_name(text)
        close = [one for one in known_distributions.probably_meant(typed) if one not in tried]
        source = self._source_archive(tried, failures)
        if source:
            hint = (
                f"The index has {source}, but no wheel that can be read before it is installed. Where you trust what "
                f"building it runs: ferrule install --trust {source} {source}"
            )
        elif close and len(tried) > 1:
            hint = f"Did you mean {' or '.join(close)}?"
        else:
            hint = _last_line(failures[0].message)
            hint += " Where it is a tool of another package, name the package." if len(tried) > 1 else ""
        return FerruleError(
            f"{self._installer.kind} finds no wheel of {' or '.join(dict.fromkeys(tried))} for this Python.",
            hint=hint,
            details={"installer": failures[0].message, "close": close},
        )

    def _source_archive(self, tried: list[str], failures: list[NotFetched]) -> str:
        """The first of these that the index has without a wheel, and that is not trusted; empty if there is none."""
        for text, failure in zip(tried, failures, strict=True):
            name = package_names.distribution_name(text)
            is_typed = text == tried[-1] or text == tried[0]  # each question is a process
            if is_typed and name not in self._trusted and self._preview.has_source_alone(name, failure):
                return name
        return ""

    def _code(self) -> list[ParentCode]:
        """What comes along, dependencies included, that takes effect in ferrule's own process."""
        if not self._required:
            return []
        try:
            coming = self._preview.coming(self._required, is_upgrade=self._changes.is_upgrade)
            read = [one for unpacked in self._read for one in unpacked.distributions]
            rest = [one for one in coming if not any(_is_this(have, one) for have in read)]
            if rest:
                self._read.append(self._preview.unpack(rest))
        except NotFetched as error:
            raise _cannot(self._installer, " and ".join(self._required), error) from None
        names = {package_names.distribution_name(one) for one in coming}
        arriving = {one.name: one for unpacked in self._read for one in unpacked.distributions if one.name in names}
        unlisted = [name for unpacked in self._read for name in unpacked.unlisted]
        found = [
            *_strangers(self._read),
            *parent_code.of_arriving([*arriving.values()], unlisted, distribution_files.installed()),
        ]
        self._require_harmless(found)
        self._notes += [text for one in arriving.values() if (text := _commands(one))]
        return [one for one in found if not one.known]

    def _require_harmless(self, found: Sequence[ParentCode]) -> None:
        refused = [one for one in found if one.id not in HARMLESS and not one.known and not self._is_trusted(one)]
        if refused:
            names = list(dict.fromkeys(one.distribution for one in refused))
            options = " ".join(f"--trust {name}" for name in names)
            told = " ".join(one.message for one in refused[:_MAX_TOLD])
            raise PackageRefused(
                f"Nothing was installed: {' and '.join(names)} would have effects in ferrule itself, beyond what a "
                f"tool may. {told}",
                hint=f"Where you trust it with all that you may do, add {options}.",
                details={"parent_code": [one.as_dict() for one in refused]},
            )

    def _is_trusted(self, one: ParentCode) -> bool:
        return all(name in self._trusted for name in one.distribution.split(" or "))


def _commands(one: DistributionFiles) -> str:
    """What its commands are, as a sentence; empty where it has none."""
    names = [f"`ferrule {name}`" for group, name in one.entry_points() if group == discovery.COMMANDS]
    runs = "a command that runs" if len(names) == 1 else "commands that run"
    return f"{one.source} adds {' and '.join(names)}: {runs} with all that you may do." if names else ""


def _plugins(unpacked: Unpacked) -> list[DistributionFiles]:
    """The distributions that plug into ferrule: by an entry point, or because they require it."""
    found = unpacked.distributions
    return [one for one in found if one.entry_points() or package_names.requires_host(one.requirements())]


def _fits(candidate: Candidate, unpacked: Unpacked) -> bool:
    plugins = _plugins(unpacked)
    tools = {name for one in plugins for group, name in one.entry_points() if group == "ferrule.tools"}
    return bool(plugins) if not candidate.tool else candidate.tool in tools


def _offer(text: str, unpacked: Unpacked) -> str:
    from ferrule.text.names import tool_name

    name = same_distribution(package_names.distribution_name(text))
    offered = [(group, point) for one in _plugins(unpacked) for group, point in one.entry_points()]
    if ("ferrule.tools", tool_name(name)) in offered:
        return "a tool of "
    return "a command of " if ("ferrule.commands", name) in offered else ""


def _is_this(have: DistributionFiles, requirement: str) -> bool:
    """Whether what has been read is what would come; an address was read as it is."""
    from packaging.requirements import Requirement

    coming = Requirement(requirement)
    is_it = coming.url is not None or coming.specifier.contains(have.version, prereleases=True)
    return same_distribution(coming.name) == have.name and is_it


def _strangers(read: Iterable[Unpacked]) -> Iterator[ParentCode]:
    """The metadata of other distributions that came in the wheels of those that were asked for."""
    for unpacked in read:
        source = " or ".join(sorted({one.name for one in unpacked.distributions}))
        for one in unpacked.strangers:
            folder = os.path.basename(one.metadata)
            yield ParentCode(METADATA, source, folder, f"It brings {folder}, the metadata of another distribution.")


def _cannot(installer: Installer, what: str, error: NotFetched) -> FerruleError:
    return FerruleError(
        f"{installer.kind} cannot fetch wheels for {what}: {_last_line(error.message)}",
        hint="ferrule reads a package before it installs it, so it needs wheels. Where a source archive is all there "
        "is and you trust it, name its package with --trust.",
        details={"installer": error.message},
    )


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if line.lower().startswith(("error", "cause"))]
    versions = [line for line in lines if "from versions: " in line and "from versions: none" not in line]
    told += versions  # pip says in its last line only that there is none
    return (told or lines or ["it gives no reason."])[-1]
