"""The clients of the protocol whose servers can be taken over: where their files are, and how servers stand in them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

JSON, TOML = "json", "toml"


class Client(NamedTuple):
    """A client.

    user_files: functions that find its files of the user. project_files: of one project, relative to its folder.
    keys: the paths of keys under which servers stand by their names. form: JSON, perhaps with comments, or TOML.
    """

    name: str
    title: str
    user_files: tuple[Callable[[], Path], ...]
    project_files: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    form: str = JSON

    def find_files(self, project: Path) -> list[Path]:
        """The files that there are, those of the user first."""
        found = [find() for find in self.user_files] + [project / name for name in self.project_files]
        return [path for path in dict.fromkeys(found) if path.is_file()]


def _home(*parts: str) -> Callable[[], Path]:
    return lambda: Path.home().joinpath(*parts)


def _find_named(variable: str, *parts: str) -> Callable[[], Path]:
    """A file in the folder that a variable names, else below the home."""
    return lambda: Path(os.environ[variable], parts[-1]) if os.environ.get(variable) else Path.home().joinpath(*parts)


def _settings(*parts: str, windows: tuple[str, ...] = ()) -> Callable[[], Path]:
    """A file below `~/.config`, also on macOS; on Windows below `%APPDATA%`."""

    def find() -> Path:
        if sys.platform == "win32":
            return _roaming().joinpath(*(windows or parts))
        base = os.environ.get("XDG_CONFIG_HOME", "")
        return (Path(base) if base.startswith("/") else Path.home() / ".config").joinpath(*parts)

    return find


def _application(*parts: str) -> Callable[[], Path]:
    """A file where programs with windows keep theirs."""

    def find() -> Path:
        if sys.platform == "darwin":
            return Path.home().joinpath("Library", "Application Support", *parts)
        return _settings(*parts)()

    return find


def _roaming() -> Path:
    return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")


_SERVERS = (("mcpServers",),)

CLIENTS: Mapping[str, Client] = {
    client.name: client
    for client in (
        Client(
            "claude", "Claude Desktop and Claude Code",
            (_application("Claude", "claude_desktop_config.json"), _find_named("CLAUDE_CONFIG_DIR", ".claude.json")),
            (".mcp.json",), _SERVERS,
        ),
        Client("cursor", "Cursor", (_home(".cursor", "mcp.json"),), (".cursor/mcp.json",), _SERVERS),
        Client(
            "vscode", "VS Code",
            (_application("Code", "User", "mcp.json"), _application("Code", "User", "settings.json")),
            (".vscode/mcp.json", ".vscode/settings.json"), (("servers",), ("mcp", "servers")),
        ),
        Client(
            "codex", "Codex", (_find_named("CODEX_HOME", ".codex", "config.toml"),), (".codex/config.toml",),
            (("mcp_servers",),), TOML,
        ),
        Client("gemini", "Gemini CLI", (_home(".gemini", "settings.json"),), (".gemini/settings.json",), _SERVERS),
        Client(
            "zed", "Zed", (_settings("zed", "settings.json", windows=("Zed", "settings.json")),),
            (".zed/settings.json",), (("context_servers",),),
        ),
    )
}  # fmt: skip
"""By name. The files and keys are those that each client documents."""

ANY = Client(
    "file",
    "a file",
    (),
    (),
    (("mcpServers",), ("servers",), ("mcp", "servers"), ("mcp_servers",), ("context_servers",)),
)
"""A file of which nobody says whose it is."""
