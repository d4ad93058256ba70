"""A tool that runs other tools itself, such as a search over all providers: it may what they may."""

from __future__ import annotations

from ferrule import discovery
from ferrule.text.names import is_tool_name
from ferrule.trust import coverage, entries, records
from ferrule.trust.grants import granted, isolation

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.confinement import Policy
    from ferrule.discovery import InstalledTool
    from ferrule.trust.declaration import Permissions

    Resolver = Callable[[str, Permissions, Configuration, Mapping[str, str]], Policy]


def with_tools(
    policy: Policy,
    names: Sequence[str],
    settings: Configuration,
    environ: Mapping[str, str],
    resolve: Resolver,
) -> Policy:
    """The policy with all that the named tools may, each by its own settings.

    names: as in the list `tools` of permissions. resolve: makes the policy of one tool. A tool that is disabled, held,
    kept out by ferrule.lock or in a clash adds nothing, and none adds what other tools may in turn. Raises
    ConfigurationMalformed.
    """
    parts = [policy]
    for tool in find_fitting(policy.tool, names):
        if settings.is_disabled(tool.name) or records.find_held(tool, settings) or _differs(tool, settings):
            continue
        parts.append(resolve(tool.name, granted(tool, settings), settings, environ))
    network = _all(part.network for part in parts)
    return policy.replaced(
        network=network,
        read=_all(part.read for part in parts),
        write=_all(part.write for part in parts),
        programs=_all(part.programs for part in parts),
        environment={name: value for part in parts for name, value in (part.environment or {}).items()},
        processes=max(part.processes for part in parts),
        isolation=isolation(settings, network),
        proxies=_all(part.proxies for part in parts),
        relays=_all(part.relays for part in parts),
    )


def fits(tool: InstalledTool, names: Sequence[str]) -> bool:
    """Whether a list `tools` of permissions names a tool, or a group of plugins to which its distribution belongs."""
    if coverage.covers("tools", names, tool.name):
        return True
    groups = (name.removeprefix(entries.GROUP) for name in names if name.startswith(entries.GROUP))
    return any(source == tool.source for group in groups for _, _, source in discovery.entry_points(group))


def find_fitting(own: str, names: Sequence[str]) -> Iterator[InstalledTool]:
    """The installed tools that a list `tools` of permissions names. own: the tool whose list it is."""
    for name, claims in discovery.scan().items():
        if name != own and len(claims) == 1 and is_tool_name(name) and fits(claims[0], names):
            yield claims[0]


def _differs(tool: InstalledTool, settings: Configuration) -> bool:
    """Whether ferrule.lock keeps it out. A child that cannot read the lock goes by what is found here."""
    if not settings.is_locked:
        return False
    from ferrule.trust.lock import gate

    return gate.refusal(tool, settings) is not None


def _all(parts: Iterator[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entry for part in parts for entry in part))
