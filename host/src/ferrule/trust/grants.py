"""What the admin makes of a declaration: `[tools.NAME.permissions]` and `[permissions]` of config.toml.

[tools.weather.permissions]
network = ["api.example.com:443"]   # in place of what the tool declares; the other keys stay as it declares them

[tools.weather.permissions.added]
read = ["~/almanac"]                # beside what the tool declares, in this version and in later ones

[permissions]
unenforced = "refuse"               # a tool that this system cannot hold to all of it does not run
isolation = "standard"
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONObject
    from ferrule.trust.declaration import Permissions

STRICT, STANDARD, OFF = "strict", "standard", "off"
WARN, REFUSE = "warn", "refuse"
ADDED = "added"
_CHOICES = {"isolation": (STRICT, STANDARD, OFF), "unenforced": (WARN, REFUSE)}


def granted(tool: InstalledTool, settings: Configuration) -> Permissions:
    """What a tool may, as it declares it and as the admin has changed that; of other programs' variables the latter.

    Raises ConfigurationMalformed where the admin's table cannot be read: nobody knows what was to be narrowed.
    """
    from ferrule.trust.declaration import declared

    own = declared(tool)
    if own.environment:
        from ferrule.trust.foreign_variables import owner_of

        own = own.replace({"environment": tuple(name for name in own.environment if not owner_of(name))})
    return own.replace(changes(tool.name, settings)).plus(additions(tool.name, settings))


def admin_entries(name: str, key: str, settings: Configuration) -> tuple[str, ...]:
    """The entries of one list that config.toml gives a tool. Raises ConfigurationMalformed."""
    return tuple(entry for read in (changes, additions) for entry in read(name, settings).get(key, ()))


def entries_of_admin(name: str, settings: Configuration) -> dict[str, tuple[str, ...]]:
    """The entries of `read` and `write` that the admin has written for a tool. Raises ConfigurationMalformed."""
    tables = changes(name, settings), additions(name, settings)
    return {key: tuple(entry for table in tables for entry in table.get(key, ())) for key in ("read", "write")}


def changes(name: str, settings: Configuration) -> JSONObject:
    """The keys that the admin has decided, by `[tools.NAME.permissions]`. Raises ConfigurationMalformed."""
    table = settings.tool(name).get("permissions", {})
    if isinstance(table, dict) and ADDED in table:
        table = {key: value for key, value in table.items() if key != ADDED}
    return _parse(table, f"tools.{name}.permissions", settings)


def additions(name: str, settings: Configuration) -> JSONObject:
    """What the admin has added, by `[tools.NAME.permissions.added]`. Raises ConfigurationMalformed."""
    table = settings.tool(name).get("permissions", {})
    if not isinstance(table, dict) or ADDED not in table:
        return {}
    return _parse(table[ADDED], f"tools.{name}.permissions.{ADDED}", settings)


def require_readable(name: str, settings: Configuration) -> None:
    """Raise ConfigurationMalformed where what the admin says of a tool cannot be read."""
    if "permissions" not in settings.tool(name):
        return
    for read in (changes, additions):
        read(name, settings)


def _parse(table: object, name: str, settings: Configuration) -> JSONObject:
    if table == {}:
        return {}
    from ferrule.trust.declaration import MalformedPermissions, parse

    try:
        return parse(table)
    except MalformedPermissions as error:
        from ferrule.errors import ConfigurationMalformed

        raise ConfigurationMalformed(
            f"[{name}] in {settings.path} cannot be read: {error}.",
            hint="Correct it; until then the tool cannot be called.",
        ) from None


def isolation(settings: Configuration, network: object) -> str:
    """How tools are held: as the admin says, else `strict` for a tool with a network, and `standard` for another."""
    return choice(settings, "isolation") or (STRICT if network else STANDARD)


def choice(settings: Configuration, key: str) -> str | None:
    """One key of `[permissions]`, None where it is not there. Raises ConfigurationMalformed."""
    table = settings.content.get("permissions", {})
    value = table.get(key) if isinstance(table, dict) else ""
    if value is None or (isinstance(value, str) and value in _CHOICES[key]):
        return value
    from ferrule.errors import ConfigurationMalformed

    expected = " or ".join(f'"{one}"' for one in _CHOICES[key])
    raise ConfigurationMalformed(
        f"[permissions] in {settings.path} cannot be read: {key} is not {expected}.",
        hint="Correct it; until then no tool can be called.",
    )


def problems(settings: Configuration) -> list[str]:
    """What is wrong with the permissions in config.toml, a sentence for each; calls of tools fail for it."""
    tables = settings.content.get("tools", {})
    found = [_told(lambda key=key: choice(settings, key)) for key in _CHOICES]
    for name in tables if isinstance(tables, dict) else ():
        found += [_told(lambda name=name, read=read: read(name, settings)) for read in (changes, additions)]
    table = settings.content.get("permissions", {})
    unknown = [key for key in table if key not in _CHOICES] if isinstance(table, dict) else []
    found += [f"[permissions] in {settings.path} has no key {key!r}; it is not read." for key in unknown]
    return [one for one in found if one]


def _told(read: Callable[..., object]) -> str:
    """The message of the error with which something is read; empty where it can be."""
    from ferrule.errors import ConfigurationMalformed

    try:
        read()
    except ConfigurationMalformed as error:
        return error.message
    return ""
