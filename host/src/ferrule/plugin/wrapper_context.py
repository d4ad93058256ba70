"""What a wrapper is given besides the arguments: the context of the tool, and the call that it surrounds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ferrule.plugin.hooks.context import Context
from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule.plugin.hooks.result_policy import ResultPolicy
    from ferrule.plugin.loader import LoadedTool
    from ferrule.text.json_types import JSONMapping, JSONObject


class WrapperContext(Context):
    """The context of a call that wrappers surround; the tool gets the same object.

    wrappers: the tables of those that are on, by name. notes: what they have noted so far.
    """

    __slots__ = ("_call", "_wrappers", "notes")

    def __init__(self, context: Context, wrappers: Mapping[str, JSONMapping] | None = None) -> None:
        for name in Context.__slots__:
            setattr(self, name, getattr(context, name))
        self._wrappers = wrappers or {}
        self._call: CallInfo | None = None
        self.notes: dict[str, JSONObject] = {}

    def setting(self, name: str, environment: str) -> object:
        """As of Context; a variable that is read here decides the result, so the call has to know of it."""
        if self._call is not None:
            self._call.record_variable(environment)
        return super().setting(name, environment)

    @property
    def call(self) -> CallInfo:
        """The call. Raises LookupError where no wrapper is on."""
        if self._call is None:
            raise LookupError("context.call is for wrappers, and none is on")
        return self._call

    @call.setter
    def call(self, call: CallInfo) -> None:
        self._call = call

    def wrapper(self, name: str) -> JSONMapping:
        """The table `[wrappers.NAME]` of config.toml; empty if there is none."""
        return self._wrappers.get(name, {})

    def wrapper_setting(self, name: str, key: str, environment: str) -> object:
        """What the admin decided for a wrapper: text from the variable `environment`, else `key` of its table.

        A variable that is empty or blank counts as not set. None where neither is set.
        """
        return os.environ.get(environment, "").strip() or self.wrapper(name).get(key)

    def note(self, name: str, facts: JSONMapping) -> None:
        """Add facts about the call to its result, as `_meta: {NAME: facts}`; a second note replaces the first.

        A note is left out where the answer would get too large for it, where the tool's own result has one of that
        name, and where the call fails. Raises Unrepresentable, a ValueError, for what is no JSON.
        """
        self.notes[name] = strict_json.loads_object(strict_json.dumps(dict(facts)))


class CallInfo:
    """One call of one tool, as `context.call` gives it to wrappers. Every value is a copy, the reader's own to change.

    tool: the tool's own name. distribution, version: who offers it. result_policy: what may be done
    with its results.
    """

    def __init__(self, loaded: LoadedTool, arguments: JSONObject, context: Context) -> None:
        self.tool = loaded.tool.name
        self.distribution = loaded.tool.distribution
        self.version = loaded.tool.version
        self.result_policy: ResultPolicy = loaded.result_policy()
        self._loaded = loaded
        self._arguments = strict_json.dumps(arguments)
        self._context = context
        self._schema: bytes | None = None
        self._identity: bytes | None = None
        self._asked: set[str] = set()

    @property
    def schema(self) -> JSONObject:
        """The tool's schema. Raises what the tool's hook raises."""
        if self._schema is None:
            self._schema = strict_json.dumps(self._loaded.schema())
        return strict_json.loads_object(self._schema)

    @property
    def schema_hash(self) -> str:
        """SHA-256 of the schema as canonical JSON (sorted keys, no blanks), as 64 hexadecimal digits."""
        from ferrule.text.sha256 import sha256_hex

        return sha256_hex(strict_json.canonical(self.schema))

    @property
    def arguments(self) -> JSONObject:
        """The arguments that the tool gets, and the defaults of the schema for those at the top that it does not."""
        parameters = self.schema.get("parameters")
        properties = parameters.get("properties") if isinstance(parameters, dict) else None
        members = properties.items() if isinstance(properties, dict) else ()
        defaults = {name: one["default"] for name, one in members if isinstance(one, dict) and "default" in one}
        return {**defaults, **strict_json.loads_object(self._arguments)}

    @property
    def normalised_arguments(self) -> JSONObject:
        """The arguments as the tool reads them, by which calls are compared. Raises what its function raises."""
        normalise = self.result_policy.normalise
        return strict_json.loads_object(strict_json.dumps(normalise(self.arguments))) if normalise else self.arguments

    @property
    def identity(self) -> JSONObject:
        """Everything else that can decide the result, as JSON without secrets.

        `{"host", "settings", "environment", "credentials", "names", "tool"}`: the host's version, the tool's table of
        config.toml, the variables, a fingerprint of each credential's value, the names that tools are linked under, and
        what the function `identity` of its result policy returns. Raises what that raises, and Unrepresentable.
        """
        if self._identity is None:
            from ferrule._version import __version__

            policy = self.result_policy
            known = self._context.identity(policy.environment, locale=policy.locale)
            own = policy.identity(self._context) if policy.identity else None
            self._identity = strict_json.dumps({"host": __version__, **known, "tool": own})
        return strict_json.loads_object(self._identity)

    @property
    def untracked_variables(self) -> list[str]:
        """Variables that the tool has asked its context for by now, and that `identity` does not have.

        A result that may depend on them must not be given to another call.
        """
        from ferrule.plugin.cache_identity import is_known

        policy = self.result_policy
        asked = self._asked - set(policy.environment)
        return sorted(name for name in asked if not is_known(name, locale=policy.locale))

    def record_variable(self, variable: str) -> None:
        """The tool asks for a variable."""
        self._asked.add(variable)
