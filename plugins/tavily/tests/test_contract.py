"""Tavily as a search provider like any other."""

import pytest

import ferrule_tavily
from ferrule_testkit.search.posted import PUBLISHED, TAVILY_KEY, Tavily, tavily_document, tavily_error
from ferrule_testkit.search.provider_contract import ProviderContract

pytestmark = pytest.mark.process


class TestContract(ProviderContract):
    plugin = ferrule_tavily
    name = "Tavily"
    method = "POST"
    limit = 20
    served = 20
    filtered = 2
    key = TAVILY_KEY
    published = PUBLISHED
    fields = ("title", "url", "content")
    page = staticmethod(lambda first, size: {"offset": first, "count": size})
    provider = staticmethod(Tavily)
    document = staticmethod(tavily_document)
    with_fields = staticmethod(lambda hits: {"results": hits})
    refusal = staticmethod(lambda text: (401, tavily_error(text)))
    empty = ({"results": []}, {"query": "q", "results": [], "answer": None})
    too_many = (
        (tavily_error("Your request has been blocked due to excessive requests."), {"Retry-After": "1"}),
        ({}, {"Retry-After": "1"}),
    )
    strange = (
        {"detail": "went wrong"},
        {"detail": {"error": ["list"]}},
        {"detail": [{"loc": ["body", "max_results"], "msg": "Input should be an integer", "type": "int"}]},
        {"detail": ["text", {"loc": []}]},
        {"detail": None, "error": {"code": "keyless_limit", "message": "Limit reached"}},
        [],
        b"\xff\xfe",
        b"",
    )
