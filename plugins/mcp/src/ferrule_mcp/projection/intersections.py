"""Alternatives of one type as one that takes what any of them takes. Which values go together is lost."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from ferrule_mcp.projection import limits
from ferrule_mcp.projection.alternatives import Alternative
from ferrule_mcp.projection.kinds import list_distinct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule import JSONObject
    from ferrule_mcp.projection.alternatives import Union

_MAX_UNION = 200
_LIMITS = (*limits.LEAST, *limits.MOST)


class Merged(NamedTuple):
    """alternative: takes all. is_wider: it takes more than they do. hints: by a property, when it is meant."""

    alternative: Alternative
    is_wider: bool
    hints: dict[str, str]


def merge(alternatives: list[Alternative]) -> Merged:
    """Make one of alternatives of one type. An integer and a number are numbers."""
    if len(alternatives) == 1:
        return Merged(alternatives[0], False, {})
    kinds = {one.kind for one in alternatives}
    merged = Alternative(
        kind=alternatives[0].kind if len(kinds) == 1 else "number",
        is_inferred=all(one.is_inferred for one in alternatives),
        is_cut=any(one.is_cut for one in alternatives),
        values=_join_values(alternatives),
        keywords=_join_keywords([one.keywords for one in alternatives]),
        properties=_join_properties(alternatives),
        required=[name for name in alternatives[0].required if all(name in one.required for one in alternatives)],
        items=_join_items(alternatives),
        extras=_join_extras(alternatives),
        is_open=any(one.is_open for one in alternatives),
    )
    # Scalars whose values are listed are exactly those values, whatever the alternatives were.
    is_exact = merged.values is not None and merged.kind not in ("object", "array")
    return Merged(merged, not is_exact and any(one != merged for one in alternatives), _list_hints(alternatives))


def list_item_schemas(one: Alternative) -> Union | None:
    """What an item of an array may be, wherever it stands; None for anything."""
    if not one.places:
        return one.items
    most = one.keywords.get("maxItems")
    has_more = not (limits.is_number(most) and most <= len(one.places)) and one.items != []
    if has_more and one.items is None:
        return None
    return _drop_repeats([*chain.from_iterable(one.places), *((one.items or []) if has_more else [])])


def _join_values(alternatives: list[Alternative]) -> list[object] | None:
    if any(one.values is None for one in alternatives):
        return None
    return list_distinct(value for one in alternatives for value in one.values or [])


def _join_keywords(all_keywords: list[JSONObject]) -> JSONObject:
    """What holds for each of them; of the texts, what any of them says."""
    joined: JSONObject = {}
    for keyword in dict.fromkeys(keyword for keywords in all_keywords for keyword in keywords):
        values = [keywords[keyword] for keywords in all_keywords if keyword in keywords]
        distinct = [value for index, value in enumerate(values) if value not in values[:index]]
        if keyword == "description":
            joined[keyword] = " Or: ".join(value for value in distinct if isinstance(value, str) and value)
        elif keyword in limits.TEXTS or (len(distinct) == 1 and len(values) == len(all_keywords)):
            joined[keyword] = distinct[0]
        elif len(values) == len(all_keywords) and keyword in _LIMITS and all(map(limits.is_number, values)):
            joined[keyword] = min(values) if keyword in limits.LEAST else max(values)
    return joined


def _join_properties(alternatives: list[Alternative]) -> dict[str, Union]:
    joined: dict[str, Union] = {}
    for one in alternatives:
        for name, union in one.properties.items():
            joined[name] = _drop_repeats([*joined.get(name, []), *union])
    return joined


def _join_items(alternatives: list[Alternative]) -> Union | None:
    unions = [list_item_schemas(one) for one in alternatives]
    if any(union is None for union in unions):
        return None
    return _drop_repeats(term for union in unions for term in union or [])


def _join_extras(alternatives: list[Alternative]) -> Union | None:
    if any(one.extras is None for one in alternatives):
        return None
    return _drop_repeats(term for one in alternatives for term in one.extras or [])


def _drop_repeats(union: Iterable[tuple[object, ...]]) -> Union:
    kept: Union = []
    for term in union:
        if term not in kept and len(kept) < _MAX_UNION:
            kept.append(term)  # type: ignore[arg-type] # they are terms, whatever they come from
    return kept


def _list_hints(alternatives: list[Alternative]) -> dict[str, str]:
    """For a property of some alternatives only: the values of the property that tells them apart."""
    if alternatives[0].kind != "object":
        return {}
    telling = next((name for name in alternatives[0].properties if _tells_apart(name, alternatives)), None)
    if telling is None:
        return {}
    hints = {}
    for name in dict.fromkeys(name for one in alternatives for name in one.properties):
        having = [one for one in alternatives if name in one.properties]
        if len(having) < len(alternatives):
            values = dict.fromkeys(str(_constant_of(one.properties[telling])) for one in having)
            hints[name] = f"With {telling} {' or '.join(values)}"
    return hints


def _tells_apart(name: str, alternatives: list[Alternative]) -> bool:
    values = [_constant_of(one.properties.get(name, [])) for one in alternatives]
    return None not in values and len(set(values)) == len(values)


def _constant_of(union: Union) -> str | None:
    """The one text that a property may have; None where it may have others."""
    for source in union[0] if len(union) == 1 else ():
        if isinstance(source.schema, dict):
            values = [source.schema["const"]] if "const" in source.schema else source.schema.get("enum")
            if isinstance(values, list) and len(values) == 1 and isinstance(values[0], str):
                return values[0]
    return None
