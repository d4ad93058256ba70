"""What is known of a server that was added: the file `server.json` in the folder of its tools. Each call reads it."""

from __future__ import annotations

import os
from contextlib import suppress

from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Literal, NotRequired, TypedDict

    from ferrule.text.json_types import JSONObject

    class ToolRecord(TypedDict):
        """One tool of a server.

        name: the server's own. translation: of arguments, see `ferrule_mcp.projection`. lost: what the projection of
        its schema lost, in sentences.
        """

        name: str
        translation: JSONObject
        lost: list[str]

    class ServerRecord(TypedDict):
        """A server.

        origin: what the admin gave, from which it is installed anew. command: absolute program and its arguments.
        variables: of its process. headers: of one over HTTP. credentials: the names of those for which `{NAME}` stands
        in an argument, a variable or a header. folder: where it works, empty for its home. home: the folder that is its
        HOME. roots: folders that it is given as roots. era, server, capabilities, instructions, offered: what it
        answered at its start, and what it was offered. keep: whether it goes on between calls, where a keeper makes
        them; None where that follows from its tools, which are not known yet. environment: the folder with what was
        installed for it, empty for nothing. permissions: of its tools. notes: sentences for `ferrule mcp show`.
        """

        name: str
        origin: JSONObject
        transport: Literal["stdio", "http"]
        command: list[str]
        variables: dict[str, str]
        credentials: list[str]
        folder: str
        home: str
        roots: list[str]
        url: str
        headers: dict[str, str]
        era: str
        server: JSONObject
        capabilities: JSONObject
        offered: JSONObject
        instructions: str
        environment: str
        notes: list[str]
        permissions: JSONObject
        tools: dict[str, ToolRecord]
        seconds: NotRequired[float]
        keep: NotRequired[bool | None]


FILE, DEFINITIONS, ENVIRONMENT = "server.json", "definitions.json", "environment.json"
PREVIOUS = "previous.json"
"""Of a server: its record, its tools as it describes them by their names, what was installed, the record before."""
SOURCE = "mcp"
INTERVIEW = "interview"
"""Ends the name of the tool that asks a server what it is, which is there while the server is added."""


def read_record(folder: str) -> ServerRecord:
    """The record in a folder of tools. Raises OSError and ValueError.

    A call that began before the server was renewed is held to what it may of the old environment: it gets that record.
    """
    record = _read(folder, FILE)
    if record["environment"]:
        try:
            os.listdir(record["environment"])
        except OSError:
            with suppress(FileNotFoundError):
                return _read(folder, PREVIOUS)
    return record


def _read(folder: str, name: str) -> ServerRecord:
    with open(f"{folder}/{name}", "rb") as file:
        return cast_record(strict_json.loads(file.read()))


def cast_record(content: object) -> ServerRecord:
    """The content of a record, which ferrule has written, by its type."""
    record: ServerRecord = content  # type: ignore[assignment] # the file is locked to what was written
    return record
