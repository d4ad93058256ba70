"""One tool of a server, as tools/list has it, in the format of ferrule."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ferrule.schema.providers import MAX_BYTES, measure_links
from ferrule.text import strict_json
from ferrule_mcp.projection import losses, words
from ferrule_mcp.projection.alternatives import ANY, Alternative, Source, Unfolding
from ferrule_mcp.projection.depth import prune
from ferrule_mcp.projection.forms import Place, TooLarge, Writer
from ferrule_mcp.projection.intersections import merge
from ferrule_mcp.projection.limits import Room
from ferrule_mcp.projection.objects import write_object

if TYPE_CHECKING:
    from ferrule import JSONObject

_ALL = "arguments"
_MAX_DEMAND_CHARS = 400
_LEAST = Room(text_chars=0, sketch_chars=0, values=10, levels=2, tool_chars=600)
_ROOMS = (
    Room(),
    *(Room(text_chars=chars, sketch_chars=300) for chars in (1500, 1000, 700, 500, 350, 250)),
    *(Room(text_chars=chars, sketch_chars=160, values=60) for chars in (180, 120, 80)),
    Room(text_chars=80, sketch_chars=120, values=40, levels=5),
    Room(text_chars=60, sketch_chars=120, values=30, levels=3),
    Room(text_chars=40, sketch_chars=80, values=20, levels=2, tool_chars=600),
    _LEAST,
    *(_LEAST._replace(optional=count) for count in (60, 40, 25, 15, 10, 5, 2, 0)),
)
"""From the most that is shown to the least: what takes much room and says little goes first, types nearly last."""

_ROOMS_FOR_LINKS = 12
"""Rooms that are tried for what a link prints for each provider: no type is given up for that."""


class Projection(NamedTuple):
    """A tool of a server as ferrule has it.

    schema: `{"name", "description", "parameters"}`, which keeps the rules of the format. translation: of arguments
    back, for `translate_arguments`; `{}` where they fit as they are. lost: sentences. details: the same by kind and
    place.
    texts: the whole of each description that is cut, by its place; the tool's own at `""`.
    """

    schema: JSONObject
    translation: JSONObject
    lost: list[str]
    details: list[losses.Loss]
    texts: dict[str, str]


def project(tool: JSONObject, name: str) -> Projection:
    """Project one entry of tools/list, whatever it is.

    tool: as the server sent it; it is not changed, and nothing that it refers to is fetched. name: the tool's in
    ferrule, of ASCII letters, digits and underscores.
    """
    schema, is_pruned = prune(tool.get("inputSchema"))
    lost = [losses.Loss(losses.DEEP, "")] if is_pruned else []
    attempts = _Attempts(tool, name, Unfolding(schema), lost)
    first = bisect_left(_ROOMS, True, key=attempts.fits)
    projection = attempts.project(_ROOMS[first]) if first < len(_ROOMS) else None
    if projection is None:
        return _project_whole(tool, name)
    if attempts.fits_links(_ROOMS[first]):
        return projection
    fitting = bisect_left(_ROOMS, True, lo=first, hi=max(first, _ROOMS_FOR_LINKS), key=attempts.fits_links)
    linked = attempts.project(_ROOMS[fitting]) if fitting < _ROOMS_FOR_LINKS else None
    return linked or _tell_links(projection)


class _Attempts:
    """Projections of one tool into different rooms, each made once."""

    def __init__(self, tool: JSONObject, name: str, unfolding: Unfolding, lost: list[losses.Loss]) -> None:
        self._tool = tool
        self._name = name
        self._unfolding = unfolding
        self._lost = lost
        self._made: dict[Room, Projection | None] = {}

    def project(self, room: Room) -> Projection | None:
        """The projection; None where it is too large for a client, as it is printed."""
        if room not in self._made:
            self._made[room] = self._project(room)
        return self._made[room]

    def fits(self, room: Room) -> bool:
        """Whether a client reads it."""
        return self.project(room) is not None

    def fits_links(self, room: Room) -> bool:
        """Whether a client reads it in the form of every provider, too."""
        projection = self.project(room)
        return projection is not None and max(measure_links(projection.schema).values()) <= MAX_BYTES

    def _project(self, room: Room) -> Projection | None:
        lost, texts = losses.Losses(self._lost), dict[str, str]()
        try:
            projection = _project_into(
                self._unfolding, self._tool, self._name, Writer(self._unfolding, room, lost, texts, write_object)
            )
        except TooLarge:
            return None
        return projection if len(strict_json.dumps(projection.schema)) < MAX_BYTES else None


def _tell_links(projection: Projection) -> Projection:
    lost = losses.Losses(projection.details)
    for provider, size in measure_links(projection.schema).items():
        if size > MAX_BYTES:
            lost.add(losses.LINK, provider)
    return projection._replace(lost=lost.tell(), details=lost.details)


def _project_into(unfolding: Unfolding, tool: JSONObject, name: str, writer: Writer) -> Projection:
    lost = writer.lost
    found = unfolding.unfold([(Source(unfolding.root),)])
    objects = [_as_object(one) for one in found if one.kind in ("object", ANY)]
    if not objects:
        lost.add(losses.TYPE, "", "(object)")
    arguments, is_wider, hints = merge(objects or [Alternative(kind="object")])
    if is_wider:
        lost.add(losses.COMBINATION, "")
    form = write_object(writer, arguments, Place("", 1), hints)
    demands = form.schema.pop("description", "")
    description = _describe_tool(tool, demands, writer)
    for keyword in sorted(unfolding.lost):
        lost.add(losses.REFERENCE if keyword == "$ref" else losses.COMBINATION, "")
    document = {"name": name, "description": description, "parameters": form.schema}
    return Projection(document, form.translation, lost.tell(), lost.details, writer.texts)


def _as_object(one: Alternative) -> Alternative:
    """The arguments are an object, whether the schema says so or not; what is not known of them may be anything.

    A schema that says nothing at all allows anything: a server's author has lost what it should say.
    """
    is_open = one.is_open or one.is_cut or one.kind == ANY
    return replace(one, kind="object", is_inferred=False, values=None, is_open=is_open)


def _describe_tool(tool: JSONObject, demands: str, writer: Writer) -> str:
    """What the tool is for, and what is demanded of its arguments together."""
    own = words.clean(tool.get("description")) or words.clean(tool.get("title"))
    own = own or f"The tool {words.clean(tool.get('name'))[:100]} of an MCP server, which says no more of it."
    demands = words.cut(f"\n\n{demands}" if demands else "", _MAX_DEMAND_CHARS)
    most = writer.room.tool_chars
    if len(own) + len(demands) > most:
        writer.lost.add(losses.CUT, "the tool")
        writer.texts[""] = own
    return words.cut(own, most - len(demands)) + demands


def _project_whole(tool: JSONObject, name: str) -> Projection:
    """All arguments as one JSON object: for schemas of which not even the names fit."""
    schema, _ = prune(tool.get("inputSchema"))
    unfolding = Unfolding(schema)
    writer = Writer(unfolding, Room(tool_chars=600), losses.Losses(), {}, write_object)
    writer.lost.add(losses.FOLDED, "all arguments")
    drawn = writer.sketch_in(unfolding.unfold([(Source(schema),)]), 1500)
    text = {"type": "string", "description": words.cut(f"A JSON object, written as text: {drawn}", 2000)}
    parameters = {"type": "object", "properties": {_ALL: text}, "required": [_ALL]}
    document = {"name": name, "description": _describe_tool(tool, "", writer), "parameters": parameters}
    return Projection(document, {"rest": _ALL}, writer.lost.tell(), writer.lost.details, writer.texts)
