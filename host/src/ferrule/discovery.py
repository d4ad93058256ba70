"""Which tools are installed, read from the metadata of the distributions alone: nothing of a plugin is imported.

The standard library's `importlib.metadata` does this too, at four times the price of starting the interpreter, and an
agent pays that for each call. So `entry_points.txt` is read here, with the same rules: the first folder of the path
that has a distribution hides those of its name in later ones. Two folders of metadata that name one distribution in one
folder of the path are another matter. No installer leaves them, and a package that brings a second one takes another's
place, so each of them claims what any of them offers.

A source has tools that no distribution offers, such as those of a server. They are installed the same way, into a
folder of ferrule's own, which is the last one of the path: `ferrule.installed.source_tools` writes them.
"""

from __future__ import annotations

import os
import sys

from ferrule.config.own_folders import add_sources_to_path, sources_folder
from ferrule.text.names import is_tool_name, normalise_distributions

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.errors import ToolNameClash, ToolUnknown
    from ferrule.text.json_types import JSONObject


TOOLS = "ferrule.tools"
FAILURES = "ferrule.failures"
WRAPPERS = "ferrule.wrappers"
COMMANDS = "ferrule.commands"
LAUNCHERS = "ferrule.launchers"
DIAGNOSES = "ferrule.diagnoses"
CREDENTIALS = "ferrule.credentials"
SOURCES = "ferrule.sources"
_MAX_ENTRY_POINTS_BYTES = 1 << 16  # bytes of entry_points.txt that are read
_METADATA_FOLDERS = (".dist-info", ".egg-info")
_SIGNS_OF_METADATA = ("entry_points.txt", "METADATA", "PKG-INFO")


class InstalledTool:
    """One entry point of the group `ferrule.tools`.

    Args:
        name: the tool's name.
        value: the entry point's value, `module` or `module:attribute`.
        distribution, version: who offers it.
        metadata: the folder with the distribution's metadata.
        failures: the value of the entry point of the same name in the group `ferrule.failures`, which renders failures
            in the tool's own shape; None for the default.
    """

    __slots__ = ("distribution", "failures", "metadata", "name", "value", "version")

    def __init__(
        self, name: str, value: str, distribution: str, version: str, metadata: str, failures: str | None = None
    ) -> None:
        self.name = name
        self.value = value
        self.distribution = distribution
        self.version = version
        self.metadata = metadata
        self.failures = failures

    def as_dict(self) -> JSONObject:
        """The arguments from which another process makes it."""
        return {name: getattr(self, name) for name in self.__slots__}

    @property
    def module(self) -> str:
        """The module that the entry point names, without the attribute."""
        return self.value.partition(":")[0]

    @property
    def source(self) -> str:
        """The distribution and its version, as in `ferrule-fetch 0.1.0`."""
        return f"{self.distribution} {self.version}".strip()

    @property
    def is_of_source(self) -> bool:
        """Whether a source has it, and no distribution that an installer knows."""
        return os.path.dirname(self.metadata) == sources_folder()

    @property
    def is_gone(self) -> bool:
        """Whether it has been uninstalled since it was found."""
        return bool(self.metadata) and not os.path.lexists(self.metadata)

    @property
    def grant_command(self) -> str:
        """The command of a source that grants something to all tools that it wrote together; empty for other tools."""
        if not self.is_of_source:
            return ""
        _, _, rest = self.module.partition("_")
        source, _, name = rest.partition("_")
        return f"ferrule {source} grant {name}"


def scan(search: Iterable[str] | None = None) -> dict[str, list[InstalledTool]]:
    """Every tool on the path: its name, and each distribution's claim to it. More than one claim is a clash.

    search: folders, `sys.path` by default. A folder or file that cannot be read is passed over.
    """
    claims: dict[str, list[InstalledTool]] = {}
    for places in _distributions(search):
        read = [_entry_points(metadata) for metadata in places]
        for groups in read:
            for name, value in groups.get(TOOLS, {}).items():
                if name in claims and claims[name][-1].metadata in places:
                    continue  # all of one distribution have claimed it already
                for metadata, its in zip(places, read, strict=True):
                    failures = its.get(FAILURES, {}).get(name)
                    distribution, version = name_and_version(metadata)
                    tool = InstalledTool(name, value, distribution, version, metadata, failures)
                    claims.setdefault(name, []).append(tool)
    return claims


def find_family(name: str) -> list[InstalledTool]:
    """The tools of one distribution whose names begin with the same word, as in `notes_list` and `notes_get`.

    Empty where it is one tool alone, and where a tool of another distribution, or of a source, begins so too.
    """
    claims, word = scan(), name.partition("_")[0]
    family = [tool for other in sorted(claims) if other.startswith(f"{word}_") for tool in claims[other]]
    is_one = len({tool.metadata for tool in family}) == 1 and not family[0].is_of_source
    return family if is_one and len(family) > 1 and name in claims else []


def entry_points(group: str, search: Iterable[str] | None = None) -> Iterator[tuple[str, str, str]]:
    """The entry points of another group, as (name, value, distribution and version), in the order of the path.

    Each folder of metadata that names one distribution claims what any of them has: a name twice is a clash.
    """
    for places in _distributions(search):
        found: dict[str, str] = {}
        for metadata in places:
            found = {**_entry_points(metadata, group).get(group, {}), **found}
        for name, value in found.items():
            for metadata in places:
                yield name, value, " ".join(filter(None, name_and_version(metadata)))


def wrappers(search: Iterable[str] | None = None) -> dict[str, list[tuple[str, str]]]:
    """Every wrapper on the path: its name, and each claim to it, as `entry_points` gives value and distribution."""
    claims: dict[str, list[tuple[str, str]]] = {}
    for name, value, source in entry_points(WRAPPERS, search):
        claims.setdefault(name, []).append((value, source))
    return claims


def find(name: str, configuration: Configuration, search: Iterable[str] | None = None) -> InstalledTool:
    """The one tool that has this name.

    Raises ToolUnknown, ToolNameClash or ToolDisabled, and ToolUnavailable for what is no name of a tool.
    """
    claims = scan(search).get(name, [])
    if claims and not is_tool_name(name):
        from ferrule.errors import no_tool_name

        raise no_tool_name(name, claims[0].source)
    if len(claims) == 1 and not configuration.is_disabled(name):
        return claims[0]
    from ferrule.errors import ToolDisabled

    if len(claims) > 1:
        raise clash(name, claims)
    if claims:
        raise ToolDisabled(f"The tool {name!r} is disabled by {configuration.why_disabled(name)}.")
    raise unknown(name)


def unknown(name: str) -> ToolUnknown:
    """The error of a name that nothing offers."""
    from ferrule.errors import ToolUnknown

    return ToolUnknown(
        f"No installed distribution offers a tool named {name!r}.",
        hint="Run `ferrule list` to see what is installed, and `ferrule doctor` for links that are out of date.",
    )


def clash(name: str, claims: Iterable[InstalledTool]) -> ToolNameClash:
    """The error that names every distribution which claims the tool."""
    from ferrule.errors import ToolNameClash

    claims = list(claims)
    sources = sorted(tool.source for tool in claims)
    hint = f"Uninstall all but one of: {', '.join(sources)}."
    if len({tool.distribution for tool in claims}) < len(claims):
        folders = sorted(tool.metadata for tool in claims)
        hint = f"Each of these says whose the tool is; remove what you have not installed: {', '.join(folders)}."
    return ToolNameClash(
        f"The tool {name!r} is claimed by {' and by '.join(sources)}, so none of them gets it.",
        hint=hint,
        details={"distributions": sources},
    )


def _distributions(search: Iterable[str] | None) -> Iterator[list[str]]:
    """The folder with the metadata of each; more than one where several name it in one folder of the path."""
    seen: set[str] = set()
    for listed in _metadata_folders(_path() if search is None else search):
        here: dict[str, list[str]] = {}
        for metadata, (name, _) in zip(listed, _read_names(listed), strict=True):
            here.setdefault(name, []).append(metadata)
        for distribution, places in here.items():
            if distribution not in seen:
                yield places if len(places) == 1 else [one for one in places if _is_metadata(one)]
        seen.update(here)


def _is_metadata(path: str) -> bool:
    """Whether it says anything: an uninstallation that was broken off may leave a folder of which nothing counts."""
    return os.path.isfile(path) or any(os.path.lexists(f"{path}/{name}") for name in _SIGNS_OF_METADATA)


def _metadata_folders(search: Iterable[str]) -> Iterator[list[str]]:
    """The metadata in each folder of the path, as paths."""
    own = os.path.dirname(os.__file__)
    for folder in dict.fromkeys(search):
        if folder == own or folder == own + "/lib-dynload":
            continue  # hundreds of files, none of which is a distribution's
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        yield [os.path.join(folder, name) for name in sorted(names) if name.endswith(_METADATA_FOLDERS)]


def metadata_folders() -> Iterator[str]:
    """Every folder of metadata on the path, also one that says nothing."""
    for listed in _metadata_folders(_path()):
        yield from listed


def _path() -> list[str]:
    """Where distributions are; what is found there can be imported, too."""
    add_sources_to_path()
    return sys.path


def name_and_version(metadata: str) -> tuple[str, str]:
    """The normalised name and the version that a folder of metadata is named by."""
    return _read_names([metadata])[0]


def _read_names(folders: Sequence[str]) -> list[tuple[str, str]]:
    new = [metadata for metadata in folders if metadata not in _named]
    parts = [os.path.basename(metadata).rpartition(".")[0].partition("-") for metadata in new]
    names = normalise_distributions([name for name, _, _ in parts]) if new else []
    for metadata, name, (_, _, version) in zip(new, names, parts, strict=True):
        # An egg-info folder may carry more than name and version: a Python version, a platform.
        _named[metadata] = name, version.partition("-")[0]
    return [_named[metadata] for metadata in folders]


_named: dict[str, tuple[str, str]] = {}  # what the paths of folders say, which one scan asks three times


def _entry_points(metadata: str, group: str = TOOLS) -> dict[str, dict[str, str]]:
    """The entry points of our groups; `{}` for a distribution without any of this one, after a look at the bytes."""
    try:
        # Without O_NONBLOCK a FIFO in the file's place would hang every call of every tool.
        file = os.open(f"{metadata}/entry_points.txt", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            data = os.read(file, _MAX_ENTRY_POINTS_BYTES)
        finally:
            os.close(file)
    except OSError:
        return {}
    return _parse(data.decode(errors="replace")) if group.encode() in data else {}


def _parse(text: str) -> dict[str, dict[str, str]]:
    groups: dict[str, dict[str, str]] = {}
    group: dict[str, str] = {}
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = groups.setdefault(line[1:-1].strip(), {})
        elif line and line[0] not in "#;" and "=" in line:
            name, _, value = line.partition("=")
            group.setdefault(name.strip(), value.partition("[")[0].strip())
    return groups
