"""A tool that runs other tools itself, such as a search over all providers: it may what they may."""

from __future__ import annotations

from ferrule import discovery
from ferrule.permissions import coverage, entries, records
from ferrule.permissions.grants import granted, isolation

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.confinement import Policy
    from ferrule.discovery import InstalledTool
    from ferrule.permissions.declaration import Permissions

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
    for tool in _fitting(policy.tool, names, settings):
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
    )


def fits(tool: InstalledTool, names: Sequence[str]) -> bool:
    """Whether a list `tools` of permissions names a tool, or a group of plugins to which its distribution belongs."""
    if coverage.covers("tools", names, tool.name):
        return True
    groups = (name.removeprefix(entries.GROUP) for name in names if name.startswith(entries.GROUP))
    return any(source == tool.source for group in groups for _, _, source in discovery.entry_points(group))


def _fitting(own: str, names: Sequence[str], settings: Configuration) -> Iterator[InstalledTool]:
    for name, claims in discovery.scan().items():
        if name == own or len(claims) > 1 or not fits(claims[0], names):
            continue
        if settings.is_disabled(name) or records.find_held(claims[0], settings) or _differs(claims[0], settings):
            continue
        yield claims[0]


def _differs(tool: InstalledTool, settings: Configuration) -> bool:
    """Whether ferrule.lock keeps it out. A child that cannot read the lock goes by what is found here."""
    if not settings.is_locked:
        return False
    from ferrule.lockfile import gate

    return gate.refusal(tool, settings) is not None


def _all(parts: Iterator[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entry for part in parts for entry in part))
