"""One call: the parts of the document are made, and as many are given as an answer has room for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from ferrule_research.page.budget import largest
from ferrule_research.sessions.shape import TRUST, show_step
from ferrule_research.sessions.store import read_session

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule.text.json_types import JSONMapping
    from ferrule_research.sessions.model import Session, Source

_WITH_LINKS = ("markdown", "json")
_SLACK_BYTES = 64  # for the numbers of an answer that is not whole


class Document(NamedTuple):
    """A document in parts. join: makes what is given of some of them."""

    parts: Sequence[object]
    join: Callable[[Sequence[object]], object]


def export_session(arguments: JSONMapping, context: Context) -> JSONObject:
    """Do what `execute` promises."""
    session = read_session(arguments["sessionId"].strip())
    form, offset = arguments.get("format", "markdown"), arguments.get("offset", 0)
    sources = drop_repeats(session["sources"])
    is_checked, ignored = arguments.get("verify_links", False), []
    if is_checked and form not in _WITH_LINKS:
        ignored = [{"name": "verify_links", "why": f"{form} has no place for what comes of it"}]
    elif is_checked:
        from ferrule_research.export.links import check_links

        shown = max(0, offset - len(_make_document(form, session, []).parts))  # in an earlier part
        sources = [*sources[:shown], *check_links(sources[shown:], context)]
    document = _make_document(form, session, sources)
    answer: JSONObject = {
        "sessionId": session["sessionId"],
        "format": form,
        "researchGoal": session["researchGoal"],
        "stepCount": len(session["steps"]),
        "sourceCount": len(sources),
        "startedAt": session["startedAt"],
        **({"ignoredParameters": ignored} if ignored else {}),
        "trust": TRUST,
    }
    rest = document.parts[offset:]
    whole = {**answer, "document": document.join(rest)}
    if context.size(whole) <= context.max_bytes:
        return whole

    def has_room(count: int) -> bool:
        return context.size({**answer, "document": document.join(rest[:count])}) <= context.max_bytes - _SLACK_BYTES

    count = max(1, largest(len(rest), has_room))
    return {**answer, "document": document.join(rest[:count]), "truncated": True, "nextOffset": offset + count}


def drop_repeats(sources: Sequence[Source]) -> list[Source]:
    """Each source once: two addresses with one DOI are one work."""
    first: dict[str, Source] = {}
    for one in sources:
        first.setdefault(one.get("doi", "").lower() or one["url"], one)
    return list(first.values())


def _make_document(form: str, session: Session, sources: Sequence[Source]) -> Document:
    if form == "json":
        return Document([*_list_parts(session, sources)], _join_objects)
    if form == "markdown":
        from ferrule_research.export.markdown import write_parts

        return Document(write_parts(session, sources), _join_texts)
    from ferrule_research.export import bibliographies

    write, has_texts = bibliographies.FORMATS[form]
    return Document(write(sources), _join_texts if has_texts else list)


def _list_parts(session: Session, sources: Sequence[Source]) -> list[tuple[str, object]]:
    """Each part with the name of the list that it belongs to."""
    steps = [("steps", show_step(one, session)) for one in session["steps"]]
    return [*steps, *(("gaps", gap) for gap in session["gaps"]), *(("sources", source) for source in sources)]


def _join_objects(parts: Sequence[object]) -> JSONObject:
    document: dict[str, list[object]] = {"steps": [], "gaps": [], "sources": []}
    for name, value in cast("Sequence[tuple[str, object]]", parts):
        document[name].append(value)
    return document


def _join_texts(parts: Sequence[object]) -> str:
    return "\n\n".join(map(str, parts)) + "\n" if parts else ""
