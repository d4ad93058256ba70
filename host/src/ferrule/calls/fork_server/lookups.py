"""What each call reads of the machine, read again where the files have changed, and remembered where they have not."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from ferrule import config, discovery
from ferrule.calls.caller import in_folder
from ferrule.calls.lookup import Lookup, NoRuns, find_tool
from ferrule.errors import FerruleError
from ferrule.plugin.declaration import read_if_well
from ferrule.plugin.surroundings import Surroundings
from ferrule.schema import schema_file
from ferrule.storage.state import make_folders_of_tool
from ferrule.trust.accepted_version import path_of
from ferrule.trust.door.admission import admit

if TYPE_CHECKING:
    from ferrule.calls.call import Job
    from ferrule.calls.caller import Caller
    from ferrule.config import Configuration
    from ferrule.confinement.policy import Policy
    from ferrule.discovery import InstalledTool
    from ferrule.plugin.declaration import Declaration
    from ferrule.text.json_types import JSONMapping, JSONObject

_POLICY_SECONDS = 1.0
_YOUNG_SECONDS = 0.5  # for which a policy need not be found again after an answer
_SETTLED_SECONDS = 0.1  # after which one more change has another time of modification, on every file system

_Value = TypeVar("_Value")
_Identity = tuple[tuple[int, ...] | None, ...]
_PolicyKey = tuple[str, object]


class _Seen(NamedTuple, Generic[_Value]):
    """A value, and what its files were when it was read."""

    value: _Value
    files: Sequence[str]
    identity: _Identity


class _Memory(Generic[_Value]):
    """Values by name. A value whose files have just been written is not remembered."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen[_Value]] = {}

    def get(self, name: str, files: Sequence[str], read: Callable[[], tuple[_Value, Sequence[str]]]) -> _Value:
        """The value of that name. files: that decide it, beside those that `read` gives with it."""
        seen = self._seen.get(name)
        if seen is not None and _identify((*files, *seen.files)) == seen.identity:
            return seen.value
        first = _identify(files)
        value, more = read()
        identity = (*first, *_identify(more))
        if all(one is None or _is_settled(one) for one in identity) and first == _identify(files):
            self._seen[name] = _Seen(value, tuple(more), identity)
        else:
            self._seen.pop(name, None)
        return value

    def forget(self) -> None:
        self._seen.clear()


class _SeenPolicy(NamedTuple):
    """A policy and what goes with it, what they were made for, and the instant until which they count.

    visible: what the tool's process is given of the configuration. record: what was accepted of the tool, as a file.
    """

    policy: Policy
    given: Surroundings
    visible: JSONMapping
    tool: InstalledTool
    settings: Configuration
    until: float
    record: tuple[str, tuple[int, ...] | None]

    def counts_for(self, tool: InstalledTool, settings: Configuration) -> bool:
        """Whether a call of this tool goes by it now."""
        is_of_call = self.tool is tool and self.settings is settings and time.monotonic() < self.until
        return is_of_call and _identify_file(self.record[0]) == self.record[1]


class Lookups(Lookup):
    """The configuration, the tools, their schemas and declarations, as they are now."""

    def __init__(self) -> None:
        self._configurations: _Memory[Configuration] = _Memory()
        self._settings: Configuration | None = None
        self._tools: _Memory[InstalledTool] = _Memory()
        self._schemas: _Memory[JSONObject | None] = _Memory()
        self._policies: dict[_PolicyKey, _SeenPolicy] = {}
        self._declarations: _Memory[Declaration] = _Memory()
        self._shared: _Memory[dict[str, list[str]]] = _Memory()

    def configuration(self) -> Configuration:
        """See `config.read`. Raises ConfigurationMalformed."""
        path = config.default_path()
        return self._configurations.get(path, (path,), lambda: (config.read(), ()))

    def tool(self, name: str, settings: Configuration) -> InstalledTool:
        """The tool of that name that may run, see `find_tool`. Raises what that raises."""

        if settings.is_locked:  # the files themselves count, and are looked at each time
            return find_tool(name, settings)

        def find() -> tuple[InstalledTool, Sequence[str]]:
            found = discovery.find(name, settings)
            return found, (f"{found.metadata}/entry_points.txt",)

        if settings is not self._settings:  # which may switch a tool off
            self._settings = settings
            self._tools.forget()
        return self._tools.get(name, _folders(), find)

    def schema(self, tool: InstalledTool) -> JSONObject | None:
        """See `schema_file.read_static`. Raises SchemaInvalid."""

        def read() -> tuple[JSONObject | None, Sequence[str]]:
            path = schema_file.find_for_tool(tool)
            return schema_file.read_static(tool), () if path is None else (path,)

        return self._schemas.get(f"{tool.name} {tool.metadata}", (), read)

    def policy(self, tool: InstalledTool, settings: Configuration, caller: Caller | None = None) -> Policy:
        """See `Admission`, for a second at the most: it asks for each path that a tool may touch. Raises as that.

        caller: whose variables and working folder count instead of this process's.
        """
        return self.seen_policy(tool, settings, caller).policy

    def seen_policy(self, tool: InstalledTool, settings: Configuration, caller: Caller | None) -> _SeenPolicy:
        """The same, with what goes with it."""
        key = _key_of(tool, caller)
        known = self._policies.get(key)
        if known is None or not known.counts_for(tool, settings):
            known = self._find_policy(key, tool, settings, caller)
        return known

    def renew_policy(self, tool: InstalledTool, settings: Configuration, caller: Caller) -> None:
        """Find the policy of a call again that has been answered, unless that was done lately: the next one need not.

        What is wrong with it is for the next call to say.
        """
        key = _key_of(tool, caller)
        known = self._policies.get(key)
        if known is not None and time.monotonic() < known.until - _POLICY_SECONDS + _YOUNG_SECONDS:
            return
        try:
            self._find_policy(key, tool, settings, caller)
        except (FerruleError, OSError):
            self._policies.pop(key, None)

    def _find_policy(
        self, key: _PolicyKey, tool: InstalledTool, settings: Configuration, caller: Caller | None
    ) -> _SeenPolicy:
        now = time.monotonic()
        policy = admit(tool, settings).policy() if caller is None else _policy_for(tool, settings, caller)
        visible = super().visible_configuration(tool, settings)
        given = Surroundings(tool, policy, environ=None if caller is None else caller.environ)
        path = path_of(tool.name)
        record = path, _identify_file(path)
        self._policies = {one: seen for one, seen in self._policies.items() if now < seen.until}
        found = self._policies[key] = _SeenPolicy(policy, given, visible, tool, settings, now + _POLICY_SECONDS, record)
        return found

    def visible_configuration(self, tool: InstalledTool, settings: Configuration) -> JSONMapping:
        """See `permissions.policy`, found with the policy. Raises ConfigurationMalformed."""
        for known in self._policies.values():
            if known.tool is tool and known.settings is settings:
                return known.visible
        return super().visible_configuration(tool, settings)

    def runs(self, _tool: InstalledTool, _settings: Configuration) -> NoRuns:
        """Nothing for a single call: other tools are run by what the server's zygote forks, which knows no secret."""
        return NoRuns()

    def given(self, job: Job) -> Surroundings:
        """What the process of a call is told beside its policy. Calls of one policy share it."""
        for known in self._policies.values():
            if known.policy is job.execution.policy:
                return known.given
        return job.execution.surroundings()

    def is_reusable(self, tool: InstalledTool) -> bool:
        """Whether the tool says that its processes may be used again, and the admin does not say otherwise."""
        if self._declaration(tool).reusable is not True:
            return False
        settings = self.configuration()
        return settings.tool(tool.name).get("reusable") is not False

    def is_lasting(self, tool: InstalledTool) -> bool:
        """Whether what the tool's processes hold between calls is the next call's."""
        return self._declaration(tool).lasting is True

    def can_repeat(self, tool: InstalledTool) -> bool:
        """Whether the tool says that a call which may have done its work can be made again."""
        declared = self._declaration(tool)
        return declared.read_only is True or declared.idempotent is True

    def _declaration(self, tool: InstalledTool) -> Declaration:
        def read() -> tuple[Declaration, Sequence[str]]:
            found = read_if_well(tool)
            return found, found.files

        return self._declarations.get(f"{tool.name} {tool.metadata}", (tool.metadata,), read)

    def share(self, tool: InstalledTool, policy: Policy) -> Policy:
        """The policy of a process that all tools of a distribution share: it has what each has of the state folder."""
        folders = self._shared.get(tool.metadata, (tool.metadata,), lambda: (_find_folders(tool), ()))
        own = folders[tool.name]
        kept = [path for path in policy.write if path not in own]
        return policy.replaced(write=(*kept, *(path for paths in folders.values() for path in paths)))

    def forget(self) -> None:
        """Read everything again: something was installed, removed or changed."""
        self._policies.clear()
        for memory in (self._configurations, self._tools, self._schemas, self._declarations, self._shared):
            memory.forget()


class CallerLookup(Lookup):
    """The same for one call, by the variables and the working folder of who has it made."""

    def __init__(self, lookups: Lookups, caller: Caller) -> None:
        self._lookups = lookups
        self._caller = caller
        self._asked: tuple[InstalledTool, Configuration] | None = None

    def configuration(self) -> Configuration:
        """See `Lookups`, as all others."""
        return self._lookups.configuration()

    def find_tool(self, name: str, settings: Configuration) -> InstalledTool:
        return self._lookups.tool(name, settings)

    def schema(self, tool: InstalledTool) -> JSONObject | None:
        return self._lookups.schema(tool)

    def policy(self, tool: InstalledTool, settings: Configuration) -> Policy:
        self._asked = tool, settings
        seen = self._lookups.seen_policy(tool, settings, self._caller)
        self.is_recorded = seen.record[1] is not None
        return seen.policy

    def renew(self) -> None:
        """See `Lookups.renew_policy`: the call has been answered."""
        if self._asked is not None:
            self._lookups.renew_policy(*self._asked, self._caller)

    def runs(self, tool: InstalledTool, settings: Configuration) -> NoRuns:
        return self._lookups.runs(tool, settings)

    def visible_configuration(self, tool: InstalledTool, settings: Configuration) -> JSONMapping:
        return self._lookups.visible_configuration(tool, settings)


def _key_of(tool: InstalledTool, caller: Caller | None) -> _PolicyKey:
    return tool.name, None if caller is None else (caller.folder, *sorted(caller.lasting_environ().items()))


def _policy_for(tool: InstalledTool, settings: Configuration, caller: Caller) -> Policy:
    """Entries that begin with a dot are meant from the caller's folder."""
    with in_folder(caller.folder):
        return admit(tool, settings).policy(caller.lasting_environ())


def _find_folders(tool: InstalledTool) -> dict[str, list[str]]:
    """What each tool of this one's distribution has of the state folder, by the name of the tool."""
    claims = (one for found in discovery.scan().values() for one in found)
    names = sorted({tool.name, *(one.name for one in claims if one.metadata == tool.metadata)})
    return {name: make_folders_of_tool(name) for name in names}


def _folders() -> list[str]:
    """Those of the path in which distributions may be."""
    own = os.path.dirname(os.__file__)
    return [folder for folder in dict.fromkeys(sys.path) if folder not in (own, f"{own}/lib-dynload")]


def _identify(files: Sequence[str]) -> _Identity:
    return tuple(map(_identify_file, files))


def _identify_file(path: str) -> tuple[int, ...] | None:
    try:
        status = os.stat(path or ".")
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev


def _is_settled(identity: tuple[int, ...]) -> bool:
    return time.time_ns() - max(identity[:2]) > _SETTLED_SECONDS * 1e9
