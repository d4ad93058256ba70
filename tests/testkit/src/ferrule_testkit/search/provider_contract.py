"""What the tool of any search provider does. The tests of a plugin subclass it:

    class TestContract(ProviderContract):
        plugin = ferrule_brave
        ...

and have the fixtures of `search_fixtures`.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ferrule_dev.testing import Exchange, Server, schema_of
from ferrule_testkit.search.server import JSON, Hit, some_hits

HEAVY = {"httpx", "httpcore", "ssl", "idna", "click", "jsonschema", "urllib.parse", "platformdirs"}
CLIENT = {"httpx", "httpcore", "ssl", "idna", "click"}

Search = Callable[..., dict[str, Any]]
Answer = Callable[..., None]
Error = Callable[..., Any]


def numbers(found: Mapping[str, Any]) -> list[int]:
    """The places that the titles of `some_hits` tell."""
    return [int(result["title"].removeprefix("Title ")) for result in found["results"]]


def mixed_hits(number: int) -> list[Hit]:
    """Every third result is on docs.example.org, the others elsewhere; titles tell their places."""
    hosts = ["docs.example.org", "www.example.com", "notexample.org"]
    return [Hit(f"Title {n}", f"https://{hosts[n % 3]}/{n}", "") for n in range(number)]


def imported_by(script: str) -> set[str]:
    """The modules that a program has imported when it ends."""
    program = f"import json, sys\n{script}\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


class ProviderContract:
    """plugin: the module of the tool. name: of the provider, as its errors say it. limit: of results in a call.

    served: how many results the provider serves at all. page: the arguments for `size` results from a place on.
    provider: a route that stands in for it with some hits. document: what it answers with some hits. with_fields: the
    same with hits of any shape. fields: its names of title, URL and snippet. empty: answers in which nothing is found.
    key: the secret one. refusal: the status and document of a refused key, with a sentence. too_many: documents and
    headers of refusals that say to ask again within two seconds. strange: refusals of shapes that it never has.
    published: the date that each of its results has. method, accept: of its requests. filtered: how many requests come
    where none of its results passes a filter.
    """

    plugin: ModuleType
    name: str
    limit: int
    served: int
    page: Callable[[int, int], dict[str, int]]
    provider: Callable[[Sequence[Hit]], Callable[[Exchange], None]]
    document: Callable[[Sequence[Hit]], dict[str, Any]]
    with_fields: Callable[[Sequence[Any]], dict[str, Any]]
    fields: tuple[str, str, str]
    empty: Sequence[dict[str, Any]]
    key: str
    published: str = ""
    method: str = "GET"
    accept: str = "application/json"
    filtered: int | None = None  # as many as it has pages
    refusal: Callable[[str], tuple[int, dict[str, Any]]]
    too_many: Sequence[tuple[dict[str, Any], dict[str, str]]]
    strange: Sequence[Any]

    def test_the_file_the_hook_and_the_executable_have_one_schema(self) -> None:
        file = Path(str(self.plugin.__file__)).with_name("schema.json")
        schema = self.plugin.schema()
        assert schema_of(schema["name"]) == json.loads(file.read_bytes()) == schema
        properties = schema["parameters"]["properties"]
        assert {"query", "allowed_domains", "blocked_domains"} <= set(properties)
        assert properties["query"]["minLength"] == 2

    def test_the_import_leaves_what_is_heavy_unimported(self) -> None:
        module = self.plugin.__name__
        hooks = "tool.schema(); getattr(tool, 'credentials', list)()"
        assert not imported_by(f"import {module} as tool; {hooks}") & HEAVY

    def test_a_call_without_a_key_imports_no_client(self, monkeypatch: pytest.MonkeyPatch) -> None:
        module, tool = self.plugin.__name__, self.plugin.schema()["name"]
        for credential in self.plugin.credentials():
            monkeypatch.setenv(credential.environment, "")
        imported = imported_by(
            f"import ferrule, {module} as tool\n"
            "assert tool.validate({'query': 'q'}) == []\n"
            f"given = ferrule.Context({tool!r}, 0, credentials=tool.credentials())\n"
            "try:\n    tool.execute({'query': 'q'}, given)\n"
            "except ferrule.ToolError as error:\n    assert error.code == 'AUTH_MISSING'"
        )
        assert f"{module}.provider" in imported
        assert not imported & CLIENT

    def test_a_blank_query_and_what_is_no_domain_are_findings(self) -> None:
        assert self.plugin.validate({"query": " \n "}) == ["query: it is blank"]
        for name in ("allowed_domains", "blocked_domains"):
            (found,) = self.plugin.validate({"query": "q", name: ["no domain"]})
            assert found.startswith(f"{name}: 'no domain'")
        assert self.plugin.validate({"query": "q", "allowed_domains": [], "blocked_domains": [""]}) == []

    def test_a_search_has_titles_urls_and_snippets(self, server: Server, search: Search) -> None:
        server.route("*", self.provider(some_hits(50)))
        date = {"published": self.published} if self.published else {}
        assert search(**self.page(0, 2)) == {
            "success": True,
            "results": [
                {"title": "Title 0", "url": "https://www.example.com/0", "snippet": "Text 0", **date},
                {"title": "Title 1", "url": "https://www.example.com/1", "snippet": "Text 1", **date},
            ],
            "count": 2,
        }
        (request,) = server.requests
        assert request.method == self.method
        assert (request.headers["accept"], request.headers["accept-encoding"]) == (self.accept, "gzip")

    def test_ten_results_are_asked_for_where_no_number_is_given(self, server: Server, search: Search) -> None:
        server.route("*", self.provider(some_hits(50)))
        assert numbers(search()) == list(range(10))

    def test_paging_through_gives_every_result_once(self, server: Server, search: Search) -> None:
        total = min(63, self.served)
        server.route("*", self.provider(some_hits(total)))
        pages = [self.page(first, min(7, total - first)) for first in range(0, total, 7)]
        assert [number for page in pages for number in numbers(search(**page))] == list(range(total))

    def test_nothing_found_is_an_answer(self, answer: Answer, search: Search) -> None:
        for document in self.empty:
            answer(document)
            assert search() == {"success": True, "results": [], "count": 0}

    def test_what_a_result_lacks_is_empty_and_one_without_a_url_of_the_web_is_left_out(
        self, answer: Answer, search: Search
    ) -> None:
        title, url, snippet = self.fields
        hits = [
            {url: "https://a.example/"},
            {url: "https://b.example/", title: None, snippet: 5},
            {title: "no url", snippet: "text"},
            {title: "blank url", url: "  "},
            {title: "url of a wrong kind", url: ["https://c.example/"]},
            {title: "no page", url: "javascript:alert(1)"},
            {title: "no page", url: "file:///etc/passwd"},
            "no result at all",
            None,
            {title: "t", url: "https://d.example/", snippet: "s", "more": {}},
        ]
        answer(self.with_fields(hits))
        assert search()["results"] == [
            {"title": "", "url": "https://a.example/", "snippet": ""},
            {"title": "", "url": "https://b.example/", "snippet": ""},
            {"title": "t", "url": "https://d.example/", "snippet": "s"},
        ]

    def test_a_result_that_comes_twice_is_shown_once(self, answer: Answer, search: Search) -> None:
        answer(self.document([*some_hits(2), *some_hits(3)]))
        assert numbers(search()) == [0, 1, 2]

    def test_results_that_the_client_would_not_read_are_left_out_and_that_is_told(
        self, answer: Answer, search: Search, events: list[dict[str, Any]]
    ) -> None:
        hits = [Hit(f"{n}", f"https://a.example/{'ü' * 2000}{n}", "語" * 2000) for n in range(self.limit)]
        answer(self.document(hits))
        found = search(**self.page(0, self.limit))
        assert 0 < found["count"] == len(found["results"]) < self.limit
        assert len(json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()) <= 65_534
        content = f"Results that do not fit were left out: {self.limit - found['count']}."
        assert events == [{"event": "search_incomplete", "content": content}]

    def test_an_empty_list_is_no_filter(self, server: Server, search: Search) -> None:
        server.route("*", self.provider(some_hits(50)))
        for empty in ([], [""], ["  "]):
            assert search(allowed_domains=empty, blocked_domains=empty)["count"] == 10
        assert len({(request.target, request.body) for request in server.requests}) == 1

    def test_results_are_filtered_whatever_the_provider_does(self, server: Server, search: Search) -> None:
        server.route("*", self.provider(mixed_hits(90)))
        assert numbers(search(allowed_domains=["example.org"], **self.page(0, 6))) == [0, 3, 6, 9, 12, 15]
        found = search(blocked_domains=["EXAMPLE.com", "notexample.org"], **self.page(0, 6))
        assert numbers(found) == [0, 3, 6, 9, 12, 15]

    def test_a_question_costs_three_requests_unless_the_admin_allows_more_and_what_that_leaves_out_is_told(
        self, server: Server, search: Search, events: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        server.route("*", self.provider(some_hits(500)))
        if self.filtered is not None:
            monkeypatch.setenv("FERRULE_SEARCH_MAX_REQUESTS", "1")
            assert f"{self.name} was asked once" in search(blocked_domains=["example.com"])["incomplete"]
            assert len(server.requests) == 1
            return
        found = search(blocked_domains=["example.com"])
        told = (
            f"{self.name} was asked 3 times, the most for one question; the next pages of results were not asked for."
        )
        assert found["incomplete"].startswith(told)
        assert f"raise max_requests in [tools.{self.plugin.schema()['name']}]" in found["incomplete"]
        assert events == [{"event": "search_incomplete", "content": found["incomplete"]}]
        assert "_meta" not in found  # it may be kept: the next call would miss the same
        assert len(server.requests) == 3
        monkeypatch.setenv("FERRULE_SEARCH_MAX_REQUESTS", "1")
        assert "was asked once" in search(blocked_domains=["example.com"])["incomplete"]
        assert len(server.requests) == 4

    def test_a_filter_stops_where_there_is_no_more(
        self, server: Server, search: Search, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("FERRULE_SEARCH_MAX_REQUESTS", "100")
        requests = self.filtered or -(-self.served // self.limit)
        server.route("*", self.provider(some_hits(500)))
        assert search(blocked_domains=["example.com"]) == {"success": True, "results": [], "count": 0}
        assert len(server.requests) == requests
        server.route("*", self.provider(some_hits(self.limit + 5)))
        assert search(blocked_domains=["example.com"])["count"] == 0
        assert len(server.requests) == requests + 2

    def test_what_came_before_a_failure_is_returned_and_the_failure_told(
        self, server: Server, search: Search, error: Error, events: list[dict[str, Any]]
    ) -> None:
        provider = self.provider(mixed_hits(100))

        def once(exchange: Exchange) -> None:
            if len(server.requests) % 2:
                provider(exchange)
            else:
                exchange.read_body()
                exchange.send_error(500)

        server.route("*", once)
        size = min(self.limit, self.served // 2)
        found = search(blocked_domains=["example.com"], **self.page(0, size))
        assert numbers(found) == [n for n in range(size) if n % 3 != 1]
        content = f"{self.name} answered with HTTP 500: Internal Server Error."
        assert (found["incomplete"], found["_meta"]) == (content, {"cacheable": False})
        assert events == [{"event": "search_incomplete", "content": content}]
        assert error(allowed_domains=["none.example"]).code == "API_ERROR"

    def test_a_refusal_of_any_shape_has_the_code_of_its_status(self, answer: Answer, error: Error) -> None:
        for document in self.strange:
            for status, code in ((500, "API_ERROR"), (403, "AUTH_INVALID"), (429, "RATE_LIMIT")):
                answer(document, status)
                assert error().code == code

    def test_a_refused_key_is_told_with_how_to_set_one_and_never_shown(self, answer: Answer, error: Error) -> None:
        status, document = self.refusal(f"The key {self.key} may not be used.")
        answer(document, status)
        failure = error()
        assert (failure.code, failure.event) == ("AUTH_INVALID", None)
        assert failure.message.startswith(f"{self.name} refused the credentials: The key [redacted] may not be used")
        assert failure.hint.startswith("Web search requires API key configuration.\n\n")
        assert self.key not in str(failure.facts())

    @pytest.mark.slow
    def test_too_many_requests_at_once_are_waited_out(self, server: Server, search: Search) -> None:
        for document, headers in self.too_many:
            before = len(server.requests)
            server.route("*", self._refuses_once(document, headers))
            assert search(**self.page(0, 3))["count"] == 3
            assert len(server.requests) == before + 2

    def _refuses_once(self, document: Any, headers: Mapping[str, str]) -> Callable[[Exchange], None]:
        """A route that refuses its first request."""
        answers = iter([(429, document, headers), (200, self.document(some_hits(3)), None)])

        def answer(exchange: Exchange) -> None:
            exchange.read_body()
            status, document, headers = next(answers)
            exchange.answer(json.dumps(document).encode(), JSON, status=status, headers=headers)

        return answer

    def test_a_limit_that_never_ends_is_told_before_the_deadline(
        self, server: Server, answer: Answer, error: Error
    ) -> None:
        answer({}, 429, {"Retry-After": "0"})
        assert error(seconds=2).code == "RATE_LIMIT"
        assert 2 <= len(server.requests) <= 6
