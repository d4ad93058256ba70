"""The plugin of one tool of a server. The host calls its hooks in the child of a call, which is held already."""

from __future__ import annotations

import os
import sys

from ferrule import ToolError, hookimpl
from ferrule_mcp.record import read_record

TYPE_CHECKING = False

if TYPE_CHECKING:
    from types import ModuleType

    from ferrule import Context, Credential, JSONObject
    from ferrule_mcp.record import ServerRecord


def make_tool(folder: str, tool: str) -> ModuleType:
    """The plugin: a module with hooks, which the host calls without a plugin manager.

    Args:
        folder: that of the server's tools.
        tool: its name in ferrule.
    """

    @hookimpl
    def schema() -> JSONObject:
        from ferrule import static_schema

        return static_schema(os.path.join(folder, f"{tool}.py"))

    @hookimpl
    def credentials() -> list[Credential]:
        from ferrule import static_credentials

        return static_credentials(os.path.join(folder, "__init__.py"))

    @hookimpl
    def execute(arguments: JSONObject, context: Context) -> object:
        record = read_record(folder)
        if tool not in record["tools"]:
            from ferrule_mcp.installation.interview import hold_interview

            return hold_interview(record, context)
        try:
            return _call(record, tool, arguments, context)
        except ToolError as error:
            from ferrule_mcp.refusals import raise_with_refusal

            raise_with_refusal(error, arguments)

    plugin = type(sys)(tool)
    vars(plugin).update(schema=schema, credentials=credentials, execute=execute)
    return plugin


def _call(record: ServerRecord, tool: str, arguments: JSONObject, context: Context) -> object:
    from ferrule_mcp.projection import translate_arguments

    entry = record["tools"][tool]
    wanted = translate_arguments(entry["translation"], arguments) if entry["translation"] else arguments
    if record["transport"] == "http":
        return _call_remote(record, entry["name"], wanted, context)
    from ferrule_mcp.stdio_call import call_tool
    from ferrule_mcp.variables import fill_command, make_variables

    server = {
        **record,
        "command": fill_command(record, context.credential),
        "folder": record["folder"] or record["home"],
    }
    return call_tool(server, entry["name"], wanted, context, make_variables(record, context.credential))


def _call_remote(record: ServerRecord, tool: str, arguments: JSONObject, context: Context) -> object:
    from ferrule_mcp.remote.call import call_tool
    from ferrule_mcp.results.conversion import read_result
    from ferrule_mcp.results.events import EventRelay

    relay = EventRelay(context.event)
    answer = call_tool(
        record,
        tool,
        arguments,
        context,
        network=record["permissions"].get("network"),
        on_progress=relay.report_progress,
        on_log=relay.report_log,
    )
    result = read_result(answer, [])
    relay.report_doubt(result)
    return result
