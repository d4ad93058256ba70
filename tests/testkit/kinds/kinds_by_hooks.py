"""Hooks as a tool for each kind of result; its results may be cached and linked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinds

from ferrule import Context, Credential, ResultPolicy, hookimpl
from ferrule.text import strict_json


class Hooks:
    """The hooks of one tool."""

    def __init__(self, name: str, returns: Callable[[str, Context], Any]) -> None:
        self._name, self._returns = name, returns

    @hookimpl
    def schema(self) -> Any:
        return strict_json.loads(Path(__file__).with_name(f"{self._name}.schema.json").read_bytes())

    @hookimpl
    def credentials(self) -> list[Credential]:
        return [kinds.CREDENTIAL]

    @hookimpl
    def result_policy(self) -> ResultPolicy:
        return ResultPolicy(cache_seconds=600, linkable=True)

    @hookimpl
    def execute(self, arguments: dict[str, Any], context: Context) -> Any:
        return self._returns(arguments["city"], context)


hooks_object = Hooks("hooks_object", kinds.an_object)
hooks_text = Hooks("hooks_text", kinds.a_text)
hooks_image = Hooks("hooks_image", kinds.an_image)
hooks_file = Hooks("hooks_file", kinds.a_file)
hooks_large = Hooks("hooks_large", kinds.a_large_object)
hooks_failure = Hooks("hooks_failure", kinds.a_failure)
hooks_events = Hooks("hooks_events", kinds.events)
