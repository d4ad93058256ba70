"""The hooks of a tool and of a wrapper. A plugin is one module that implements them with `@hookimpl`.

The decorators mark functions as pluggy does, without pluggy: it costs twice the interpreter's start. A marked function
has the options as an attribute, in the form that pluggy documents; a test compares the two.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    import pluggy

    from ferrule.content.media import Content
    from ferrule.plugin.hooks.context import Context
    from ferrule.plugin.hooks.credentials import Credential
    from ferrule.plugin.hooks.result_policy import ResultPolicy

PROJECT = "ferrule"


class SpecificationMarker:
    """Marks a function as the specification of a hook. project: the name of the plugin manager."""

    def __init__(self, project: str) -> None:
        self._attribute = f"{project}_spec"

    def __call__(self, *, firstresult: bool) -> Callable[[Any], Any]:
        """Return the decorator. firstresult: whether the first result that is not None is that of the hook."""
        options = {
            "firstresult": firstresult,
            "historic": False,
            "warn_on_impl": None,
            "warn_on_impl_args": None,
        }
        return _marker(self._attribute, options)


class ImplementationMarker:
    """Marks a function as a hook, with the options of `pluggy.HookimplMarker`. project: as above."""

    def __init__(self, project: str) -> None:
        self.project_name = project

    def __call__(
        self,
        function: Any = None,
        hookwrapper: bool = False,
        optionalhook: bool = False,
        tryfirst: bool = False,
        trylast: bool = False,
        specname: str | None = None,
        wrapper: bool = False,
    ) -> Any:
        """Mark the function, or return a decorator that does where only options are given."""
        options = {
            "wrapper": wrapper,
            "hookwrapper": hookwrapper,
            "optionalhook": optionalhook,
            "tryfirst": tryfirst,
            "trylast": trylast,
            "specname": specname,
        }
        mark = _marker(f"{self.project_name}_impl", options)
        return mark if function is None else mark(function)


def _marker(attribute: str, options: Mapping[str, object]) -> Callable[[Any], Any]:
    def mark(function: Any) -> Any:
        setattr(function, attribute, dict(options))
        return function

    return mark


if TYPE_CHECKING:
    hookspec = pluggy.HookspecMarker(PROJECT)
    hookimpl = pluggy.HookimplMarker(PROJECT)
else:
    hookspec = SpecificationMarker(PROJECT)
    hookimpl = ImplementationMarker(PROJECT)
"""Marks a function as a hook of a tool or a wrapper: `@hookimpl`, or `@hookimpl(wrapper=True)` around others."""

REQUIRED_HOOKS = ("schema", "execute")


class ToolSpec:
    """What ferrule calls on a tool. `schema` and `execute` must be there; the others are left out where not needed."""

    @hookspec(firstresult=True)
    def schema(self) -> dict[str, Any] | None:
        """Describe the tool to the model: `{"name", "description", "parameters"}`.

        Called when the schema is validated, linked or printed; never for a call when the plugin ships a `schema.json`
        beside its module. It must answer within 800 ms, imports included, read no input and open no connection.

        Returns a JSON object of at most 8,191 bytes, whose name equals the name of the entry point.

        Example::

            @hookimpl
            def schema():
                return {
                    "name": "dice",
                    "description": "Rolls a die.",
                    "parameters": {"type": "object", "properties": {
                        "sides": {"type": "integer", "description": "Faces of the die", "minimum": 2}}},
                }
        """

    @hookspec(firstresult=True)
    def credentials(self) -> list[Credential] | None:
        """List the credentials that the tool needs, where each is looked up, and where the user gets one.

        Called by `ferrule credentials`, `ferrule doctor`, and before each call, so that the host can keep every value
        out of every output. The values themselves come from `context.credential(name)`.

        Returns a list, empty where the tool needs none.

        Example::

            @hookimpl
            def credentials():
                return [Credential("api_key", environment="DICE_API_KEY", path="dice.api_key",
                                   url="https://dice.example/keys")]
        """

    @hookspec(firstresult=True)
    def validate(self, arguments: dict[str, Any]) -> list[str] | None:
        """Say what is wrong with a call's arguments that JSON Schema cannot say.

        Called for each call, after the arguments have been held against the schema and before `execute`; also by
        `ferrule run --dry-run`. It must not change the arguments.

        Returns one sentence for each finding, without a full stop, the argument's name first; an empty list where
        all is well. Findings end the call with INVALID_INPUT.

        Example::

            @hookimpl
            def validate(arguments):
                return ["sides must be even"] if arguments.get("sides", 6) % 2 else []
        """

    @hookspec(firstresult=True)
    def execute(self, arguments: dict[str, Any], context: Context) -> dict[str, Any] | Content | None:
        """Do the work of one call and return its result.

        Called once, in a process of its own, with arguments that fit the schema. `context` has the deadline, the
        credentials, the size that the answer may have, and a way to send events. What the tool prints goes to stderr.

        Returns a JSON object, or content: a text, a `ferrule.Image`, `Audio` or `File`, or a list of these and of
        objects. Raises ToolError where the tool cannot answer; anything else that is raised is reported as
        INTERNAL_ERROR.

        Example::

            @hookimpl
            def execute(arguments, context):
                sides = arguments.get("sides", 6)
                if sides > 100:
                    raise ToolError("TOO_MANY_SIDES", f"There is no die with {sides} sides.", hint="Use 100 or fewer.")
                return {"success": True, "rolled": 1 + int(context.remaining() * 1e6) % sides}
        """

    @hookspec(firstresult=True)
    def result_policy(self) -> ResultPolicy | None:
        """Say what may be done with the results of this tool: whether they may be cached and linked, and for how long.

        Called only where a wrapper is on, and where a result is too large. It must be quick, and open no connection.

        Returns a `ferrule.ResultPolicy`. Without this hook, results are neither cached nor linked.

        Example::

            @hookimpl
            def result_policy():
                return ResultPolicy(cache_seconds=60, paging=("offset", "limit"))
        """


class WrapperSpec:
    """What ferrule calls on a wrapper. `execute` must be there, `order` may be."""

    execute = ToolSpec.execute

    @hookspec(firstresult=True)
    def order(self) -> int | None:
        """Say where this wrapper stands among others: a smaller number is further out. Without this hook it is 0.

        Called once in each process, when the wrapper is loaded. Of the wrappers of ferrule, `artifacts` has -100,
        `cache` 10 and `timing` 1000.

        Returns an integer.

        Example::

            @hookimpl
            def order():
                return 20
        """
