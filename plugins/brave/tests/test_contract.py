"""Brave as a search provider like any other."""

import pytest

import ferrule_brave
from ferrule_testkit.search.provider_contract import ProviderContract
from ferrule_testkit.search.server import BRAVE_KEY, Brave, brave_document, brave_error, brave_rate_limited

pytestmark = pytest.mark.process


MONTH = {
    "X-RateLimit-Limit": "1, 15000",
    "X-RateLimit-Policy": "1;w=1, 15000;w=2592000",
    "X-RateLimit-Reset": "1, 1419704",
}


class TestContract(ProviderContract):
    plugin = ferrule_brave
    name = "Brave Search"
    limit = 20
    served = 200
    key = BRAVE_KEY
    published = "2026-01-02T03:04:05"
    fields = ("title", "url", "description")
    page = staticmethod(lambda first, size: {"offset": first, "count": size})
    provider = staticmethod(Brave)
    document = staticmethod(brave_document)
    with_fields = staticmethod(lambda hits: {"web": {"results": hits}})
    refusal = staticmethod(lambda text: (422, brave_error(422, "SUBSCRIPTION_TOKEN_INVALID", text)))
    empty = (
        {"type": "search"},
        {"type": "search", "web": None},
        {"type": "search", "web": {"type": "search"}},
        {"type": "search", "web": {"results": []}},
        {"type": "search", "query": None, "web": {"results": []}},
    )
    too_many = (
        (brave_rate_limited(), {**MONTH, "X-RateLimit-Remaining": "0, 14985"}),
        ({}, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"}),
        ({}, {**MONTH, "X-RateLimit-Remaining": "1, 14985"}),
        (
            brave_rate_limited(quota=0, used=0),  # a plan without a month
            {
                "X-RateLimit-Limit": "1, 0",
                "X-RateLimit-Policy": "1;w=1, 0;w=2592000",
                "X-RateLimit-Remaining": "0, 0",
                "X-RateLimit-Reset": "1, 1419704",
            },
        ),
        ({}, {"Retry-After": "1"}),
        (brave_rate_limited(), {}),
    )
    strange = (
        {"type": "ErrorResponse", "error": "went wrong"},
        {"error": {"detail": ["list"], "code": 5, "meta": "text"}},
        {"error": {"meta": {"errors": "text"}}},
        {"error": {"meta": {"errors": 7, "quota_limit": "many", "quota_current": None}}},
        {"error": []},
        [],
        b"\xff\xfe",
        b"",
    )
