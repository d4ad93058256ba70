"""What is wrong with an installation: tools, links, folders, credentials, configuration. Changes nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence

from ferrule import discovery
from ferrule.admin import wrapper_status
from ferrule.admin.credential_status import MISSING, UNUSABLE, declared, owners, statuses
from ferrule.admin.doctor import (
    bytecode_diagnosis,
    configuration_diagnosis,
    extra_status,
    file_diagnosis,
    link_diagnosis,
    parent_code_diagnosis,
    permission_diagnosis,
    program_status,
    readiness_diagnosis,
)
from ferrule.admin.doctor.diagnosis_entry import ERROR, NOTE, WARNING, Diagnosis
from ferrule.admin.provider_refusals import explain, refusals, remedy
from ferrule.config import configuration
from ferrule.config.configuration import Configuration
from ferrule.config.credentials_file import CredentialsFile
from ferrule.errors import ConfigurationMalformed, FerruleError, LockUnusable
from ferrule.installed import inventory
from ferrule.installed.inventory import BROKEN, CLASH, DIFFERS, DISABLED, HELD, INVALID, OK, Entry
from ferrule.journal.file import check_writable
from ferrule.journal.record import is_on, journal_settings, problems
from ferrule.supervision.python_process import interpreter
from ferrule.text.names import executable_name
from ferrule.trust.lock import lock_file


def examine(folders: Sequence[str]) -> Iterator[Diagnosis]:
    """Everything that is wrong, one after the other. Loads each plugin in a supervised child.

    folders: where to look for links, besides those that the client reads. A configuration that cannot be read is
    reported, and taken for an empty one.
    """
    settings, malformed = _settings()
    yield from malformed
    claims = discovery.scan()
    yield from configuration_diagnosis.examine(settings)
    yield from _wrappers(settings)
    unusable, settings = _lock(settings)
    yield from unusable
    loaded = [inventory.examine(Entry(name, claims[name]), settings, load=True) for name in sorted(claims)]
    for entry in loaded:
        if entry.state in (BROKEN, CLASH, DIFFERS, HELD, INVALID) and entry.error:
            yield Diagnosis(f"tool-{entry.state}", ERROR, entry.name, entry.error.message, entry.error.fix)
        for warning in entry.warnings:
            yield Diagnosis(warning.id, WARNING, entry.name, warning.message, warning.fix)
    usable = [entry.tool for entry in loaded if entry.state not in (CLASH, DIFFERS, DISABLED)]
    yield from permission_diagnosis.examine(usable, settings)
    yield from _programs(loaded, settings)
    yield from _extras(loaded)
    yield from _credentials(loaded)
    yield from readiness_diagnosis.examine(loaded, settings)
    yield from _refusals(loaded)
    yield from parent_code_diagnosis.examine(settings)
    yield from file_diagnosis.examine(settings)
    yield from bytecode_diagnosis.examine(usable)
    yield from _journal(settings)
    yield from link_diagnosis.examine(folders, {entry.name: entry for entry in loaded})
    yield from _path(loaded)


def _settings() -> tuple[Configuration, list[Diagnosis]]:
    try:
        return configuration.read(), []
    except ConfigurationMalformed as error:
        path = configuration.default_path()
        fix = "Fix the file; until then no tool can be called."
        malformed = Diagnosis("configuration-malformed", ERROR, path, error.message, fix)
        return Configuration(path, {}, os.environ), [malformed]


def _lock(settings: Configuration) -> tuple[list[Diagnosis], Configuration]:
    """What keeps all tools out at once, and the configuration by which each is looked at for itself then."""
    if not settings.is_locked:
        return [], settings
    try:
        lock_file.read(settings.lock_path)
    except LockUnusable as error:
        message = f"{error.message} Until then no tool is offered, because config.toml says locked = true."
        return [Diagnosis("lock-unusable", ERROR, settings.lock_path, message, error.fix)], settings.unlocked()
    return [], settings


def _wrappers(settings: Configuration) -> Iterator[Diagnosis]:
    """The wrappers that are on and cannot be loaded. No call fails for it, so that nothing else reports it."""
    for status in wrapper_status.statuses(settings, load=True):
        if status.unknown_hooks:
            yield Diagnosis("unknown-hook", WARNING, status.name, status.describe(), "Update ferrule, or the wrapper.")
        if status.state == wrapper_status.BROKEN:
            fix = "Fix or install it, or switch it off in [wrappers] of config.toml and in FERRULE_WRAPPERS."
            yield Diagnosis("wrapper-broken", ERROR, status.name, status.error or "", fix)


def _programs(loaded: Iterable[Entry], settings: Configuration) -> Iterator[Diagnosis]:
    """The programs that tools need, also those that are there: which of several is used is seldom known."""
    tools = [entry.tool for entry in loaded if entry.state not in (CLASH, DIFFERS, DISABLED)]
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


def _extras(loaded: Iterable[Entry]) -> Iterator[Diagnosis]:
    """The modules that are missing; those that are there are nothing that anybody would look for."""
    tools = [entry.tool for entry in loaded if entry.state not in (CLASH, DIFFERS, DISABLED)]
    for status in extra_status.statuses(tools):
        if status.state == extra_status.MISSING:
            purpose = f" ({status.purpose})" if status.purpose else ""
            message = f"It is not installed, and {', '.join(status.tools)} can use it{purpose}."
            yield Diagnosis("module-missing", WARNING, status.module, message, status.install)


def _credentials(loaded: Iterable[Entry]) -> Iterator[Diagnosis]:
    file = CredentialsFile(configuration.credentials_path())
    if file.problem:
        fix = "Fix the file, and see `ferrule credentials`."
        yield Diagnosis("credentials-unusable", ERROR, file.path, file.problem, fix)
    if file.warning:
        yield Diagnosis("credentials-readable", WARNING, file.path, file.warning, file.fix)
    for status in (status for entry in loaded for status in statuses(entry, file)):
        fix = f"ferrule credentials set {status.tool} {status.name}"
        if status.claim:
            accept = f"If both shall have it: ferrule credentials accept {status.tool}"
            yield Diagnosis("credential-claimed", WARNING, status.tool, status.claim.describe(), accept)
        elif status.state == MISSING:
            message = f"The credential {status.name!r} is not set."
            if not status.credential.required:
                message += " The tool works without it."
            yield Diagnosis("credential-missing", WARNING, status.tool, message, fix)
        elif status.state == UNUSABLE and status.problem != file.problem:
            yield Diagnosis("credential-unusable", ERROR, status.tool, status.problem or "", fix)
    for owner in owners().values():
        try:
            declared(owner)
        except FerruleError as error:
            yield Diagnosis("credentials-broken", ERROR, owner.name, error.message, error.fix)


def _journal(settings: Configuration) -> Iterator[Diagnosis]:
    """What is wrong with the journal, of which a call says next to nothing."""
    for message, fix in problems(settings):
        yield Diagnosis("configuration-malformed", ERROR, settings.path, message, fix)
    path = journal_settings(settings).path
    if is_on(settings) and (problem := check_writable(path)):
        message = f"The journal is on, and no call can be written down: {problem}."
        yield Diagnosis("journal-unwritable", ERROR, path, message, "Fix that, or name another `path` in [journal].")


def _refusals(loaded: Iterable[Entry]) -> Iterator[Diagnosis]:
    """The linked tools that a model provider refuses every request for, where they are linked in their own words."""
    for entry in (entry for entry in loaded if entry.state == OK):
        refused = refusals(entry.findings)
        if refused and "" in link_diagnosis.providers_linked_for(entry.name):
            fix = f"Where the client asks one of them: {remedy(entry.name, refused)}"
            yield Diagnosis("provider-refuses", WARNING, entry.name, explain(refused), fix)


def _path(loaded: Iterable[Entry]) -> Iterator[Diagnosis]:
    """Console scripts need no PATH for the client, but a user who types their names does."""
    folder = os.path.dirname(interpreter())
    names = [executable_name(entry.name) for entry in loaded]
    hidden = [name for name in names if os.path.exists(os.path.join(folder, name)) and not shutil.which(name)]
    if hidden:
        message = f"It is not on PATH, so a shell does not find {', '.join(hidden)}."
        yield Diagnosis("scripts-not-on-path", NOTE, folder, message)
