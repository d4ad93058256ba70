"""The texts of papers that PubMed Central gives."""

from typing import Any

import pytest

from ferrule_dev.testing import Server

from .conftest import REPLIES, Call, Reply, queries

pytestmark = pytest.mark.process

ARTICLE = """<article><front><article-meta>
<article-id pub-id-type="{kind}">{number}</article-id></article-meta></front>{body}<back><ref-list><title>Refs</title>
</ref-list></back></article>"""
BODY = """<body><sec><label>1</label><title>What <italic>was</italic> seen</title><p>Ileal <xref>nodes</xref> in
<italic>12</italic> children.<list><list-item><p>One of them.</p></list-item></list></p><table-wrap><caption>
<p>Ages.</p></caption><table><tr><td>5</td></tr></table></table-wrap></sec></body>"""
NUMBER = "7654321"


def put_up(reply: Reply, server: Server, *articles: str, status: int = 200) -> None:
    """PubMed has its paper in PubMed Central, which gives these articles."""
    records = (REPLIES / "pubmed-records.xml").read_text()
    records = records.replace("</ArticleIdList>", f'<ArticleId IdType="pmc">PMC{NUMBER}</ArticleId></ArticleIdList>', 1)
    reply("pubmed", "/esearch.fcgi", "pubmed-search.json")
    whole = f"<pmc-articleset>{''.join(articles)}</pmc-articleset>"

    def answer(exchange: Any) -> None:
        is_text = "db=pmc" in exchange.path
        body, code = (whole, status) if is_text else (records, 200)
        exchange.answer(body.encode(), "text/xml", status=code)

    reply("pubmed", "/efetch.fcgi", answer)


def find(call: Call, **arguments: Any) -> dict[str, Any]:
    return call("academic_search", query="deep learning", provider="pubmed", full_text=True, **arguments)


@pytest.mark.parametrize(("kind", "number"), [("pmc", NUMBER), ("pmcid", f"PMC{NUMBER}")])
def test_a_paper_has_its_headings_and_paragraphs(
    server: Server, call: Call, reply: Reply, kind: str, number: str
) -> None:
    put_up(reply, server, ARTICLE.format(kind=kind, number=number, body=BODY))
    answer = find(call)
    paper, other = sorted(answer["papers"], key=lambda one: "pmcid" not in one)
    assert "fullText" not in other
    assert paper["fullText"] == "What was seen\n\nIleal nodes in 12 children.One of them.\n\nAges."
    assert "fullTextTruncated" not in paper
    assert answer["checks"]["fullText"] == {"state": "checked"}
    searched, _, fetched = queries(server, "pubmed")
    assert searched["term"].endswith(' AND "pubmed pmc"[sb]')
    assert (fetched["db"], fetched["id"]) == ("pmc", NUMBER)


def test_parts_that_lie_in_each_other_without_end_cost_no_papers(server: Server, call: Call, reply: Reply) -> None:
    depth = 20_000
    body = f"<body><p>First.</p>{'<sec>' * depth}<p>Deep.</p>{'</sec>' * depth}<p>Last.</p></body>"
    put_up(reply, server, ARTICLE.format(kind="pmc", number=NUMBER, body=body))
    (text,) = [one["fullText"] for one in find(call)["papers"] if "fullText" in one]
    assert text == "First.\n\nDeep.\n\nLast."


def test_a_paper_whose_publisher_does_not_give_it_has_none(server: Server, call: Call, reply: Reply) -> None:
    put_up(reply, server, ARTICLE.format(kind="pmc", number=NUMBER, body=""))
    answer = find(call)
    assert not any("fullText" in one for one in answer["papers"])
    assert answer["checks"]["fullText"] == {"state": "checked"}


def test_a_long_text_is_cut_to_what_the_client_reads(server: Server, call: Call, reply: Reply) -> None:
    body = f"<body><p>{'Regen fällt überall. ' * 20_000}</p></body>"
    put_up(reply, server, ARTICLE.format(kind="pmc", number=NUMBER, body=body))
    paper = next(one for one in find(call)["papers"] if "pmcid" in one)
    assert paper["fullTextTruncated"] is True
    assert 40_000 < len(paper["fullText"].encode()) < 65_534
    assert paper["fullText"].endswith(" […]")


def test_texts_that_are_refused_cost_the_texts_alone(server: Server, call: Call, reply: Reply) -> None:
    put_up(reply, server, status=500)
    answer = find(call)
    assert answer["resultCount"] == 2
    assert answer["checks"]["fullText"] == {"state": "skipped", "why": "PubMed answered with HTTP 500."}
    assert answer["_meta"] == {"cacheable": False}
