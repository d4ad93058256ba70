"""Importing one plugin and registering it with a manager of its own. Runs plugin code, so only in a child."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pluggy

from ferrule.errors import ToolBroken, ToolCrashed
from ferrule.tool.hookspecs import PROJECT, REQUIRED_HOOKS, ToolSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule.discovery import InstalledTool
    from ferrule.tool.context import Context
    from ferrule.tool.credentials import Credential
    from ferrule.tool.result_policy import ResultPolicy


class LoadedTool:
    """One plugin whose hooks can be called. Every method runs the plugin's code and checks what comes back."""

    def __init__(self, tool: InstalledTool, plugin: Any, manager: pluggy.PluginManager) -> None:
        self.tool = tool
        self.manager = manager
        self._plugin = plugin
        self._hook = manager.hook

    def schema(self) -> dict[str, Any]:
        """The schema as the hook gives it; ToolCrashed where that is no object."""
        schema: dict[str, Any] = self._checked("schema", self._hook.schema(), dict)
        return schema

    def credentials(self) -> list[Credential]:
        """The credentials that the tool declares, `[]` where it has no such hook; ToolCrashed where they are none."""
        from ferrule.tool.credentials import Credential

        declared = list(self._checked("credentials", self._hook.credentials() or [], list | tuple))
        for one in declared:
            if not isinstance(one, Credential):
                raise ToolCrashed(
                    f"{self.tool.source}: credentials returned a list with {type(one).__name__} in it, "
                    f"ferrule.Credential was expected."
                )
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

        policy = self._hook.result_policy()
        if policy is None:
            return ResultPolicy()
        if isinstance(policy, ResultPolicy):
            return policy
        raise ToolCrashed(
            f"{self.tool.source}: result_policy returned {type(policy).__name__}, ferrule.ResultPolicy was expected."
        )

    def validate(self, arguments: dict[str, Any]) -> list[str]:
        """The tool's own findings about the arguments, `[]` where it has no such hook."""
        findings = self._checked("validate", self._hook.validate(arguments=arguments) or [], list | tuple)
        return [str(finding) for finding in findings]

    def execute(self, arguments: dict[str, Any], context: Context) -> dict[str, Any]:
        """The result of a call; ToolCrashed where that is no object."""
        return self.checked_result(self._hook.execute(arguments=arguments, context=context))

    def checked_result(self, returned: Any) -> dict[str, Any]:
        """What `execute` returned; ToolCrashed where that is no object."""
        result: dict[str, Any] = self._checked("execute", returned, dict)
        return result

    def _checked(self, hook: str, value: Any, kind: Any) -> Any:
        if isinstance(value, kind):
            return value
        expected = "an object" if kind is dict else "a list"
        raise ToolCrashed(f"{self.tool.source}: {hook} returned {type(value).__name__}, {expected} was expected.")


def load(tool: InstalledTool) -> LoadedTool:
    """Import the plugin and register it.

    Raises ToolBroken with the exception's type and text, the distribution and its version.
    """
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(ToolSpec)
    try:
        plugin = resolve(tool.value)
        manager.register(plugin, name=tool.name)
        manager.check_pending()
    except BaseException as error:
        raise broken(tool, error) from error
    for hook in REQUIRED_HOOKS:
        if not getattr(manager.hook, hook).get_hookimpls():
            raise ToolBroken(
                f"{tool.name} of {tool.source} has no hook `{hook}`.",
                hint=f"Decorate a function named {hook} in {tool.module} with @hookimpl.",
            )
    return LoadedTool(tool, plugin, manager)


def resolve(value: str) -> Any:
    """The object that an entry point's value names: `module` or `module:attribute.attribute`."""
    module, _, attributes = value.partition(":")
    found: Any = importlib.import_module(module)
    for attribute in filter(None, attributes.split(".")):
        found = getattr(found, attribute)
    return found


def failure_renderer(tool: InstalledTool) -> Callable[[dict[str, Any]], Any]:
    """The function that renders failures in the tool's own shape, without the rest of the plugin."""
    renderer: Callable[[dict[str, Any]], Any] = resolve(str(tool.failures))
    return renderer


def broken(tool: InstalledTool, error: BaseException) -> ToolBroken:
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
    return ToolBroken(text, hint=_what_to_do(tool, error, place_of(error)), details=facts)


def _what_to_do(tool: InstalledTool, error: BaseException, place: tuple[str, int] | None) -> str:
    """For whoever wrote the plugin, and for whoever has only installed it."""
    if isinstance(error, pluggy.PluginValidationError):
        hooks = "schema(), credentials(), validate(arguments), execute(arguments, context) and result_policy()"
        return f"The hooks are {hooks}; correct {tool.module}, or update or uninstall {tool.distribution}."
    where = f"{place[0]}, line {place[1]}" if place else tool.module
    return f"Correct {where}, or update or uninstall {tool.distribution}."
