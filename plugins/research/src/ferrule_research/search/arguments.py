"""What the arguments of a search may be, beyond what the schema says."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule.text.json_types import JSONMapping

MAX_RESULTS = 10
DEFAULT_RESULTS = 5


def findings(arguments: JSONObject) -> list[str]:
    """What is wrong with the arguments of a call."""
    found = []
    if not arguments["query"].strip():
        found.append("query: it is blank")
    for name, what in (("language", "an ISO 639-1 code such as de"), ("country", "an ISO 3166-1 code such as DE")):
        code = arguments.get(name, "").strip()
        if code and not (len(code) == 2 and code.isascii() and code.isalpha()):
            found.append(f"{name}: {code[:20]!r} is not {what}")
    if arguments.get("site", "").strip() and not parse_domain(arguments["site"]):
        found.append(f"site: {arguments['site'][:60]!r} is not a domain, write it as example.com")
    lens = arguments.get("lens", "").strip()
    if lens:
        from ferrule_research.search.lenses import find_lenses

        if lens not in find_lenses():
            found.append(f"lens: there is no {lens[:40]!r}; available: {', '.join(find_lenses())}")
    return found


def normalise_texts(arguments: JSONMapping) -> JSONObject:
    """The arguments without blanks around texts, with the provider's name and codes in one case."""
    texts = {name: value.strip() if isinstance(value, str) else value for name, value in arguments.items()}
    for name in ("provider", "language"):
        if name in texts:
            texts[name] = texts[name].lower()
    return {**texts, "country": texts["country"].upper()} if "country" in texts else texts


def parse_domain(site: str) -> str:
    """The domain in ASCII and small letters; "" for what is none, or holds more than a domain, such as a path."""
    from ferrule_websearch import InvalidDomain, normalise_domain

    text = site.strip()
    if any(character in text for character in ":/?#@\\ \t"):
        return ""  # what it would lose may be what was meant
    try:
        return normalise_domain(text)
    except InvalidDomain:
        return ""
