"""A call inside of the wrappers that are on: they see it, its result or its error, or answer in the tool's place.

Wrappers are plugins of the tool's own manager, in pluggy's order, and each of their functions is called by a guard. One
that raises, or returns what is no result, counts as absent from then on, and what it got goes on as it was. The guards
pass the result on as JSON, which the parent process has as well (`channel.keep_preliminary`): it is the answer where
the process dies or hangs in a wrapper later on. docs/reference/wrappers.md has the sequence.

Runs plugin code: in a child.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from types import GeneratorType, SimpleNamespace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ferrule.errors import CredentialMissing, ResultTooLarge, ToolError
from ferrule.plugin.hooks.hookspecs import hookimpl
from ferrule.plugin.wrapper_context import CallInfo, WrapperContext
from ferrule.supervision.channel.channel import written
from ferrule.supervision.exception_text import explain, name_text_and_place, print_where_debugging
from ferrule.text import strict_json
from ferrule.wrappers.loader import claims_for, load, loaded_ahead

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

    import pluggy

    from ferrule.plugin.hooks.context import Context
    from ferrule.plugin.loader import LoadedTool
    from ferrule.supervision.channel.channel import Channel
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule.wrappers.loader import LoadedWrapper

_NOTES = "_meta"


def execute_wrapped(
    loaded: LoadedTool, arguments: JSONObject, outer: Context, tables: Mapping[str, JSONMapping], channel: Channel
) -> JSONObject:
    """The result of a call inside of wrappers, with the notes that they made.

    Args:
        tables: the wrappers that are on, by name, with their settings.

    Raises:
        What the tool raises.
    """
    context = WrapperContext(outer, tables)
    channel.secrets(_passwords([dict(table) for table in tables.values()]))
    channel.secrets(_passwords(os.environ.get("FERRULE_REDIS")))
    context.call = CallInfo(loaded, arguments, context)
    call = _WrappedCall(arguments, context, channel)
    guards = _registered(loaded, _load_all(tables, call))
    guards.begin(call)
    try:
        return _with_notes(loaded.execute(arguments, context), context)
    finally:
        guards.end()


class _Guards:
    """The guards of some wrappers, registered with a tool's manager. Each call of the process begins and ends them."""

    def __init__(self, loaded: LoadedTool, wrappers: Sequence[LoadedWrapper]) -> None:
        self.wrappers = list(wrappers)
        self._loaded = loaded
        self._guards = [_Guard(wrapper) for wrapper in wrappers]
        self._innermost = _Innermost(loaded)
        self._plugins: list[object] = []
        # pluggy calls first what was registered last.
        in_order = sorted(self._guards, key=lambda guard: (guard.wrapper.order, guard.wrapper.name), reverse=True)
        for guard in in_order:
            self._register(guard.plugin(), f"wrapper {guard.wrapper.name}")
        self._register(self._innermost.plugin(), "ferrule")

    def begin(self, call: _WrappedCall) -> None:
        """Be the guards of this call."""
        for guard in self._guards:
            guard.begin(call)
        self._innermost.begin(call)

    def end(self) -> None:
        """Let go of the call."""
        for guard in self._guards:
            guard.begin(None)
        self._innermost.begin(None)

    def remove(self) -> None:
        """Take them out of the manager."""
        for plugin in self._plugins:
            self._loaded.manager.unregister(plugin)

    def _register(self, plugin: object, name: str) -> None:
        self._loaded.manager.register(plugin, name=name)
        self._plugins.append(plugin)


_guards: WeakKeyDictionary[LoadedTool, _Guards] = WeakKeyDictionary()


def _registered(loaded: LoadedTool, wrappers: Sequence[LoadedWrapper]) -> _Guards:
    """The guards of these wrappers: those of the call before where it had the same; registering takes a while."""
    guards = _guards.get(loaded)
    if guards is not None and guards.wrappers == list(wrappers):
        return guards
    if guards is not None:
        guards.remove()
    guards = _guards[loaded] = _Guards(loaded, wrappers)
    return guards


def register_ahead(loaded: LoadedTool, names: Iterable[str]) -> None:
    """Register the guards of wrappers that have been loaded ahead, for calls that forks of this process make."""
    if wrappers := loaded_ahead(names):
        _registered(loaded, wrappers)


class _WrappedCall:
    """What the guards of a call share. arguments: as JSON. document: the result as it is now, as JSON."""

    def __init__(self, arguments: JSONObject, context: WrapperContext, channel: Channel) -> None:
        self.arguments = strict_json.dumps(arguments)
        self.document = b""
        self.channel = channel
        self.context = context

    def result(self) -> JSONObject:
        """The result as it is now, in an object of its own."""
        return strict_json.loads_object(self.document)

    def report_failure(self, wrapper: str, error: BaseException) -> None:
        """Send the event of a wrapper that failed, and drop its note."""
        self.context.notes.pop(wrapper, None)
        print_where_debugging(error)
        from ferrule.supervision.termination import wrapper_failed

        self.channel.event(wrapper_failed(wrapper, name_text_and_place(error, self.channel.known_secrets)))


def _load_all(names: Mapping[str, object], call: _WrappedCall) -> list[LoadedWrapper]:
    """Every wrapper that can be loaded; the others are reported."""
    claims = claims_for(names)
    found = []
    for name in names:
        if ahead := loaded_ahead([name]):  # nothing of it runs now that could end the process
            found += ahead
            continue
        call.channel.enter_wrapper(name)
        try:
            found.append(load(name, claims))
        except BaseException as error:  # noqa: BLE001 - a module can raise anything when it is imported
            call.report_failure(name, error)
        call.channel.enter_wrapper(None)
    return found


class _Innermost:
    """The innermost wrapper, the host's own: it checks the result of the tool and sends it to the parent first."""

    def __init__(self, loaded: LoadedTool) -> None:
        self._loaded = loaded
        self._call: _WrappedCall | None = None

    def begin(self, call: _WrappedCall | None) -> None:
        self._call = call

    def plugin(self) -> SimpleNamespace:
        @hookimpl(wrapper=True, trylast=True)
        def execute() -> Generator[None, object, object]:
            if self._call is None:  # a plugin that calls its own hook after its call
                return (yield)
            return (yield from self._check(self._call))

        return SimpleNamespace(execute=execute)

    def _check(self, call: _WrappedCall) -> Generator[None, object, JSONObject]:
        try:
            result = yield
            call.document = written(self._loaded.check_result(result, call.context), "result")
        except BaseException as error:
            call.channel.keep_preliminary_failure(explain(error, call.channel.known_secrets))
            raise
        try:
            call.channel.keep_preliminary(call.document)
        except ResultTooLarge as error:
            call.channel.keep_preliminary_failure(error)
        return call.result()


class _Guard:
    """Stands between pluggy and one wrapper."""

    def __init__(self, wrapper: LoadedWrapper) -> None:
        self.wrapper = wrapper
        self.begin(None)

    def begin(self, call: _WrappedCall | None) -> None:
        """Guard this call; between calls the wrapper counts as absent."""
        self._call: _WrappedCall = call  # type: ignore[assignment] # nothing asks for it while the wrapper is absent
        self._is_absent = call is None

    def plugin(self) -> SimpleNamespace:
        """What is registered in the wrapper's place: a guarded function for each of its own."""
        hooks = enumerate(self.wrapper.hooks)
        return SimpleNamespace(**{f"hook_{index}": self._guarded(hook) for index, hook in hooks})

    def _guarded(self, hook: pluggy.HookImpl) -> object:
        @hookimpl(wrapper=hook.wrapper, tryfirst=hook.tryfirst, trylast=hook.trylast, specname="execute")
        def surround(context: WrapperContext) -> Generator[None, object, object]:
            return (yield from self._surround(hook, context))

        @hookimpl(tryfirst=hook.tryfirst, trylast=hook.trylast, specname="execute")
        def answer(context: WrapperContext) -> JSONObject | None:
            return self._answer(hook, context)

        return surround if hook.wrapper else answer

    def _answer(self, hook: pluggy.HookImpl, context: WrapperContext) -> JSONObject | None:
        """The wrapper's answer in the tool's place, None for none; a ToolError that it raises is one, too."""
        answer = None
        if not self._is_absent:
            with self._running(may_refuse=True):
                returned = self._start(hook, context)
                answer = None if returned is None else strict_json.loads_object(_result_document(returned))
        return answer

    def _surround(self, hook: pluggy.HookImpl, context: WrapperContext) -> Generator[None, object, object]:
        """The wrapper around the call: its code before the `yield`, the call, and its code after it."""
        body = None
        if not self._is_absent:
            with self._running():
                begun = self._start(hook, context)
                if isinstance(begun, GeneratorType):  # as pluggy has made sure
                    next(begun)
                    body = begun
        try:
            result = yield
        except BaseException as error:
            if body is None or not self._resume(body, error=error):
                raise
        else:
            if body is None:
                return result
            self._resume(body, result)
        return self._call.result()

    def _resume(
        self, body: Generator[None, object, object], result: object = None, *, error: BaseException | None = None
    ) -> bool:
        """Run the code after the `yield` with the result or the error of the call; True where it has replaced that."""
        with self._running(passed_on=error, is_last=True):
            if self._is_absent:
                body.close()  # it may hold something that it has to let go of
                return False
            try:
                body.send(result) if error is None else body.throw(error)
            except StopIteration as stop:
                self._call.document = _result_document(stop.value)
                return True
            raise RuntimeError("it yielded more than once")
        return False

    def _start(self, hook: pluggy.HookImpl, context: WrapperContext) -> object:
        """Call the wrapper's function with those arguments that it names."""
        values = {"arguments": strict_json.loads_object(self._call.arguments), "context": context}
        by_name = {name: values[name] for name in hook.kwargnames if name in values}
        return hook.function(*(values[name] for name in hook.argnames), **by_name)

    @contextmanager
    def _running(
        self, *, may_refuse: bool = False, passed_on: BaseException | None = None, is_last: bool = False
    ) -> Iterator[None]:
        """While the wrapper's code runs: the parent knows whose it is, and what it raises makes it absent.

        may_refuse: a ToolError is an answer, and goes on. passed_on: the error that the wrapper was given. is_last: no
        code of the tool's runs after it.
        """
        self._call.channel.enter_wrapper(self.wrapper.name)
        try:
            yield
        except BaseException as error:
            self._call.channel.enter_wrapper(None)
            # Python makes a RuntimeError of a StopIteration that leaves a generator.
            if passed_on is not None and passed_on in (error, error.__cause__):
                return
            if may_refuse and isinstance(error, ToolError) and not isinstance(error, CredentialMissing):
                raise
            self._is_absent = True
            failure = RuntimeError("it did not yield") if isinstance(error, StopIteration) else error
            self._call.report_failure(self.wrapper.name, failure)
        else:
            self._call.channel.enter_wrapper(None, may_wait=is_last)


def _result_document(value: object) -> bytes:
    """A wrapper's result as JSON. Raises TypeError for what is no object, and ResultInvalid."""
    if not isinstance(value, dict):
        raise TypeError(f"it returned {type(value).__name__}, an object was expected")
    return written(value, "result")


def _with_notes(result: JSONObject, context: WrapperContext) -> JSONObject:
    """The result with each note for which there is room, and which the result has not itself."""
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
