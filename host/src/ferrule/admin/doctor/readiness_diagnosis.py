"""What `ferrule doctor` says of tools that are well and lack what they work with: a setting, a Redis, other tools."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ferrule.admin.credential_status import SET, statuses
from ferrule.admin.doctor.diagnosis_entry import ERROR, WARNING, Diagnosis
from ferrule.config import configuration
from ferrule.config.credentials_file import CredentialsFile
from ferrule.errors import FerruleError
from ferrule.installed.inventory import OK
from ferrule.plugin.declaration import MalformedDeclaration, read_declaration
from ferrule.trust import granted
from ferrule.trust.composition import fitting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.installed.inventory import Entry

_REDIS, _REDIS_VARIABLE = "redis", "FERRULE_REDIS"
_NO_SECONDS = 0.0  # no connection is made


def examine(loaded: Sequence[Entry], settings: Configuration) -> Iterator[Diagnosis]:
    """What is not set or not there. loaded: what is installed, each with its state."""
    well = [entry for entry in loaded if entry.state == OK]
    for entry in well:
        for needed, fix in _unset(entry, settings):
            yield Diagnosis("setting-missing", WARNING, entry.name, f"It needs {needed}, which is not set.", fix)
    yield from _tools_of_others(well, settings)
    yield from _redis(settings)


def _unset(entry: Entry, settings: Configuration) -> Iterator[tuple[str, str]]:
    """What the tool declares that it needs and that is set nowhere, and how it is set."""
    try:
        needed = read_declaration(entry.tool.value).settings
    except MalformedDeclaration:
        return  # which is the entry's state
    table = settings.tool(entry.name)
    for one in needed:
        if not os.environ.get(one.variable, "").strip() and not (one.setting and table.get(one.setting)):
            other = f", or {one.setting} in [tools.{entry.name}] of config.toml" if one.setting else ""
            yield one.purpose or one.variable, f"Set {one.variable}{other}."


def _tools_of_others(well: Sequence[Entry], settings: Configuration) -> Iterator[Diagnosis]:
    """The tools that do their work by others, where none of these is ready."""
    file = CredentialsFile(configuration.credentials_path())
    for entry in well:
        try:
            names = granted(entry.tool, settings).tools
        except FerruleError:
            continue
        its = fitting([one.tool for one in well if one is not entry], names) if names else []
        others = [one for one in well if one.tool in its]
        missing = [_what_lacks(one, file, settings) for one in others]
        if names and all(missing):
            which = f"each lacks something: {', '.join(missing)}" if others else "none of them is installed"
            message = f"It works by other tools, and {which}."
            yield Diagnosis("tools-missing", WARNING, entry.name, message, "Install one, or set what one needs.")


def _what_lacks(entry: Entry, file: CredentialsFile, settings: Configuration) -> str:
    """What a tool cannot work without, and has not: empty where it has all."""
    lacking = [status.name for status in statuses(entry, file) if status.state != SET and status.credential.required]
    lacking += [needed for needed, _ in _unset(entry, settings)]
    return f"{entry.name} ({', '.join(lacking)})" if lacking else ""


def _redis(settings: Configuration) -> Iterator[Diagnosis]:
    """Each Redis that is named, and cannot be used by what is installed."""
    from ferrule.storage.errors import StorageError
    from ferrule.storage.redis_connection import RedisConnection

    for place, url in _named_redis(settings):
        try:
            RedisConnection(url, _NO_SECONDS)
        except StorageError as error:
            fix = "Run: ferrule install 'ferrule[redis]'" if "hiredis" in str(error) else "Correct the URL."
            yield Diagnosis("redis-unusable", ERROR, place, f"{str(error).rstrip('.')}.", fix)


def _named_redis(settings: Configuration) -> Iterator[tuple[str, str]]:
    """The places that name a Redis, such as `[wrappers.cache] redis`, and its URL."""
    if url := os.environ.get(_REDIS_VARIABLE, "").strip():
        yield _REDIS_VARIABLE, url
    tables = [(f"[{name}]", table) for name, table in settings.content.items()]
    tables += [(f"[wrappers.{name}]", table) for name, table in settings.wrappers().items()]
    for name, table in tables:
        named = table.get(_REDIS) if isinstance(table, dict) else None
        if isinstance(named, str) and named.strip():
            yield f"{name} {_REDIS}", named
