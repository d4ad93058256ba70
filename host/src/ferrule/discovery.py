"""Which tools are installed, read from the metadata of the distributions alone: nothing of a plugin is imported.

The standard library's `importlib.metadata` does this too, at four times the price of starting the interpreter, and an
agent pays that for each call. So `entry_points.txt` is read here, with the same rules: the first distribution of a name
on the path hides later ones of that name.
"""

from __future__ import annotations

import os
import sys

from ferrule.text.names import is_tool_name, same_distribution

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ferrule.config.configuration import Configuration
    from ferrule.errors import ToolNameClash
    from ferrule.text.json_types import JSONObject


TOOLS = "ferrule.tools"
FAILURES = "ferrule.failures"
WRAPPERS = "ferrule.wrappers"
COMMANDS = "ferrule.commands"
DIAGNOSES = "ferrule.diagnoses"
CREDENTIALS = "ferrule.credentials"
_MAX_ENTRY_POINTS_BYTES = 1 << 16  # bytes of entry_points.txt that are read
_METADATA_FOLDERS = (".dist-info", ".egg-info")


class InstalledTool:
    """One entry point of the group `ferrule.tools`.

    name: the tool's name. value: the entry point's value, `module` or `module:attribute`. distribution, version: who
    offers it. metadata: the folder with the distribution's metadata. failures: the value of the entry point of the
    same name in the group `ferrule.failures`, which renders failures in the tool's own shape; None for the default.
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


def scan(search: Iterable[str] | None = None) -> dict[str, list[InstalledTool]]:
    """Every tool on the path: its name, and each distribution's claim to it. More than one claim is a clash.

    search: folders, `sys.path` by default. A folder or file that cannot be read is passed over.
    """
    claims: dict[str, list[InstalledTool]] = {}
    for metadata, distribution, version in _distributions(search):
        groups = _entry_points(metadata)
        for name, value in groups.get(TOOLS, {}).items():
            failures = groups.get(FAILURES, {}).get(name)
            tool = InstalledTool(name, value, distribution, version, metadata, failures)
            claims.setdefault(name, []).append(tool)
    return claims


def entry_points(group: str, search: Iterable[str] | None = None) -> Iterator[tuple[str, str, str]]:
    """The entry points of another group, as (name, value, distribution and version), in the order of the path."""
    for metadata, distribution, version in _distributions(search):
        for name, value in _entry_points(metadata, group).get(group, {}).items():
            yield name, value, f"{distribution} {version}".strip()


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
    from ferrule.errors import ToolDisabled, ToolUnknown

    if len(claims) > 1:
        raise clash(name, claims)
    if claims:
        raise ToolDisabled(f"The tool {name!r} is disabled by {configuration.why_disabled(name)}.")
    raise ToolUnknown(
        f"No installed distribution offers a tool named {name!r}.",
        hint="Run `ferrule list` to see what is installed, and `ferrule doctor` for links that are out of date.",
    )


def clash(name: str, claims: Iterable[InstalledTool]) -> ToolNameClash:
    """The error that names every distribution which claims the tool."""
    from ferrule.errors import ToolNameClash

    sources = sorted(tool.source for tool in claims)
    return ToolNameClash(
        f"The tool {name!r} is claimed by {' and by '.join(sources)}, so none of them gets it.",
        hint=f"Uninstall all but one of: {', '.join(sources)}.",
        details={"distributions": sources},
    )


def _distributions(search: Iterable[str] | None) -> Iterator[tuple[str, str, str]]:
    """The folder with the metadata, the name and the version of each, the first one of a name alone."""
    seen: set[str] = set()
    for metadata in _metadata_folders(sys.path if search is None else search):
        distribution, version = name_and_version(metadata)
        if distribution not in seen:
            seen.add(distribution)
            yield metadata, distribution, version


def _metadata_folders(search: Iterable[str]) -> Iterator[str]:
    own = os.path.dirname(os.__file__)
    for folder in dict.fromkeys(search):
        if folder == own or folder == own + "/lib-dynload":
            continue  # hundreds of files, none of which is a distribution's
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(_METADATA_FOLDERS))


def name_and_version(metadata: str) -> tuple[str, str]:
    """The normalised name and the version that a folder of metadata is named by."""
    stem = os.path.basename(metadata).rpartition(".")[0]
    name, _, version = stem.partition("-")
    # An egg-info folder may carry more than name and version: a Python version, a platform.
    return same_distribution(name), version.partition("-")[0]


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
