"""What EPO and USPTO are asked, what is made of their answers, and how their refusals are told."""

from types import ModuleType
from typing import Any

import pytest

from ferrule import ToolError
from ferrule_dev.testing import Exchange, Server, context
from ferrule_patents import epo, uspto
from ferrule_testkit.schemas.declared_results import require_declared_shape
from ferrule_testkit.search.kinds import sends
from ferrule_testkit.search.patents import (
    EPO_PATH,
    EPO_TOKEN_PATH,
    SECRETS,
    USPTO_PATH,
    Patent,
    epo_document,
    epo_fault,
    uspto_document,
)

pytestmark = pytest.mark.process

OFFICES = {"epo": (epo, EPO_PATH), "uspto": (uspto, USPTO_PATH)}
both = pytest.mark.parametrize("office", OFFICES)


def search(tool: ModuleType, **arguments: Any) -> dict[str, Any]:
    name = tool.schema()["name"]
    answer: dict[str, Any] = tool.execute({"query": "umbrella", **arguments}, context(name, seconds=20))
    require_declared_shape(name, answer)
    return answer


def error(tool: ModuleType, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as raised:
        search(tool, **arguments)
    for secret in SECRETS:
        assert secret not in f"{raised.value.message} {raised.value.hint}"
    return raised.value


def answers(server: Server, path: str, body: bytes, status: int, **headers: str) -> None:
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    server.route(path, lambda exchange: exchange.answer(body, "application/xml", status=status, headers=told))


@both
def test_a_patent_has_number_owner_and_dates(office: str) -> None:
    (patent,) = search(OFFICES[office][0])["results"]
    assert patent["title"] == "Umbrella frame"
    assert patent["filed"] == "2018-03-14"
    assert patent["number"] == ("EP1234567B1" if office == "epo" else "US10123456")
    assert patent["granted"] == ("2020-05-06" if office == "epo" else "2020-05-05")


@both
def test_nothing_found_is_an_empty_answer(server: Server, office: str) -> None:
    tool, path = OFFICES[office]
    body = epo_fault("SERVER.EntityNotFound", "No results found") if office == "epo" else b'{"code": "404"}'
    answers(server, path, body, 404)
    assert search(tool) == {"success": True, "results": [], "count": 0}


@both
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 200),
        (b"<html>Sign in</html>", 200),
        (b"<html>No such page</html>", 404),
        (b'{"ops:world-patent-data": 5, "patentFileWrapperDataBag": 5}', 200),
        ('{"title": "é'.encode("latin-1"), 200),
        (b"oh", 500),
    ],
    ids=["empty", "html", "html 404", "other shape", "other charset", "500"],
)
def test_what_is_no_answer_is_an_error(server: Server, office: str, body: bytes, status: int) -> None:
    tool, path = OFFICES[office]
    answers(server, path, body, status)
    assert error(tool).code == "API_ERROR"


@both
def test_half_an_answer_is_an_error(server: Server, office: str) -> None:
    def half(exchange: Exchange) -> None:
        exchange.answer(b'{"count": 1', "application/json", headers={"Content-Length": "999"})
        exchange.close_connection = True

    tool, path = OFFICES[office]
    server.route(path, half)
    assert error(tool).code in ("NETWORK_ERROR", "API_ERROR")


@pytest.mark.parametrize(
    ("body", "status", "headers", "code", "told"),
    [
        (epo_fault("CLIENT.InvalidQuery", "Bad CQL"), 400, {}, "INVALID_INPUT", "Bad CQL (CLIENT.InvalidQuery)"),
        (
            epo_fault("403", "Rejected"),
            403,
            {"X_Rejection_Reason": "IndividualQuotaPerHour", "Retry_After": "600000"},
            "RATE_LIMIT",
            "Ask again in 10 minutes",
        ),
        (
            epo_fault("403", "Rejected"),
            403,
            {"X_Rejection_Reason": "RegisteredQuotaPerWeek", "Retry_After": "7200000"},
            "RATE_LIMIT",
            "used up. EPO says: Rejected (403). It resets in 2 hours",
        ),
        (epo_fault("CLIENT.InvalidAccessToken", "Expired"), 400, {}, "AUTH_INVALID", "EPO refused the credentials"),
    ],
)
def test_epo_says_which_limit_it_was(
    server: Server, body: bytes, status: int, headers: dict[str, str], code: str, told: str
) -> None:
    answers(server, EPO_PATH, body, status, **headers)
    failure = error(epo)
    assert failure.code == code
    assert told in failure.message
    assert len([one for one in server.requests if one.target.startswith(EPO_PATH)]) == 1


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b'{"ErrorCode": "invalid_client"}', 401, "AUTH_INVALID"),
        (b"<h1>Down</h1>", 503, "API_ERROR"),
        (b"<h1>Sign in</h1>", 200, "API_ERROR"),
        (b'{"access_token": "two\\nlines"}', 200, "API_ERROR"),
        (b'{"access_token": 5}', 200, "API_ERROR"),
    ],
)
def test_without_a_token_epo_is_not_searched(server: Server, body: bytes, status: int, code: str) -> None:
    answers(server, EPO_TOKEN_PATH, body, status)
    assert error(epo).code == code
    assert [one for one in server.requests if one.target.startswith(EPO_PATH)] == []


def test_a_limit_of_uspto_is_waited_for_and_a_key_that_it_refuses_is_told(server: Server) -> None:
    answers(server, USPTO_PATH, b'{"message": "Too many"}', 429, Retry_After="600")
    assert error(uspto).retry_after == 600
    answers(server, USPTO_PATH, b'{"message": "Forbidden"}', 403)
    failure = error(uspto)
    assert (failure.code, "data.uspto.gov" in str(failure.hint)) == ("AUTH_INVALID", True)


def test_one_document_and_a_family_are_read_alike(server: Server) -> None:
    several = epo_document([Patent(number="1"), Patent(number="2")])
    result = several["ops:world-patent-data"]["ops:biblio-search"]["ops:search-result"]
    one, other = (group["exchange-document"] for group in result["exchange-documents"])
    result["exchange-documents"] = {"exchange-document": [one, other]}
    server.route(EPO_PATH, sends(several))
    assert [patent["number"] for patent in search(epo)["results"]] == ["EP1B1", "EP2B1"]
    result["exchange-documents"] = {"exchange-document": {"@country": "EP", "@doc-number": "3", "@kind": "A2"}}
    server.route(EPO_PATH, sends(several))
    assert search(epo)["results"] == [
        {
            "title": "",
            "url": "https://worldwide.espacenet.com/patent/search?q=pn%3DEP3A2",
            "snippet": "",
            "number": "EP3A2",
        }
    ]


def test_more_patents_than_are_looked_at_for_their_year_are_told(server: Server) -> None:
    server.route(EPO_PATH, sends(epo_document([Patent(number=str(n)) for n in range(1, 101)])))
    answer = search(epo, year_from=2018, count=3)
    assert answer["count"] == 3
    assert "of 100 patents, those of the years are returned" in answer["incomplete"]


def test_an_application_with_odd_facts_is_read_as_far_as_it_goes(server: Server) -> None:
    odd = {"filingDate": 5, "grantDate": "soon", "firstApplicantName": None, "inventionTitle": None}
    server.route(USPTO_PATH, sends(uspto_document(odd)))
    (patent,) = search(uspto)["results"]
    assert "filed" not in patent
    assert "granted" not in patent
    assert "assignee" not in patent


@both
@pytest.mark.parametrize(
    ("arguments", "finding"),
    [
        ({"query": " "}, "one of query, assignee, inventor, number is needed"),
        ({"query": "q", "cpc_code": "umbrella"}, "cpc_code"),
        ({"number": "12"}, "number"),
        ({"query": "q", "year_from": 2020, "year_to": 2019}, "year_from"),
    ],
)
def test_what_cannot_be_meant_is_told_before_an_office_is_asked(
    office: str, arguments: dict[str, Any], finding: str
) -> None:
    (found,) = OFFICES[office][0].validate(arguments)
    assert finding in found


def test_the_token_that_was_made_of_the_key_is_in_no_error(server: Server) -> None:
    def echo(exchange: Exchange) -> None:
        body = epo_fault("CLIENT.InvalidQuery", f"not by {exchange.headers['Authorization']}")
        exchange.answer(body, "application/xml", status=400)

    server.route(EPO_PATH, echo)
    assert "not by Bearer [redacted]" in error(epo).message or "not by Bearer ****" in error(epo).message
