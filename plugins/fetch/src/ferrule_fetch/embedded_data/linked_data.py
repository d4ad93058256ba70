"""JSON-LD as HTML: articles, products with offers, recipes, questions and answers, posts with votes, events, jobs."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from ferrule_fetch.embedded_data.literals import MAX_DEPTH
from ferrule_fetch.embedded_data.markup import write_heading, write_inline, write_link, write_text

# About the site, or about the page and not what is on it.
_CHROME = frozenset(
    {"WebSite", "Organization", "NewsMediaOrganization", "Corporation", "BreadcrumbList", "SiteNavigationElement"}
    | {"ImageObject", "SearchAction", "WPHeader", "WPFooter", "WPSideBar", "OnlineStore", "Brand"}
)
_TITLES = ("headline", "name", "title")
_FACTS = {
    "author": "By",
    "creator": "By",
    "datePublished": "Published",
    "dateCreated": "Published",
    "brand": "Brand",
    "sku": "SKU",
    "startDate": "From",
    "endDate": "Until",
    "location": "Place",
    "hiringOrganization": "Employer",
    "jobLocation": "Place",
    "employmentType": "Employment",
    "baseSalary": "Salary",
    "recipeYield": "Yield",
    "prepTime": "Preparation",
    "cookTime": "Cooking",
    "totalTime": "Total time",
    "address": "Address",
    "telephone": "Telephone",
    "upvoteCount": "Votes",
    "downvoteCount": "Votes against",
    "commentCount": "Comments",
    "answerCount": "Answers",
    "duration": "Duration",
    "aggregateRating": "Rating",
    "reviewRating": "Rating",
    "offers": "Price",
    "interactionStatistic": "Counted",
}
_TEXTS = ("description", "abstract", "articleBody", "reviewBody", "text", "transcript")
_LISTS = {"recipeIngredient": ("Ingredients", "ul"), "recipeInstructions": ("Steps", "ol"), "step": ("Steps", "ol")}
_PARTS = ("mainEntity", "acceptedAnswer", "suggestedAnswer", "itemListElement", "item", "hasPart", "review", "comment")
_WORDS = (
    *("name", "streetAddress", "addressLocality", "postalCode", "addressCountry", "address"),
    *("value", "minValue", "maxValue", "currency", "unitText"),
)
_BODY = "articleBody"
_MAX_VALUES = 200  # of one property


class LinkedDataWriter:
    """Writes objects of JSON-LD as HTML. said: the texts that it has written. body_chars: how long an article is."""

    def __init__(self) -> None:
        self.said: set[str] = set()
        self.body_chars = 0
        self._pieces: list[str] = []
        self._seen: dict[int, object] = {}

    def html(self) -> str:
        """What was written."""
        return "".join(self._pieces)

    def write(self, value: object, level: int = 1, depth: int = 0) -> None:
        """Write a block of JSON-LD: an object, a list, or a graph."""
        if depth > MAX_DEPTH or id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if isinstance(value, list):
            for one in value[:_MAX_VALUES]:
                self.write(one, level, depth + 1)
        elif isinstance(value, dict):
            self.write(value.get("@graph"), level, depth + 1)
            if not _CHROME & set(_types_of(value)):
                self._write_node(value, level, depth)

    def _write_node(self, node: dict[str, object], level: int, depth: int) -> None:
        title = next((text for key in _TITLES if (text := _words_of(node.get(key)))), "")
        facts = [f"{label}: {words}" for key, label in _FACTS.items() if (words := _fact_of(key, node.get(key)))]
        begin = len(self._pieces)
        for key in _TEXTS:
            self._write_text(node.get(key), is_body=key == _BODY)
        for key, (label, tag) in _LISTS.items():
            self._write_list(node.get(key), label, tag, level + 1)
        head = _write_facts(facts)
        is_item = len(self._pieces) == begin and not any(isinstance(node.get(key), dict | list) for key in _PARTS)
        if title and is_item and (facts or "Item" in "".join(_types_of(node))):
            self._pieces.append(f"<p>{write_link(title, _address_of(node))}</p>{head}")
        elif not is_item or facts:
            self._pieces.insert(begin, (write_heading(title, level) if title else "") + head)
        for key in _PARTS:
            self.write(node.get(key), min(level + 1, 6) if title else level, depth + 1)

    def _write_text(self, value: object, *, is_body: bool) -> None:
        for text in value[:_MAX_VALUES] if isinstance(value, list) else [value]:
            if isinstance(text, str) and text.strip() and text not in self.said:
                self.said.add(text)
                self.body_chars += len(text) * is_body
                self._pieces.append(write_text(text))

    def _write_list(self, value: object, label: str, tag: str, level: int) -> None:
        items = [f"<li>{write_inline(step)}</li>" for step in _steps_of(value, 0)]
        if items:
            self._pieces.append(f"{write_heading(label, level)}<{tag}>{''.join(items)}</{tag}>")


def _steps_of(value: object, depth: int) -> Iterator[str]:
    """The steps of instructions, which may be texts, objects, or sections of them."""
    if isinstance(value, str) and value.strip():
        yield value
    elif isinstance(value, list):
        for one in value[:_MAX_VALUES]:
            yield from _steps_of(one, depth + 1)
    elif isinstance(value, dict) and depth <= MAX_DEPTH:
        parts = value.get("itemListElement", value.get("step"))
        yield from _steps_of(parts or value.get("text") or value.get("name"), depth + 1)


def _types_of(node: dict[str, object]) -> list[str]:
    found = node.get("@type")
    names = found if isinstance(found, list) else [found]
    return [name.rstrip("/").rpartition("/")[2].rpartition(":")[2] for name in names if isinstance(name, str)]


def _words_of(value: object, depth: int = 0) -> str:
    """A value in one line: a text, a number, the name of an object, or of each in a list."""
    if isinstance(value, list) and depth <= MAX_DEPTH:
        return ", ".join(filter(None, (_words_of(one, depth + 1) for one in value[:10])))
    if isinstance(value, dict) and depth <= MAX_DEPTH:
        return ", ".join(filter(None, (_words_of(value.get(key), depth + 1) for key in _WORDS)))
    is_word = isinstance(value, str | int | float) and not isinstance(value, bool)
    return " ".join(str(value).split())[:300] if is_word else ""


def _fact_of(key: str, value: object) -> str:
    if key == "aggregateRating" or key == "reviewRating":
        return _rating_of(value)
    if key == "offers":
        offers = value if isinstance(value, list) else [value]
        return "; ".join(filter(None, map(_offer_of, offers[:20])))
    if key == "interactionStatistic":
        counters = value if isinstance(value, list) else [value]
        return ", ".join(filter(None, map(_count_of, counters[:10])))
    return _words_of(value)


def _rating_of(value: object) -> str:
    if not isinstance(value, dict) or not _words_of(value.get("ratingValue")):
        return ""
    best = _words_of(value.get("bestRating"))
    number = _words_of(value.get("ratingCount")) or _words_of(value.get("reviewCount"))
    return (
        _words_of(value["ratingValue"]) + (f" of {best}" if best else "") + (f" ({number} ratings)" if number else "")
    )


def _offer_of(value: object) -> str:
    if not isinstance(value, dict):
        return ""
    specification = value.get("priceSpecification")
    priced = value if "price" in value or not isinstance(specification, dict) else specification
    low, high = _words_of(value.get("lowPrice")), _words_of(value.get("highPrice"))
    price = _words_of(priced.get("price")) or (f"{low} to {high}" if high else low)
    name = "" if value.get("@type") == "AggregateOffer" else _words_of(value.get("name"))
    currency = _words_of(priced.get("priceCurrency")) or _words_of(value.get("priceCurrency"))
    availability = _words_of(value.get("availability")).rpartition("/")[2]
    return ", ".join(filter(None, [name, f"{price} {currency}".strip() if price else "", availability]))


def _count_of(value: object) -> str:
    if not isinstance(value, dict):
        return ""
    kind = value.get("interactionType")
    name = str(kind.get("@type", "") if isinstance(kind, dict) else kind or "").rpartition("/")[2]
    count = _words_of(value.get("userInteractionCount"))
    return f"{count} {name.removesuffix('Action').lower()}" if count and name else ""


def _write_facts(facts: list[str]) -> str:
    return "".join(f"<p>{escape(fact, quote=False)}</p>" for fact in facts)


def _address_of(node: dict[str, object]) -> str:
    found = node.get("url", node.get("@id"))
    return found if isinstance(found, str) else ""
