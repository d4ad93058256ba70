"""An answer made to fit what the client reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrule_research.page.budget.truncation import truncated

if TYPE_CHECKING:
    from ferrule import Context

_SLACK = 256  # bytes, for numbers that change with the content, and for what says that it was cut


def fitted(answer: dict[str, Any], context: Context) -> tuple[dict[str, Any], bool]:
    """The answer, its content cut to what fits, and JSON-LD left out from the last block on where that is not enough.

    Also whether anything was left out. The content keeps half of the room that there is before JSON-LD does.
    """
    if context.size(answer) + _SLACK <= context.max_bytes:
        return answer, False
    answer = _with_less_citation(_with_less_data(answer, context), context)
    room = context.max_bytes - _SLACK - context.size({**answer, "content": ""})
    return {**answer, "content": _cut_to_wire(answer["content"], room, context)}, True


def _with_less_data(answer: dict[str, Any], context: Context) -> dict[str, Any]:
    needed = min(context.max_bytes // 2, context.size(answer["content"]))
    data = answer.get("structuredData")
    while (
        data and context.size({**answer, "content": "", "structuredData": data}) + needed > context.max_bytes - _SLACK
    ):
        data = _with_less(data)
    rest = {name: value for name, value in answer.items() if name != "structuredData"}
    return {**answer, "structuredData": data} if data else rest


def _with_less_citation(answer: dict[str, Any], context: Context) -> dict[str, Any]:
    """With empty texts for the longest citations, where nothing else would leave any room: signs that TeX escapes."""
    citation = answer.get("citation", {})
    formatted = dict(citation.get("formatted", {}))
    while any(formatted.values()):
        shorter = {**answer, "citation": {**citation, "formatted": formatted}}
        if context.size({**shorter, "content": ""}) + _SLACK <= context.max_bytes:
            return shorter
        formatted[max(formatted, key=lambda style: len(formatted[style]))] = ""
    return answer


def _with_less(data: dict[str, Any]) -> dict[str, Any]:
    """Without the last block of JSON-LD, or the last value of the larger map."""
    name = "jsonLd" if "jsonLd" in data else max(data, key=lambda part: len(str(data[part])))
    part = data[name]
    less = part[:-1] if isinstance(part, list) else dict(list(part.items())[:-1])
    return {**data, name: less} if less else {key: value for key, value in data.items() if key != name}


def _cut_to_wire(content: str, room: int, context: Context) -> str:
    """The content cut to as many bytes as have room once they are written as JSON."""
    least, most = 0, len(content.encode())
    while least < most:
        middle = (least + most + 1) // 2
        if context.size(truncated(content, middle)) - 2 <= room:
            least = middle
        else:
            most = middle - 1
    return truncated(content, least)
