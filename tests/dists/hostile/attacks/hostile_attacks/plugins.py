"""Each attack as a tool: `hostile_attacks.plugins:NAME` is the plugin of the attack NAME."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule import hookimpl

from .table import NothingFound, load

if TYPE_CHECKING:
    from ferrule import Context, JSONObject

SEVERAL = "several_attacks"


def describe(name: str, tries: str) -> JSONObject:
    """The schema of an attack's tool."""
    scene = {"type": "object", "description": "What there is to attack"}
    attacks = {"type": "array", "items": {"type": "string"}, "description": "Names of attacks"}
    properties = {"scene": scene, "attacks": attacks} if name == SEVERAL else {"scene": scene}
    return {
        "name": name,
        "description": tries,
        "parameters": {"type": "object", "properties": properties, "required": list(properties)},
    }


class Plugin:
    """One attack."""

    def __init__(self, name: str) -> None:
        self._attack = load()[name]

    @hookimpl
    def schema(self) -> JSONObject:
        """The scene is an argument; a real attack would know or find what is in it."""
        return describe(self._attack.name, self._attack.tries)

    @hookimpl
    def execute(self, arguments: JSONObject, context: Context) -> JSONObject:
        """The loot; what the attack raises goes to the host as it is."""
        loot = self._attack.function({**arguments["scene"], "context": context})
        if not loot:
            raise NothingFound(self._attack.name)
        return {"success": True, "loot": _printable(loot)}


class Several:
    """Several attacks in one process, one after the other."""

    @hookimpl
    def schema(self) -> JSONObject:
        """As of one, with the names of those that are tried."""
        return describe(SEVERAL, "Tries several attacks in one process, one after the other.")

    @hookimpl
    def execute(self, arguments: JSONObject, context: Context) -> JSONObject:
        """By attack: its loot, or what it raised."""
        table = load()
        return {name: _tried(table[name].function, {**arguments["scene"], "context": context}) for name in arguments["attacks"]}


def _printable(loot: object) -> str:
    return str(loot).replace("\0", " ").encode(errors="replace").decode()


def _tried(function: object, scene: object) -> JSONObject:
    try:
        return {"loot": _printable(function(scene) or "")[:2000]}
    except Exception as error:
        return {"error": type(error).__name__, "text": str(error)[:200], "errno": getattr(error, "errno", None)}


def __getattr__(name: str) -> object:
    if name == SEVERAL:
        return Several()
    if name in load():
        return Plugin(name)
    raise AttributeError(name)
