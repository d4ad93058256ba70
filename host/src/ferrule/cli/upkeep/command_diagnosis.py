"""What is wrong with the subcommands of `ferrule`, for `ferrule doctor`: those of the host, and those of distributions.

Each is loaded with all that it reaches, in a supervised child: a command imports most of what it needs when it runs,
so one that loads may still fail for what is not installed.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from ferrule import discovery
from ferrule.admin.doctor.diagnosis_entry import ERROR, NOTE, WARNING, Diagnosis
from ferrule.admin.entry_point import EntryPoint, entry_points
from ferrule.cli.commands import BUILT_IN, load_added, module_of
from ferrule.errors import CallInterrupted, FerruleError
from ferrule.installed.supervised_work import run_supervised
from ferrule.plugin.remedies.installation import install_command
from ferrule.plugin.remedies.missing_module import line_for, missing_module
from ferrule.supervision.exception_text import name_and_text
from ferrule.trust.load_policy import policy_for_code

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule.supervision.channel.channel import Channel

_HOST = "ferrule"
_SECONDS = 20.0  # that one command may take: the child may write no compiled module, so a new one compiles all
_EXTRAS = {"schema": ("msgspec", "ferrule[schema]")}
"""What commands of the host cannot work without, and an extra brings: the module, and the requirement."""


class _Failure(NamedTuple):
    """A module that cannot be imported. missing: the module whose absence that is; an empty text for another reason.

    error: the exception. line: the command that brings what is missing; empty where nothing is known of it.
    """

    module: str
    missing: str
    error: str
    line: str

    @property
    def is_of_extra(self) -> bool:
        """Whether an extra brings what is missing, so that a part of the command works without."""
        return "[" in self.line


def examine() -> Iterator[Diagnosis]:
    """What is wrong with the commands. One that cannot be used keeps no other from being looked at."""
    yield from _built_in()
    found, passed_over = entry_points(discovery.COMMANDS, BUILT_IN)
    wanted: dict[_Failure, list[str]] = {}
    for one in found.values():
        try:
            failures = _ask(partial(_load_with_all, one), one.name)
        except CallInterrupted:
            raise
        except FerruleError as error:
            yield Diagnosis("command-broken", ERROR, one.name, error.message, error.hint)
            continue
        for failure in failures:
            if failure.is_of_extra:
                wanted.setdefault(failure, []).append(one.name)
            else:
                yield _broken(one.name, f"The command {one.name!r} of {one.source}", failure, one.distribution)
    for failure, names in wanted.items():
        users = ", ".join(f"`ferrule {name}`" for name in names)
        message = f"It is not installed, and {users} can use it ({failure.module})."
        yield Diagnosis("module-missing", NOTE, failure.missing, message, failure.line)
    for one in passed_over:
        message = f"{one.source} offers this command as well, but the name belongs to ferrule itself."
        yield Diagnosis("command-passed-over", WARNING, one.name, message, "Uninstall the one that you do not need.")


def _built_in() -> Iterator[Diagnosis]:
    """All of the host in one child, since they share what they import."""
    try:
        failures = _ask(_load_built_in, _HOST)
    except CallInterrupted:
        raise
    except FerruleError as error:
        yield Diagnosis("command-broken", ERROR, _HOST, error.message, error.hint)
        return
    for failure in failures:
        name = failure.module.rpartition(".")[2]
        if failure.is_of_extra:
            message = f"It is not installed, and `ferrule {name}` needs it."
            yield Diagnosis("module-missing", NOTE, failure.missing, message, failure.line)
        else:
            yield _broken(name, f"The command {name!r}", failure, _HOST)


def _broken(name: str, what: str, failure: _Failure, distribution: str) -> Diagnosis:
    message = f"{what} cannot do all of its work: {failure.module} cannot be imported ({failure.error})."
    fix = failure.line or f"Update or uninstall {distribution}."
    return Diagnosis("command-broken", ERROR, name, message, fix)


def _ask(work: Callable[[Channel], None], name: str) -> list[_Failure]:
    answer = cast("dict[str, list[list[str]]]", run_supervised(work, policy_for_code(name), seconds=_SECONDS))
    return [_Failure(*facts) for facts in answer["failures"]]


def _load_built_in(channel: Channel) -> None:
    modules = [*map(module_of, BUILT_IN)]
    failures = _import(modules, _HOST)
    for name, (module, requirement) in _EXTRAS.items():
        failures += [
            _Failure(module_of(name), one.module, one.error, install_command(requirement))
            for one in _import([module], _HOST)
        ]
    channel.result({"failures": [list(one) for one in failures]})


def _load_with_all(one: EntryPoint, channel: Channel) -> None:
    from ferrule.admin.packages.reachable_modules import reachable_modules

    load_added(one)
    failures = _import(reachable_modules(one.module), one.distribution)
    channel.result({"failures": [list(failure) for failure in failures]})


def _import(modules: list[str], distribution: str) -> list[_Failure]:
    """Import each, and tell of those that cannot be; what is missing is told once."""
    found: dict[str, _Failure] = {}
    for module in modules:
        try:
            importlib.import_module(module)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises, the others are looked at
            missing = missing_module(error) or ""
            line = line_for(missing, distribution) or "" if missing else ""
            text = name_and_text(error)
            found.setdefault(missing or text, _Failure(_importer(error, module), missing, text, line))
    return list(found.values())


def _importer(error: BaseException, module: str) -> str:
    """The module of the same package in which an import failed; others fail because they import that one."""
    package, trace = module.partition(".")[0], error.__traceback__
    while trace is not None:
        name = str(trace.tb_frame.f_globals.get("__name__"))
        if name.partition(".")[0] == package and name.partition(".")[2]:
            module = name
        trace = trace.tb_next
    return module
