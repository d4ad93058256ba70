"""The tools that a model may call: which of those installed are offered, and one execution of one of them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ferrule import Credential, CredentialValue, config
from ferrule.errors import ConfigurationMalformed, CredentialsMalformed, FerruleError, ToolFailed, ToolUnknown
from ferrule.installed import LOAD_SECONDS, OK, UNKNOWN, InventorySnapshot, ProcessResult, execute
from ferrule.text import strict_json
from ferrule.text.redaction import redact, redact_json
from ferrule_ask.keys import Keys, how_to_set, model_variables
from ferrule_ask.tools import tool_results
from ferrule_ask.tools.protocols import ToolOffer, ToolResult
from ferrule_ask.tools.refusals import find_refusal

_SETTINGS_PREFIX = "FERRULE_ASK_"
_TOOLS_VARIABLE = "FERRULE_ASK_TOOLS"
_LOOK_SECONDS = 10.0  # beside those that each plugin has
_ARTIFACTS = "artifacts"  # the wrapper that gives handles, which nothing could read here

if TYPE_CHECKING:
    from ferrule.installed import ToolFacts
    from ferrule.text.json_types import JSONMapping


class Toolbox:
    """The tools that one client offers. offered: tuple of `ToolOffer`. left_out: tuple of (name, reason).

    `Toolbox.load` makes one. It does not change; `renewed` looks for the keys once more, and loads nothing for it.
    """

    def __init__(self, facts: Sequence[JSONMapping], keys: Keys, *, first_alone: bool) -> None:
        self._facts = facts
        self._keys = keys
        self._first_alone = first_alone
        self._credentials: dict[str, list[Credential]] = {}
        self.offered: tuple[ToolOffer, ...] = ()
        self.left_out: tuple[tuple[str, str], ...] = ()
        for one in facts:
            if reason := self._reason_against(one):
                self.left_out += ((one["name"], reason),)
            else:
                self.offered += (ToolOffer(one["name"], one["schema"]),)
        if first_alone:
            self._choose_search()

    def _choose_search(self) -> None:
        """Offer one search alone: the one that has a fallback, where any provider has its keys; else the first."""
        whole = next((one for one in self.offered if one.name == tool_results.SEARCH_PREFIX), None)
        single = [one for one in self.offered if one is not whole]
        if single:
            self.offered = (whole or single[0],)
            self.left_out = tuple(one for one in self.left_out if one[0] < self.offered[0].name)
        elif whole is not None:
            reason = "No search provider has its keys."
            self.offered, self.left_out = (), ((whole.name, reason), *self.left_out)
        if whole is not None:  # which asks the providers, so it gets the keys of those that are ready
            self._credentials[whole.name] = [one for many in self._credentials.values() for one in many]

    @classmethod
    def load(cls, names: Sequence[str] | None, keys: Keys) -> Toolbox:
        """Find out what can be offered: what is installed and validated, and has all of its keys.

        names: exactly those, and in their order, as far as they can be offered; None for those that FERRULE_ASK_TOOLS
        or `tools` in `[ask]` of config.toml names, else for `web_search`, where it is installed and a provider has its
        keys, else for the first of `web_search_*`, by name, that has its keys.
        Takes as long as 14 starts of an interpreter; a plugin that hangs while it is loaded costs 5 s. Blocks.

        Raises ToolUnknown for a name that nothing installed has, and ConfigurationMalformed.
        """
        names = _configured(config.read()) if names is None else names
        names = None if names is None else list(dict.fromkeys(names))
        facts = _facts(names)
        for one in facts:
            if one["state"] == UNKNOWN:
                error = one["error"]
                raise ToolUnknown(error["message"], hint=error.get("hint"), details=error.get("details"))
        return cls(facts, keys, first_alone=names is None)

    def renewed(self) -> Toolbox:
        """The same tools with the keys that there are now."""
        return Toolbox(self._facts, self._keys, first_alone=self._first_alone)

    async def execute(self, name: str, arguments: JSONMapping, seconds: float) -> ToolResult:
        """Execute an offered tool in a process of its own. Never raises for what a tool does.

        arguments: of the model's making; they are checked there. seconds: after which it is ended, with all that it
        has started; so it is where the caller is cancelled.
        """
        started = time.monotonic()
        result = await self._outcome(name, arguments, seconds)
        return result._replace(seconds=time.monotonic() - started)

    async def _outcome(self, name: str, arguments: JSONMapping, seconds: float) -> ToolResult:
        if name not in self._credentials:
            return tool_results.failure(name, "UNKNOWN_TOOL", f"There is no tool named {name!r}.")
        try:
            found = self._found(name)
            data = strict_json.dumps(dict(arguments))
            environ = self._environment(found)
            ended = await execute(name, data, seconds, environ)
        except FerruleError as error:
            return tool_results.failure(name, error.code, error.message)
        except (OSError, ValueError) as error:
            return tool_results.failure(name, "", f"The tool cannot be started: {error}.")
        secrets = self._secrets(found)
        result = _read(name, ended, seconds, secrets)
        return result.with_texts(lambda text: redact(text.encode(), secrets).decode())

    def _reason_against(self, facts: JSONMapping) -> str:
        """Why a tool is not offered; empty where it is."""
        if facts["state"] != OK:
            return str(facts["error"]["message"] if facts["error"] else f"It is {facts['state']}.")
        credentials = [Credential(**one) for one in facts["credentials"]]
        unset = _unset_settings(facts)
        reason = " ".join(filter(None, [*(self._reason_of_key(one) for one in credentials if one.required), *unset]))
        if not reason:
            self._credentials[facts["name"]] = credentials
        return reason

    def _reason_of_key(self, credential: Credential) -> str:
        try:
            if self._keys.find(credential.environment, credential.path):
                return ""
        except CredentialsMalformed as error:
            return error.message
        return f"It needs {credential.description or credential.name}, which is not set. {how_to_set(credential)}"

    def _found(self, name: str) -> dict[str, CredentialValue]:
        """The tool's keys, by variable, as they are now."""
        found = {}
        for one in self._credentials[name]:
            find = self._keys.find if one.required else self._keys.find_optional
            found[one.environment] = find(one.environment, one.path)
        return {variable: one for variable, one in found.items() if one}

    def _environment(self, found: Mapping[str, CredentialValue]) -> dict[str, str]:
        """What the tool's process gets: the tool's keys, and those of the session, which tools behind it may need."""
        of_models = model_variables()
        session = {name: value for name, value in self._keys.session().items() if name not in of_models}
        keys = {variable: one.value for variable, one in found.items()}
        return {**_environment(), **session, **keys, **_wrappers(), "FERRULE_CALLER": "ask"}

    def _secrets(self, found: Mapping[str, CredentialValue]) -> list[str]:
        shown = {one.environment for many in self._credentials.values() for one in many if not one.secret}
        values = [one.value for variable, one in found.items() if variable not in shown]
        session = [value for variable, value in self._keys.session().items() if variable not in shown]
        return [*values, *session, *self._of_the_model()]

    def _of_the_model(self) -> list[str]:
        """The values of the keys of models."""
        values: list[str | None] = []
        for variable in model_variables():
            with suppress(CredentialsMalformed):
                found = self._keys.find(variable)
                values.append(found.value if found else None)
            values.append(os.environ.get(variable))
        return [value for value in values if value]


def _unset_settings(facts: JSONMapping) -> list[str]:
    """A sentence for each setting that a tool declares it needs, and that is set nowhere."""
    needed = (facts.get("declaration") or {}).get("settings", ())
    unset = []
    for one in needed:
        variable, key = one["variable"], one.get("setting", "")
        table = config.read().tool(facts["name"])
        if not os.environ.get(variable, "").strip() and not (key and table.get(key)):
            other = f", or {key} in [tools.{facts['name']}] of config.toml" if key else ""
            unset.append(f"It needs {one.get('purpose') or variable}, which is not set. Set {variable}{other}.")
    return unset


def _facts(names: Sequence[str] | None) -> Sequence[JSONMapping]:
    """What there is to know of the named tools, in that order; without names, of all that search the web, by name.

    Each has the further state `refused` where the model's provider would not take it, and `unseen` where nothing could
    be found out. Nothing else that is installed is loaded.
    """
    if names is not None and not names:
        return []
    wanted = [f"{tool_results.SEARCH_PREFIX}*"] if names is None else names
    seconds = _LOOK_SECONDS + LOAD_SECONDS * len(names or ())
    try:
        found = [_check(facts) for facts in InventorySnapshot(wanted, _environment()).document(seconds)["tools"]]
        return found if names is not None else [one for one in found if tool_results.is_search(one["name"])]
    except ToolFailed as error:  # a question can be answered without tools
        return [{"name": name, "state": "unseen", "error": error.facts()} for name in wanted]


def _check(facts: ToolFacts) -> ToolFacts:
    schema = facts["schema"] if facts["state"] == OK else None
    from ferrule.schema.providers import anthropic

    refusal = find_refusal(anthropic, schema) if schema else None
    return {**facts, "state": "refused", "error": {"code": "", "message": refusal}} if refusal else facts


def _configured(settings: config.Configuration) -> Sequence[str] | None:
    """The tools that the environment or config.toml names; `()` for none, None where nothing is said."""
    words = os.environ.get(_TOOLS_VARIABLE, "").replace(",", " ").split()
    if words:
        return () if words == ["none"] else words
    table = settings.content.get("ask", {})
    names = table.get("tools") if isinstance(table, dict) else None
    if names is None:
        return None
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return names
    raise ConfigurationMalformed(f"In {settings.path}, `tools` of [ask] is no list of names.")


def _wrappers() -> dict[str, str]:
    """The wrappers but for artifacts, whose handles the model could not read; nothing where that changes nothing."""
    on = config.read().wrappers()
    if _ARTIFACTS not in on and "FERRULE_WRAPPERS" not in os.environ:
        return {}  # so that a tool has the wrappers that it wants itself
    return {"FERRULE_WRAPPERS": ",".join(name for name in on if name != _ARTIFACTS)}


def _environment() -> dict[str, str]:
    """The caller's environment without what is the model's, or only asking's: it would keep cached results apart.

    The keys of the model's server are kept from a tool, unless it declares that it needs them.
    """
    of_models = model_variables()
    return {
        name: value
        for name, value in os.environ.items()
        if name not in of_models and not name.startswith(_SETTINGS_PREFIX)
    }


def _read(name: str, ended: ProcessResult, seconds: float, secrets: Sequence[str]) -> ToolResult:
    try:
        # Before anything is cut: half a key would not be known for one.
        document = None if ended.is_late else strict_json.loads(redact_json(ended.stdout, secrets))
    except strict_json.MalformedJSON:
        document = None
    if isinstance(document, dict):
        return tool_results.content(name, document, failed=ended.has_failed)
    why = f"The tool had not answered after {seconds:g} s." if ended.is_late else "The tool ended without an answer."
    return tool_results.failure(name, "TIMEOUT" if ended.is_late else "", why)
