"""The facts of a tool's distribution that a bundle and a registry need, from its metadata and its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from ferrule.errors import FerruleError
from ferrule.installed import LOAD_SECONDS, OK, InventorySnapshot, unknown_tool

if TYPE_CHECKING:
    from email.message import Message
    from importlib.metadata import Distribution

    from ferrule.text.json_types import JSONObject


_SERVER = "ferrule.cli:serve_tool"


class Package(NamedTuple):
    """A tool as it is published.

    tool, distribution, version: names as installed. title: for people. description: of the schema, whole. author,
    licence, home: of the metadata; empty where it has none. requires_python: a version specifier. credentials: with the
    arguments of `ferrule.Credential`. settings: with the keys of `settings` in `tool.json`.
    is_server: whether it has a script of its distribution's name, which serves its tools.
    """

    tool: str
    distribution: str
    version: str
    title: str
    description: str
    author: str
    licence: str
    home: str
    requires_python: str
    credentials: list[JSONObject]
    settings: list[JSONObject]
    is_server: bool


def read_package(tool: str) -> Package:
    """Load a tool, and read what is known of it. Raises FerruleError where it is not well."""
    snapshot = InventorySnapshot([tool]).document(LOAD_SECONDS * 2)
    facts = snapshot["tools"][0]
    if facts["state"] != OK:
        error = facts["error"]
        if error is None or "tool" not in facts:
            raise unknown_tool(tool, {})
        raise FerruleError(f"{tool} cannot be bundled: {error['message']}", hint=error.get("hint"))
    installed = cast("dict[str, str]", facts["tool"])
    schema = cast("JSONObject", facts["schema"])
    declared = facts["declaration"]
    from importlib.metadata import distribution

    found = distribution(installed["distribution"])
    metadata = cast("Message", found.metadata)  # which it is, though its type does not say so
    return Package(
        tool,
        str(metadata["Name"]),
        found.version,
        str(declared.get("title") or tool.replace("_", " ").capitalize()),
        str(schema["description"]),
        _author(metadata),
        metadata.get("License-Expression") or metadata.get("License") or "",
        _home(metadata),
        metadata.get("Requires-Python") or ">=3.11",
        cast("list[JSONObject]", facts["credentials"]),
        cast("list[JSONObject]", declared.get("settings", [])),
        _is_server(found),
    )


def _is_server(found: Distribution) -> bool:
    scripts = found.entry_points.select(group="console_scripts")
    return any((one.name, one.value) == (found.metadata["Name"], _SERVER) for one in scripts)


def _author(metadata: Message) -> str:
    named = metadata.get("Author") or (metadata.get("Author-email") or "").partition("<")[0].strip()
    return str(named or metadata["Name"])


def _home(metadata: Message) -> str:
    links = dict(entry.split(", ", 1) for entry in metadata.get_all("Project-URL") or () if ", " in entry)
    wanted = ("repository", "source", "homepage")
    found = {label.lower(): url for label, url in links.items()}
    return next((found[label] for label in wanted if label in found), metadata.get("Home-page") or "")
