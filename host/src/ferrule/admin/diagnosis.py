"""What is wrong with an installation: tools, links, folders, credentials, configuration. Changes nothing."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule import discovery
from ferrule.admin import inventory, linked_executables, program_status, wrapper_status
from ferrule.admin.credential_status import MISSING, UNUSABLE, declared, owners, statuses
from ferrule.admin.inventory import BROKEN, CLASH, DISABLED, INVALID, Entry
from ferrule.config import configuration
from ferrule.config.client_folders import client_folders
from ferrule.config.configuration import Configuration
from ferrule.config.credentials_file import CredentialsFile
from ferrule.errors import ConfigurationMalformed, FerruleError
from ferrule.supervision.python_process import interpreter
from ferrule.text.names import SUFFIX, executable_name

if TYPE_CHECKING:
    from ferrule.admin.linked_executables import LinkFacts

ERROR, WARNING, NOTE = "error", "warning", "note"


class Diagnosis(NamedTuple):
    """One thing that is wrong.

    id: what kind of thing, as in `link-stale`. severity: `error`, `warning` or `note`. subject: the tool, file or
    folder that it is about. message: what is wrong. mend: what to do about it, None where nothing need be done.
    """

    id: str
    severity: str
    subject: str
    message: str
    mend: str | None = None

    def as_dict(self) -> dict[str, str | None]:
        """The diagnosis as JSON."""
        return self._asdict()


def examine(folders: Sequence[str]) -> Iterator[Diagnosis]:
    """Everything that is wrong, one after the other. Loads each plugin in a supervised child.

    folders: where to look for links, besides those that the client reads. A configuration that cannot be read is
    reported, and taken for an empty one.
    """
    settings, malformed = _settings()
    yield from malformed
    claims = discovery.scan()
    yield from _configured(settings, claims)
    yield from _wrappers(settings)
    loaded = [inventory.examine(Entry(name, claims[name]), settings, load=True) for name in sorted(claims)]
    for entry in loaded:
        if entry.state in (BROKEN, CLASH, INVALID) and entry.error:
            yield Diagnosis(f"tool-{entry.state}", ERROR, entry.name, entry.error.message, entry.error.hint)
    yield from _programs(loaded, settings)
    yield from _credentials(loaded)
    yield from _folders(folders, {entry.name: entry for entry in loaded})
    yield from _path(loaded)


def _settings() -> tuple[Configuration, list[Diagnosis]]:
    try:
        return configuration.read(), []
    except ConfigurationMalformed as error:
        path = configuration.default_path()
        mend = "Mend the file; until then no tool can be called."
        malformed = Diagnosis("configuration-malformed", ERROR, path, error.message, mend)
        return Configuration(path, {}, os.environ), [malformed]


def _configured(settings: Configuration, claims: Mapping[str, object]) -> Iterator[Diagnosis]:
    tools = settings.content.get("tools", {})
    if not isinstance(tools, dict):
        message = "`tools` is not a table."
        yield Diagnosis("configuration-malformed", ERROR, settings.path, message, "Write [tools.NAME].")
        return
    for name in sorted(set(tools) - set(claims)):
        message = f"[tools.{name}] is about a tool that is not installed."
        yield Diagnosis("configuration-unused", WARNING, settings.path, message, "Install it, or take the table out.")


def _wrappers(settings: Configuration) -> Iterator[Diagnosis]:
    """The wrappers that are on and cannot be loaded. No call fails for it, so that nothing else reports it."""
    tables = settings.content.get("wrappers", {})
    is_table = isinstance(tables, dict)
    wrong = [name for name, table in tables.items() if not isinstance(table, dict)] if is_table else ["wrappers"]
    for name in wrong:
        message = f"`{name}` is not a table, so it switches nothing on."
        yield Diagnosis("configuration-malformed", ERROR, settings.path, message, "Write [wrappers.NAME].")
    for status in wrapper_status.statuses(settings, load=True):
        if status.state == wrapper_status.BROKEN:
            mend = "Mend or install it, or switch it off in [wrappers] of config.toml and in FERRULE_WRAPPERS."
            yield Diagnosis("wrapper-broken", ERROR, status.name, status.error or "", mend)


def _programs(loaded: Iterable[Entry], settings: Configuration) -> Iterator[Diagnosis]:
    """The programs that tools need, also those that are there: which of several is used is seldom known."""
    tools = [entry.tool for entry in loaded if entry.state not in (CLASH, DISABLED)]
    for status in program_status.statuses(tools, settings):
        users = ", ".join(status.tools)
        if status.state == program_status.FOUND:
            message = f"It says it is {status.version}, and is needed by {users}."
            yield Diagnosis("program-found", NOTE, status.path or "", message)
        else:
            problem = status.problem or "It is not found on PATH"
            message = f"{problem.rstrip('.')}, and is needed by {users}."
            subject = " or ".join(status.names) or users
            yield Diagnosis(f"program-{status.state}", WARNING, subject, message, status.install or None)


def _credentials(loaded: Iterable[Entry]) -> Iterator[Diagnosis]:
    file = CredentialsFile(configuration.credentials_path())
    if file.problem:
        mend = "Mend the file, and see `ferrule credentials`."
        yield Diagnosis("credentials-unusable", ERROR, file.path, file.problem, mend)
    if file.warning:
        yield Diagnosis("credentials-readable", WARNING, file.path, file.warning, f"chmod 600 {file.path}")
    for status in (status for entry in loaded for status in statuses(entry, file)):
        mend = f"ferrule credentials set {status.tool} {status.name}"
        if status.state == MISSING:
            message = f"The credential {status.name!r} is not set."
            yield Diagnosis("credential-missing", WARNING, status.tool, message, mend)
        elif status.state == UNUSABLE and status.problem != file.problem:
            yield Diagnosis("credential-unusable", ERROR, status.tool, status.problem or "", mend)
    for owner in owners().values():
        try:
            declared(owner)
        except FerruleError as error:
            yield Diagnosis("credentials-broken", ERROR, owner.name, error.message, error.hint)


def _path(loaded: Iterable[Entry]) -> Iterator[Diagnosis]:
    """Console scripts need no PATH for the client, but a user who types their names does."""
    folder = os.path.dirname(interpreter())
    names = [executable_name(entry.name) for entry in loaded]
    hidden = [name for name in names if os.path.exists(os.path.join(folder, name)) and not shutil.which(name)]
    if hidden:
        message = f"It is not on PATH, so a shell does not find {', '.join(hidden)}."
        yield Diagnosis("scripts-not-on-path", NOTE, folder, message)


def _folders(further: Sequence[str], loaded: Mapping[str, Entry]) -> Iterator[Diagnosis]:
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
    for name in names:
        if name.endswith(SUFFIX) and name != SUFFIX:
            yield from _executable(os.path.join(folder, name))
    for path, facts in linked_executables.links(folder):
        yield from _link(path, facts, loaded)


def _executable(path: str) -> Iterator[Diagnosis]:
    """What the client takes for a tool has to be one: a file that its owner may execute."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        yield Diagnosis("link-dangling", ERROR, path, f"It leads nowhere: {error.strerror}.", f"rm {path}")
        return
    if not mode & stat.S_IXUSR:
        message = "It is not executable, so the client passes it over."
        yield Diagnosis("not-executable", ERROR, path, message, f"chmod +x {path}")


def _link(path: str, facts: LinkFacts, loaded: Mapping[str, Entry]) -> Iterator[Diagnosis]:
    if os.path.basename(path) != executable_name(facts["name"]):
        message = f"Its file was renamed, and its schema says {facts['name']}, so the client refuses it."
        mend = f"Remove it, and run: ferrule link {facts['tool']} --as NAME"
        yield Diagnosis("link-renamed", ERROR, path, message, mend)
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
    mend = f"{interpreter() if is_gone else python} -m ferrule {_link_again(facts, path)}"
    return Diagnosis("link-stale", ERROR, path, message, f"{mend}, or: {_unlink(facts, path)}")


def _target(path: str, facts: LinkFacts, entry: Entry | None, reasons: list[str]) -> Iterator[Diagnosis]:
    tool, unlink = facts["tool"], _unlink(facts, path)
    if entry is None:
        yield Diagnosis("link-gone", ERROR, path, f"The tool {tool} is not installed any more.", unlink)
    elif entry.state == DISABLED:
        message = entry.error.message if entry.error else ""
        yield Diagnosis("link-disabled", WARNING, path, f"{tool}: {message}", f"Enable it, or: {unlink}")
    elif entry.state in (BROKEN, CLASH, INVALID):
        message = f"Its tool {tool} is {entry.state}, so every call fails."
        yield Diagnosis("link-failing", ERROR, path, message, f"Mend the tool, or: {unlink}")
    else:
        recorded, installed = f"{facts['distribution']} {facts['version']}".strip(), entry.tool.source
        if recorded != installed:
            reasons = [*reasons, f"it was linked for {recorded}, and {installed} is installed"]
        if reasons:
            mend = f"ferrule {_link_again(facts, path)}"
            yield Diagnosis("link-stale", ERROR, path, f"It is out of date: {'; '.join(reasons)}.", mend)


def _unlink(facts: LinkFacts, path: str) -> str:
    return f"ferrule unlink {facts['name']} --from {os.path.dirname(path)}"


def _link_again(facts: LinkFacts, path: str) -> str:
    alias = f" --as {facts['name']}" if facts["name"] != facts["tool"] else ""
    return f"link {facts['tool']} --to {os.path.dirname(path)}{alias}"
