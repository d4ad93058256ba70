"""A client's configuration file as a document in which one entry changes, and all else stays as its user wrote it."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any, cast

from ferrule.errors import FerruleError
from ferrule_serve.clients.definitions import JSON, TOML

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

_INDENT = "  "


class DocumentMalformed(FerruleError):
    """A client's file that cannot be read as what it should be; nothing of it is changed."""


def read_entry(text: str, form: str, keys: Sequence[str]) -> Any:
    """What stands at the end of a path of keys; None where nothing does. Raises DocumentMalformed."""
    found: Any = _plain(text, form)
    for key in keys:
        if not isinstance(found, dict):
            raise DocumentMalformed(f"what holds {key!r} in it is no object")
        if key not in found:
            return None
        found = found[key]
    return found


def set_entry(text: str, form: str, keys: Sequence[str], entry: JSONObject) -> str:
    """The document with the entry at the end of the path. Raises DocumentMalformed."""
    read_entry(text, form, keys)  # refuses what has anything but objects on the way
    if form == JSON and not _is_strict_json(text):
        return _change_commented_json(text, keys, entry)
    document, write = _open(text, form)
    holder = document
    for key in keys[:-1]:
        if key not in holder:
            holder[key] = _new_table(form, is_last=key == keys[-2])
        holder = holder[key]
    holder[keys[-1]] = entry
    return write(document)


def remove_entry(text: str, form: str, keys: Sequence[str]) -> str:
    """The document without the entry. What holds it stays, empty. Raises DocumentMalformed."""
    if read_entry(text, form, keys) is None:
        return text
    if form == JSON and not _is_strict_json(text):
        return _change_commented_json(text, keys, None)
    document, write = _open(text, form)
    holder = document
    for key in keys[:-1]:
        holder = holder[key]
    del holder[keys[-1]]
    return write(document)


def _plain(text: str, form: str) -> dict[str, Any]:
    """The document as plain dicts and lists; `{}` of an empty file."""
    if not text.strip():
        return {}
    try:
        content = _PARSERS[form](text)
    except Exception as error:  # noqa: BLE001 - each library has its own
        raise DocumentMalformed(f"it is not {form.upper()}: {str(error).splitlines()[0]}") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise DocumentMalformed("it holds no object")
    return content


def _parse_json(text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except ValueError:
        from json5.loader import loads

        return loads(text)  # with comments and trailing commas


def _parse_toml(text: str) -> Any:
    import tomllib

    return tomllib.loads(text)


def _parse_yaml(text: str) -> Any:
    from ruamel.yaml import YAML

    return YAML(typ="safe").load(text)


_PARSERS = {"json": _parse_json, "toml": _parse_toml, "yaml": _parse_yaml}


def _is_strict_json(text: str) -> bool:
    """Whether it is JSON without comments and trailing commas, or empty."""
    import json

    try:
        json.loads(text or "{}")
    except ValueError:
        return False
    return True


def _open(text: str, form: str) -> tuple[MutableMapping[str, Any], Callable[[object], str]]:
    """The document with its comments, and how it is written."""
    if form == JSON:
        import json

        end = "\n" if text.endswith("\n") or not text.strip() else ""
        is_one_line = text.strip() not in ("", "{}") and "\n" not in text.strip()
        space = None if is_one_line else _indent(text)
        marks = (",", ":") if is_one_line and '": ' not in text else None
        return _plain(
            text, form
        ), lambda document: json.dumps(document, indent=space, separators=marks, ensure_ascii=False) + end
    if form == TOML:
        import tomlkit

        return tomlkit.parse(text), lambda document: tomlkit.dumps(cast("Any", document))
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1 << 16  # no line of the user's is broken

    def write(document: object) -> str:
        stream = StringIO()
        yaml.dump(document, stream)
        return stream.getvalue()

    return yaml.load(text) or yaml.map(), write


def _indent(text: str) -> str:
    """What the first indented line begins with."""
    lines = (line[: len(line) - len(line.lstrip())] for line in text.splitlines())
    return next(filter(None, lines), _INDENT)


def _new_table(form: str, *, is_last: bool) -> Any:
    if form == TOML:
        import tomlkit

        return tomlkit.table(is_super_table=is_last)
    return {}


def _change_commented_json(text: str, keys: Sequence[str], entry: JSONObject | None) -> str:
    """The text with one member set, or removed where the entry is None. Comments and order stay."""
    from json5.dumper import ModelDumper, dumps
    from json5.loader import ModelLoader, loads

    model = loads(text if text.strip() else "{}", loader=ModelLoader())
    holder = model.value
    for depth, key in enumerate(keys[:-1], 1):
        if _member(holder, key) is None:
            _append(holder, key, {}, depth)
        holder = holder.values[_member(holder, key)]
    place = _member(holder, keys[-1])
    if entry is None:
        if place is not None:
            _remove(holder, place)
    elif place is None:
        _append(holder, keys[-1], entry, len(keys))
    else:
        holder.values[place] = _value(entry, len(keys), holder.values[place])
    return str(dumps(model, dumper=cast("Any", ModelDumper()))).rstrip("\n") + "\n"


def _member(holder: Any, key: str) -> int | None:
    names = [getattr(name, "characters", getattr(name, "name", None)) for name in holder.keys]
    return names.index(key) if key in names else None


def _value(content: object, depth: int, replaced: Any = None) -> Any:
    """A value as the model of the library, indented for its depth. replaced: whose comments around it stay."""
    import json

    from json5.loader import ModelLoader, loads

    text = json.dumps(content, indent=_INDENT, ensure_ascii=False).replace("\n", "\n" + _INDENT * depth)
    value = loads(text, loader=ModelLoader()).value
    value.wsc_before = [" "] if replaced is None else replaced.wsc_before
    value.wsc_after = [] if replaced is None else replaced.wsc_after
    return value


def _append(holder: Any, key: str, content: object, depth: int) -> None:
    """Add a member as the last one, on a line of its own."""
    import json

    from json5.loader import ModelLoader, loads

    name = loads(json.dumps(key, ensure_ascii=False), loader=ModelLoader()).value
    name.wsc_before, name.wsc_after = ["\n" + _INDENT * depth], []
    value = _value(content, depth)
    end = "\n" + _INDENT * (depth - 1)
    if holder.keys and holder.trailing_comma is None:
        last = holder.values[-1]
        kept = _without_last_break(last.wsc_after)  # a comment behind the last member stays behind its comma
        name.wsc_before = [*kept, *name.wsc_before]
        last.wsc_after = []
    if holder.trailing_comma is not None:
        name.wsc_before = [*_without_last_break(holder.trailing_comma.wsc_after), *name.wsc_before]
        holder.trailing_comma.wsc_after = [end]
    else:
        value.wsc_after = [end]
    if not holder.keys:
        name.wsc_before = [*_without_last_break(holder.leading_wsc or []), *name.wsc_before]
        holder.leading_wsc = []
    holder.keys.append(name)
    holder.values.append(value)


def _without_last_break(parts: Sequence[Any]) -> list[Any]:
    """White space and comments without the line break at their end, which another one takes the place of."""
    kept = list(parts)
    while kept and isinstance(kept[-1], str):
        kept.pop()
    return kept


def _remove(holder: Any, place: int) -> None:
    """Take a member away. What stands before it on the line of the member before stays there."""
    name, value = holder.keys.pop(place), holder.values.pop(place)
    kept = _without_last_break(name.wsc_before)
    if not holder.keys:
        holder.trailing_comma = None
        holder.leading_wsc = [*kept, *value.wsc_after] if kept else []
    elif place < len(holder.keys):
        holder.keys[place].wsc_before = [*kept, *holder.keys[place].wsc_before]
    elif holder.trailing_comma is None:
        holder.values[-1].wsc_after = [*holder.values[-1].wsc_after, *kept, *value.wsc_after]
    else:
        holder.trailing_comma.wsc_after = [*kept, *holder.trailing_comma.wsc_after]
