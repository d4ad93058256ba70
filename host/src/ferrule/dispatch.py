"""The path of a call: executable's name -> tool -> one JSON document. Nothing is imported before it is needed."""

import gc
import os
import sys
import time

_STARTED = time.monotonic()

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ferrule.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.errors import FerruleError
    from ferrule.streams import Streams
    from ferrule.supervisor import Outcome

_USAGE = """\
Usage: {executable} --schema     print the tool's schema
       {executable}              read the arguments from stdin, as a JSON object, and answer on stdout

Example: echo '{{}}' | {executable}

An executable of ferrule; `ferrule show {tool}` says more about it.
"""


def main() -> "NoReturn":
    """The console script of a tool: the tool is the one whose executable has this process's name."""
    from ferrule.naming import tool_name

    run(tool_name(sys.argv[0]), sys.argv[1:], {})


def linked() -> "NoReturn":
    """The executable that `ferrule link` wrote: `TOOL NAMES STALE [ARGUMENT…]`, NAMES being a JSON object or empty."""
    tool, names, stale, *arguments = sys.argv[1:]
    known: dict[str, str] = {}
    if names:
        from ferrule import strict_json

        known = strict_json.loads(names)  # type: ignore[assignment]
    if stale:
        os.write(2, f"{stale}: this link is out of date; run `ferrule link {tool}`.\n".encode())
    run(tool, arguments, known)


def run(tool: str, arguments: list[str], names: dict[str, str]) -> "NoReturn":
    """Be the executable of a tool, from the arguments to the exit code."""
    # Leaving by os._exit saves the interpreter's own end, a seventh of its start; the collector, a tenth of a call's.
    gc.disable()
    try:
        if not arguments:
            code = _call(tool, names)
        elif arguments == ["--schema"]:
            code = _print_schema(tool, names)
        else:
            code = _explain(tool, arguments, names)
    except BaseException as error:  # noqa: BLE001 - a traceback on stdout, or none at all, is what a client cannot read
        code = _give_up(error)
    os._exit(code)


def _print_schema(name: str, names: dict[str, str]) -> int:
    """`--schema`: the schema. What is raised else ends with an exit code that makes the client leave the tool out."""
    from ferrule import configuration, discovery, schemas, strict_json

    tool = discovery.find(name, configuration.read())
    schema = schemas.static(tool) or schemas.computed(tool, _STARTED + schemas.COMPUTED_SECONDS)
    if names:
        from ferrule.renaming import rename_schema

        schema = rename_schema(schema, names)
    _write(1, strict_json.dumps(schema) + b"\n")
    return 0


def _call(name: str, names: dict[str, str]) -> int:
    from ferrule import configuration
    from ferrule.errors import FerruleError
    from ferrule.signals import Signals
    from ferrule.streams import Streams
    from ferrule.supervisor import Outcome

    streams = Streams()
    with Signals() as signals:
        tool: InstalledTool | None = None
        deadline = _STARTED + configuration.DEFAULT_DEADLINE
        try:
            data = streams.read(signals)
            settings = configuration.read()
            deadline = _STARTED + settings.deadline()
            tool = _find(name, settings)
            outcome = _outcome(tool, data, settings, names, deadline, streams, signals)
        except FerruleError as error:
            outcome = Outcome(None, error.facts())
        except Exception as error:  # noqa: BLE001 - the answer to a defect of the host itself is one document, too
            outcome = _defect(error)
        return _answer(outcome, tool, name, names, streams, deadline)


def _find(name: str, settings: "Configuration") -> "InstalledTool":
    from ferrule import discovery

    return discovery.find(name, settings)


def _outcome(
    tool: "InstalledTool",
    data: bytes,
    settings: "Configuration",
    names: dict[str, str],
    deadline: float,
    streams: "Streams",
    signals: "Any",
) -> "Outcome":
    from ferrule import schemas
    from ferrule.arguments import prepare
    from ferrule.context import ANSWER_BYTES
    from ferrule.execution import Execution
    from ferrule.supervisor import supervise

    arguments = parse(data)
    schema = schemas.static(tool)
    if schema is not None:
        arguments = prepare(arguments, schema["parameters"])
    return supervise(
        Execution(tool, arguments, names, deadline, has_been_checked=schema is not None),
        deadline=deadline,
        memory=settings.memory(tool.name),
        size_limit=ANSWER_BYTES,
        signals=signals,
        private=() if streams.stdout is None else (streams.stdout,),
    )


def parse(data: bytes) -> "dict[str, Any]":
    """The arguments of a call; InputMalformed for anything but one JSON object."""
    from ferrule import strict_json
    from ferrule.errors import InputMalformed

    try:
        arguments = strict_json.loads(data)
    except strict_json.MalformedJSON as error:
        raise InputMalformed(
            f"stdin is not valid JSON: {error}.", hint="Send one JSON object, {} where there are no arguments."
        ) from None
    if not isinstance(arguments, dict):
        kind = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}.get(
            type(arguments), "a number"
        )
        raise InputMalformed(f"stdin holds {kind}; the arguments are expected as one JSON object.")
    return arguments


def _answer(
    outcome: "Outcome",
    tool: "InstalledTool | None",
    name: str,
    names: dict[str, str],
    streams: "Streams",
    deadline: float,
) -> int:
    """Put the outcome on the streams; the exit code."""
    from ferrule.answering import Answer

    answer = Answer.of(outcome, tool, name, names)
    limit = max(deadline, time.monotonic() + 1)
    is_read = streams.answer(answer.document, limit)
    streams.report(answer.text, limit)
    return answer.exit_code if is_read else 1


def _explain(tool: str, arguments: list[str], names: dict[str, str]) -> int:
    from ferrule import __version__
    from ferrule.errors import InputRefused
    from ferrule.naming import executable_name

    executable = executable_name(names.get(tool, tool))
    if arguments in (["--help"], ["-h"]):
        _write(1, _USAGE.format(executable=executable, tool=tool).encode())
        return 0
    if arguments == ["--version"]:
        _write(1, f"{executable}, ferrule {__version__}\n".encode())
        return 0
    raise InputRefused(f"{executable} takes no argument but --schema; the tool's arguments are read from stdin.")


def _defect(error: BaseException) -> "Outcome":
    from ferrule.supervisor import Outcome

    return Outcome(None, _reported(error).facts(), text=_traceback(error))


def _give_up(error: BaseException) -> int:
    """Say on both streams what happened, outside of a call: an error, or a defect of the host itself."""
    from ferrule import failures, strict_json

    reported = _reported(error)
    _write(2, f"{reported.message}\n".encode(errors="replace"))
    if reported is not error:
        _write(2, _traceback(error))
    _write(1, strict_json.dumps(failures.web(reported.facts())) + b"\n")
    return reported.exit_code


def _reported(error: BaseException) -> "FerruleError":
    from ferrule.errors import FerruleError

    if isinstance(error, FerruleError):
        return error
    return FerruleError(f"The host failed with {type(error).__name__}, which is a defect of ferrule.")


def _traceback(error: BaseException) -> bytes:
    import traceback

    return "".join(traceback.format_exception(error))[-4096:].encode(errors="replace")


def _write(file: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(file, data) :]
    except OSError:
        pass
