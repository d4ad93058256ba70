"""Exa as a search provider like any other."""

import pytest

import ferrule_exa
from ferrule_testkit.search.posted import EXA_KEY, PUBLISHED, Exa, exa_document, exa_error
from ferrule_testkit.search.provider_contract import ProviderContract

pytestmark = pytest.mark.process

TOO_FAST = {"error": "You've exceeded your Exa rate limit of 10 requests per second."}


class TestContract(ProviderContract):
    plugin = ferrule_exa
    name = "Exa"
    method = "POST"
    limit = 20
    served = 100
    filtered = 2
    key = EXA_KEY
    published = PUBLISHED
    fields = ("title", "url", "highlights")
    page = staticmethod(lambda first, size: {"offset": first, "count": size})
    provider = staticmethod(Exa)
    document = staticmethod(exa_document)
    with_fields = staticmethod(lambda hits: {"results": hits})
    refusal = staticmethod(lambda text: (401, exa_error(text, "INVALID_API_KEY")))
    empty = ({"results": []}, {"requestId": "6720", "results": [], "warnings": []})
    too_many = ((TOO_FAST, {}), (TOO_FAST, {"Retry-After": "1"}), ({}, {"Retry-After": "1"}))
    strange = (
        {"error": "went wrong"},
        {"error": ["list"], "tag": 5},
        {"error": {"message": ["text"]}, "tag": None},
        {"error": None, "tag": "UNKNOWN_TAG"},
        [],
        b"\xff\xfe",
        b"",
    )
