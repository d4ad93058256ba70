"""From an executable's name to its tool: a schema, a call, or help. Nothing is imported before it is needed."""

from __future__ import annotations

import gc
import os
import sys
import time

from ferrule.config.own_folders import add_sources_to_path, is_of_source

_STARTED = time.monotonic()

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import NoReturn

    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.schema.providers.translation import Translation
    from ferrule.text.json_types import JSONObject

_USAGE = """\
Usage: {executable} --schema     print the tool's schema
       {executable}              read the arguments from stdin, as a JSON object, and answer on stdout

Example: echo '{{}}' | {executable}

An executable of ferrule; `ferrule show {tool}` says more about it.
"""


def main() -> NoReturn:
    """The console script of a tool: the tool is the one whose executable has this process's name."""
    from ferrule.text.names import tool_name

    run(tool_name(sys.argv[0]), sys.argv[1:], {})


def run_linked() -> NoReturn:
    """The executable that `ferrule link` wrote: `ORDERS DOUBT [ARGUMENT…]`, see `ferrule.links.orders`."""
    from ferrule.links import orders

    told, arguments = orders.take(sys.argv[1:])
    run(told["tool"], arguments, told["names"], told["provider"], told["translation"], told.get("keeper", ""))


def run(
    tool: str,
    arguments: list[str],
    names: dict[str, str],
    provider: str = "",
    translation: Translation | None = None,
    keeper: str = "",
) -> NoReturn:
    """Be the executable of a tool, from the arguments to the exit code.

    Args:
        names: other names of tools, by their own.
        provider, translation, keeper: see `ferrule.links.orders`.
    """
    # Leaving by os._exit saves the interpreter's own end, a seventh of its start; the collector, a tenth of a call's.
    gc.disable()
    try:
        add_sources_to_path()
        if not arguments:
            code = _call(tool, names, translation, keeper)
        elif arguments == ["--schema"]:
            code = _print_schema(tool, names, provider)
        else:
            code = _print_usage(tool, arguments, names)
    except BaseException as error:  # noqa: BLE001 - a traceback on stdout, or none at all, is what a client cannot read
        code = _report_failure(error)
    os._exit(code)


def _print_schema(name: str, names: dict[str, str], provider: str) -> int:
    """`--schema`: the schema. What is raised else ends with an exit code that makes the client leave the tool out."""
    from ferrule.plugin.admission.admitted_tool import AdmittedTool
    from ferrule.text import strict_json

    admitted = AdmittedTool(name, is_called=False)
    tool = admitted.tool()
    if not admitted.is_kept:
        _require_fitting_host(tool)
        admitted.require_accepted_version()
    schema = admitted.schema() or _compute_schema(tool, admitted.configuration())
    if provider:
        from ferrule.schema.providers.adaptation import adapt

        schema = adapt(schema, provider).schema
    if names:
        from ferrule.text.aliases import rename_schema

        schema = rename_schema(schema, names)
    return 0 if _write(1, strict_json.dumps(schema) + b"\n") else 1


def _require_fitting_host(tool: InstalledTool) -> None:
    from ferrule.schema import schema_file

    if schema_file.may_declare(tool, "requires_ferrule"):
        from ferrule.plugin.remedies.host_requirement import require_host

        require_host(tool)


def _compute_schema(tool: InstalledTool, settings: Configuration) -> JSONObject:
    from ferrule.plugin import computed_schema

    deadline = computed_schema.client_deadline(_STARTED)
    schema = computed_schema.compute_schema(tool, deadline, settings)
    if settings.is_locked:
        from ferrule.trust.door.admission import admit

        refusal = admit(tool, settings).find_schema_refusal(schema)
        if refusal:
            raise refusal
    return schema


def _call(name: str, names: dict[str, str], translation: Translation | None, keeper: str) -> int:
    from ferrule.calls.call import ForkRunner, StreamSource, ToolCall, answer
    from ferrule.calls.lookup import AdmittedLookup
    from ferrule.calls.streams import Streams
    from ferrule.config import configuration
    from ferrule.supervision.signals import Signals

    streams = Streams()
    try:
        with Signals() as signals:
            deadline = _STARTED + configuration.deadline()
            source = StreamSource(streams, signals, deadline, translation)
            lookup = AdmittedLookup(name)
            call = ToolCall(name, source, ForkRunner(signals), deadline, names=names, lookup=lookup)
            code = answer(call, streams, signals)
            if keeper:
                _start_keeper_if_wanted(lookup.readable_settings(), call.tool, keeper)
            return code
    except BaseException:
        streams.give_back()
        raise


def _start_keeper_if_wanted(settings: Configuration | None, tool: InstalledTool | None, keeper: str) -> None:
    """See `ferrule.links.keeper_start`, which is loaded where the tool may be one that is kept."""
    if settings and tool and ("keep" in settings.content or is_of_source(tool.metadata)):
        from ferrule.links.keeper_start import start_if_wanted

        start_if_wanted(settings, tool, keeper)


def _print_usage(tool: str, arguments: list[str], names: dict[str, str]) -> int:
    from ferrule._version import __version__
    from ferrule.errors import InputError
    from ferrule.text.names import executable_name

    executable = executable_name(names.get(tool, tool))
    if arguments in (["--help"], ["-h"]):
        _write(1, _USAGE.format(executable=executable, tool=tool).encode())
        return 0
    if arguments == ["--version"]:
        _write(1, f"{executable}, ferrule {__version__}\n".encode())
        return 0
    raise InputError(f"{executable} takes no argument but --schema; the tool's arguments are read from stdin.")


def _report_failure(error: BaseException) -> int:
    """Say on both streams what happened, outside of a call: an error, or a defect of the host itself."""
    from ferrule.errors import FerruleError
    from ferrule.plugin.failures import default_document, explain_error
    from ferrule.text import strict_json

    facts, traceback = explain_error(error)
    _write(2, f"{facts['message']}\n".encode(errors="replace"))
    _write(2, traceback)
    _write(1, strict_json.dumps(default_document(facts)) + b"\n")
    return error.exit_code if isinstance(error, FerruleError) else 1


def _write(file: int, data: bytes) -> bool:
    try:
        while data:
            data = data[os.write(file, data) :]
    except OSError:
        return False
    return True
