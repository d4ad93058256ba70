"""The state of a page as HTML: the texts for readers in a tree of data, with the names and facts of what has them."""

from __future__ import annotations

import json
from html import escape

from ferrule_fetch.embedded_data import flight, rich_text
from ferrule_fetch.embedded_data.literals import MAX_DEPTH
from ferrule_fetch.embedded_data.markup import is_markup, write_heading, write_inline, write_link, write_text
from ferrule_fetch.embedded_data.prose import is_prose, is_title
from ferrule_fetch.embedded_data.references import is_cache, link_cache

MAX_CHARS = 1 << 19

_TITLES = ("title", "headline", "heading", "name", "question", "subject", "label")
_ADDRESSES = ("url", "href", "link", "permalink", "path")
_FACTS = {
    "author": "author",
    "authors": "author",
    "byline": "author",
    "username": "author",
    "user": "author",
    "publishedat": "published",
    "datepublished": "published",
    "published": "published",
    "date": "date",
    "createdat": "date",
    "startdate": "from",
    "enddate": "until",
    "location": "place",
    "address": "place",
    "price": "price",
    "amount": "price",
    "currency": "currency",
    "brand": "brand",
    "availability": "availability",
    "rating": "rating",
    "score": "score",
    "votes": "votes",
    "points": "points",
    "upvotes": "votes",
}
_MAX_FACT_CHARS = 100
_MANY_MESSAGES, _MAX_MESSAGE_CHARS = 8, 200
_MIN_TITLE_WORDS = 3  # of something of which nothing else is known
_CHROME = frozenset(
    {"i18n", "_nexti18next", "translations", "locales", "dictionary", "intl", "labels", "strings", "env", "ssr"}
    | {"config", "runtimeconfig", "publicruntimeconfig", "settings", "analytics", "tracking", "gtm", "cookies"}
    | {"cookie", "cookieconsent", "consent", "gdpr", "seo", "meta", "metadata", "head", "opengraph", "classname"}
    | {"class", "style", "styles", "css", "theme", "query", "__typename", "featureflags", "flags", "experiments"}
    | {"navigation", "nav", "menu", "menus", "footer", "header", "breadcrumbs", "sidebar", "notfound", "forbidden"}
    | {"unauthorized", "loading", "error", "errors", "fallback", "template", "alt", "sizes", "srcset", "useragent"}
    | {"routes", "future", "manifest", "assets", "scripts", "pinia_debug", "newsletter", "g"}
)
_UNSEEN_TAGS = frozenset(["script", "style", "link", "meta", "title", "head", "template", "noscript", "base", "iframe"])
_BARE_TAGS = frozenset(["html", "body"])
_ATTRIBUTES = {
    **{name: name for name in ("href", "src", "alt", "title", "id", "role", "start", "aria-label", "aria-hidden")},
    "className": "class",
    "colSpan": "colspan",
    "rowSpan": "rowspan",
    "dateTime": "datetime",
    "hidden": "hidden",
}
_ELEMENT_PARTS = 4  # "$", type, key, properties


class StateWriter:
    """Writes data as HTML. said: texts that stand elsewhere, and are not written again. Each object is written once.

    chars: how much it has written.
    """

    def __init__(self, said: set[str] | None = None) -> None:
        self._said = set() if said is None else said
        self._pieces: list[str] = []
        self.chars = 0
        self._level = 0
        self._seen: dict[int, object] = {}  # which are kept, so that no other gets the number of one
        self._rows: dict[str, object] = {}

    def html(self) -> str:
        """What was written."""
        return "".join(self._pieces)

    def write(self, value: object) -> None:
        """Write a tree of data."""
        self._walk(value, "", 0)

    def write_rows(self, rows: dict[str, object]) -> None:
        """Write the values of a stream of React: what the first one is made of, then what else came."""
        self._rows = rows
        self._walk(rows.pop("0", None), "", 0)
        while rows:
            self._walk(rows.pop(next(iter(rows))), "", 0)

    def _put(self, piece: str) -> None:
        self.chars += len(piece)
        if self.chars <= MAX_CHARS:
            self._pieces.append(piece)

    def _walk(self, value: object, key: str, depth: int) -> None:
        if depth > MAX_DEPTH or self.chars > MAX_CHARS:
            return
        if isinstance(value, str):
            self._write_string(value, key, depth)
        elif isinstance(value, dict | list) and id(value) not in self._seen:
            self._seen[id(value)] = value
            if isinstance(value, dict):
                self._walk_object(value, depth)
            elif _is_element(value):
                self._write_element(value, depth)
            else:
                for one in value:
                    self._walk(one, key, depth + 1)

    def _write_string(self, text: str, key: str, depth: int) -> None:
        if self._rows and text.startswith("$"):
            self._walk(flight.find_row(text, self._rows), key, depth + 1)
        elif text[:1] in ("{", "[") and text[-1:] in ("}", "]"):
            try:
                self._walk(json.loads(text), key, depth + 1)
            except (ValueError, RecursionError):
                return
        elif (is_markup(text) or is_prose(text)) and text not in self._said:
            self._said.add(text)
            self._put(write_text(text))

    def _walk_object(self, value: dict[str, object], depth: int) -> None:
        if rich_text.is_rich(value):
            self._put(f"<div>{rich_text.write_tree(value)}</div>")
        elif is_cache(value):
            for one in link_cache(value):
                self._walk(one, "", depth + 1)
        else:
            self._write_object(value, depth)

    def _write_object(self, value: dict[str, object], depth: int) -> None:
        title_key = next((key for key in _TITLES if is_title(value.get(key))), "")
        title = str(value.get(title_key, "")).strip()
        facts = _write_facts(value)
        if not title and _is_dictionary(value):
            return
        begin = len(self._pieces)
        self._level += bool(title)
        for key, one in value.items():
            if not (key == title_key or _is_chrome(key, one)):
                self._walk(one, key, depth + 1)
        if len(self._pieces) > begin:
            self._pieces.insert(begin, (write_heading(title, self._level) if title else "") + _wrap(facts))
        elif title and (facts or (_address_of(value) and len(title.split()) >= _MIN_TITLE_WORDS)):
            self._put(_wrap(write_link(title, _address_of(value)) + (f": {facts}" if facts else "")))
        self._level -= bool(title)

    def _write_element(self, element: list[object], depth: int) -> None:
        name, properties = element[1], element[3]
        if not isinstance(name, str) or not isinstance(properties, dict):
            return
        if name.startswith("$") or not name.replace("-", "").isalnum():
            for key, one in properties.items():
                if key == "children":
                    self._flow(one, depth + 1)
                elif not _is_chrome(key, one):
                    self._walk(one, key, depth + 1)
        elif name in _BARE_TAGS:
            self._flow(properties.get("children"), depth + 1)
        elif name not in _UNSEEN_TAGS:
            self._put(f"<{name}{_write_attributes(properties)}>")
            self._flow(properties.get("children"), depth + 1)
            self._put_markup(properties.get("dangerouslySetInnerHTML"))
            self._put(f"</{name}>")

    def _put_markup(self, holder: object) -> None:
        markup = holder.get("__html") if isinstance(holder, dict) else None
        if isinstance(markup, str) and self._rows and markup.startswith("$"):
            markup = flight.find_row(markup, self._rows)
        if isinstance(markup, str):
            self._put(write_inline(markup))

    def _flow(self, value: object, depth: int) -> None:
        """Write what stands between the tags of an element."""
        if depth > MAX_DEPTH or self.chars > MAX_CHARS:
            return
        if isinstance(value, str) and value.startswith("$") and self._rows:
            self._flow(flight.find_row(value, self._rows), depth + 1)
        elif isinstance(value, str):
            self._put(escape(value, quote=False))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            self._put(str(value))
        elif isinstance(value, list) and not _is_element(value):
            for one in value:
                self._flow(one, depth + 1)
        else:
            self._walk(value, "", depth + 1)


def _is_element(value: list[object]) -> bool:
    return len(value) >= _ELEMENT_PARTS and value[0] == "$" and isinstance(value[3], dict)


def _is_chrome(key: str, value: object) -> bool:
    """Whether a part of an object is about the site, or for programs."""
    name = key.lower().replace("_", "") if not key.startswith("_") else key.lower()
    return (
        name in _CHROME
        or (name == "messages" and isinstance(value, dict))
        or (name in _FACTS and bool(_words_of(value)))
    )


def _is_dictionary(value: dict[str, object]) -> bool:
    """Whether it holds the sentences of buttons and messages, many and short ones under names of their own."""
    texts = [text for text in value.values() if isinstance(text, str) and is_prose(text)]
    return len(texts) >= _MANY_MESSAGES and max(map(len, texts)) <= _MAX_MESSAGE_CHARS


def _write_facts(value: dict[str, object]) -> str:
    found: dict[str, str] = {}
    for key, one in value.items():
        label = _FACTS.get(key.lower().replace("_", ""))
        if label and label not in found and (words := _words_of(one)):
            found[label] = words
    return ", ".join(f"{label} {escape(words, quote=False)}" for label, words in found.items())


def _words_of(value: object, *, may_be_list: bool = True) -> str:
    """A fact in words: a text, a number, the name of an object, or those of a list, which may contain itself."""
    if isinstance(value, list) and value and may_be_list:
        facts = (_words_of(one, may_be_list=False) for one in value[:5])
        return ", ".join(filter(None, facts))[:_MAX_FACT_CHARS]
    if isinstance(value, dict):
        value = next((value[key] for key in ("name", "amount", "value", "username") if key in value), None)
    is_word = isinstance(value, str | int | float) and not isinstance(value, bool)
    words = str(value).strip() if is_word else ""
    return words if len(words) <= _MAX_FACT_CHARS and not words.startswith(("$", "{", "[", "http")) else ""


def _address_of(value: dict[str, object]) -> str:
    found = next((value[key] for key in _ADDRESSES if isinstance(value.get(key), str)), "")
    return found if isinstance(found, str) and len(found) <= 2_000 else ""


def _wrap(words: str) -> str:
    return f"<p>{words}</p>" if words else ""


def _write_attributes(properties: dict[str, object]) -> str:
    written = []
    for name, value in properties.items():
        if name == "style" and isinstance(value, dict):
            written.append(f' style="{escape(_write_style(value))}"')
        elif name in _ATTRIBUTES and isinstance(value, str | int) and value is not False:
            written.append(f' {_ATTRIBUTES[name]}="{escape(str(value))}"')
    return "".join(written)


def _write_style(style: dict[str, object]) -> str:
    """A style as an attribute has it, by which hidden text is found."""
    values = {name: value for name, value in list(style.items())[:50] if isinstance(value, str | int | float)}
    return ";".join(f"{_hyphenate(name)}:{value}" for name, value in values.items())


def _hyphenate(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name[:50])
