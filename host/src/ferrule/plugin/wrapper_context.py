"""What a wrapper is given besides the arguments: the context of the tool, and the call that it surrounds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ferrule.plugin.hooks.context import Context
from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule.plugin.call_info import CallInfo
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
