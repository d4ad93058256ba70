"""Importing one plugin and registering it with a manager of its own. Runs plugin code, so only in a child."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pluggy

from ferrule.errors import ToolBroken, ToolCrashed
from ferrule.tool.hookspecs import PROJECT, REQUIRED_HOOKS, ToolSpec

if TYPE_CHECKING:
    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONObject
    from ferrule.tool.context import Context
    from ferrule.tool.credentials import Credential
    from ferrule.tool.result_policy import ResultPolicy


class LoadedTool:
    """One plugin whose hooks can be called. Every method runs the plugin's code and checks what comes back."""

    def __init__(self, tool: InstalledTool, manager: pluggy.PluginManager) -> None:
        self.tool = tool
        self.manager = manager
        self._hook = manager.hook

    def schema(self) -> JSONObject:
        """The schema as the hook gives it; ToolCrashed where that is no object."""
        schema: JSONObject = self._check_type("schema", self._hook.schema(), dict, "an object")
        return schema

    def credentials(self) -> list[Credential]:
        """The credentials that the tool declares, `[]` where it has no such hook; ToolCrashed where they are none."""
        from ferrule.tool.credentials import Credential

        declared = list(self._check_type("credentials", self._hook.credentials() or [], list | tuple, "a list"))
        for one in declared:
            if not isinstance(one, Credential):
                raise self._unexpected("credentials", f"a list with {type(one).__name__} in it", "ferrule.Credential")
        return declared

    def secrets(self) -> list[str]:
        """The values of its credentials, which the host keeps out of every output; `[]` where it cannot be asked."""
        from ferrule.tool.context import Context

        try:
            credentials = self.credentials()
        except Exception:  # noqa: BLE001 - it is asked again where what it says matters
            return []
        return Context(self.tool.name, 0.0, credentials=credentials).secrets()

    def result_policy(self) -> ResultPolicy:
        """What may be done with its results, the strictest policy where it has no such hook.

        Raises ToolCrashed where the hook returns anything but a ResultPolicy.
        """
        from ferrule.tool.result_policy import ResultPolicy

        returned = self._hook.result_policy()
        policy: ResultPolicy = ResultPolicy() if returned is None else returned
        self._check_type("result_policy", policy, ResultPolicy, "ferrule.ResultPolicy")
        return policy

    def validate(self, arguments: JSONObject) -> list[str]:
        """The tool's own findings about the arguments, `[]` where it has no such hook."""
        returned = self._hook.validate(arguments=arguments) or []
        findings = self._check_type("validate", returned, list | tuple, "a list")
        return [str(finding) for finding in findings]

    def execute(self, arguments: JSONObject, context: Context) -> JSONObject:
        """The result of a call; ToolCrashed where that is no object."""
        return self.check_result(self._hook.execute(arguments=arguments, context=context))

    def check_result(self, returned: object) -> JSONObject:
        """What `execute` returned; ToolCrashed where that is no object."""
        result: JSONObject = self._check_type("execute", returned, dict, "an object")
        return result

    def _check_type(self, hook: str, value: Any, kind: Any, expected: str) -> Any:
        if not isinstance(value, kind):
            raise self._unexpected(hook, type(value).__name__, expected)
        return value

    def _unexpected(self, hook: str, got: str, expected: str) -> ToolCrashed:
        return ToolCrashed(f"{self.tool.source}: {hook} returned {got}, {expected} was expected.")


def load(tool: InstalledTool) -> LoadedTool:
    """Import the plugin and register it.

    Raises ToolBroken with the exception's type and text, the distribution and its version.
    """
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(ToolSpec)
    try:
        manager.register(resolve(tool.value), name=tool.name)
        manager.check_pending()
    except BaseException as error:
        raise tool_broken(tool, error) from error
    for hook in REQUIRED_HOOKS:
        if not getattr(manager.hook, hook).get_hookimpls():
            raise ToolBroken(
                f"{tool.name} of {tool.source} has no hook `{hook}`.",
                hint=f"Decorate a function named {hook} in {tool.module} with @hookimpl.",
            )
    return LoadedTool(tool, manager)


def resolve(value: str) -> Any:
    """The object that an entry point's value names: `module` or `module:attribute.attribute`."""
    module, _, attributes = value.partition(":")
    found: Any = importlib.import_module(module)
    for attribute in filter(None, attributes.split(".")):
        found = getattr(found, attribute)
    return found


def load_failure_renderer(tool: InstalledTool) -> Callable[[JSONObject], object]:
    """The function that renders failures in the tool's own shape, without the rest of the plugin."""
    renderer: Callable[[JSONObject], object] = resolve(str(tool.failures))
    return renderer


def tool_broken(tool: InstalledTool, error: BaseException) -> ToolBroken:
    """The error that says why a plugin cannot be loaded, and who ships it."""
    from ferrule._version import __version__
    from ferrule.supervision.exception_text import name_and_text, place_of, text_of
    from ferrule.tool.credentials import likely_secrets

    secrets = likely_secrets()  # what a plugin needs is not known before it is loaded
    facts = {
        "exception": type(error).__name__,
        "text": text_of(error, secrets),
        "distribution": tool.distribution,
        "version": tool.version,
        "ferrule": __version__,
    }
    text = f"{tool.name} of {tool.source} cannot be loaded: {name_and_text(error, secrets)}."
    return ToolBroken(text, hint=_advise(tool, error, place_of(error)), details=facts)


def _advise(tool: InstalledTool, error: BaseException, place: tuple[str, int] | None) -> str:
    """For the author of the plugin, and for a user who has only installed it."""
    if isinstance(error, pluggy.PluginValidationError):
        hooks = "schema(), credentials(), validate(arguments), execute(arguments, context) and result_policy()"
        return f"The hooks are {hooks}; correct {tool.module}, or update or uninstall {tool.distribution}."
    where = f"{place[0]}, line {place[1]}" if place else tool.module
    return f"Correct {where}, or update or uninstall {tool.distribution}."
