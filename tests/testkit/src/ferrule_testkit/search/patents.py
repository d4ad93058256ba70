"""What the offices for patents send, by the shapes of their references, and the keys of the tests."""

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ferrule_dev.testing import Exchange, Server
from ferrule_testkit.search.kinds import Route, sends

EPO_PATH, EPO_TOKEN_PATH = "/epo/rest-services/published-data/search/biblio", "/epo/auth/accesstoken"
USPTO_PATH = "/uspto"
EPO_KEY, EPO_SECRET, USPTO_KEY = "k3yOfTheTestsAtEpo0123", "s3cretOfTheTestsAtEpo", "k3yoftheteststatuspto0123456789"
_TOKEN = "t0kenOfTheTestsAtEpo"
KEYS = {"EPO_CONSUMER_KEY": EPO_KEY, "EPO_CONSUMER_SECRET": EPO_SECRET, "USPTO_API_KEY": USPTO_KEY}
SECRETS = (EPO_SECRET, USPTO_KEY, _TOKEN, b64encode(f"{EPO_KEY}:{EPO_SECRET}".encode()).decode())


class Patent(NamedTuple):
    """A patent as a test wants it. filed, published: YYYYMMDD."""

    title: str = "Umbrella frame"
    number: str = "1234567"
    kind: str = "B1"
    owner: str = "ACME GMBH [DE]"
    filed: str = "20180314"
    published: str = "20200506"


def epo_document(patents: Iterable[Patent]) -> dict[str, Any]:
    """An answer of the EPO to a search with bibliographic data."""
    found = {
        "@begin": "1",
        "@end": "9",
        "ops:search-result": {"exchange-documents": [{"exchange-document": _exchange(one)} for one in patents]},
        "@total-result-count": "9",
    }
    return {"ops:world-patent-data": {"@xmlns": {"ops": "http://ops.epo.org"}, "ops:biblio-search": found}}


def _exchange(one: Patent) -> dict[str, Any]:
    names = [
        {"@sequence": "1", "@data-format": "epodoc", "applicant-name": {"name": {"$": one.owner}}},
        {"@sequence": "1", "@data-format": "original", "applicant-name": {"name": {"$": "Acme GmbH"}}},
    ]
    inventors = [
        {"@sequence": "1", "@data-format": "epodoc", "inventor-name": {"name": {"$": "DOE JANE [DE]"}}},
        {"@sequence": "2", "@data-format": "epodoc", "inventor-name": {"name": {"$": "ROE RICHARD [US]"}}},
    ]
    return {
        "@system": "ops.epo.org",
        "@country": "EP",
        "@doc-number": one.number,
        "@kind": one.kind,
        "bibliographic-data": {
            "publication-reference": {"document-id": [_id("docdb", one.published), _id("epodoc", one.published)]},
            "application-reference": {"@doc-id": "1", "document-id": [_id("docdb", ""), _id("epodoc", one.filed)]},
            "parties": {"applicants": {"applicant": names if one.owner else []}, "inventors": {"inventor": inventors}},
            "invention-title": [{"@lang": "de", "$": "Schirmgestell"}, {"@lang": "en", "$": one.title}],
        },
        "abstract": {"@lang": "en", "p": {"$": "A frame that folds. " * 40}},
    }


def _id(form: str, date: str) -> dict[str, Any]:
    return {"@document-id-type": form, "doc-number": {"$": "1"}, **({"date": {"$": date}} if date else {})}


def epo_fault(code: str, message: str) -> bytes:
    """A refusal of the EPO, which is XML."""
    parts = f"<code>{code}</code><message>{message}</message>"
    return f'<?xml version="1.0"?><fault xmlns="http://ops.epo.org">{parts}</fault>'.encode()


def uspto_document(*applications: Mapping[str, Any]) -> dict[str, Any]:
    """An answer of the USPTO. applications: what differs from a granted one."""
    bag = []
    for place, one in enumerate(applications):
        meta = {
            "inventionTitle": "Umbrella frame",
            "filingDate": "2018-03-14",
            "grantDate": "2020-05-05",
            "patentNumber": "10123456",
            "earliestPublicationNumber": "US 2019-0123456 A1",
            "earliestPublicationDate": "2019-09-19",
            "applicationStatusDescriptionText": "Patented Case",
            "firstApplicantName": "Acme Inc.",
            "firstInventorName": "Jane Doe",
            "cpcClassificationBag": ["A45B  25/02"],
            **one,
        }
        bag.append({"applicationNumberText": str(15921000 + place), "applicationMetaData": meta})
    return {"count": len(bag), "patentFileWrapperDataBag": bag, "requestIdentifier": "5b6f"}


def gives_token(exchange: Exchange) -> None:
    """The EPO's route for tokens, which knows one key."""
    expected = b64encode(f"{EPO_KEY}:{EPO_SECRET}".encode()).decode()
    body, given = exchange.read_body(), exchange.headers["Authorization"]
    if given != f"Basic {expected}" or body != b"grant_type=client_credentials":
        exchange.answer(b'{"ErrorCode": "invalid_client"}', "application/json", status=401)
    else:
        token = {"access_token": _TOKEN, "token_type": "BearerToken", "expires_in": "1199"}
        exchange.answer(json.dumps(token).encode(), "application/json")


def put_up_offices(server: Server) -> dict[str, str]:
    """Have a server answer as both offices; the variables by which tools ask it, without the keys."""
    server.route(EPO_TOKEN_PATH, gives_token)
    server.route(EPO_PATH, needs("Authorization", f"Bearer {_TOKEN}", sends(epo_document([Patent()]))))
    server.route(USPTO_PATH, needs("X-API-KEY", USPTO_KEY, sends(uspto_document({}))))
    return {"FERRULE_EPO_ENDPOINT": server.url + "/epo", "FERRULE_USPTO_ENDPOINT": server.url + USPTO_PATH}


def needs(header: str, value: str, route: Route) -> Route:
    """A route that refuses what does not have a header."""

    def answer(exchange: Exchange) -> None:
        if exchange.headers[header] == value:
            route(exchange)
        else:
            exchange.answer(b'{"message": "Forbidden"}', "application/json", status=403)

    return answer
