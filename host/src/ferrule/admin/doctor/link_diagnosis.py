"""What is wrong with the executables in the client's folders: links of ferrule, and programs of others."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ferrule.admin.doctor.diagnosis_entry import ERROR, NOTE, WARNING, Diagnosis
from ferrule.config.client_folders import client_folders
from ferrule.installed import executable_probe
from ferrule.installed.inventory import BROKEN, CLASH, DIFFERS, DISABLED, HELD, INVALID, Entry
from ferrule.links import linked_executables
from ferrule.supervision.python_process import interpreter
from ferrule.text.names import CLIENT_TOOLS, SUFFIX, executable_name, tool_name

if TYPE_CHECKING:
    from ferrule.links.linked_executables import LinkFacts

_FAILING = {
    BROKEN: "cannot be loaded",
    CLASH: "is claimed by more than one distribution",
    INVALID: "has a schema that is not valid",
    DIFFERS: "is not as ferrule.lock has it",
}
_LATE = "late"


def examine(further: Sequence[str], loaded: Mapping[str, Entry]) -> Iterator[Diagnosis]:
    """What is wrong in the folders that the client reads, and in further ones. loaded: the installed tools."""
    read = client_folders()
    asked = [os.path.abspath(os.path.expanduser(folder)) for folder in further]
    for folder in asked:
        if folder not in read and any(linked_executables.links(folder)):
            known = ", ".join(read)
            message = f"Tools are linked there, and the client reads {known} and the folder of its installation."
            yield Diagnosis("folder-not-read", WARNING, folder, message, "ferrule link --to one of those")
    seen: dict[str, str] = {}
    for folder in dict.fromkeys((*read, *asked)):
        yield from _folder(folder, loaded)
        for path, facts in linked_executables.links(folder):
            name = os.path.basename(path)
            if name in seen and folder in read:
                message = f"The client takes {path} instead."
                yield Diagnosis("link-overridden", WARNING, seen[name], message, _unlink(facts, seen[name]))
            seen[name] = path


def _folder(folder: str, loaded: Mapping[str, Entry]) -> Iterator[Diagnosis]:
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return
    except OSError as error:
        yield Diagnosis("folder-unreadable", ERROR, folder, f"It cannot be read: {error.strerror}.")
        return
    links = dict(linked_executables.links(folder))
    for name in names:
        if name.endswith(SUFFIX) and name != SUFFIX:
            path = os.path.join(folder, name)
            yield from _executable(path, is_link=path in links)
    found = [one for path, facts in links.items() for one in _link(path, facts, loaded)]
    stale = {one.subject: links[one.subject] for one in found if one.id == "link-stale" and one.subject in links}
    yield from _together(folder, stale, found)


def _together(folder: str, stale: Mapping[str, LinkFacts], found: Sequence[Diagnosis]) -> Iterator[Diagnosis]:
    """The same, with one diagnosis of all links that one command brings up to date."""
    by_options: dict[str, list[str]] = {}
    for path, facts in stale.items():
        if facts["name"] == facts["tool"] and os.path.dirname(facts["python"]) == os.path.dirname(interpreter()):
            by_options.setdefault(_options(facts), []).append(path)
    groups = {options: paths for options, paths in by_options.items() if len(paths) > 1}
    grouped = {path for paths in groups.values() for path in paths}
    yield from (one for one in found if one.id != "link-stale" or one.subject not in grouped)
    for options, paths in groups.items():
        tools = sorted(stale[path]["tool"] for path in paths)
        message = f"{len(tools)} links are out of date: {', '.join(tools)}."
        fix = f"ferrule link {' '.join(tools)} --to {folder}{options}"
        yield Diagnosis("link-stale", ERROR, folder, message, fix)


def _executable(path: str, *, is_link: bool) -> Iterator[Diagnosis]:
    """What the client takes for a tool has to be one: a file that its owner may execute, and that keeps its limits."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        yield Diagnosis("link-dangling", ERROR, path, f"It leads nowhere: {error.strerror}.", f"rm {path}")
        return
    if not mode & stat.S_IXUSR:
        message = "It is not executable, so the client passes it over."
        yield Diagnosis("not-executable", ERROR, path, message, f"chmod +x {path}")
        return
    if tool_name(path) in CLIENT_TOOLS:
        message = "It takes the place of the client's own tool of this name."
        yield Diagnosis("client-tool-replaced", WARNING, path, message, "Give it another name, if that is not meant.")
    if stat.S_ISREG(mode) and not is_link:
        yield from _foreign_program(path)


def _foreign_program(path: str) -> Iterator[Diagnosis]:
    """A program of somebody else, which is run as the client runs it at each of its starts."""
    findings = executable_probe.judge(path, executable_probe.ask(path))
    for finding in findings:
        if finding.severity == "error":
            severity = ERROR if finding.id == _LATE else WARNING
            fix = f"{finding.fix} Until then: chmod -x {path}" if severity == ERROR else finding.fix
            yield Diagnosis(f"executable-{finding.id}", severity, path, finding.message, fix)


def _link(path: str, facts: LinkFacts, loaded: Mapping[str, Entry]) -> Iterator[Diagnosis]:
    if os.path.basename(path) != executable_name(facts["name"]):
        message = f"Its file was renamed, and its schema says {facts['name']}, so the client refuses it."
        fix = f"Remove it, and run: ferrule link {facts['tool']} --as NAME"
        yield Diagnosis("link-renamed", ERROR, path, message, fix)
    try:
        reasons = linked_executables.reasons_to_doubt(path, facts)
    except OSError:
        return  # it went away meanwhile
    if os.path.dirname(facts["python"]) != os.path.dirname(interpreter()):
        yield _foreign(path, facts, reasons, is_installed_here=facts["tool"] in loaded)
    else:
        yield from _target(path, facts, loaded.get(facts["tool"]), reasons)


def _foreign(path: str, facts: LinkFacts, reasons: list[str], *, is_installed_here: bool) -> Diagnosis:
    """A link into another environment, of which is known only whether its interpreter is still there."""
    python = facts["python"]
    if not reasons:
        message = f"It was linked by {python}, whose tools are not examined here."
        return Diagnosis("link-foreign", NOTE, path, message)
    message = f"It is out of date: {'; '.join(reasons)}."
    is_gone = not os.access(python, os.X_OK)
    if is_gone and not is_installed_here:
        return Diagnosis("link-stale", ERROR, path, message, _unlink(facts, path))
    # Of an environment that was moved, the script `ferrule` names an interpreter that is gone.
    command = f"{interpreter() if is_gone else python} -m "
    fix = f"{command}ferrule {_link_again(facts, path)}, or: {command}{_unlink(facts, path)}"
    return Diagnosis("link-stale", ERROR, path, message, fix)


def _target(path: str, facts: LinkFacts, entry: Entry | None, reasons: list[str]) -> Iterator[Diagnosis]:
    tool, unlink = facts["tool"], _unlink(facts, path)
    if entry is None:
        yield Diagnosis("link-gone", ERROR, path, f"The tool {tool} is not installed any more.", unlink)
    elif entry.state == DISABLED:
        message = entry.error.message if entry.error else ""
        yield Diagnosis("link-disabled", WARNING, path, f"{tool}: {message}", f"Enable it, or: {unlink}")
    elif entry.state == HELD:
        message = f"Its tool {tool} is held, so every call fails."
        yield Diagnosis("link-held", ERROR, path, message, f"ferrule permissions accept {tool}, or: {unlink}")
    elif entry.state in _FAILING:
        message = f"Its tool {tool} {_FAILING[entry.state]}, so every call fails."
        yield Diagnosis("link-failing", ERROR, path, message, f"Fix the tool, or: {unlink}")
    else:
        recorded, installed = f"{facts['distribution']} {facts['version']}".strip(), entry.tool.source
        if recorded != installed:
            reasons = [*reasons, f"it was linked for {recorded}, and {installed} is installed"]
        if reasons:
            fix = f"ferrule {_link_again(facts, path)}"
            yield Diagnosis("link-stale", ERROR, path, f"It is out of date: {'; '.join(reasons)}.", fix)
        elif linked_executables.is_edited(path, entry.tool, entry.schema or {}):
            message = "It is not as `ferrule link` writes it: it was edited, or another version of ferrule wrote it."
            yield Diagnosis("link-edited", WARNING, path, message, f"ferrule {_link_again(facts, path)}")


def providers_linked_for(tool: str) -> Iterable[str]:
    """For whom each of the client's links to a tool is written: a provider, or `""` for the tool's own words."""
    for folder in client_folders():
        for _, facts in linked_executables.links(folder):
            if facts["tool"] == tool:
                yield facts.get("provider", "")


def _unlink(facts: LinkFacts, path: str) -> str:
    return f"ferrule unlink {facts['name']} --from {os.path.dirname(path)}"


def _link_again(facts: LinkFacts, path: str) -> str:
    alias = f" --as {facts['name']}" if facts["name"] != facts["tool"] else ""
    return f"link {facts['tool']} --to {os.path.dirname(path)}{alias}{_options(facts)}"


def _options(facts: LinkFacts) -> str:
    return f" --for {facts['provider']}" if facts.get("provider") else ""
