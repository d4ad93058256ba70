"""What `ferrule list` prints, without click: to import that costs more than all of the rest."""

from __future__ import annotations

from ferrule.admin.wrapper_status import BROKEN, WrapperStatus, statuses
from ferrule.cli import exits
from ferrule.cli.output import plain, print_json, print_line, print_table
from ferrule.cli.selection import entries
from ferrule.config import configuration
from ferrule.installed.inventory import CLASH, DIFFERS, DISABLED, OK, UNCHECKED, Entry
from ferrule.schema import schema_file

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.admin.doctor.extra_status import ExtraStatus
    from ferrule.admin.doctor.program_status import ProgramStatus
    from ferrule.admin.packages.parent_code import ParentCode
    from ferrule.config.configuration import Configuration
    from ferrule.text.json_types import JSONObject

_USABLE_STATES = (OK, UNCHECKED, DISABLED)


def run(arguments: Sequence[str]) -> int:
    """Run `ferrule list` or `ferrule list --json`, and return the exit code."""
    as_json = "--json" in arguments

    def list_tools() -> int:
        exits.tell_configuration()
        return print_tools(as_json=as_json)

    return exits.run(list_tools, as_json=as_json)


def print_tools(*, check: bool = False, as_json: bool = False) -> int:
    """Print the tools and the wrappers, as the options of `ferrule list` say; the exit code."""
    with schema_file.RememberedModules():
        found = list(entries((), load=check))
    settings = configuration.read()
    wrappers = statuses(settings, load=check)
    programs, extras = _needs(found, settings) if check else ([], [])
    code = _parent_code() if check else []
    widened = _widened(found, settings)
    if as_json:
        listed: JSONObject = {
            "tools": [
                {**one.as_dict(), "widened": widened.get(one.name, {}), **(_refusal_facts(one) if check else {})}
                for one in found
            ],
            "wrappers": [one.as_dict() for one in wrappers],
        }
        needs = {"programs": [one.as_dict() for one in programs], "extras": [one.as_dict() for one in extras]}
        print_json({**listed, **needs, "parent_code": [one.as_dict() for one in code]} if check else listed)
    elif found:
        headings = ("TOOL", "STATE", "DISTRIBUTION", "DESCRIPTION")
        print_table(headings, map(_row, found), colour="STATE")
    else:
        print_line("No tools are installed. `ferrule new NAME` starts one.")
    if not as_json:
        _print_widened(widened)
        _print_wrappers(wrappers)
        _print_programs(programs)
        _print_extras(extras)
        _print_warnings(found)
        _print_parent_code(code)
        if check:
            _print_refusals(found)
    is_well = all(entry.state in _USABLE_STATES for entry in found) and not any(one.state == BROKEN for one in wrappers)
    return int(check and not is_well)


def _needs(found: list[Entry], settings: Configuration) -> tuple[list[ProgramStatus], list[ExtraStatus]]:
    from ferrule.admin.doctor import extra_status, program_status

    tools = [entry.tool for entry in found if entry.state not in (CLASH, DIFFERS, DISABLED)]
    return program_status.statuses(tools, settings), extra_status.statuses(tools)


def _widened(found: list[Entry], settings: Configuration) -> dict[str, JSONObject]:
    """What config.toml grants to tools beyond their own declarations, by their names."""
    if "tools" not in settings.content:
        return {}
    from ferrule.admin import permission_status  # not above: most machines have nothing to say here

    tools = [entry.tool for entry in found if entry.state != CLASH and "permissions" in settings.tool(entry.name)]
    return {one.tool: one.widened for one in permission_status.statuses(tools, settings) if one.widened}


def _print_widened(widened: dict[str, JSONObject]) -> None:
    if widened:
        from ferrule.trust.description import phrases

        print_line()
        rows = [(name, "; ".join(phrases(more))) for name, more in widened.items()]
        print_table(("TOOL", "WIDENED BY CONFIG.TOML"), rows)


def _print_wrappers(wrappers: list[WrapperStatus]) -> None:
    if wrappers:
        print_line()
        rows = [(one.name, one.state, one.source, one.describe()) for one in wrappers]
        print_table(("WRAPPER", "STATE", "DISTRIBUTION", ""), rows, colour="STATE")


def _print_programs(programs: list[ProgramStatus]) -> None:
    if programs:
        print_line()
        rows = [(" or ".join(one.names), one.state, ", ".join(one.sources), one.describe()) for one in programs]
        print_table(("PROGRAM", "STATE", "DISTRIBUTION", ""), rows, colour="STATE")


def _print_extras(extras: list[ExtraStatus]) -> None:
    if extras:
        print_line()
        rows = [(one.module, one.state, ", ".join(one.sources), one.describe()) for one in extras]
        print_table(("MODULE", "STATE", "DISTRIBUTION", ""), rows, colour="STATE")


def _print_warnings(found: list[Entry]) -> None:
    rows = [(entry.name, one.id, f"{one.message} {one.fix}") for entry in found for one in entry.warnings]
    if rows:
        print_line()
        print_table(("TOOL", "WARNING", ""), rows)


def _parent_code() -> list[ParentCode]:
    from ferrule.admin.packages import distribution_files, parent_code

    return list(parent_code.of_installed(distribution_files.installed()))


def _print_parent_code(code: list[ParentCode]) -> None:
    """What packages bring that runs in ferrule itself, unless it is known."""
    rows = [(one.subject, one.id, f"{one.message} {one.fix}") for one in code if not one.known]
    if rows:
        print_line()
        print_table(("RUNS IN FERRULE ITSELF", "WARNING", ""), rows)


def _refusal_facts(entry: Entry) -> JSONObject:
    from ferrule.admin.provider_refusals import refusals

    refused = refusals(entry.findings)
    return {"refused_by": {provider: [one.pointer for one in found] for provider, found in refused.items()}}


def _print_refusals(found: list[Entry]) -> None:
    """A tool that a provider refuses stops every request of an agent that has it, also those that are not about it."""
    from ferrule.admin.provider_refusals import refusals, remedy

    refused = [(entry, by) for entry in found if entry.state == OK and (by := refusals(entry.findings))]
    if refused:
        print_line()
        rows = [(entry.name, ", ".join(by), remedy(entry.name, by)) for entry, by in refused]
        print_table(("TOOL", "REFUSED BY", "WHAT HELPS"), rows)


def _row(entry: Entry) -> tuple[str, str, str, str]:
    return entry.name, entry.state, sources(entry), _about(entry)


def sources(entry: Entry) -> str:
    """Who offers the tool, with versions."""
    return ", ".join(sorted(claim.source for claim in entry.claims))


def _about(entry: Entry) -> str:
    if entry.error:
        return entry.error.message
    paragraph = str((entry.schema or {}).get("description", "")).partition("\n\n")[0]
    description = plain(paragraph)
    first, stop, _ = description.partition(". ")
    return first + stop.strip()
