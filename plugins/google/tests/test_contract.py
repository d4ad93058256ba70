"""Google as a search provider like any other."""

import pytest

import ferrule_google
from ferrule_testkit.search.provider_contract import ProviderContract
from ferrule_testkit.search.server import GOOGLE_KEY, Google, google_document, google_error, google_quota

pytestmark = pytest.mark.process


class TestContract(ProviderContract):
    plugin = ferrule_google
    name = "Google Custom Search"
    limit = 10
    served = 100
    key = GOOGLE_KEY
    fields = ("title", "link", "snippet")
    page = staticmethod(lambda first, size: {"start": first + 1, "num": size})
    provider = staticmethod(Google)
    document = staticmethod(google_document)
    with_fields = staticmethod(lambda hits: {"items": hits})
    refusal = staticmethod(lambda text: (403, google_error(403, "forbidden", text)))
    empty = (
        {"kind": "customsearch#search"},
        {"kind": "customsearch#search", "queries": {"request": [{}]}, "items": []},
        {"items": None, "queries": None},
    )
    too_many = (
        (google_quota("per minute", retry_delay="1s"), {}),
        (google_quota("per minute"), {"Retry-After": "1"}),
    )
    strange = (
        {"error": "went wrong"},
        {"error": {"errors": 7, "details": "text", "message": ["list"]}},
        {"error": {"errors": [None, 5, {"reason": {}}], "details": [None], "status": 5}},
        {"error": []},
        [],
        b"<html>",
    )
