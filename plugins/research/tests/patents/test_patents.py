"""What a search for patents asks of the offices and of the web, and what it answers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ferrule_dev.testing import Exchange
from ferrule_testkit.search.kinds import sends
from ferrule_testkit.search.patents import (
    EPO_PATH,
    EPO_TOKEN_PATH,
    KEYS,
    SECRETS,
    USPTO_PATH,
    Patent,
    epo_document,
    epo_fault,
    put_up_offices,
    uspto_document,
)
from ferrule_testkit.search.server import BRAVE_PATH, Hit, brave_document
from ferrule_testkit.web.kinds_web import KindsWeb, ignored, kinds_web
from ferrule_testkit.web.research_web import fails

pytestmark = pytest.mark.process

PAGES = [
    Hit("US1234567B2 - Umbrella frame - Google Patents", "https://patents.google.com/patent/US1234567B2/en", "Folds."),
    Hit("Umbrella frame", "https://patents.google.com/patent/US1234567B2/de", "The same one."),
    Hit("Search", "https://patents.google.com/?q=umbrella", "No patent."),
    Hit("EP7654321A1 - Handle - Google Patents", "https://patents.google.com/patent/EP7654321A1/en", "A handle."),
]
USPTO_ALONE = {"USPTO_API_KEY": KEYS["USPTO_API_KEY"]}
EPO_ALONE = {name: value for name, value in KEYS.items() if name.startswith("EPO")}


@pytest.fixture
def web(tmp_path: Path) -> Iterator[KindsWeb]:
    """The web and both offices; which keys there are, each test says."""
    with kinds_web("patent_search", tmp_path) as web:
        web.environment |= put_up_offices(web.server)
        web.server.route(BRAVE_PATH, sends(brave_document(PAGES)))
        yield web


def numbers(document: dict[str, Any]) -> list[str]:
    return [one["number"] for one in document["patents"]]


@pytest.mark.slow
def test_without_a_key_the_web_is_searched_and_the_answer_says_so(web: KindsWeb) -> None:
    document = web.found(query="umbrella frame", year_from=2010, cpc_code="A45B")
    assert document["patents"] == [
        {
            "title": "Umbrella frame",
            "number": "US1234567B2",
            "url": "https://patents.google.com/patent/US1234567B2/en",
            "abstract": "Folds.",
        },
        {
            "title": "Handle",
            "number": "EP7654321A1",
            "url": "https://patents.google.com/patent/EP7654321A1/en",
            "abstract": "A handle.",
        },
    ]
    assert document["source"] == "web_search"
    assert "no key of a patent office is set" in document["warning"]
    assert "cacheable" not in document["_meta"]
    assert set(ignored(document)) >= {"year_from", "cpc_code"}
    assert web.asked(BRAVE_PATH)[0]["q"] == "umbrella frame A45B site:patents.google.com"
    assert web.asked(EPO_TOKEN_PATH) == []


@pytest.mark.slow
def test_nothing_among_the_pages_of_the_web_is_a_matter_of_what_is_covered(web: KindsWeb) -> None:
    web.server.route(BRAVE_PATH, sends(brave_document([PAGES[2]])))
    document = web.found(query="umbrella frame", assignee="Frames Inc", provider="brave")
    assert document["patents"] == []
    assert (document["hints"]["reason"], document["hints"]["filtersApplied"]) == ("coverage_miss", ["assignee"])


@pytest.mark.slow
def test_what_was_found_is_a_source_of_the_session(web: KindsWeb) -> None:
    step = {"searchStep": "Look.", "stepNumber": 1, "nextStepNeeded": True}
    session = web.answer("sequential_search", step)["sessionId"]
    assert "sessionId" not in ignored(web.found(sessionId=session))
    overview = web.answer("get_research_session", {"sessionId": session})
    assert [(one["title"], one["relevance"], "date" in one) for one in overview["sources"]] == [
        ("Umbrella frame", "patent", False),
        ("Handle", "patent", False),
    ]


@pytest.mark.slow
def test_an_office_is_no_filter_of_the_web_but_the_numbers_tell(web: KindsWeb) -> None:
    assert numbers(web.found(patent_office="EP")) == ["EP7654321A1"]
    assert numbers(web.found(patent_office="US", provider="brave")) == ["US1234567B2"]


def test_epo_gives_whole_records(web: KindsWeb) -> None:
    arguments = {"query": "umbrella frame", "assignee": "Acme", "cpc_code": "A45B25/02", "patent_office": "EP"}
    document = web.found(**arguments, environment=KEYS)
    (patent,) = document["patents"]
    assert patent.pop("abstract").startswith("A frame that folds.")
    assert patent == {
        "title": "Umbrella frame",
        "number": "EP1234567B1",
        "url": "https://worldwide.espacenet.com/patent/search?q=pn%3DEP1234567B1",
        "assignee": "ACME GMBH",
        "inventor": "DOE JANE; ROE RICHARD",
        "filed": "2018-03-14",
        "granted": "2020-05-06",
        "published": "2020-05-06",
    }
    assert (document["source"], document["searchType"]) == ("epo", "prior_art")
    assert "warning" not in document
    (asked,) = web.asked(EPO_PATH)
    assert asked["q"] == 'ta all "umbrella frame" and pa all "Acme" and cpc=A45B25/02 and pn=EP'
    assert document["searchUrl"] == "https://patents.google.com/?q=umbrella+frame+A45B25%2F02&assignee=Acme&country=EP"


def test_an_application_is_not_said_to_be_granted(web: KindsWeb) -> None:
    web.server.route(EPO_PATH, sends(epo_document([Patent(kind="A1")])))
    (patent,) = web.found(environment=EPO_ALONE)["patents"]
    assert (patent["number"], patent["published"], "granted" in patent) == ("EP1234567A1", "2020-05-06", False)


def test_years_are_those_of_the_filing(web: KindsWeb) -> None:
    patents = [Patent(number="1", filed="20181231"), Patent(number="2", filed="20190101"), Patent(number="3", filed="")]
    web.server.route(EPO_PATH, sends(epo_document(patents)))
    document = web.found(year_from=2019, year_to=2020, environment=EPO_ALONE)
    assert numbers(document) == ["EP2B1"]
    (asked,) = web.asked(EPO_PATH)
    assert asked["Range"] == "1-100"
    assert 'pd within "20190101 ' in asked["q"]
    assert document["searchUrl"].endswith("after=filing%3A20190101&before=filing%3A20210101")


def test_uspto_filters_by_filing_itself_and_an_application_has_no_number_of_a_patent(web: KindsWeb) -> None:
    pending = {"patentNumber": None, "grantDate": None, "applicationStatusDescriptionText": "Docketed"}
    unpublished = {**pending, "earliestPublicationNumber": None, "earliestPublicationDate": None}
    web.server.route(USPTO_PATH, sends(uspto_document({}, pending, unpublished)))
    document = web.found(
        query="umbrella", inventor='Jane "J" Doe', cpc_code="A45B", year_from=2018, environment=USPTO_ALONE
    )
    assert numbers(document) == ["US10123456", "US20190123456A1", ""]
    assert document["patents"][2]["url"] == "https://patentcenter.uspto.gov/applications/15921002"
    first = document["patents"][0]
    assert (first["granted"], first["status"], first["assignee"]) == ("2020-05-05", "Patented Case", "Acme Inc.")
    (asked,) = web.asked(USPTO_PATH)
    meta = "applicationMetaData"
    assert asked["q"] == f'(umbrella) AND {meta}.firstInventorName:"Jane J Doe" AND {meta}.cpcClassificationBag:A45B*'
    assert asked["rangeFilters"] == f"{meta}.filingDate 2018-01-01:2999-12-31"


@pytest.mark.slow
def test_uspto_is_passed_over_for_another_office(web: KindsWeb) -> None:
    document = web.found(patent_office="EP", environment=USPTO_ALONE)
    assert (document["source"], numbers(document)) == ("web_search", ["EP7654321A1"])
    assert "USPTO has the patents of the United States alone" in document["warning"]
    assert web.asked(USPTO_PATH) == []


@pytest.mark.slow
def test_where_one_office_fails_the_other_answers_and_then_the_web(web: KindsWeb) -> None:
    web.server.route(EPO_TOKEN_PATH, fails)
    document = web.found(environment=KEYS)
    assert document["source"] == "uspto"
    assert document["_meta"]["routing"]["fallback_reason"] == "epo: upstream_unavailable"
    web.server.route(USPTO_PATH, fails)
    document = web.found(environment=KEYS)
    assert document["source"] == "web_search"
    assert "no patent office answered" in document["warning"]
    assert document["_meta"]["cacheable"] is False


@pytest.mark.slow
def test_a_provider_that_is_asked_for_is_asked_alone(web: KindsWeb) -> None:
    web.server.route(USPTO_PATH, fails)
    assert web.failed(provider="uspto", environment=KEYS)["provider"] == "uspto"
    assert web.failed(provider="epo")["kind"] == "config"
    assert web.asked(BRAVE_PATH) == []


@pytest.mark.slow
def test_an_order_of_search_engines_says_nothing_about_offices(web: KindsWeb) -> None:
    assert web.found(environment={**KEYS, "SEARCH_ROUTING": "google,brave"})["source"] == "epo"
    order = {**KEYS, "SEARCH_ROUTING": '{"web": ["brave"], "patents": ["uspto"]}'}
    assert web.found(environment=order)["source"] == "uspto"


@pytest.mark.slow
def test_one_patent_is_looked_for_by_its_number(web: KindsWeb) -> None:
    document = web.found(query="ep 1234567 b1", search_type="specific", environment=EPO_ALONE)
    assert document["searchUrl"] == "https://patents.google.com/patent/EP1234567B1/en"
    assert web.asked(EPO_PATH)[0]["q"] == "pn=EP1234567"
    web.found(query="US10123456B2", search_type="specific", environment=USPTO_ALONE)
    assert web.asked(USPTO_PATH)[0]["q"] == "applicationMetaData.patentNumber:10123456"


def test_a_landscape_has_the_largest_owners_first(web: KindsWeb) -> None:
    owners = ["ACME GMBH [DE]", "BOLT INC [US]", "", "BOLT, INC. [US]"]
    patents = [Patent(number=str(place), owner=owner) for place, owner in enumerate(owners, 1)]
    web.server.route(EPO_PATH, sends(epo_document(patents)))
    document = web.found(search_type="landscape", environment=EPO_ALONE)
    assert numbers(document) == ["EP2B1", "EP4B1", "EP1B1", "EP3B1"]
    assert document["assigneeClusters"] == [{"assignee": "BOLT", "count": 2}, {"assignee": "ACME", "count": 1}]
    assert web.asked(EPO_PATH)[0]["Range"] == "1-28"


def test_nothing_found_is_no_error(web: KindsWeb) -> None:
    def none(exchange: Exchange) -> None:
        exchange.answer(epo_fault("SERVER.EntityNotFound", "No results found"), "application/xml", status=404)

    web.server.route(EPO_PATH, none)
    document = web.found(assignee="Acme", environment=EPO_ALONE)
    assert (document["patents"], document["resultCount"], document["source"]) == ([], 0, "epo")
    assert document["hints"]["filtersApplied"] == ["assignee"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"query": " "}, "query, assignee or inventor is needed"),
        ({"year_from": 2020, "year_to": 2019}, "year_from"),
        ({"search_type": "other"}, "search_type"),
        ({"patent_office": "XX"}, "patent_office"),
        ({"provider": "bing"}, "Unknown search provider 'bing'"),
    ],
)
def test_an_argument_that_is_wrong_is_an_error_of_the_kind_validation(
    web: KindsWeb, arguments: dict[str, Any], told: str
) -> None:
    failure = web.failed(**arguments)
    assert (failure["error_code"], failure["kind"]) == ("INVALID_INPUT", "validation")
    assert told in failure["error"]


@pytest.mark.slow
@pytest.mark.parametrize("keys", [USPTO_ALONE, KEYS], ids=["one", "both"])
def test_offices_that_never_answer_leave_time_for_a_search_of_the_web(web: KindsWeb, keys: dict[str, str]) -> None:
    for path in (USPTO_PATH, EPO_PATH, EPO_TOKEN_PATH):
        web.server.route(path, lambda exchange: exchange.hang())
    document = web.found(environment=keys)
    assert (document["source"], len(document["patents"])) == ("web_search", 2)
    assert "no patent office answered" in document["warning"]
    assert document["_meta"]["cacheable"] is False


@pytest.mark.slow
def test_no_key_is_in_any_output(web: KindsWeb) -> None:
    def refuses(exchange: Exchange) -> None:
        told = json.dumps({"message": f"{exchange.headers['X-API-KEY']} is no key"})
        exchange.answer(told.encode(), "application/json", status=403)

    web.server.route(USPTO_PATH, refuses)
    wrong = {**EPO_ALONE, "EPO_CONSUMER_SECRET": "an0therSecretOfTheTests", **USPTO_ALONE}
    for arguments in ({}, {"provider": "uspto"}, {"provider": "epo"}):
        done = web.run(**arguments, environment=wrong)
        for secret in (*SECRETS, "an0therSecretOfTheTests"):
            assert secret.encode() not in done.stdout + done.stderr
    assert web.failed(provider="epo", environment=wrong)["kind"] == "auth_required"
