"""Six tools over the OpenNotes CLI and its notebooks: search, list, get, create, notebooks, views.

Each tool is a package of its own: its hooks, and a handler that is imported when they are called. `program` finds and
runs the CLI, `notebook` reads notebooks, `query` and `sql` search them, `links` follows what points where, `answers`
cuts results into pages.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule import Context, JSONObject


def schema_beside(module_file: str) -> Callable[[], JSONObject]:
    """The hook `schema` of the tool whose `schema.json` lies next to a module; module_file: the module's `__file__`."""
    from ferrule import hookimpl, static_schema

    @hookimpl
    def schema() -> JSONObject:
        """Describe the tool, as `schema.json` does."""
        return static_schema(module_file)

    return schema


def validate_by(module: str) -> Callable[[JSONObject], list[str]]:
    """The hook `validate` of a tool: the function `find_problems` of a module, imported when it is called."""
    from importlib import import_module

    from ferrule import hookimpl

    @hookimpl
    def validate(arguments: JSONObject) -> list[str]:
        """Say what is wrong with the arguments that the schema cannot say."""
        found: list[str] = import_module(module).find_problems(arguments)
        return found

    return validate


def execute_by(module: str) -> Callable[[JSONObject, Context], JSONObject]:
    """The hook `execute` of a tool: the function `answer` of a module, imported when it is called."""
    from importlib import import_module

    from ferrule import hookimpl

    @hookimpl
    def execute(arguments: JSONObject, context: Context) -> JSONObject:
        """Do what the tool is for."""
        answer: JSONObject = import_module(module).answer(arguments, context)
        return answer

    return execute
