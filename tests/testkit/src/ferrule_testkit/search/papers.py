"""A service of papers for tests of many tools: OpenAlex with one paper, and no other service."""

import json
from typing import Any

from ferrule_dev.testing import Exchange, Server

PAPERS_PATH = "/openalex"
TITLE = "Deep learning of many things"
_OTHERS = ("ARCHIVE", "ARXIV", "CROSSREF", "DOI", "EUROPE_PMC", "PUBMED", "SEMANTIC_SCHOLAR", "UNPAYWALL")
_PAPER = {"id": "https://openalex.org/W1", "display_name": TITLE, "publication_year": 2015, "referenced_works": []}

PAPER_CALLS: dict[str, dict[str, Any]] = {
    "academic_search": {"query": TITLE},
    "citation_graph": {"paper": TITLE, "provider": "openalex"},
    "format_bibliography": {"sources": [{"url": "https://paper.example/", "title": TITLE}]},
    "verify_citation": {"citation": TITLE},
}
"""Arguments with which each tool of papers succeeds."""


def answer_papers(exchange: Exchange) -> None:
    """Be OpenAlex: one record by its number, else a list of it."""
    is_record = "/works/" in exchange.path
    document = _PAPER if is_record else {"meta": {"count": 1}, "results": [_PAPER]}
    exchange.answer(json.dumps(document).encode(), "application/json")


def paper_endpoints(server: Server) -> dict[str, str]:
    """The variables by which the tools of papers ask this server."""
    others = {f"FERRULE_{name}_ENDPOINT": f"{server.url}/no-service" for name in _OTHERS}
    return {**others, "FERRULE_OPENALEX_ENDPOINT": server.url + PAPERS_PATH}
