"""A call inside of the wrappers that are on: they see it, its result or its error, or answer in the tool's place.

Wrappers are plugins of the tool's own manager, in pluggy's order, and each of their functions is guarded: one that
raises, or returns what is no result, counts as absent, and what it got goes on as it was. Runs plugin code, so only in
a child, and is imported only where a wrapper is on.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pluggy

from ferrule import discovery
from ferrule.errors import CredentialMissing, ResultTooLarge, ToolError, WrapperUnusable
from ferrule.supervision.channel import written
from ferrule.supervision.exception_text import explain, name_and_text, place_of
from ferrule.supervision.supervisor import wrapper_failed
from ferrule.text import strict_json
from ferrule.tool.call_info import CallInfo
from ferrule.tool.hookspecs import PROJECT, WrapperSpec, hookimpl
from ferrule.tool.loader import resolve

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from ferrule.supervision.channel import Channel
    from ferrule.tool.context import Context
    from ferrule.tool.loader import LoadedTool

    _Tables = Mapping[str, Mapping[str, Any]]

_NOTES = "_meta"


class LoadedWrapper:
    """A wrapper that was imported. implementations: its hooks, as pluggy has them. order: smaller is further out."""

    def __init__(self, name: str, order: int, implementations: list[pluggy.HookImpl]) -> None:
        self.name = name
        self.order = order
        self.implementations = implementations


def load(name: str, claims: Mapping[str, list[tuple[str, str]]]) -> LoadedWrapper:
    """Import one wrapper. claims: all that are installed. Raises WrapperUnusable, and whatever its module raises."""
    (value, source), *others = claims.get(name) or [("", "")]
    if not value:
        raise WrapperUnusable(f"No installed distribution offers a wrapper named {name!r}.")
    if others:
        sources = " and by ".join(sorted([source, *(other for _, other in others)]))
        raise WrapperUnusable(f"The wrapper {name!r} is claimed by {sources}, so none of them gets it.")
    module = resolve(value)
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(WrapperSpec)
    manager.register(module, name=name)
    manager.check_pending()
    implementations = manager.hook.execute.get_hookimpls()
    order = manager.hook.order() or 0
    if not implementations or any(one.hookwrapper for one in implementations) or not isinstance(order, int):
        raise WrapperUnusable(
            f"The wrapper {name} of {source} has no `execute` with @hookimpl or @hookimpl(wrapper=True), one with "
            "hookwrapper=True, or an `order` that is no integer."
        )
    return LoadedWrapper(name, order, implementations)


_AHEAD: dict[str, LoadedWrapper] = {}


def load_ahead() -> None:
    """Load those whose modules have been imported already, for calls that forks of this process make later on.

    What cannot be loaded is left to the call, which says so.
    """
    claims = discovery.wrappers()
    for name, ((value, _), *_others) in claims.items():
        if value.partition(":")[0] in sys.modules:
            with suppress(BaseException):
                _AHEAD[name] = load(name, claims)


def execute_wrapped(
    loaded: LoadedTool, arguments: dict[str, Any], context: Context, tables: _Tables, channel: Channel
) -> dict[str, Any]:
    """The result of a call inside of wrappers, with what they have noted of it.

    tables: the wrappers that are on, by name, with their settings. Raises what the tool raises.
    """
    channel.secrets(_passwords([dict(table) for table in tables.values()]))
    channel.secrets(_passwords(os.environ.get("FERRULE_REDIS")))
    context.call = CallInfo(loaded, arguments, context)
    flow = _Flow(loaded, arguments, context, channel)
    guards = flow.guards(tables)
    # pluggy calls first what was registered last.
    for guard in sorted(guards, key=lambda guard: (guard.wrapper.order, guard.wrapper.name), reverse=True):
        loaded.manager.register(guard.plugin(), name=f"wrapper {guard.wrapper.name}")
    loaded.manager.register(SimpleNamespace(execute=flow.of_the_tool()), name="ferrule")
    return _with_notes(loaded.execute(arguments, context), context)


class _Flow:
    """What the guards of a call share. document: the result as it is now, as JSON."""

    def __init__(self, loaded: LoadedTool, arguments: dict[str, Any], context: Context, channel: Channel) -> None:
        self.arguments = strict_json.dumps(arguments)
        self.document = b""
        self.channel = channel
        self._loaded = loaded
        self._context = context

    def guards(self, tables: _Tables) -> list[_Guard]:
        """Every wrapper that can be loaded, guarded."""
        claims = discovery.wrappers() if tables.keys() - _AHEAD.keys() else {}
        found = []
        for name in tables:
            self.channel.at_work(name)
            try:
                found.append(_Guard(_AHEAD.get(name) or load(name, claims), self))
            except BaseException as error:  # noqa: BLE001 - a module can raise anything when it is imported
                self.failed(name, error)
            self.channel.at_work(None)
        return found

    def of_the_tool(self) -> Any:
        """The innermost wrapper, the host's own: what it lets out is a result, and is with the parent already."""

        @hookimpl(wrapper=True, trylast=True)
        def execute() -> Generator[None, Any, dict[str, Any]]:
            try:
                result = yield
                self.document = written(self._loaded.checked_result(result), "result")
            except BaseException as error:
                self.channel.keep_failure(explain(error, self.channel.known_secrets))
                raise
            self._keep()
            return self.result()

        return execute

    def result(self) -> dict[str, Any]:
        """The result as it is now, in an object of its own."""
        result: dict[str, Any] = strict_json.loads(self.document)  # type: ignore[assignment]
        return result

    def failed(self, name: str, error: BaseException) -> None:
        """A wrapper has failed, and is absent from now on."""
        self._context.notes.pop(name, None)
        if os.environ.get("FERRULE_DEBUG"):
            import traceback

            traceback.print_exception(error)
        place = place_of(error)
        where = f" ({'/'.join(place[0].split('/')[-2:])}, line {place[1]})" if place else ""
        text = f"{name_and_text(error, self.channel.known_secrets)}{where}"
        self.channel.event(wrapper_failed(name, text))

    def _keep(self) -> None:
        try:
            self.channel.keep(self.document)
        except ResultTooLarge as error:
            self.channel.keep_failure(error)


class _Guard:
    """Stands between pluggy and one wrapper."""

    def __init__(self, wrapper: LoadedWrapper, flow: _Flow) -> None:
        self.wrapper = wrapper
        self._flow = flow
        self._is_absent = False

    def plugin(self) -> SimpleNamespace:
        """What is registered in the wrapper's place: a guarded function for each of its own."""
        functions = {f"hook_{index}": self._guarded(one) for index, one in enumerate(self.wrapper.implementations)}
        return SimpleNamespace(**functions)

    def _guarded(self, one: pluggy.HookImpl) -> Any:
        @hookimpl(wrapper=one.wrapper, tryfirst=one.tryfirst, trylast=one.trylast, specname="execute")
        def around(context: Context) -> Generator[None, dict[str, Any], dict[str, Any]]:
            return (yield from self._around(one, context))

        @hookimpl(tryfirst=one.tryfirst, trylast=one.trylast, specname="execute")
        def instead(context: Context) -> dict[str, Any] | None:
            return self._instead(one, context)

        return around if one.wrapper else instead

    def _instead(self, one: pluggy.HookImpl, context: Context) -> dict[str, Any] | None:
        """The answer of what answers in the tool's place; a ToolError that it raises is one, too."""
        answer = None
        if not self._is_absent:
            with self._at_work(answers=True):
                returned = self._call(one, context)
                answer = None if returned is None else _read(_result_document(returned))
        return answer

    def _around(self, one: pluggy.HookImpl, context: Context) -> Generator[None, dict[str, Any], dict[str, Any]]:
        body = None
        if not self._is_absent:
            with self._at_work():
                begun = self._call(one, context)
                next(begun)
                body = begun
        try:
            result = yield
        except BaseException as error:
            if body is None or not self._after(body, body.throw, error, error):
                raise
        else:
            if body is None:
                return result
            self._after(body, body.send, result, None)
        return self._flow.result()

    def _after(self, body: Any, go_on: Any, value: Any, error: BaseException | None) -> bool:
        """Let the wrapper see what came; True where what it returned is the result now."""
        with self._at_work(passes_on=error):
            if self._is_absent:
                body.close()  # it may hold something that it has to let go of
                return False
            try:
                go_on(value)
            except StopIteration as stop:
                self._flow.document = _result_document(stop.value)
                return True
            raise RuntimeError("it yielded more than once")
        return False

    def _call(self, one: pluggy.HookImpl, context: Context) -> Any:
        given = {"arguments": _read(self._flow.arguments), "context": context}
        by_name = {name: given[name] for name in one.kwargnames if name in given}
        return one.function(*(given[name] for name in one.argnames), **by_name)

    def _at_work(self, *, answers: bool = False, passes_on: BaseException | None = None) -> _AtWork:
        return _AtWork(self, answers, passes_on)

    def fail(self, error: BaseException) -> None:
        """The wrapper counts as absent from now on."""
        self._is_absent = True
        self._flow.failed(self.wrapper.name, error)

    def tell(self, name: str | None) -> None:
        """Tell the parent whose code runs."""
        self._flow.channel.at_work(name)


class _AtWork:
    """While a wrapper's code runs: the parent knows whose it is, and whatever it raises makes it absent.

    answers: a ToolError is an answer, and goes on. passes_on: the error that the wrapper was given, and may raise.
    """

    def __init__(self, guard: _Guard, answers: bool, passes_on: BaseException | None) -> None:
        self._guard = guard
        self._answers = answers
        self._passes_on = passes_on

    def __enter__(self) -> None:
        self._guard.tell(self._guard.wrapper.name)

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        self._guard.tell(None)
        if error is None or self._is_passed_on(error):
            return True
        if self._answers and isinstance(error, ToolError) and not isinstance(error, CredentialMissing):
            return False
        self._guard.fail(RuntimeError("it did not yield") if isinstance(error, StopIteration) else error)
        return True

    def _is_passed_on(self, error: BaseException) -> bool:
        # Python makes a RuntimeError of a StopIteration that leaves a generator.
        return self._passes_on is not None and self._passes_on in (error, error.__cause__)


def _result_document(value: object) -> bytes:
    """A wrapper's result as JSON. Raises TypeError for what is no object, and ResultInvalid."""
    if not isinstance(value, dict):
        raise TypeError(f"it returned {type(value).__name__}, an object was expected")
    return written(value, "result")


def _read(document: bytes) -> dict[str, Any]:
    value: dict[str, Any] = strict_json.loads(document)  # type: ignore[assignment]
    return value


def _with_notes(result: dict[str, Any], context: Context) -> dict[str, Any]:
    """The result, and beside it each note for which there is room and which the result has not itself."""
    noted = result
    own = result.get(_NOTES, {})
    if not isinstance(own, dict):
        return result
    for name, facts in context.notes.items():
        more = {**noted, _NOTES: {**noted.get(_NOTES, {}), name: facts}}
        if name not in own and context.size(more) <= context.max_bytes:
            noted = more
    return noted


def _passwords(setting: object) -> Iterator[str]:
    """The passwords of the URLs in a setting, as they stand there and decoded."""
    if isinstance(setting, dict):
        setting = list(setting.values())
    if isinstance(setting, list):
        for inner in setting:
            yield from _passwords(inner)
    if isinstance(setting, str) and "@" in setting and "://" in setting:
        from urllib.parse import unquote

        user, colon, password = setting.partition("://")[2].rpartition("@")[0].partition(":")
        secret = password if colon else user
        yield from {secret, unquote(secret)} - {""}
