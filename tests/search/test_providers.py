"""web_search with a provider that a third party installs: plain data beside a tool that knows nothing of searching."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ferrule_testkit import PROJECT
from ferrule_testkit.corpus import Site
from ferrule_testkit.runs import Run
from ferrule_testkit.web.research_web import Web, events, fails, research_web

pytestmark = pytest.mark.process


GAZETTEER = PROJECT / "tests/providers/gazetteer"
KEY = "k3y-of-the-gazetteer"


class Third:
    """The web, and the gazetteer installed beside both providers."""

    def __init__(self, web: Web, site: Site) -> None:
        self.web = web
        self.site = site

    def search(self, does: str = "", *, key: str = KEY, **arguments: Any) -> Run:
        """Search with the gazetteer doing something."""
        more = arguments.pop("environment", {})
        environment = {"PYTHONPATH": str(self.site.path), "GAZETTEER_KEY": key, "GAZETTEER_DOES": does, **more}
        done = self.web.search(environment=environment, **arguments)
        assert KEY.encode() not in done.stdout + done.stderr
        return done

    def by_it(self, **arguments: Any) -> Run:
        """Search by the gazetteer alone."""
        return self.search(provider="gazetteer", **arguments)

    def asked(self, done: Run) -> dict[str, Any]:
        """The arguments that its tool got."""
        (event,) = [one for one in events(done) if one["event"] == "gazetteer_asked"]
        arguments: dict[str, Any] = event["arguments"]
        return arguments

    def declare(self, text: str) -> None:
        """Put another declaration instead of its own."""
        path = self.site.path / "ferrule_gazetteer.py"
        path.write_text(path.read_text() + f"\n\n{text}\n")


@pytest.fixture
def third(tmp_path: Path) -> Iterator[Third]:
    with research_web(tmp_path) as web:
        yield Third(web, Site(tmp_path / "installed").install(GAZETTEER))


def test_it_takes_part_in_its_own_words(third: Third) -> None:
    done = third.by_it(num_results=3, time_range="week", site="example.com")
    assert third.asked(done) == {"text": "some words", "most": 4, "age": 7, "hosts": ["example.com"]}
    assert done.document["results"][0] == {
        "title": "example.com 0",
        "url": "https://example.com/0",
        "snippet": "with [redacted]",
        "displayLink": "example.com",
    }
    assert done.document["resultCount"] == 3


def test_what_it_lacks_is_emulated_or_told(third: Third) -> None:
    done = third.by_it(time_range="year", language="de", country="DE", exact_terms="a b", exclude_terms="c")
    assert third.asked(done)["text"] == 'some words "a b" -c'
    assert done.document["_meta"]["routing"]["emulated"] == ["exact_terms", "exclude_terms"]
    told = {one["name"]: one["why"] for one in done.document["ignoredParameters"]}
    assert set(told) == {"time_range", "safe", "language", "country"}
    assert "does not know 'year'" in told["time_range"]


@pytest.mark.slow
def test_a_provider_that_reads_no_operators_gets_none(third: Third) -> None:
    third.declare('SEARCH["operators"] = False\ndel SEARCH["parameters"]["site"]')
    done = third.by_it(exact_terms="a b", exclude_terms="c", site="gazetteer.example")
    assert third.asked(done)["text"] == "some words"
    assert {"exact_terms", "exclude_terms"} <= {one["name"] for one in done.document["ignoredParameters"]}
    assert done.document["urls"]
    assert third.by_it(site="example.com").document["urls"] == []


def test_a_lens_is_split_into_as_many_calls_as_it_takes(third: Third) -> None:
    done = third.by_it(lens="medical", num_results=10, environment={"FERRULE_SEARCH_MAX_REQUESTS": "6"})
    calls = [one["arguments"]["hosts"] for one in events(done) if one["event"] == "gazetteer_asked"]
    assert [len(hosts) for hosts in calls] == [3] * 6
    assert len({host for hosts in calls for host in hosts}) == 18
    done = third.by_it(lens="medical", num_results=10)
    assert len([one for one in events(done) if one["event"] == "gazetteer_asked"]) == 3
    assert done.document["_meta"]["routing"]["incomplete"]


def test_it_is_one_of_all_in_alphabetical_order(third: Third) -> None:
    third.web.brave.route("*", fails)
    told = third.search().document["_meta"]["routing"]
    assert told["providers_attempted"] == ["brave", "gazetteer"]
    known = third.search(provider="bing").document["alternatives"]
    assert known == sorted(set(known))
    assert {"brave", "gazetteer", "google"} <= set(known)


def test_without_its_key_it_is_left_out(third: Third) -> None:
    third.web.brave.route("*", fails)
    assert third.search(key="").document["_meta"]["routing"]["providers_attempted"] == ["brave", "google"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("does", "kind"),
    [
        ("exit", "upstream_unavailable"),
        ("hang", "network"),
        ("raise", "upstream_unavailable"),
        ("nonsense", "upstream_unavailable"),
        ("limit", "rate_limited"),
    ],
)
def test_whatever_it_does_another_one_answers(third: Third, does: str, kind: str) -> None:
    first = {"FERRULE_SEARCH_ROUTING": "gazetteer,google", "FERRULE_DEADLINE": "6"}
    told = third.search(does, environment=first).document["_meta"]["routing"]
    assert (told["provider_used"], told["fallback_reason"]) == ("google", f"gazetteer: {kind}")


@pytest.mark.slow
def test_what_it_says_about_waiting_is_handed_on_and_kept(third: Third) -> None:
    assert third.by_it(does="limit").document["retryAfterSeconds"] == 90
    again = third.by_it().document
    assert (again["kind"], again["suggestedAction"]) == ("rate_limited", "try_different_provider")
    assert 0 < again["retryAfterSeconds"] <= 90


@pytest.mark.slow
@pytest.mark.parametrize(
    "declaration",
    [
        "SEARCH = 5",
        "SEARCH = {}",
        'SEARCH = {"tool": "gazetteer_find"}',
        'SEARCH = {"tool": "no_such_tool", "parameters": {"query": "text"}}',
        'SEARCH = {"tool": "gazetteer_find", "parameters": {"query": "text", "colour": "c"}}',
        'SEARCH = {"tool": "gazetteer_find", "parameters": {"query": {"values": 5}}}',
        'SEARCH = {"tool": "gazetteer_find", "parameters": {"query": "text"}, "limits": {"results": 0}}',
        "del SEARCH",
        'raise RuntimeError("not today")',
    ],
)
def test_a_declaration_that_is_wrong_is_told_and_breaks_nobody_else(third: Third, declaration: str) -> None:
    third.declare(declaration)
    first = {"FERRULE_SEARCH_ROUTING": "gazetteer,google"}
    done = third.search(environment=first)
    assert done.document["_meta"]["routing"]["providers_attempted"] == ["google"]
    assert [one["provider"] for one in events(done) if one["event"] == "provider_failed"] == ["gazetteer"]
    forced = third.by_it().document
    assert (forced["kind"], forced["error_code"]) == ("config", "CONFIG_ERROR")


@pytest.mark.slow
@pytest.mark.parametrize("death", ["import os; os._exit(0)", "import time; time.sleep(600)", "import sys; sys.exit(1)"])
def test_a_module_that_ends_or_hangs_its_process_ends_no_search(third: Third, death: str) -> None:
    third.declare(death)
    third.web.brave.route("*", fails)
    third.web.google.route("*", fails)
    document = third.search(environment={"FERRULE_SEARCH_ROUTING": "brave", "FERRULE_DEADLINE": "20"}).document
    assert document["alternatives"] == ["google"]


def test_arguments_that_its_schema_refuses_are_told_as_such(third: Third) -> None:
    third.declare('SEARCH["parameters"]["num_results"] = "mots"')
    document = third.by_it().document
    assert (document["kind"], document["retryable"]) == ("validation", False)
    assert "mots" in document["error"]


def test_settings_of_its_own_table_reach_it(third: Third) -> None:
    third.web.configure("[tools.gazetteer_find]\nenabled = false")
    forced = third.by_it().document
    assert forced["kind"] == "config"
    assert json.dumps("gazetteer_find")[1:-1] in forced["error"]


ANSWERS = """
@hookimpl
def execute(arguments, context):
    {}
"""


def test_a_failure_that_its_tool_returns_is_a_failure(third: Third) -> None:
    said = '{"success": False, "error": "Too many.", "error_code": "RATE_LIMIT", "retry_after": 70, "entries": []}'
    third.declare(ANSWERS.format(f"return {said}"))
    document = third.by_it().document
    assert (document["kind"], document["retryAfterSeconds"]) == ("rate_limited", 70)
    assert document["error"].startswith("Too many.")


@pytest.mark.parametrize("wait", ["-50", "1e300", "True", "'soon'", "float('nan')", "[1]"])
def test_a_time_to_wait_that_makes_no_sense_is_not_handed_on(third: Third, wait: str) -> None:
    third.declare(ANSWERS.format(f"raise ToolError('RATE_LIMIT', 'Too many.', retry_after={wait})"))
    document = third.by_it().document
    assert document["kind"] == "rate_limited"
    assert document.get("retryAfterSeconds", 30) == 30  # for which it is not asked again


def test_what_is_no_page_of_the_web_is_no_result(third: Third) -> None:
    places = [
        "javascript:alert(1)",
        "http://[::1",
        "https://e.example:99999/",
        "/a",
        "data:,x",
        "ftp://e.example/",
        "https://e.example/a",
    ]
    third.declare(ANSWERS.format(f"return {{'entries': [{{'name': 'n', 'link': one}} for one in {places}]}}"))
    assert third.by_it().document["urls"] == ["https://e.example/a"]


@pytest.mark.slow
def test_a_name_in_capitals_can_be_asked_for_in_any_case(third: Third) -> None:
    (path,) = third.site.path.glob("ferrule_gazetteer-*/entry_points.txt")
    text = path.read_text()
    group = text.index("[ferrule.search_providers]")
    path.write_text(text[:group] + text[group:].replace("gazetteer", "Gazetteer", 1))
    for name in ("Gazetteer", "gazetteer"):
        assert third.search(provider=name).document["_meta"]["routing"]["provider_used"] == "gazetteer"
    ordered = third.search(environment={"FERRULE_SEARCH_ROUTING": "GAZETTEER"}).document
    assert ordered["_meta"]["routing"]["provider_used"] == "gazetteer"


@pytest.mark.slow
def test_one_that_can_be_told_of_no_site_is_asked_once(third: Third) -> None:
    third.declare('SEARCH["operators"] = False\ndel SEARCH["parameters"]["site"]')
    third.asked(third.by_it(lens="docs"))


@pytest.mark.slow
def test_a_variable_that_its_tool_depends_on_makes_another_search(third: Third) -> None:
    third.declare(
        "from ferrule import ResultPolicy, hookimpl\n"
        "result_policy = hookimpl(lambda: ResultPolicy(environment=('GAZETTEER_DOES',)))"
    )
    cached = {"FERRULE_WRAPPERS": "cache"}
    told = [third.by_it(environment={**cached, "GAZETTEER_DOES": does}).document for does in ("", "", "other")]
    assert [one["_meta"]["cache"]["cached"] for one in told] == [False, True, False]


@pytest.mark.slow
def test_where_one_does_not_say_in_time_what_it_is_no_search_is_taken_for_another(third: Third) -> None:
    third.declare("import time; time.sleep(600)")
    cached = {"FERRULE_WRAPPERS": "cache", "FERRULE_SEARCH_ROUTING": "brave"}
    told = [third.search(environment=cached).document for _ in range(2)]
    assert [one["_meta"]["cache"]["cached"] for one in told] == [False, False]
