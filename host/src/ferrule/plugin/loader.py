"""Importing one plugin, and calling its hooks. Runs plugin code, so only in a child.

The hooks of one module of plain functions, or of one `@tool`, are called directly, as pluggy would call them. With one
implementation a hook, and nothing around it, a plugin manager passes the arguments on that a function names, and hands
its result back. To import one costs twice the interpreter's start, so it is made only where a call has wrappers, or
where a plugin does more than that: each doubt is pluggy's to settle. A test holds both ways together.
"""

from __future__ import annotations

import sys

from ferrule.errors import FerruleError, ToolBroken, ToolCrashed
from ferrule.plugin.hooks.hookspecs import PROJECT, REQUIRED_HOOKS, ToolSpec
from ferrule.schema.schema_file import may_declare
from ferrule.supervision.python_start import run_kept_lines

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    import pluggy

    from ferrule.discovery import InstalledTool
    from ferrule.plugin.hooks.context import Context
    from ferrule.plugin.hooks.credentials import Credential
    from ferrule.plugin.hooks.result_policy import ResultPolicy
    from ferrule.text.json_types import JSONObject

    class Hooks(Protocol):
        """The hooks of one plugin, by name. A call gives None if there is none, and raises what the hook raises."""

        def has(self, name: str) -> bool:
            """Whether the plugin implements it."""

        def call(self, name: str, **arguments: object) -> Any:
            """What it returns."""


class ManagedHooks:
    """The hooks of a plugin manager."""

    def __init__(self, manager: pluggy.PluginManager) -> None:
        self._manager = manager

    def has(self, name: str) -> bool:
        """Whether any plugin implements a hook."""
        return bool(getattr(self._manager.hook, name).get_hookimpls())

    def call(self, name: str, **arguments: object) -> Any:
        """What the first plugin gives."""
        return getattr(self._manager.hook, name)(**arguments)


class LoadedTool:
    """One plugin whose hooks can be called. Every method runs the plugin's code and checks what comes back.

    Args:
        manager: that has the plugin.
        unknown_hooks: the names of those that this host does not know, which are never called.
        hooks, plugin: for a plugin that has no manager yet.
    """

    def __init__(
        self,
        tool: InstalledTool,
        manager: pluggy.PluginManager | None = None,
        unknown_hooks: Sequence[str] = (),
        *,
        hooks: Hooks | None = None,
        plugin: object = None,
    ) -> None:
        self.tool = tool
        self.unknown_hooks = list(unknown_hooks)
        self._plugin = plugin
        self._manager = manager
        self._hooks: Hooks = hooks or ManagedHooks(self.manager)

    @property
    def manager(self) -> pluggy.PluginManager:
        """The plugin's own manager, with which wrappers are registered. It is made when it is first asked for."""
        if self._manager is None:
            self._manager = new_manager()
            self._manager.register(self._plugin, name=self.tool.name)
            self._hooks = ManagedHooks(self._manager)
        return self._manager

    def schema(self) -> JSONObject:
        """The schema as the hook gives it; ToolCrashed where that is no object."""
        schema: JSONObject = self._check_type("schema", self._hooks.call("schema"), dict, "an object")
        return schema

    def credentials(self) -> list[Credential]:
        """The credentials that the tool declares, `[]` where it has no such hook; ToolCrashed where they are none."""
        declared = list(self._check_type("credentials", self._hooks.call("credentials") or [], list | tuple, "a list"))
        if not declared:
            return []
        from ferrule.plugin.hooks.credentials import Credential

        for one in declared:
            if not isinstance(one, Credential):
                raise self._unexpected("credentials", f"a list with {type(one).__name__} in it", "ferrule.Credential")
        return declared

    def has(self, hook: str) -> bool:
        """Whether the plugin implements a hook."""
        return self._hooks.has(hook)

    @property
    def has_result_policy(self) -> bool:
        """Whether it has such a hook; asking for the policy of a tool without one would import for nothing."""
        return self._hooks.has("result_policy")

    def result_policy(self) -> ResultPolicy:
        """What may be done with its results, the strictest policy where it has no such hook.

        Raises ToolCrashed where the hook returns anything but a ResultPolicy.
        """
        from ferrule.plugin.hooks.result_policy import ResultPolicy

        returned = self._hooks.call("result_policy")
        policy: ResultPolicy = ResultPolicy() if returned is None else returned
        self._check_type("result_policy", policy, ResultPolicy, "ferrule.ResultPolicy")
        return policy

    def validate(self, arguments: JSONObject) -> list[str]:
        """The tool's own findings about the arguments, `[]` where it has no such hook."""
        returned = self._hooks.call("validate", arguments=arguments) or []
        findings = self._check_type("validate", returned, list | tuple, "a list")
        return [str(finding) for finding in findings]

    def execute(self, arguments: JSONObject, context: Context) -> JSONObject:
        """The result of a call, see `check_result`.

        Raises what the tool raises; where something is missing that it declares, with the way to get it as the hint.
        """
        try:
            return self.check_result(self._hooks.call("execute", arguments=arguments, context=context), context)
        except Exception as error:
            advised = self._advise(error, context)
            if advised is None:
                raise
            raise advised from None

    def _advise(self, error: Exception, context: Context) -> FerruleError | None:
        """The error with the way to get what was missing; None where nothing is known to be."""
        try:
            from ferrule.plugin.remedies import remedy
            from ferrule.supervision.exception_text import explain

            advice = remedy.advise(self.tool, error)
            if advice is None:
                return None
            explained = explain(error, context.secrets())
        except Exception:  # noqa: BLE001 - the plugin may have used up what this takes; its own error counts
            return None
        explained.hint = f"{explained.hint} {advice}" if explained.hint else advice
        return explained

    def check_result(self, returned: object, context: Context) -> JSONObject:
        """What `execute` returned, as one object; what is more than that becomes items of content.

        Raises ToolCrashed for anything else, and ResultInvalid and ResultNotStored for content that cannot be given.
        """
        if isinstance(returned, dict):
            return returned
        from ferrule.content.document import answer_of, what_is_wrong

        wrong = what_is_wrong(returned)
        if wrong:
            raise self._unexpected("execute", wrong, "an object or content")
        return answer_of(returned, context.secrets(), self.tool.name)

    def _check_type(self, hook: str, value: Any, kind: Any, expected: str) -> Any:
        if not isinstance(value, kind):
            raise self._unexpected(hook, type(value).__name__, expected)
        return value

    def _unexpected(self, hook: str, got: str, expected: str) -> ToolCrashed:
        return ToolCrashed(f"{self.tool.source}: {hook} returned {got}, {expected} was expected.")


def load(tool: InstalledTool) -> LoadedTool:
    """Import the plugin and register it.

    Raises ToolBroken with the exception's type and text, the distribution and its version; also where the tool requires
    another version of the host. Raises ToolUnknown where it has been uninstalled since it was found.
    """
    if may_declare(tool, "requires_ferrule"):
        from ferrule.plugin.remedies.host_requirement import require_host

        require_host(tool)
    try:
        plugin = resolve(tool.value)
        hooks = find_hooks(plugin)
        loaded = LoadedTool(tool, hooks=hooks, plugin=plugin)
    except BaseException as error:
        if tool.is_gone:
            from ferrule.discovery import unknown

            raise unknown(tool.name) from error
        raise tool_broken(tool, error) from error
    if hooks is None:
        loaded.unknown_hooks = unknown_hooks(loaded.manager)
    _require_hooks(loaded)
    return loaded


def _require_hooks(loaded: LoadedTool) -> None:
    tool, unknown = loaded.tool, loaded.unknown_hooks
    for hook in REQUIRED_HOOKS:
        if not loaded.has(hook):
            others = f" Its hook `{'`, `'.join(unknown)}` is not one that ferrule knows." if unknown else ""
            raise ToolBroken(
                f"{tool.name} of {tool.source} has no hook `{hook}`.{others}",
                hint=f"Decorate a function named {hook} in {tool.module} with @hookimpl; "
                "of a function with @tool, the entry point is MODULE:FUNCTION.",
            )


def new_manager() -> pluggy.PluginManager:
    """A manager that knows the hooks of a tool, and has no plugin."""
    import pluggy

    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(ToolSpec)
    return manager


def unknown_hooks(manager: pluggy.PluginManager) -> list[str]:
    """The hooks of the manager's plugins that it has no specification of, without those that a plugin calls optional.

    They may be those of a later host, so they are no reason to refuse a plugin.
    """
    callers = (getattr(manager.hook, name) for name in vars(manager.hook) if not name.startswith("_"))
    pending = (caller for caller in callers if not caller.has_spec())
    return sorted(one.name for one in pending if not all(hook.optionalhook for hook in one.get_hookimpls()))


def resolve(value: str) -> Any:
    """The object that an entry point's value names: `module` or `module:attribute.attribute`."""
    run_kept_lines()
    module, _, attributes = value.partition(":")
    __import__(module)  # importlib, which has a function for that, imports warnings as well
    found: Any = sys.modules[module]
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
    from ferrule.plugin.hooks.credentials import secret_variables
    from ferrule.supervision.exception_text import name_and_text, place_of, text_of

    secrets = secret_variables()  # those of this process, which may see
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
    from ferrule.plugin.remedies import remedy
    from ferrule.supervision.exception_text import MORE_MEMORY, is_lack_of_memory

    if is_lack_of_memory(error):
        return f"It needs more memory to be loaded. {MORE_MEMORY}"
    advice = remedy.advise(tool, error)
    if advice:
        return advice
    library = sys.modules.get("pluggy")
    if library is not None and isinstance(error, library.PluginValidationError):
        hooks = "schema(), credentials(), validate(arguments), execute(arguments, context) and result_policy()"
        return f"The hooks are {hooks}; correct {tool.module}, or update or uninstall {tool.distribution}."
    if not tool.module:
        return f"Its entry point names no module; correct it, or update or uninstall {tool.distribution}."
    where = f"{place[0]}, line {place[1]}" if place else tool.module
    return f"Correct {where}, or update or uninstall {tool.distribution}."


_IMPLEMENTATION, _SPECIFICATION = f"{PROJECT}_impl", f"{PROJECT}_spec"
_AROUND_OTHERS = ("wrapper", "hookwrapper", "specname")  # options that only a manager can follow
_ODD: dict[str, object] = {"wrapper": True}
_ARGUMENTS = {
    name: found.__code__.co_varnames[1 : found.__code__.co_argcount]
    for name, found in vars(ToolSpec).items()
    if hasattr(found, _SPECIFICATION)
}


class DirectHooks:
    """The hooks of one plugin, by name: each function, and the arguments that it wants."""

    def __init__(self, found: dict[str, tuple[Callable[..., Any], tuple[str, ...]]]) -> None:
        self._found = found

    def has(self, name: str) -> bool:
        """Whether the plugin implements a hook."""
        return name in self._found

    def call(self, name: str, **arguments: object) -> Any:
        """What the hook returns, None if there is none. Raises what it raises."""
        if name not in self._found:
            return None
        function, wanted = self._found[name]
        return function(*[arguments[one] for one in wanted])


# What `types` names, without importing it.
_Function, _Method, _Module = type(DirectHooks.has), type(DirectHooks({}).has), type(sys)


def find_hooks(plugin: object) -> DirectHooks | None:
    """The hooks of a plugin; None where a manager is needed to say what they are, or what is wrong with them."""
    if (made := _find_hooks_of_function(plugin)) is not None:
        return made
    if type(plugin) is not _Module or "__dir__" in vars(plugin):
        return None
    found = {}
    for name, value in vars(plugin).items():
        options = _options(value)
        if options is None:
            continue
        wanted = _wanted(value) if name in _ARGUMENTS and not any(map(options.get, _AROUND_OTHERS)) else None
        if wanted is None or not set(wanted) <= set(_ARGUMENTS[name]):
            return None
        found[name] = value, wanted
    return DirectHooks(found)


def _find_hooks_of_function(plugin: object) -> DirectHooks | None:
    """The hooks of what `@tool` made; None for all else, and where its module has changed one of them."""
    decorator = sys.modules.get("ferrule.plugin.function.decorator")
    if decorator is None or type(plugin) is not decorator.FunctionTool:
        return None
    found = {}
    for name in dir(plugin):
        method: Any = getattr(plugin, name)
        kind: object = type(method)
        if kind is not _Method:
            return None
        code = method.__func__.__code__
        found[name] = method, code.co_varnames[1 : code.co_argcount]
    return DirectHooks(found)


def _options(value: Any) -> dict[str, object] | None:
    """The options of what is marked as a hook, None for all else; those of a marked object that is no function are odd.

    No code of the object runs for that, such as a `__getattr__`.
    """
    if type(value) is _Function:
        options = vars(value).get(_IMPLEMENTATION)
        return options if isinstance(options, dict) else None
    if isinstance(value, type):
        return None
    kind: object = type(value)
    marked = value.__func__ if kind is _Method else value
    try:
        object.__getattribute__(marked, _IMPLEMENTATION)
    except AttributeError:
        return None
    return _ODD


def _wanted(function: Any) -> tuple[str, ...] | None:
    """The arguments without a default; None for a function that stands for another one, or was defined in a class."""
    if "__wrapped__" in vars(function) or "." in function.__qualname__.rpartition("<locals>.")[2]:
        return None
    code, defaults = function.__code__, function.__defaults__ or ()
    return tuple(code.co_varnames[: code.co_argcount - len(defaults)])
