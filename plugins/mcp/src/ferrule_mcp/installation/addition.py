"""How a server becomes tools: its first start, what it is granted, the projection of its tools, and writing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import FerruleError, InputError
from ferrule_mcp.environment.breaks import explain_failure, repair
from ferrule_mcp.installation import trial
from ferrule_mcp.installation.interview import take_answer
from ferrule_mcp.installation.request import install_request
from ferrule_mcp.installation.rights import Right, add_rights, find_wanted
from ferrule_mcp.installation.selection import Selection, choose_names
from ferrule_mcp.installation.server import remove_environment
from ferrule_mcp.projection import project
from ferrule_mcp.stdio.state_signs import keeps_state as find_stateful

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_mcp.environment.record import Environment
    from ferrule_mcp.installation.request import Request
    from ferrule_mcp.record import ServerRecord

    Decide = Callable[[list[Right], str], list[Right]]
    """Gets what a server wanted, and the error if it failed for that; gives what it is granted."""

_MAX_STARTS = 6
_MAX_NAMES = 6  # of tools, in one sentence


class StartFailed(FerruleError):
    """A server did not start, or is none. wanted: the rights that it was refused."""

    code = "SERVER_FAILED"

    def __init__(self, message: str, wanted: list[Right]) -> None:
        hint = None
        if wanted:
            hint = f"It was refused what it wanted: {', '.join(one.words() for one in wanted)}. To grant that, add: "
            hint += " ".join(one.option() for one in wanted)
        super().__init__(message, hint=hint)
        self.wanted = wanted


class Started(NamedTuple):
    """What the first start has shown. granted: the rights that it was given for it; wanted: those that it was not."""

    answer: JSONObject
    permissions: JSONObject
    granted: list[Right]
    wanted: list[Right]


class Addition(NamedTuple):
    """A server with its tools, not written yet."""

    record: ServerRecord
    schemas: dict[str, JSONObject]
    definitions: dict[str, JSONObject]
    wanted: list[Right]


def install_and_start(
    request: Request, decide: Decide, tell: Callable[[str], None]
) -> tuple[Addition, Environment | None]:
    """Install a server and start it for the first time; what was installed goes where it does not start.

    Args:
        request: what the admin asks for.
        decide: see `Decide`.
        tell: gets lines on what goes on.

    Raises StartFailed, InputError where the server has no tools, and what installing raises.
    """
    record, permissions, environment = install_request(request, tell)
    tell(f"Starting {request.name}.")
    try:
        started = start_server(record, permissions, request.values(), request.seconds, decide)
        addition = make_addition(record, started, request.selection)
        if not addition.schemas:
            raise InputError(f"{request.name} has no tools.", hint="It may offer resources or prompts alone.")
        return addition, environment
    except StartFailed as failed:
        remove_environment(record)
        repaired = repair(request.launch, failed.message) if request.launch else None
        if repaired is None:
            failed.hint = (environment and explain_failure(environment, failed.message)) or failed.hint
            raise
    except BaseException:
        remove_environment(record)
        raise
    tell(repaired.reason)
    return install_and_start(request._replace(source=repaired.launch), decide, tell)


def start_server(
    record: ServerRecord, permissions: JSONObject, secrets: Mapping[str, str], seconds: float, decide: Decide
) -> Started:
    """Start a server until it answers with what it is granted, and nothing more is granted.

    Args:
        record: of the server, without tools.
        permissions: what it may at first.
        secrets: values of its credentials, by their names.
        seconds: that each start may take.
        decide: see `Decide`.

    Raises StartFailed, and what `trial.try_start` raises.
    """
    granted: list[Right] = []
    wanted: list[Right] = []
    for _ in range(_MAX_STARTS):
        tried = trial.try_start(record, permissions, secrets, seconds)
        answer = take_answer(record["home"], tried.answer)
        wanted = _find_wanted(tried, record, secrets)
        more = decide(wanted, tried.failure) if wanted else []
        if not more:
            if answer is None:
                raise StartFailed(tried.failure or "The server gave no answer.", wanted)
            return Started(answer, permissions, granted, wanted)
        granted += more
        permissions = add_rights(permissions, more)
    raise StartFailed(f"The server wanted more at each of {_MAX_STARTS} starts.", wanted)


def _find_wanted(tried: trial.Trial, record: ServerRecord, secrets: Mapping[str, str]) -> list[Right]:
    """What a server wanted. One over HTTP does not run here, and its address is granted."""
    if record["transport"] != "stdio":
        return []
    return find_wanted(tried.trace, record["environment"], secrets.values())


def make_addition(record: ServerRecord, started: Started, selection: Selection) -> Addition:
    """The tools of a server that has answered, with their schemas. Raises InputError, see `choose_names`."""
    answer = started.answer
    definitions = {str(tool["name"]): tool for tool in answer["tools"]}
    names = choose_names(record["name"], list(definitions), selection)
    tools, schemas = {}, {}
    for own, shown in names.items():
        projected = project(definitions[own], shown)
        schemas[shown] = projected.schema
        tools[shown] = {"name": own, "translation": projected.translation, "lost": list(projected.lost)}
    known = {key: answer[key] for key in ("era", "server", "capabilities", "offered", "instructions", "seconds")}
    origin = _note_rights(record["origin"], started.granted)
    complete = {**record, **known, "origin": origin, "tools": tools, "permissions": started.permissions}
    stateful = find_stateful(list(definitions.values()))
    keep = bool(stateful) if record.get("keep") is None else bool(record.get("keep"))
    notes = [*record["notes"], *answer.get("findings", ()), *_tell_state(stateful, keep=keep)]
    kept = {own: definitions[own] for own in names}
    return Addition(_cast({**complete, "notes": notes, "keep": keep}), schemas, kept, started.wanted)


def try_tool(
    addition: Addition, secrets: Mapping[str, str], tool: str, arguments: JSONMapping, seconds: float, decide: Decide
) -> tuple[Addition, JSONObject]:
    """Call a tool of a server that is not written yet, and grant it more where that is decided.

    Args:
        addition: the server.
        secrets: values of its credentials, by their names.
        tool: its name, ferrule's or the server's.
        arguments: of the call.
        seconds: that the call may take.
        decide: see `Decide`.

    Returns:
        The server with what it was granted, and the answer of the last call.

    Raises InputError where the server has no such tool, and what `trial.try_call` raises.
    """
    shown = _find_tool(addition.record, tool)
    permissions, wanted = addition.record["permissions"], addition.wanted
    all_granted: list[Right] = []
    for _ in range(_MAX_STARTS):
        tried = trial.try_call(addition.record, permissions, secrets, addition.schemas, shown, arguments, seconds)
        found = _find_wanted(tried, addition.record, secrets)
        new = [one for one in found if one not in wanted]
        granted = decide(new, tried.failure) if new else []
        wanted = [*wanted, *(one for one in new if one not in granted)]
        if not granted:
            break
        permissions = add_rights(permissions, granted)
        all_granted += granted
    origin = _note_rights(addition.record["origin"], all_granted)
    record = _cast({**addition.record, "origin": origin, "permissions": permissions})
    return addition._replace(record=record, wanted=wanted), tried.answer


def _note_rights(origin: JSONObject, granted: Iterable[Right]) -> JSONObject:
    """The origin with rights that were granted on the way, which hold when the server is installed anew."""
    return {**origin, "rights": [*origin["rights"], *(f"{one.key}={one.entry}" for one in granted)]}


def _find_tool(record: ServerRecord, tool: str) -> str:
    found = next((shown for shown, one in record["tools"].items() if tool in (shown, one["name"])), None)
    if found is None:
        raise InputError(f"{record['name']} has no tool {tool!r}.", hint=f"It has {', '.join(record['tools'])}.")
    return found


def _tell_state(names: Sequence[str], *, keep: bool) -> list[str]:
    """What the admin is shown of tools that depend on what was called before. keep: whether the server goes on."""
    if not names:
        return []
    more = len(names) - _MAX_NAMES
    shown = [*names[:_MAX_NAMES], f"and {more} more"] if more > 0 else names
    if keep:
        return [f"It seems to keep state between calls, so it is kept, by a keeper: {', '.join(shown)}."]
    return [f"It seems to keep state between calls, which each call here begins without: {', '.join(shown)}."]


def _cast(record: object) -> ServerRecord:
    from ferrule_mcp.record import cast_record

    return cast_record(record)
