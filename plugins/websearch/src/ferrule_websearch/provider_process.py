"""Asking one provider, in a process of its own: nothing that it does or that happens to it reaches the search.

What comes of it is a mapping with `state`: `answered`, `unconfigured` (a credential is missing), `disabled`,
`unusable` (no tool, wrongly declared) or `resting` (its breaker is open). What fails is raised.
"""

from __future__ import annotations

from itertools import zip_longest
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrule.errors import FerruleError, ToolDisabled, ToolError
from ferrule.text import strict_json
from ferrule.text.sha256 import sha256_hex
from ferrule_websearch.manifest import ENGINE, Declaration, DeclarationWrong, declaration
from ferrule_websearch.query_mapping import Question, Translation, Wanted, translate
from ferrule_websearch.results import Result, result

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.supervision.channel import Channel
    from ferrule.tool.context import Context
    from ferrule.tool.loader import LoadedTool
    from ferrule_websearch.provider import Provider

ANSWERED, RESTING = "answered", "resting"
UNCONFIGURED, DISABLED, UNUSABLE = "unconfigured", "disabled", "unusable"
_OF_THE_CALL = ("FERRULE_SEARCH_ROUTING", "FERRULE_LENSES", "FERRULE_DISABLE")
_LARGEST = 1 << 19  # bytes of the results of one query; the client's limit is for what is made of them
IDENTITY = "ferrule_search_identity"  # the event by which the breaker's name is told, before anything else can happen


class Asked(NamedTuple):
    """What one attempt is about. value: of the entry point. deadline: an instant of `time.monotonic()`."""

    name: str
    value: str
    settings: Configuration
    wanted: Wanted | None
    deadline: float


def attempt(asked: Asked, channel: Channel) -> dict[str, Any]:
    """Ask the provider for what is wanted, or find out whether it could be asked. Raises whatever a plugin raises."""
    try:
        declared, loaded = _load(asked)
    except ToolDisabled as error:
        return {"state": DISABLED, "reason": str(error)}
    except (DeclarationWrong, FerruleError) as error:
        return {"state": UNUSABLE, "reason": str(error)}
    except Exception as error:  # noqa: BLE001 - whatever a plugin raises when it is imported
        return {"state": UNUSABLE, "reason": f"{asked.value} cannot be loaded ({type(error).__name__})."}
    asking = _Asking(declared, loaded, _provider(declared), _context(asked, loaded, channel))
    identity = "" if asked.wanted else _identity(asking)  # which a search does not need
    facts = {"label": declared.name, "identity": identity, "has_engine": ENGINE in declared.parameters}
    breaker = _breaker(asking)
    channel.event({"kind": IDENTITY, "name": breaker})
    missing = _what_is_missing(asking)
    if missing is not None:
        return {**facts, "state": UNCONFIGURED, "error": missing.facts()}
    translation = translate(declared, asked.wanted) if asked.wanted else None
    resting = _rest(asked, breaker, asking.context)
    if resting or translation is None:
        return {**facts, "state": RESTING if resting else ANSWERED, "wait": ceil(resting)}
    return {**facts, **_answer(asking, translation)}


def breaker_identity(name: str, told: str | None) -> tuple[str, ...]:
    """What the breaker of a provider is called: its name, and what it is asked with as far as that was told."""
    return (name, told or "")


def _load(asked: Asked) -> tuple[Declaration, LoadedTool]:
    from ferrule import discovery
    from ferrule.tool import loader

    declared = declaration(loader.resolve(asked.value))
    return declared, loader.load(discovery.find(declared.tool, asked.settings))


def _context(asked: Asked, loaded: LoadedTool, channel: Channel) -> Context:
    from ferrule.tool.context import Context

    context = Context(
        loaded.tool.name,
        asked.deadline,
        credentials=loaded.credentials(),
        settings=asked.settings.tool(loaded.tool.name),
        send_event=channel.event,
        max_bytes=_LARGEST,
    )
    channel.secrets(context.secrets())
    return context


def _provider(declared: Declaration) -> Provider | None:
    from ferrule.tool.loader import resolve

    named = resolve(declared.provider) if isinstance(declared.provider, str) else declared.provider
    provider: Provider | None = named() if isinstance(named, type) else named
    return provider


def _identity(asking: _Asking) -> str:
    """A hash of whatever can decide its results beside the question, also of what its tool's result policy names."""
    tool, results = asking.loaded.tool, asking.loaded.result_policy()
    own = results.identity(asking.context) if results.identity else None
    facts = [tool.source, tool.value, asking.context.identity(results.environment), own]
    return sha256_hex(strict_json.dumps(facts))


def _breaker(asking: _Asking) -> str:
    """A hash of whatever makes it another provider as far as outages and quotas go: its place and its keys.

    What merely belongs to the call, such as its locale or the order of providers, has to stay out of it, or those who
    differ in that would not share what they know.
    """
    tool, facts = asking.loaded.tool, asking.context.identity()
    places = {
        name: value
        for name, value in facts["environment"].items()
        if name.startswith("FERRULE_") and name not in _OF_THE_CALL
    }
    if asking.provider is not None:
        places = {name: value for name, value in places.items() if name == asking.provider.endpoint_variable}
    return sha256_hex(strict_json.dumps([tool.source, tool.value, facts["settings"], facts["credentials"], places]))


def _what_is_missing(asking: _Asking) -> ToolError | None:
    try:
        for credential in asking.loaded.credentials():
            asking.context.credential(credential.name)
    except ToolError as error:
        return _in_its_own_words(asking) or error
    return None


def _in_its_own_words(asking: _Asking) -> ToolError | None:
    from ferrule_websearch.pipeline import keys_of

    try:
        if asking.provider is not None:
            keys_of(asking.provider, asking.context)
    except ToolError as error:
        return error
    return None


def _rest(asked: Asked, identity: str, context: Context) -> float:
    from ferrule_websearch.circuit_breaker import Breaker

    breaker = Breaker(*breaker_identity(asked.name, identity), event=context.event)
    return breaker.admit(context.remaining() + 1) if asked.wanted else breaker.wait()


def _answer(asking: _Asking, translation: Translation) -> dict[str, Any]:
    lists: list[Sequence[Result]] = []
    incomplete = ""
    for question in translation.questions:
        try:
            lists.append(asking.ask(question))
        except ToolError as error:
            if not any(lists):
                raise
            incomplete = error.message
            break
    return {
        "state": ANSWERED,
        "results": [list(one) for one in merged(lists)],
        "ignored": [list(one) for one in translation.ignored],
        "emulated": list(translation.emulated),
        "incomplete": incomplete,
    }


def merged(lists: Sequence[Sequence[Result]]) -> list[Result]:
    """The results of several queries by their ranks: first all that came first, then all that came second, …"""
    return [one for rank in zip_longest(*lists) for one in rank if one is not None]


class _Asking(NamedTuple):
    declared: Declaration
    loaded: LoadedTool
    provider: Provider | None
    context: Context

    def ask(self, question: Question) -> list[Result]:
        """The results of one query. Raises ToolError."""
        if self.provider is None:
            return self._by_the_tool(question)
        from ferrule_websearch.pagination import Query
        from ferrule_websearch.pipeline import search

        parameters = {name: str(value) for name, value in question.parameters.items()}
        query = Query(question.text, 0, question.limit, question.domains, parameters)
        return [Result(**one) for one in search(self.provider, query, self.context)["results"]]

    def _by_the_tool(self, question: Question) -> list[Result]:
        from ferrule.schema import schema_file
        from ferrule.schema.arguments import prepare

        schema = schema_file.static(self.loaded.tool) or schema_file.sound(self.loaded.schema(), self.loaded.tool)
        arguments = prepare(dict(question.parameters), schema["parameters"])
        findings = self.loaded.validate(arguments)
        if findings:
            raise ToolError("INVALID_INPUT", "; ".join(findings) + ".")
        return self._read(self.loaded.execute(arguments, self.context), question)

    def _read(self, answer: Mapping[str, Any], question: Question) -> list[Result]:
        from ferrule.errors import failure_in

        names = self.declared.reading
        failure = failure_in(answer)
        if failure is not None:  # which a tool may also return; it is not that nothing was found
            code, message = failure["code"] or "API_ERROR", failure["message"] or "It failed and did not say why."
            raise ToolError(str(code), str(message), retry_after=failure["retry_after"])
        hits = answer.get(names["list"])
        if not isinstance(hits, list):
            raise ToolError("API_ERROR", f"{self.declared.name} answered without {names['list']!r}.")
        read = [
            result(hit.get(names["title"]), hit.get(names["url"]), hit.get(names["snippet"]), html=False)
            for hit in hits
            if isinstance(hit, dict)
        ]
        return [one for one in read if one and question.domains.passes(one.url)]
