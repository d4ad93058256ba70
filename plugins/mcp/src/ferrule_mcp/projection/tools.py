"""One tool of a server, as tools/list has it, in the format of ferrule."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule.schema.providers import MAX_BYTES, measure_links
from ferrule.text import strict_json
from ferrule_mcp.projection import losses, words
from ferrule_mcp.projection.alternatives import ANY, Alternative, Source, Unfolding
from ferrule_mcp.projection.depth import prune
from ferrule_mcp.projection.forms import Place, TooLarge, Writer
from ferrule_mcp.projection.limits import Room
from ferrule_mcp.projection.merging import merge
from ferrule_mcp.projection.objects import write_object

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule import JSONObject

_ALL = "arguments"
_MIN_LEVELS_FOR_LINKS = 3  # levels that are kept, even if what a link for some provider prints is too large then
_MAX_DEMAND_CHARS = 400
_OPTIONAL = (60, 40, 25, 15, 10, 5, 2, 0)  # parameters that are left when there is no room for all of them


class Projection(NamedTuple):
    """A tool of a server as ferrule has it.

    schema: `{"name", "description", "parameters"}`, which keeps the rules of the format. translation: of arguments back,
    for `translate_arguments`; `{}` where they fit as they are. lost: sentences. details: the same by kind and place.
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
    fitting: Projection | None = None
    for room in _list_rooms():
        if fitting and room.levels < _MIN_LEVELS_FOR_LINKS:
            break
        try:
            projection = _project_into(schema, tool, name, room, is_pruned=is_pruned)
        except TooLarge:
            continue
        if len(strict_json.dumps(projection.schema)) < MAX_BYTES:
            too_large = [provider for provider, size in measure_links(projection.schema).items() if size > MAX_BYTES]
            if not too_large:
                return projection
            fitting = fitting or _tell_links(projection, too_large)
    return fitting or _project_whole(tool, name)


def _tell_links(projection: Projection, providers: list[str]) -> Projection:
    lost = losses.Losses(projection.details)
    for provider in providers:
        lost.add(losses.LINK, provider)
    return projection._replace(lost=lost.tell(), details=lost.details)


def _list_rooms() -> Iterator[Room]:
    """From the most that is shown to the least: what takes much room and says little goes first."""
    yield Room()
    for chars in (1500, 1000, 700, 500, 350, 250):
        yield Room(text_chars=chars, sketch_chars=300)
    for chars in (180, 120, 80):
        yield Room(text_chars=chars, sketch_chars=160, values=60)
    yield Room(text_chars=80, sketch_chars=120, values=40, levels=5)
    yield Room(text_chars=60, sketch_chars=120, values=30, levels=3)
    yield Room(text_chars=40, sketch_chars=80, values=20, levels=2, tool_chars=600)
    yield Room(text_chars=0, sketch_chars=0, values=10, levels=2, tool_chars=600)
    for count in _OPTIONAL:
        yield Room(text_chars=0, sketch_chars=0, values=10, levels=2, tool_chars=600, optional=count)


def _project_into(schema: JSONObject, tool: JSONObject, name: str, room: Room, *, is_pruned: bool) -> Projection:
    lost, texts = losses.Losses(), dict[str, str]()
    if is_pruned:
        lost.add(losses.DEEP, "")
    unfolding = Unfolding(schema)
    writer = Writer(unfolding, room, lost, texts)
    found = unfolding.unfold([(Source(schema),)])
    objects = [_as_object(one) for one in found if one.kind in ("object", ANY)]
    if not objects:
        lost.add(losses.TYPE, "", "(object)")
    arguments, is_wider, hints = merge(objects or [Alternative(kind="object")])
    if is_wider:
        lost.add(losses.COMBINATION, "")
    form = write_object(writer, arguments, Place("", 1), hints)
    demands = form.schema.pop("description", "")
    description = _describe_tool(tool, demands, room, lost, texts)
    for keyword in sorted(unfolding.lost):
        lost.add(losses.REFERENCE if keyword == "$ref" else losses.COMBINATION, "")
    document = {"name": name, "description": description, "parameters": form.schema}
    return Projection(document, form.translation, lost.tell(), lost.details, texts)


def _as_object(one: Alternative) -> Alternative:
    """The arguments are an object, whether the schema says so or not."""
    one.kind, one.is_inferred, one.values = "object", False, None
    return one


def _describe_tool(tool: JSONObject, demands: str, room: Room, lost: losses.Losses, texts: dict[str, str]) -> str:
    """What the tool is for, and what is demanded of its arguments together."""
    own = words.clean(tool.get("description"), 100_000) or words.clean(tool.get("title"), 200)
    own = own or f"The tool {words.clean(tool.get('name'), 100)} of an MCP server, which says no more of it."
    demands = words.cut(f"\n\n{demands}" if demands else "", _MAX_DEMAND_CHARS)
    if len(own) + len(demands) > room.tool_chars:
        lost.add(losses.CUT, "the tool")
        texts[""] = own
    return words.cut(own, room.tool_chars - len(demands)) + demands


def _project_whole(tool: JSONObject, name: str) -> Projection:
    """All arguments as one JSON object: for schemas of which not even the names fit."""
    lost, texts = losses.Losses(), dict[str, str]()
    lost.add(losses.FOLDED, "all arguments")
    description = _describe_tool(tool, "", Room(tool_chars=600), lost, texts)
    schema, _ = prune(tool.get("inputSchema"))
    unfolding = Unfolding(schema)
    writer = Writer(unfolding, Room(), lost, texts)
    drawn = writer.sketch_in(unfolding.unfold([(Source(schema),)]), 1500)
    text = {"type": "string", "description": words.cut(f"A JSON object, written as text: {drawn}", 2000)}
    parameters = {"type": "object", "properties": {_ALL: text}, "required": [_ALL]}
    document = {"name": name, "description": description, "parameters": parameters}
    return Projection(document, {"rest": _ALL}, lost.tell(), lost.details, texts)
