"""What the markup of a part says of it: cards, headlines, tables of data, links within a site."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule_fetch.tree.nodes import Document, Element

LINKED_HEADINGS = "h2 a,h3 a,h4 a,h5 a,h6 a,a h2,a h3,a h4,a h5,a h6"
CARD_LONGEST = 400  # characters of a card
HEADLINE_SHORTEST = 30  # characters of a link that is a headline
DATA_ROWS, DATA_COLUMNS, DATA_CELLS = 10, 5, 11  # of a table of data without a heading, at least one of these


def holds_cards(element: Element, length: float) -> bool:
    """Whether it is mostly cards: linked headings, each with little text. length: characters of its text."""
    cards = [link for link in element.select(LINKED_HEADINGS) if not (link.attr("href") or "").startswith("#")]
    return len(cards) >= 2 and length / len(cards) < CARD_LONGEST


def holds_headlines(element: Element) -> bool:
    """Whether its links are as long as headlines are."""
    links = element.select("a")
    return bool(links) and sum(len(link.text.strip()) for link in links) / len(links) >= HEADLINE_SHORTEST


def is_data(table: Element) -> bool:
    """Whether a table is no layout."""
    if table.attr("role") == "presentation":
        return False
    if table.attr("summary") or table.select_one("caption,col,colgroup,tfoot,thead,th"):
        return True
    if table.select_one("table"):
        return False
    rows = table.select("tr")
    columns = max((len(row.select("td")) for row in rows), default=0)
    if len(rows) < 2 or columns < 2:
        return False
    return len(rows) >= DATA_ROWS or columns >= DATA_COLUMNS or len(rows) * columns >= DATA_CELLS


def own_hosts(tree: Document) -> set[str]:
    """The hosts of links that stay on the page's site; the empty one is that of an address without a host."""
    found = tree.select("link[rel=canonical],meta[property='og:url']")
    return {"", *(host_of(element.attr("href") or element.attr("content") or "") for element in found)}


def host_of(address: str) -> str:
    """The host that an address names, empty where it names none."""
    _, slashes, rest = address.partition("//")
    return rest.partition("/")[0].removeprefix("www.").lower() if slashes else ""
