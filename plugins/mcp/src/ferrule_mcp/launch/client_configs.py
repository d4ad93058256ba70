"""The servers in the configuration of other clients, read as plans. The files are not changed."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import FerruleError
from ferrule_mcp.launch.client_files import ANY, CLIENTS, JSON, TOML, Client
from ferrule_mcp.launch.client_values import Expansion, read_inputs
from ferrule_mcp.launch.command_line import parse_command
from ferrule_mcp.launch.json_values import read_map, read_object, read_texts, write_value
from ferrule_mcp.launch.plan import Launch, LaunchRefused, Remote, Secret
from ferrule_mcp.launch.secret_values import extract_remote_secrets

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

_MAX_BYTES = 64 << 20  # that of Claude Code holds its history, too
_ADDRESSES = {"httpUrl": "http", "url": "http", "serverUrl": "http"}
_TRANSPORTS = {"sse": "sse", "http": "http", "streamable-http": "http", "streamableHttp": "http"}


class ConfiguredServer(NamedTuple):
    """A server in the configuration of a client.

    file: where it stands. scope: `user`, `project`, or the folder of a project in a file of the user's. plan: None
    where it cannot be taken over; problem then says why, and what to do. only, excluded: the names of tools that the
    client uses, or does not. missing: variables that the text names and that are not set here.
    """

    client: str
    name: str
    file: Path
    scope: str
    plan: Launch | Remote | None
    problem: str = ""
    is_enabled: bool = True
    only: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def read_client(name: str, project: Path, environ: Mapping[str, str] = os.environ) -> list[ConfiguredServer]:
    """The servers in all files of a client: those of the user, and those of a project.

    Raises LaunchRefused for a client that is not known, has no file, or has one that cannot be read.
    """
    client = CLIENTS.get(name)
    if client is None:
        raise LaunchRefused(f"There is no client {name}.", hint=f"Name one of {', '.join(CLIENTS)}, or a file.")
    files = client.find_files(project)
    if not files:
        where = ", ".join(str(find()) for find in client.user_files)
        raise LaunchRefused(
            f"{client.title} has no configuration here.", hint=f"It would be in {where}. Name a file instead."
        )
    return [one for file in files for one in _read(client, file, project, environ)]


def read_client_file(file: Path, project: Path, environ: Mapping[str, str] = os.environ) -> list[ConfiguredServer]:
    """The servers in one file, of whichever client it is. Raises LaunchRefused where it cannot be read or has none."""
    found = list(_read(ANY, file, project, environ))
    if not found:
        raise LaunchRefused(
            f"{file} has no servers.", hint="They stand under mcpServers, servers, mcp_servers or context_servers."
        )
    return found


def read_document(file: Path, form: str = JSON) -> JSONObject:
    """A configuration file: TOML, or JSON that may have comments and trailing commas. Raises LaunchRefused."""
    try:
        data = file.read_bytes()
        if len(data) > _MAX_BYTES:
            raise LaunchRefused(f"{file} is larger than {_MAX_BYTES >> 20} MiB.", hint="Name a smaller file.")
        text = data.decode("utf-8-sig")
        return read_object(_parse(text, form) if text.strip() else {})
    except OSError as error:
        raise LaunchRefused(f"{file} cannot be read: {error.strerror}.", hint="Correct the path.") from None
    except (ValueError, RecursionError) as error:
        reason = str(error).partition("\n")[0][:200]
        raise LaunchRefused(f"{file} cannot be read as {form.upper()}: {reason}", hint="Correct it.") from None


def _parse(text: str, form: str) -> object:
    if form == TOML:
        return tomllib.loads(text)
    try:
        return json.loads(text)
    except ValueError:
        from json5.loader import loads

        try:
            return loads(text)
        except Exception as error:  # noqa: BLE001 - the library has several of its own
            raise ValueError(str(error)) from None


def _read(client: Client, file: Path, project: Path, environ: Mapping[str, str]) -> Iterator[ConfiguredServer]:
    form = TOML if client.form == TOML or file.suffix == ".toml" else JSON
    content = read_document(file, form)
    inputs = read_inputs(content)
    scope = "project" if file.is_relative_to(project) and file not in [find() for find in client.user_files] else "user"
    places = [(scope, project, content)]
    for folder, inner in read_object(content.get("projects")).items():
        if client.name in ("claude", ANY.name):
            places.append((folder, Path(folder), read_object(inner)))
    for where, folder_path, holder in places:
        for keys in client.keys:
            for name, entry in _descend(holder, keys).items():
                expansion = Expansion(folder_path, inputs, environ, knows_shell=client.name == "gemini")
                yield _read_server(client.name, name, file, where, read_object(entry), expansion, folder_path)


def _descend(content: JSONObject, keys: tuple[str, ...]) -> JSONObject:
    for key in keys:
        content = read_object(content.get(key))
    return content


def _read_server(
    client: str, name: str, file: Path, scope: str, entry: JSONObject, expansion: Expansion, folder: Path
) -> ConfiguredServer:
    """One server of a file.

    Args:
        client: whose file it is.
        name: of the server.
        file: where it stands.
        scope: of the place in it.
        entry: what stands there.
        expansion: of the texts in it.
        folder: that relative paths are relative to.
    """
    plan: Launch | Remote | None = None
    problem = ""
    try:
        plan = _plan(entry, expansion, folder)
    except FerruleError as error:
        problem = " ".join(filter(None, (error.message, error.hint)))
    return ConfiguredServer(
        client,
        name,
        file,
        scope,
        plan,
        problem,
        is_enabled=entry.get("enabled") is not False and entry.get("disabled") is not True,
        only=tuple(read_texts(entry.get("includeTools") or entry.get("enabled_tools"))),
        excluded=tuple(read_texts(entry.get("excludeTools") or entry.get("disabled_tools"))),
        missing=tuple(dict.fromkeys(expansion.missing)),
    )


def _plan(entry: JSONObject, expansion: Expansion, folder: Path) -> Launch | Remote:
    address = next((key for key in _ADDRESSES if isinstance(entry.get(key), str)), "")
    if address:
        return _plan_remote(entry, address, expansion)
    command = entry.get("command")
    nested = read_object(command)  # as Zed wrote it before
    program = nested.get("path") if nested else command
    listed = program if isinstance(program, list) else [program] if isinstance(program, str) else []
    arguments = read_texts((nested or entry).get("args"))
    if not listed:
        raise LaunchRefused(
            "The entry has neither a command nor an address.",
            hint="Where an extension of the client brings the server, add the server itself: npx -y NAME or uvx NAME.",
        )
    words = [expansion.expand(word) for word in (*map(write_value, listed), *arguments)]
    variables = expansion.expand_map(
        {**_read_env_file(entry, folder, expansion), **read_map((nested or entry).get("env"))}
    )
    variables |= _name_passed(entry, expansion)
    start = entry.get("cwd")
    place = Path(expansion.expand(start)) if isinstance(start, str) and start else folder
    rest, secrets = _place(variables, words, expansion)
    launch = parse_command(words, place, rest, secrets)
    return launch._replace(folder=str(place)) if isinstance(start, str) and start else launch


def _plan_remote(entry: JSONObject, address: str, expansion: Expansion) -> Remote:
    kind = _TRANSPORTS.get(str(entry.get("type") or entry.get("transport")), _ADDRESSES[address])
    headers = read_map(
        entry.get("headers") or entry.get("http_headers") or read_object(entry.get("requestInit")).get("headers")
    )
    written = {name: expansion.expand(text) for name, text in headers.items()}
    for name, variable in read_map(entry.get("env_http_headers")).items():
        written[name] = expansion.expand("${" + variable + "}")
    token = entry.get("bearer_token_env_var")
    if isinstance(token, str):
        written["Authorization"] = f"Bearer {expansion.add_variable(token)}"
    url = expansion.expand(str(entry[address]))
    if kind == "http" and "type" not in entry and url.rstrip("/").endswith("/sse"):
        kind = "sse"
    return extract_remote_secrets(Remote(kind, url, written, tuple(expansion.secrets)))


def _read_env_file(entry: JSONObject, folder: Path, expansion: Expansion) -> dict[str, str]:
    """The variables of another file, as in `envFile` of VS Code."""
    named = entry.get("envFile")
    if not isinstance(named, str):
        return {}
    file = folder / expansion.expand(named)
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        raise LaunchRefused(f"The entry's envFile {file} cannot be read.", hint="Correct the path.") from None
    pairs = [line.removeprefix("export ").partition("=") for line in map(str.strip, lines) if not line.startswith("#")]
    return {name.strip(): value.strip().strip("\"'") for name, equals, value in pairs if equals}


def _name_passed(entry: JSONObject, expansion: Expansion) -> dict[str, str]:
    """The variables that Codex hands on from its own environment."""
    return expansion.expand_map({name: "${" + name + "}" for name in read_texts(entry.get("env_vars"))})


def _place(variables: Mapping[str, str], words: list[str], expansion: Expansion) -> tuple[dict[str, str], list[Secret]]:
    """The variables that are no secret as a whole, and the secrets with the variables that they go into."""
    marks = {"{" + one.name + "}": one for one in expansion.secrets}
    placed = [marks[text]._replace(variable=name) for name, text in variables.items() if text in marks]
    rest = {name: text for name, text in variables.items() if text not in marks}
    texts = [*words, *rest.values()]
    return rest, [*placed, *(one for mark, one in marks.items() if any(mark in text for text in texts))]
