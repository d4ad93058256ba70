"""What the admin decided: `config.toml`, and the environment, which wins over it.

    locked = true          # only tools as ferrule.lock has them, which is beside this file

    [tools.web_fetch]
    enabled = false        # as FERRULE_DISABLE=web_fetch does
    memory = 2048          # MiB of address space for a call of this tool
    allow = ["loopback"]   # the tool's own; it asks `context.setting` for them

    [wrappers.timing]      # what wraps every call
    enabled = true         # as FERRULE_WRAPPERS=timing does, which wins; further keys are the wrapper's own

The file is looked for in the configuration folder of the user, FERRULE_CONFIG names another one.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ferrule.errors import ConfigurationMalformed
    from ferrule.text.json_types import JSONMapping, JSONObject

DEFAULT_DEADLINE = 25.0
DEFAULT_MEMORY = 1024
_MAX_DEADLINE_SECONDS = 86_400.0
_MAX_FILE_BYTES = 1 << 20
_LIKE_THE_SWITCH = ("enable", "enabled", "disable", "disabled")
_FOLDER, _FILE = "ferrule", "config.toml"
_LOCK_KEY = "locked"
_LIKE_THE_LOCK = ("lock", _LOCK_KEY)
_LOCK_FILE = "ferrule.lock"
_TOOLS_KEY = "tools"
_KEYS_OF_CALLS = ("permissions", "wrappers", "journal", "keep")  # the tables, except `tools`, by which a call is made
_TABLES = {"tool": "tools", "permission": "permissions", "wrapper": "wrappers"}  # that decide what may run, by slips


class Configuration:
    """The settings of one run. `path` is the file they came from, or would come from; `content` its tables.

    Args:
        is_whole: whether the content is all that stands there, also of other tools than the one that is called.
    """

    __slots__ = ("content", "environ", "is_whole", "path")

    def __init__(self, path: str, content: JSONMapping, environ: Mapping[str, str], *, is_whole: bool = True) -> None:
        self.path = path
        self.is_whole = is_whole
        self.content = content
        self.environ = environ

    def tool(self, name: str) -> JSONMapping:
        """The table `[tools.NAME]`, empty if there is none."""
        tools = self.content.get("tools", {})
        table = tools.get(name, {}) if isinstance(tools, dict) else {}
        return table if isinstance(table, dict) else {}

    def is_disabled(self, name: str) -> bool:
        """True where FERRULE_DISABLE names the tool (or is `*`), or its table says `enabled = false`.

        A switch that is malformed is off, too: whoever wrote one did not mean to leave all as it is.
        """
        return self._disabled_by_environment(name) or self._is_switched_off(name)

    def switch_problem(self, name: str) -> str | None:
        """What is wrong with the switch in the table of a tool, as the end of a sentence about it; None if nothing."""
        tools = self.content.get("tools", {})
        table = tools.get(name, {}) if isinstance(tools, dict) else {}
        if not isinstance(table, dict):
            return "which is no table"
        if not isinstance(table.get("enabled", True), bool):
            return "whose `enabled` is neither true nor false"
        wrong = [key for key in table if key != "enabled" and key.lower() in _LIKE_THE_SWITCH]
        return f"where the switch is called {wrong[0]!r} instead of `enabled`" if wrong else None

    def disabled_tools(self) -> list[str]:
        """The tools that their tables switch off, in the order of config.toml."""
        tools = self.content.get("tools", {})
        return [name for name in tools if self.is_disabled(name)] if isinstance(tools, dict) else []

    def why_disabled(self, name: str) -> str:
        """What disables the tool, for a message."""
        if self._disabled_by_environment(name):
            return "FERRULE_DISABLE"
        problem = self.switch_problem(name)
        return f"[tools.{name}] in {self.path}" + (f", {problem}" if problem else "")

    @property
    def is_locked(self) -> bool:
        """Whether a tool must be as ferrule.lock has it. A switch that is malformed counts as on."""
        return any(key.lower() in _LIKE_THE_LOCK and self.content[key] is not False for key in self.content)

    @property
    def lock_path(self) -> str:
        """Where ferrule.lock is: beside config.toml."""
        return os.path.join(os.path.dirname(os.path.abspath(self.path)), _LOCK_FILE)

    def unlocked(self) -> Configuration:
        """The same configuration without the lock, for what the admin looks at before it is accepted."""
        content = {key: value for key, value in self.content.items() if key.lower() not in _LIKE_THE_LOCK}
        return Configuration(self.path, content, self.environ)

    def visible_to(self, tools: Collection[str]) -> JSONObject:
        """The content for a process that may know the settings of these tools alone.

        Of any other tool it has no more than that it is off, and nothing of the commands' tables.
        """
        tables = self.content.get(_TOOLS_KEY)
        found = tables if isinstance(tables, dict) else {}
        shown = {name: found[name] for name in found if name in tools}
        off = {name: {"enabled": False} for name in found if name not in tools and self._is_switched_off(name)}
        kept = {
            key: value for key, value in self.content.items() if key in _KEYS_OF_CALLS or key.lower() in _LIKE_THE_LOCK
        }
        return {**kept, _TOOLS_KEY: {**shown, **off}} if found else kept

    def wrapper(self, name: str) -> JSONMapping:
        """The table `[wrappers.NAME]`, empty if there is none."""
        return self._wrapper_tables().get(name, {})

    def wrappers(self) -> dict[str, JSONMapping]:
        """The tables of the wrappers that are on, by name: those in FERRULE_WRAPPERS if that is set, empty for none.

        Otherwise those whose table says `enabled = true`, and those in FERRULE_WRAPPERS_DEFAULT, by which `ferrule
        serve` switches some on, whose table does not say `enabled = false`.
        """
        named = self.environ.get("FERRULE_WRAPPERS")
        if named is not None:
            return {name: self.wrapper(name) for name in named.replace(",", " ").split()}
        on = {name: table for name, table in self._wrapper_tables().items() if table.get("enabled") is True}
        for name in self.environ.get("FERRULE_WRAPPERS_DEFAULT", "").split():
            if name not in on and self.wrapper(name).get("enabled") is not False:
                on[name] = self.wrapper(name)
        return on

    def wrapper_tables(self) -> dict[str, JSONMapping] | None:
        """All tables of wrappers, by which a tool's own wishes are judged; None where FERRULE_WRAPPERS decides."""
        return None if "FERRULE_WRAPPERS" in self.environ else self._wrapper_tables()

    def memory(self, name: str) -> int:
        """MiB of address space that a call may take, from FERRULE_MEMORY or the tool's table."""
        setting = _positive(self.environ.get("FERRULE_MEMORY")) or _positive(self.tool(name).get("memory"))
        return max(1, int(setting or DEFAULT_MEMORY))

    def loading_memory(self, *names: str) -> int:
        """MiB of address space in which these tools can be loaded, as to be asked for their schemas: as for a call."""
        return max(DEFAULT_MEMORY, *map(self.memory, names))

    def has_memory_problem(self, name: str) -> bool:
        """Whether `memory` in the table of a tool is no number of MiB, so that the default holds."""
        setting = self.tool(name).get("memory")
        return setting is not None and _positive(setting) is None

    def _wrapper_tables(self) -> dict[str, JSONMapping]:
        tables = self.content.get("wrappers")
        found = tables.items() if isinstance(tables, dict) else ()
        return {name: _with_switch(table) for name, table in found if isinstance(table, dict)}

    def _is_switched_off(self, name: str) -> bool:
        return self.tool(name).get("enabled") is False or self.switch_problem(name) is not None

    def _disabled_by_environment(self, name: str) -> bool:
        disabled = self.environ.get("FERRULE_DISABLE", "").replace(",", " ").split()
        return name in disabled or "*" in disabled


# What was read, by path: a process that is held to a policy cannot read the file, and goes by what its parent has read.
_read: dict[str, JSONMapping] = {}
# What counts instead of a file, by path: as much of it as the process of a call was given.
_provided: dict[str, JSONMapping] = {}


def provide(path: str, content: JSONMapping) -> None:
    """Go by this content from now on, instead of the file, which the process of a call cannot read."""
    _provided[path] = content


def withdraw(path: str) -> None:
    """Go by the file again, after `provide`."""
    _provided.pop(path, None)


def read(environ: Mapping[str, str] | None = None) -> Configuration:
    """Read the configuration; one without tables if there is no file.

    Raises ConfigurationMalformed where the file cannot be read, is larger than 1 MiB, or is not TOML.
    """
    environ = os.environ if environ is None else environ
    path = default_path(environ)
    if path in _provided:
        return Configuration(path, _provided[path], environ)
    try:
        data = _bytes(path)
    except (FileNotFoundError, NotADirectoryError):
        return Configuration(path, {}, environ)
    except OSError as error:
        if isinstance(error, PermissionError) and path in _read:
            return Configuration(path, _read[path], environ)
        raise _malformed(f"{path} cannot be read: {error.strerror}.") from None
    if len(data) > _MAX_FILE_BYTES:
        raise _malformed(f"{path} is larger than 1 MiB.")
    _read[path] = _parse(path, data)
    return Configuration(path, _read[path], environ)


def deadline(environ: Mapping[str, str] | None = None) -> float:
    """Seconds that a call may take, a day at the most, from FERRULE_DEADLINE; else, or if that is no number, 25."""
    environ = os.environ if environ is None else environ
    return min(_positive(environ.get("FERRULE_DEADLINE")) or DEFAULT_DEADLINE, _MAX_DEADLINE_SECONDS)


def default_path(environ: Mapping[str, str] | None = None) -> str:
    """Where the configuration file is: FERRULE_CONFIG, else in platformdirs' configuration folder of `ferrule`."""
    environ = os.environ if environ is None else environ
    named = environ.get("FERRULE_CONFIG")
    if named:
        return named
    if sys.platform == "linux":
        # platformdirs gives the same folder (a test says so), and costs twice the interpreter's start.
        base = environ.get("XDG_CONFIG_HOME", "")
        base = base if os.path.isabs(base) else os.path.join(home(environ), ".config")
        return os.path.join(base, _FOLDER, _FILE)
    import platformdirs

    return os.path.join(platformdirs.user_config_dir(_FOLDER, appauthor=False), _FILE)


def credentials_path(environ: Mapping[str, str] | None = None) -> str:
    """Where the credentials file is: `$IKIGAI_CONFIG_DIR`, else `$XDG_CONFIG_HOME/ikigai`, else `~/.config/ikigai`."""
    environ = os.environ if environ is None else environ
    folder = environ.get("IKIGAI_CONFIG_DIR")
    if not folder:
        base = environ.get("XDG_CONFIG_HOME") or os.path.join(home(environ), ".config")
        folder = os.path.join(base, "ikigai")
    return os.path.join(folder, "credentials.json")


def home(environ: Mapping[str, str] | None = None) -> str:
    """The user's home: HOME where that is an absolute path, else what the system knows of the user, else `/`."""
    environ = os.environ if environ is None else environ
    named = environ.get("HOME", "")
    if os.path.isabs(named):
        return named.rstrip("/") or "/"
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):
        return "/"


def _with_switch(table: JSONMapping) -> JSONMapping:
    """The table of a wrapper, in which a switch that is malformed is off."""
    return table if isinstance(table.get("enabled", True), bool) else {**table, "enabled": False}


def _bytes(path: str) -> bytes:
    # Without O_NONBLOCK a FIFO in the file's place would hang the call.
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return os.read(file, _MAX_FILE_BYTES + 1)
    finally:
        os.close(file)


def _parse(path: str, data: bytes) -> JSONMapping:
    import tomllib

    try:
        content = tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _malformed(f"{path} is not TOML: it is not UTF-8 (at line {line}).") from None
    except ValueError as error:
        raise _malformed(f"{path} is not TOML: {error}.") from None
    except RecursionError:
        raise _malformed(f"{path} is not TOML: it is nested too deeply.") from None
    for key in content:
        meant = _TABLES.get(key.lower().rstrip("s"))
        if meant and key != meant:
            # What it was to switch off or to narrow would be as if nobody had written it.
            raise _malformed(f"{path} has a table [{key}], which nothing reads.", hint=f"Write [{meant}].")
    return content


def _malformed(message: str, hint: str | None = None) -> ConfigurationMalformed:
    from ferrule.errors import ConfigurationMalformed

    return ConfigurationMalformed(message, hint=hint)


def _positive(setting: object) -> float | None:
    if isinstance(setting, bool):
        return None
    try:
        number = float(setting)  # type: ignore[arg-type] # what is no number is caught
    except (TypeError, ValueError):
        return None
    return number if 0 < number < 1e9 else None
