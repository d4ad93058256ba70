"""What a search asks its providers for, and what it answers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ferrule_dev.testing import schema_of
from ferrule_testkit.search.server import Brave, Google, Hit, brave_document, google_document, some_hits
from ferrule_testkit.web.research_web import Web, answers, research_web

pytestmark = pytest.mark.process


BRAVE, GOOGLE = {"provider": "brave"}, {"provider": "google"}


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    with research_web(tmp_path) as web:
        yield web


def hits(*urls: str) -> list[Hit]:
    return [Hit(f"Title of {url}", url, f"Text of {url}") for url in urls]


def ignored(document: dict[str, Any]) -> list[str]:
    return [one["name"] for one in document.get("ignoredParameters", [])]


# ---- input and output


@pytest.mark.slow
def test_the_answer_has_what_the_specification_lists(web: Web) -> None:
    assert web.found(num_results=2) == {
        "urls": ["https://brave.example/0", "https://brave.example/1"],
        "query": "some words",
        "resultCount": 2,
        "results": [
            {
                "title": f"Title {n}",
                "url": f"https://brave.example/{n}",
                "snippet": f"Text {n}",
                "displayLink": "brave.example",
                "published": "2026-01-02T03:04:05",
            }
            for n in range(2)
        ],
        "trust": "untrusted-external-content",
        "_meta": {
            "routing": {
                "provider_used": "brave",
                "providers_attempted": ["brave"],
                "requests": {"brave": 1},
                "fallback": False,
            }
        },
    }


def test_the_input_is_that_of_the_specification() -> None:
    properties = schema_of("web_search")["parameters"]["properties"]
    assert set(properties) == {
        *("query", "num_results", "time_range", "safe", "language", "site", "exact_terms", "exclude_terms"),
        *("country", "lens", "provider", "sessionId", "claim"),
    }
    assert (properties["query"]["minLength"], properties["query"]["maxLength"]) == (1, 500)
    assert properties["num_results"]["default"] == 5
    assert properties["safe"] == {**properties["safe"], "enum": ["off", "medium", "high"], "default": "medium"}
    assert properties["time_range"]["enum"] == ["day", "week", "month", "year"]


@pytest.mark.slow
def test_five_results_are_returned_where_no_number_is_given(web: Web) -> None:
    assert web.found()["resultCount"] == 5


@pytest.mark.slow
def test_more_than_ten_results_are_cut_to_ten_and_the_number_is_told(web: Web) -> None:
    document = web.found(num_results=25)
    assert (document["resultCount"], document["requestedNumResults"]) == (10, 25)
    assert "requestedNumResults" not in web.found(num_results=10)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"query": ""}, "query"),
        ({"query": "  "}, "query: it is blank"),
        ({"query": "q" * 501}, "500"),
        ({"site": "https://example.com/docs"}, "site"),
        ({"site": "example.com/docs"}, "site"),
        ({"site": "two words"}, "site"),
        ({"language": "german"}, "language"),
        ({"country": "Germany"}, "country"),
        ({"time_range": "decade"}, "time_range"),
        ({"safe": "very"}, "safe"),
        ({"lens": "gossip"}, "available: academic, code, docs, government, medical, news"),
    ],
)
def test_an_argument_that_is_wrong_is_an_error_of_the_kind_validation(
    web: Web, arguments: dict[str, str], told: str
) -> None:
    document = web.search(**{"query": "some words", **arguments}).document
    assert (document["error_code"], document["kind"], document["retryable"]) == ("INVALID_INPUT", "validation", False)
    assert told in document["error"]
    assert web.asked_brave == web.asked_google == []


def test_five_hundred_characters_are_counted_and_not_bytes(web: Web) -> None:
    assert web.found("ü" * 390)["resultCount"] == 5


# ---- each parameter in each provider's words


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "brave", "google"),
    [
        ({}, {"safesearch": "moderate"}, {"safe": "active"}),
        ({"safe": "off"}, {"safesearch": "off"}, {"safe": "off"}),
        ({"safe": "high"}, {"safesearch": "strict"}, {"safe": "active"}),
        ({"time_range": "day"}, {"freshness": "pd"}, {"dateRestrict": "d1"}),
        ({"time_range": "week"}, {"freshness": "pw"}, {"dateRestrict": "w1"}),
        ({"time_range": "month"}, {"freshness": "pm"}, {"dateRestrict": "m1"}),
        ({"time_range": "year"}, {"freshness": "py"}, {"dateRestrict": "y1"}),
        ({"language": "de"}, {"search_lang": "de"}, {"lr": "lang_de"}),
        ({"language": "JA"}, {"search_lang": "jp"}, {"lr": "lang_ja"}),
        ({"country": "de"}, {"country": "DE"}, {"gl": "de"}),
        ({"site": "example.com"}, {"q": "some words site:example.com"}, {"siteSearch": "example.com"}),
        ({"exact_terms": 'a "b" c'}, {"q": 'some words "a b c"'}, {"exactTerms": 'a "b" c'}),
        ({"exclude_terms": 'x "y z"'}, {"q": 'some words -x -"y z"'}, {"excludeTerms": 'x "y z"'}),
    ],
)
def test_a_parameter_is_said_in_the_words_of_each_provider(
    web: Web, arguments: dict[str, str], brave: dict[str, str], google: dict[str, str]
) -> None:
    web.brave.route("*", Brave(some_hits(30, "www.example.com")))
    web.google.route("*", Google(some_hits(30, "www.example.com")))
    for provider, told in (("brave", brave), ("google", google)):
        assert ignored(web.found(provider=provider, **arguments)) == []
        first = (web.asked_brave or web.asked_google)[0]
        assert {name: first.get(name) for name in told} == told
        web.brave.requests.clear()


@pytest.mark.slow
def test_what_is_emulated_is_told_beside_the_result(web: Web) -> None:
    terms = {"exact_terms": "a b", "exclude_terms": "c"}
    assert web.found(**BRAVE, **terms)["_meta"]["routing"]["emulated"] == ["exact_terms", "exclude_terms"]
    assert "emulated" not in web.found(**GOOGLE, **terms)["_meta"]["routing"]


@pytest.mark.parametrize(
    ("provider", "arguments"),
    [("brave", {"language": "eo"}), ("brave", {"country": "LI"}), ("google", {"language": "ml"})],
)
def test_a_value_that_a_provider_has_no_word_for_is_told_and_not_sent(
    web: Web, provider: str, arguments: dict[str, str]
) -> None:
    document = web.found(provider=provider, **arguments)
    (told,) = document["ignoredParameters"]
    assert told["name"] in arguments
    assert "does not know" in told["why"]
    (asked,) = web.asked_brave + web.asked_google
    assert {"search_lang", "country", "lr", "gl"}.isdisjoint(asked)


def test_terms_that_do_not_fit_into_a_query_are_told(web: Web) -> None:
    document = web.found("q" * 395, exact_terms="a long phrase", **BRAVE)
    assert ignored(document) == ["exact_terms"]
    assert "400 characters and 50 words" in document["ignoredParameters"][0]["why"]


@pytest.mark.parametrize("terms", ['""', '"', "-", ' - "" '])
def test_terms_without_a_word_add_nothing_to_the_query(web: Web, terms: str) -> None:
    web.found(exact_terms=terms, exclude_terms=terms, **BRAVE)
    assert web.asked_brave[0]["q"] == "some words"


def test_a_session_is_accepted_and_listed(web: Web) -> None:
    document = web.found(sessionId="s-1")
    assert ignored(document) == ["sessionId"]  # of a session that is not there
    assert document["_meta"]["cacheable"] is False


@pytest.mark.slow
def test_a_query_that_is_too_long_for_one_provider_goes_to_the_next(web: Web) -> None:
    document = web.found("q" * 450)
    assert document["_meta"]["routing"]["provider_used"] == "google"
    refused = web.search("q" * 450, **BRAVE).document
    assert (refused["kind"], refused["suggestedAction"]) == ("validation", "try_different_provider")
    assert "400 characters" in refused["error"]


# ---- results


@pytest.mark.slow
def test_a_page_that_is_found_twice_is_shown_once_and_the_next_one_moves_up(web: Web) -> None:
    same = hits("https://a.example/x?b=2&a=1", "http://A.example:80/x/?a=1&utm_source=n&b=2#top", "https://b.example/")
    web.brave.route("*", Brave([*same, *some_hits(5, "c.example")]))
    assert web.found(num_results=3)["urls"] == [
        "https://a.example/x?b=2&a=1",
        "https://b.example/",
        "https://c.example/0",
    ]


@pytest.mark.slow
def test_results_from_elsewhere_are_left_out_whatever_the_provider_sends(web: Web) -> None:
    web.brave.route(
        "*", Brave(hits("https://notexample.com/", "https://docs.example.com/", "https://example.com.evil.test/"))
    )
    assert web.found(site="example.com")["urls"] == ["https://docs.example.com/"]


@pytest.mark.slow
def test_what_does_not_fit_the_client_is_left_out_and_told(web: Web) -> None:
    large = [Hit("\U0001f600" * 500, f"https://a.example/{n}" + "x" * 4000, "\U0001f600" * 2000) for n in range(10)]
    web.brave.route("*", Brave(large))
    done = web.search(num_results=10)
    assert 0 < done.document["resultCount"] == len(done.document["urls"]) < 10
    assert b"left out" in done.stderr


@pytest.mark.parametrize(
    ("setting", "parameter", "snippets"),
    [({}, None, None), ({"FERRULE_SEARCH_EXTRA_SNIPPETS": "1"}, "true", ["not asked for"])],
)
def test_more_text_of_each_page_is_asked_for_and_shown_where_the_admin_wants_it(
    web: Web, setting: dict[str, str], parameter: str | None, snippets: list[str] | None
) -> None:
    assert web.found(environment=setting)["results"][0].get("extraSnippets") == snippets
    assert web.asked_brave[0].get("extra_snippets") == parameter


# ---- lenses


def test_a_lens_of_many_sites_is_split_over_queries_and_no_site_is_dropped(web: Web) -> None:
    web.found(lens="docs", **GOOGLE)
    sites = [word for one in web.asked_google for word in one["q"].split() if word.startswith("site:")]
    path = Path(__file__).parents[1] / "src/ferrule_research/search/lenses/docs.json"
    wanted = json.loads(path.read_text())["sites"]
    assert len(wanted) > 20
    assert {site.removeprefix("site:") for site in sites} == set(wanted)


@pytest.mark.slow
def test_a_question_costs_a_provider_three_requests_and_what_that_leaves_out_is_told(web: Web) -> None:
    web.brave.route("*", Brave(some_hits(200, "elsewhere.example")))
    found = web.found(lens="docs", **BRAVE)  # in three queries, each of which would ask for further pages
    assert found["_meta"]["routing"]["requests"] == {"brave": len(web.asked_brave)} == {"brave": 3}
    assert len({one["q"] for one in web.asked_brave}) == 3
    assert "the next pages of results were not asked for" in found["_meta"]["routing"]["incomplete"]
    assert "cacheable" not in found["_meta"]
    web.found(site="only.example", **BRAVE)
    assert len(web.asked_brave) == 6


@pytest.mark.slow
def test_sites_that_the_bound_leaves_out_are_named_and_the_admin_may_raise_it(web: Web) -> None:
    web.lens("mine.json", json.dumps({"sites": [f"s{n:02}.example" for n in range(35)]}))
    web.brave.route("*", Brave(some_hits(20, "s00.example"), heeds_sites=True))
    found = web.found(lens="mine", **BRAVE)
    told = found["_meta"]["routing"]["incomplete"]
    assert "not searched were s30.example, s31.example, s32.example, s33.example, s34.example." in told
    assert (found["resultCount"], len(web.asked_brave)) == (5, 3)
    for text in ("[tools.web_search]\nmax_requests = 4", "[tools.web_search_brave]\nmax_requests = 4"):
        web.configure(text)
        web.brave.requests.clear()
        assert "incomplete" not in web.found(lens="mine", **BRAVE)["_meta"]["routing"]
        assert len(web.asked_brave) == 4


def test_results_enough_are_not_incomplete_though_there_would_be_more(web: Web) -> None:
    web.brave.route(
        "*", Brave([hit for n in range(60) for hit in hits(f"https://{'a' if n % 7 else 'b'}.example/{n}")])
    )
    found = web.found(site="a.example", num_results=10, **BRAVE)
    assert found["resultCount"] == 10
    assert "incomplete" not in found["_meta"]["routing"]


def test_the_results_of_a_split_lens_are_merged_by_rank(web: Web) -> None:
    sites = [f"s{n:02}.example" for n in range(12)]
    web.lens("mine.toml", f"sites = {sites}")
    pages = [hit for n in (0, 11) for hit in some_hits(5, f"s{n:02}.example")]
    web.google.route("*", Google(pages, heeds_sites=True))
    web.brave.route("*", Brave(pages, heeds_sites=True))
    assert web.found(lens="mine", num_results=4, **BRAVE)["urls"] == [
        "https://s00.example/0",
        "https://s11.example/0",
        "https://s00.example/1",
        "https://s11.example/1",
    ]
    assert len(web.asked_brave) == 2


def test_a_lens_overrides_a_site_and_says_so(web: Web) -> None:
    web.lens("mine.json", '{"sites": ["only.example"]}')
    web.brave.route("*", Brave(some_hits(5, "only.example")))
    document = web.found(lens="mine", site="example.com")
    assert ignored(document) == ["site"]
    assert web.asked_brave[0]["q"] == "some words site:only.example"


@pytest.mark.slow
def test_a_lens_with_an_engine_goes_to_that_engine_of_google_first(web: Web) -> None:
    web.lens("mine.toml", 'cx = "my-engine"\nsites = ["only.example"]')
    web.google.route("*", Google(some_hits(5), engine="my-engine"))
    document = web.found(lens="mine")
    assert document["_meta"]["routing"]["provider_used"] == "google"
    assert document["resultCount"] == 5
    assert web.asked_google[0]["q"] == "some words"
    assert web.asked_brave == []


@pytest.mark.slow
def test_a_lens_with_an_engine_and_sites_works_without_google(web: Web) -> None:
    web.lens("mine.toml", 'cx = "my-engine"\nsites = ["only.example"]')
    web.brave.route("*", Brave(some_hits(5, "only.example")))
    found = web.found(lens="mine", environment={"GOOGLE_SEARCH_API_KEY": ""})
    assert found["_meta"]["routing"]["provider_used"] == "brave"
    web.lens("engine.toml", 'cx = "my-engine"')
    refused = web.search(lens="engine", **BRAVE).document
    assert "no engine of this kind" in refused["error"]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"sites": 5}', '{"sites": ["no domain"]}'])
def test_a_lens_that_is_broken_is_an_error_that_names_its_file_and_breaks_no_other(web: Web, text: str) -> None:
    web.lens("mine.json", text)
    document = web.search(lens="mine").document
    assert (document["kind"], document["error_code"]) == ("config", "CONFIG_ERROR")
    assert "mine.json" in document["error"]
    assert web.found()["resultCount"] == 5


# ---- nothing found


def test_nothing_found_is_an_answer_with_hints(web: Web) -> None:
    web.brave.route("*", Brave([]))
    document = web.found("what is the capital of nowhere")
    assert (document["urls"], document["resultCount"]) == ([], 0)
    assert document["hints"]["reason"] == "no_match"
    assert document["hints"]["providersAttempted"] == ["brave"]
    assert document["hints"]["filtersApplied"] == []
    assert {"action": "broaden_query", "query": "capital nowhere"} in document["hints"]["suggestedActions"]
    assert {"action": "try_different_provider", "provider": "google"} in document["hints"]["suggestedActions"]
    assert document["hints"]["epistemicWarning"]


@pytest.mark.slow
def test_hints_name_the_filters_that_were_applied_and_none_that_was_not(web: Web) -> None:
    web.brave.route("*", Brave([]))
    hints = web.found(site="example.com", time_range="day", language="eo", exclude_terms="x")["hints"]
    assert hints["reason"] == "filters_too_restrictive"
    assert hints["filtersApplied"] == ["site", "time_range", "exclude_terms"]
    assert hints["suggestedActions"][0] == {"action": "remove_filter", "parameter": "site"}
    assert len(hints["suggestedActions"]) <= 3


@pytest.mark.slow
def test_hints_suggest_no_provider_that_is_not_configured_or_not_well(web: Web) -> None:
    web.brave.route("*", Brave([]))
    for environment in ({"GOOGLE_SEARCH_API_KEY": ""}, {"FERRULE_DISABLE": "web_search_google"}):
        actions = web.found(environment=environment)["hints"]["suggestedActions"]
        assert [one for one in actions if one["action"] == "try_different_provider"] == []


def test_there_are_no_hints_where_something_was_found(web: Web) -> None:
    assert "hints" not in web.found()


# ---- reputation and claims


def test_a_known_host_has_its_reputation_and_a_name_that_ends_alike_has_none(web: Web) -> None:
    web.brave.route(
        "*", Brave(hits("https://www.nature.com/a", "https://signature.com/b", "https://nature.com.evil.test/"))
    )
    first, second, third = web.found()["results"]
    assert first["sourceReputation"]["tier"] == "high"
    assert first["sourceReputation"]["source"].startswith("https://")
    assert "sourceReputation" not in second
    assert "sourceReputation" not in third


@pytest.mark.slow
def test_every_result_has_a_claim_signal_where_a_claim_is_given(web: Web) -> None:
    texts = ("The tower is 330 metres high. It stands in Paris.", "Nothing to do with it.", "")
    found = [Hit("t", f"https://a.example/{n}", text) for n, text in enumerate(texts)]
    web.brave.route("*", Brave(found))
    results = web.found(claim="The tower is 330 metres tall")["results"]
    assert [one["claimSignal"] for one in results] == ["The tower is 330 metres high.", "", ""]
    assert all("claimSignal" not in one for one in web.found()["results"])


@pytest.mark.slow
def test_odd_documents_of_a_provider_are_no_results(web: Web) -> None:
    web.brave.route("*", answers(brave_document([])))
    web.google.route("*", answers(google_document([])))
    assert web.found(**BRAVE)["urls"] == web.found(**GOOGLE)["urls"] == []


def test_where_no_query_has_room_for_a_site_there_are_not_as_many_queries_as_sites(web: Web) -> None:
    web.brave.route("*", Brave(some_hits(5, "docs.python.org")))
    found = web.found("x" * 399, lens="docs", provider="brave")
    assert found["resultCount"] == 5
    assert {one["q"] for one in web.asked_brave} == {"x" * 399}
    assert len(web.asked_brave) == 1


def test_an_order_without_a_name_is_told_as_such(web: Web) -> None:
    document = web.search(environment={"FERRULE_SEARCH_ROUTING": "[]"}).document
    assert document["error"] == "The order of search providers names none."
