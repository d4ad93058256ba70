"""What `ferrule doctor` says of permissions: what is widened, and what this system cannot hold, tool by tool."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ferrule.admin.doctor.diagnosis_entry import ERROR, NOTE, WARNING, Diagnosis
from ferrule.admin.permission_status import PermissionStatus, statuses
from ferrule.errors import ConfigurationMalformed, ProxyUnusable
from ferrule.supervision.memory.group import find_parent
from ferrule.trust import grants, records
from ferrule.trust.description import phrases
from ferrule.trust.resolution.proxies import usable_proxies

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool


def examine(tools: Iterable[InstalledTool], settings: Configuration) -> Iterator[Diagnosis]:
    """What there is to say of the tools. What is held is a state of the tool, and said elsewhere."""
    for message in grants.problems(settings):
        fix = "Correct it; `ferrule permissions --help` says what may stand there."
        yield Diagnosis("configuration-malformed", ERROR, settings.path, message, fix)
    yield from _of_proxies()
    is_refused, found = _are_refused(settings), statuses(tools, settings)
    for one in found:
        yield from _of_tool(one, is_refused=is_refused)
    users = [one.tool for one in found if one.granted.programs]
    if users:
        yield Diagnosis("programs-memory", NOTE, ", ".join(users), _say_of_memory())


def _say_of_memory() -> str:
    """What bounds the memory of programs, for calls that are started where this command is."""
    if find_parent() is not None:
        return "The kernel holds what its programs have in memory: a call that is started here gets a control group."
    return (
        "What its programs have in memory is looked at every 50 ms, and not held by the kernel: "
        "a call that is started here gets no control group."
    )


def _of_proxies() -> Iterator[Diagnosis]:
    try:
        usable_proxies(os.environ)
    except ProxyUnusable as error:
        message = f"{error.message} So no tool that has a network can be called."
        yield Diagnosis("proxy-unusable", ERROR, error.variable, message, error.admin)


def _of_tool(one: PermissionStatus, *, is_refused: bool) -> Iterator[Diagnosis]:
    if one.widened:
        message = f"config.toml lets it do more than it declares: it {'; '.join(phrases(one.widened))}."
        yield Diagnosis("permissions-widened", NOTE, one.tool, message)
    if not one.granted.network and _had_public_web(one):
        message = f"What was accepted of {one.source} had the public web. It declares no network, and so has none now."
        fix = f"Where it needs one: ferrule permissions grant {one.tool} --network HOST:PORT"
        yield Diagnosis("permissions-no-network", NOTE, one.tool, message, fix)
    if one.isolation == grants.OFF:
        message = 'It is held to nothing by the kernel: isolation = "off" in [permissions] of config.toml.'
        yield Diagnosis("permissions-off", WARNING, one.tool, message, "Take it out where it is not meant.")
    if one.unrecorded:
        fix = "Have FERRULE_STATE name a folder that can be written, or lock the tools: ferrule lock."
        yield Diagnosis("permissions-unrecorded", WARNING, one.tool, one.unrecorded, fix)
    if one.unenforced:
        message = f"This system does not hold it to all of its permissions. {' '.join(one.unenforced)}"
        if is_refused:
            fix = 'Use a newer Linux kernel, or allow it with unenforced = "warn" in [permissions] of config.toml.'
            yield Diagnosis("permissions-unenforced", ERROR, one.tool, f"{message} So no call of it runs.", fix)
        else:
            fix = 'Install only what you trust, or have such calls refused: unenforced = "refuse" in [permissions].'
            yield Diagnosis("permissions-unenforced", WARNING, one.tool, message, fix)


def _had_public_web(one: PermissionStatus) -> bool:
    """Whether this version was accepted when a tool that declares no network had the public web, or declared it."""
    if one.declared.network or one.declared.tools:
        return False
    try:
        known = records.read(one.tool)
    except records.UntrustedRecord:
        return False
    return known is not None and known.source == one.source and "public" in known.permissions.network


def _are_refused(settings: Configuration) -> bool:
    try:
        return grants.choice(settings, "unenforced") == grants.REFUSE
    except ConfigurationMalformed:
        return True
