"""Which clients there are, where each keeps the servers that it starts, and in which form."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

JSON, TOML, YAML = "json", "toml", "yaml"


class Server(NamedTuple):
    """What a client starts. command: an absolute path. environment: variables that it adds."""

    command: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}


class Client(NamedTuple):
    """One client of MCP.

    name: as in `ferrule connect NAME`. title: its name for people. user_file: of all the user's projects, in the
    system's folders. project_file: of one project, relative to its folder; None where it has none. keys: the path of
    the object that holds the servers by name. form: JSON, perhaps with comments, TOML or YAML. entry: a server in its
    form. command: from a server in its form back to the command and its arguments. reload: what its user does next.
    """

    name: str
    title: str
    user_file: Callable[[], Path]
    project_file: str | None
    keys: tuple[str, ...]
    form: str
    entry: Callable[[Server, str], JSONObject]
    command: Callable[[JSONObject], list[str]]
    reload: str = "Restart it."


def _home(*parts: str) -> Callable[[], Path]:
    return lambda: Path.home().joinpath(*parts)


def _named(variable: str, folder: Callable[[], Path], file: str) -> Callable[[], Path]:
    """A file in the folder that a variable names, else in the usual one."""
    return lambda: (Path(os.environ[variable]) if os.environ.get(variable) else folder()) / file


def _in_configuration(*parts: str, windows: tuple[str, ...] = ()) -> Callable[[], Path]:
    """A file below `~/.config`, also on macOS; on Windows below `%APPDATA%`."""

    def find() -> Path:
        if sys.platform == "win32":
            return _roaming().joinpath(*(windows or parts))
        base = os.environ.get("XDG_CONFIG_HOME", "")
        return (Path(base) if os.path.isabs(base) else Path.home() / ".config").joinpath(*parts)

    return find


def _in_application_data(*parts: str) -> Callable[[], Path]:
    """A file where the system's programs with windows keep theirs."""

    def find() -> Path:
        if sys.platform == "darwin":
            return Path.home().joinpath("Library", "Application Support", *parts)
        return _in_configuration(*parts)()

    return find


def _roaming() -> Path:
    return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")


def _plain(server: Server, _name: str) -> JSONObject:
    entry: JSONObject = {"command": server.command, "args": list(server.arguments)}
    return {**entry, "env": dict(server.environment)} if server.environment else entry


def _typed(server: Server, name: str) -> JSONObject:
    return {"type": "stdio", **_plain(server, name)}


def _for_copilot(server: Server, _name: str) -> JSONObject:
    command = {"type": "local", "command": server.command, "args": list(server.arguments)}
    return {**command, "env": dict(server.environment), "tools": ["*"]}


def _for_opencode(server: Server, _name: str) -> JSONObject:
    entry: JSONObject = {"type": "local", "command": [server.command, *server.arguments], "enabled": True}
    return {**entry, "environment": dict(server.environment)} if server.environment else entry


def _for_goose(server: Server, name: str) -> JSONObject:
    return {
        "name": name,
        "type": "stdio",
        "enabled": True,
        "cmd": server.command,
        "args": list(server.arguments),
        "envs": dict(server.environment),
        "timeout": 300,
    }


def _words(*keys: str) -> Callable[[JSONObject], list[str]]:
    """What an entry starts: the texts of these keys, and the lists of texts in them."""

    def read(entry: JSONObject) -> list[str]:
        found = [entry.get(key) for key in keys]
        return [str(word) for value in found for word in (value if isinstance(value, list) else [value]) if word]

    return read


_PLAIN = _words("command", "args")

CLIENTS = {
    client.name: client
    for client in (
        Client("antigravity", "Antigravity", _home(".gemini", "antigravity", "mcp_config.json"), None,
               ("mcpServers",), JSON, _plain, _PLAIN, "Manage MCP Servers in its agent pane shows it."),
        Client("claude-code", "Claude Code", _named("CLAUDE_CONFIG_DIR", _home(), ".claude.json"), ".mcp.json",
               ("mcpServers",), JSON, _typed, _PLAIN, "Start a new session; /mcp shows it."),
        Client("claude-desktop", "Claude Desktop", _in_application_data("Claude", "claude_desktop_config.json"), None,
               ("mcpServers",), JSON, _plain, _PLAIN),
        Client("codex", "Codex", _named("CODEX_HOME", _home(".codex"), "config.toml"), ".codex/config.toml",
               ("mcp_servers",), TOML, _plain, _PLAIN, "Start a new session; `codex mcp list` shows it."),
        Client("copilot", "GitHub Copilot CLI", _named("COPILOT_HOME", _home(".copilot"), "mcp-config.json"),
               ".github/mcp.json", ("mcpServers",), JSON, _for_copilot, _PLAIN,
               "Start a new session; /mcp show shows it."),
        Client("cursor", "Cursor", _home(".cursor", "mcp.json"), ".cursor/mcp.json",
               ("mcpServers",), JSON, _plain, _PLAIN, "Its settings show it under MCP."),
        Client("gemini", "Gemini CLI", _home(".gemini", "settings.json"), ".gemini/settings.json",
               ("mcpServers",), JSON, _plain, _PLAIN, "Start a new session; `gemini mcp list` shows it."),
        Client("goose", "goose",
               _in_configuration("goose", "config.yaml", windows=("Block", "goose", "config", "config.yaml")), None,
               ("extensions",), YAML, _for_goose, _words("cmd", "args"), "Start a new session."),
        Client("lm-studio", "LM Studio", _home(".lmstudio", "mcp.json"), None,
               ("mcpServers",), JSON, _plain, _PLAIN),
        Client("opencode", "opencode", _in_configuration("opencode", "opencode.json"), "opencode.json",
               ("mcp",), JSON, _for_opencode, _words("command"), "Start a new session; `opencode mcp list` shows it."),
        Client("qwen", "Qwen Code", _home(".qwen", "settings.json"), ".qwen/settings.json",
               ("mcpServers",), JSON, _plain, _PLAIN, "Start a new session; `qwen mcp list` shows it."),
        Client("vscode", "VS Code", _in_application_data("Code", "User", "mcp.json"), ".vscode/mcp.json",
               ("servers",), JSON, _typed, _PLAIN, "MCP: List Servers shows it."),
        Client("windsurf", "Windsurf", _home(".codeium", "windsurf", "mcp_config.json"), None,
               ("mcpServers",), JSON, _plain, _PLAIN),
        Client("zed", "Zed", _in_configuration("zed", "settings.json", windows=("Zed", "settings.json")),
               ".zed/settings.json", ("context_servers",), JSON, _plain, _PLAIN, "Its agent settings show it."),
    )
}  # fmt: skip
"""By name. The files and forms are those that each client documents."""
