"""SearXNG as a search provider like any other, but for the key that it does not need."""

import pytest

import ferrule_searxng
from ferrule_dev.testing import Server
from ferrule_testkit.search.provider_contract import CLIENT, Answer, Error, ProviderContract, Search, imported_by
from ferrule_testkit.search.searxng import PUBLISHED, SearXNG, searxng_document
from ferrule_testkit.search.server import asked, some_hits

pytestmark = pytest.mark.process


class TestContract(ProviderContract):
    plugin = ferrule_searxng
    name = "SearXNG"
    limit = 10
    served = 25
    key = ""
    published = PUBLISHED
    accept = "application/json, text/html;q=0.5"
    fields = ("title", "url", "content")
    page = staticmethod(lambda first, size: {"page": first // 10 + 1, "offset": first % 10, "count": size})
    provider = staticmethod(SearXNG)
    document = staticmethod(searxng_document)
    with_fields = staticmethod(lambda hits: {"results": hits})
    empty = (
        searxng_document([]),
        {"results": []},
        {"results": [], "unresponsive_engines": None},
        {"results": [], "unresponsive_engines": ["of another shape"]},
    )
    too_many = (({}, {"Retry-After": "1"}),)
    strange = ({"error": ["list"]}, {"error": []}, [], b"Too Many Requests", b"\xff\xfe", b"")

    def test_a_filter_stops_where_there_is_no_more(
        self, server: Server, search: Search, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """No page says that it is the last one, so the one behind it is asked for, too."""
        monkeypatch.setenv("FERRULE_SEARCH_MAX_REQUESTS", "100")
        server.route("*", SearXNG(some_hits(25)))
        assert search(blocked_domains=["example.com"]) == {"success": True, "results": [], "count": 0}
        assert [one["pageno"] for one in asked(server)] == ["1", "2", "3", "4"]

    def test_a_call_without_a_key_imports_no_client(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nor does one without an instance."""
        monkeypatch.delenv("FERRULE_SEARXNG_URL")
        imported = imported_by(
            "import ferrule, ferrule_searxng as tool\n"
            "try:\n    tool.execute({'query': 'q'}, ferrule.Context('web_search_searxng', 0))\n"
            "except ferrule.ToolError as error:\n    assert error.code == 'CONFIG_ERROR'"
        )
        assert "ferrule_searxng.provider" in imported
        assert not imported & CLIENT

    def test_a_refusal_of_any_shape_has_the_code_of_its_status(self, answer: Answer, error: Error) -> None:
        """403 is about the format, and not about a key."""
        for document in self.strange:
            for status, code in ((500, "API_ERROR"), (403, "API_ERROR"), (429, "RATE_LIMIT")):
                answer(document, status)
                assert error().code == code

    def test_a_refused_key_is_told_with_how_to_set_one_and_never_shown(self, answer: Answer, error: Error) -> None:
        """There is no key: a login is what something in front of the instance wants."""
        answer(b"<title>401 Authorization Required</title>", 401)
        failure = error()
        assert (failure.code, failure.message) == ("AUTH_INVALID", "SearXNG refused the credentials: Unauthorized.")
        assert "Let this machine ask it without one" in str(failure.hint)
