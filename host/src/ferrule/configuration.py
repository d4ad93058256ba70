"""What the admin decided: `config.toml`, and the environment, which wins over it.

    [tools.web_fetch]
    enabled = false        # as FERRULE_DISABLE=web_fetch does
    memory = 2048          # MiB of address space for a call of this tool
    any_setting = "…"      # the tool's own; it reads them from the file's table of its name

    [wrappers]             # reserved for what wraps every call

The file is looked for in the configuration folder of the user, FERRULE_CONFIG names another one.
"""

import os
import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

DEFAULT_DEADLINE = 25.0
DEFAULT_MEMORY = 1024
_FOLDER, _FILE = "ferrule", "config.toml"


class Configuration:
    """The settings of one run. `path` is the file they came from, or would come from; `content` its tables."""

    __slots__ = ("content", "environ", "path")

    def __init__(self, path: str, content: "Mapping[str, Any]", environ: "Mapping[str, str]") -> None:
        self.path = path
        self.content = content
        self.environ = environ

    def tool(self, name: str) -> "Mapping[str, Any]":
        """The table `[tools.NAME]`, empty where there is none."""
        tools = self.content.get("tools", {})
        table = tools.get(name, {}) if isinstance(tools, dict) else {}
        return table if isinstance(table, dict) else {}

    def is_disabled(self, name: str) -> bool:
        """True where FERRULE_DISABLE names the tool (or is `*`), or its table says `enabled = false`."""
        return self._disabled_by_environment(name) or self.tool(name).get("enabled") is False

    def why_disabled(self, name: str) -> str:
        """What disables the tool, for a message."""
        return "FERRULE_DISABLE" if self._disabled_by_environment(name) else f"[tools.{name}] in {self.path}"

    def deadline(self) -> float:
        """Seconds that a call may take, from FERRULE_DEADLINE; one that is no positive number counts as not set."""
        return _positive(self.environ.get("FERRULE_DEADLINE")) or DEFAULT_DEADLINE

    def memory(self, name: str) -> int:
        """MiB of address space that a call may take, from FERRULE_MEMORY or the tool's table."""
        setting = _positive(self.environ.get("FERRULE_MEMORY")) or _positive(self.tool(name).get("memory"))
        return int(setting or DEFAULT_MEMORY)

    def _disabled_by_environment(self, name: str) -> bool:
        disabled = self.environ.get("FERRULE_DISABLE", "").replace(",", " ").split()
        return name in disabled or "*" in disabled


def read(environ: "Mapping[str, str] | None" = None) -> Configuration:
    """Read the configuration; one without tables where there is no file.

    Raises ConfigurationMalformed where the file cannot be read or is not TOML.
    """
    environ = os.environ if environ is None else environ
    path = default_path(environ)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return Configuration(path, {}, environ)
    except OSError as error:
        from ferrule.errors import ConfigurationMalformed

        raise ConfigurationMalformed(f"{path} cannot be read: {error.strerror}.") from None
    return Configuration(path, _parse(path, data), environ)


def default_path(environ: "Mapping[str, str] | None" = None) -> str:
    """Where the configuration file is: FERRULE_CONFIG, else in platformdirs' configuration folder of `ferrule`."""
    environ = os.environ if environ is None else environ
    named = environ.get("FERRULE_CONFIG")
    if named:
        return named
    if sys.platform == "linux":
        # platformdirs gives the same folder (a test says so), and costs twice the interpreter's start.
        base = environ.get("XDG_CONFIG_HOME", "").strip() or os.path.join(os.path.expanduser("~"), ".config")
        return os.path.join(base, _FOLDER, _FILE)
    import platformdirs

    return os.path.join(platformdirs.user_config_dir(_FOLDER, appauthor=False), _FILE)


def _parse(path: str, data: bytes) -> "Mapping[str, Any]":
    import tomllib

    from ferrule.errors import ConfigurationMalformed

    try:
        return tomllib.loads(data.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationMalformed(f"{path} is not TOML: {error}.") from None


def _positive(setting: object) -> float | None:
    try:
        number = float(setting)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return number if 0 < number < 1e9 else None
