"""The parts of a search that need no provider: URLs, claims, reputation, lenses, words of a query."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ferrule_research import failures
from ferrule_research.addresses import canonical
from ferrule_research.search.claims import find_claim_signal
from ferrule_research.search.errors import search_error
from ferrule_research.search.hints import simplify
from ferrule_research.search.provider_order import share_of_time
from ferrule_research.search.reputation import find_reputation
from ferrule_websearch import Attempt, normalise_domain

SOURCE = Path(__file__).parents[1] / "src/ferrule_research"
HOSTS = json.loads((SOURCE / "search/reputations.json").read_text())


@pytest.mark.parametrize(
    "other",
    [
        "http://example.com/a?x=1&y=2",
        "https://EXAMPLE.com:443/a?x=1&y=2",
        "https://example.com/a/?y=2&x=1",
        "https://example.com/a?x=1&y=2#section",
        "https://example.com/a?x=1&utm_source=news&y=2&gclid=5",
        "https://example.com/%61?x=1&y=2",
    ],
)
def test_spellings_of_one_page_are_one(other: str) -> None:
    assert canonical(other) == canonical("https://example.com/a?x=1&y=2")


@pytest.mark.parametrize(
    "other",
    [
        "https://example.com/A?x=1&y=2",
        "https://www.example.com/a?x=1&y=2",
        "https://example.com:8443/a?x=1&y=2",
        "https://example.com/a?x=2&y=2",
        "https://example.com/a?x=1",
        "https://example.com/a?x=1&y=2#/other",
        "ftp://example.com/a?x=1&y=2",
        "https://[::1/a",
        "example.com/a",
    ],
)
def test_other_pages_are_others(other: str) -> None:
    assert canonical(other) != canonical("https://example.com/a?x=1&y=2")


def test_the_reputation_of_at_least_a_hundred_hosts_is_known_each_with_its_source() -> None:
    assert len(HOSTS) >= 100
    for entry in HOSTS:
        assert set(entry) == {"host", "tier", "basis", "source"}
        assert entry["tier"] in ("high", "mixed", "low")
        assert normalise_domain(entry["host"]) == entry["host"]
        assert entry["basis"]
        assert urlsplit(entry["source"]).scheme == "https"
    assert len({entry["host"] for entry in HOSTS}) == len(HOSTS)
    assert {entry["tier"] for entry in HOSTS} == {"high", "mixed", "low"}


@pytest.mark.parametrize("host", ["nature.com", "www.nature.com", "WWW.Nature.com.", "a.b.nature.com"])
def test_a_host_has_the_reputation_of_its_domain(host: str) -> None:
    found = find_reputation(host)
    assert found
    assert (found["host"], found["tier"]) == ("nature.com", "high")


@pytest.mark.parametrize(
    "host", ["signature.com", "nature.com.evil.test", "nature.co", "com", "", "xnature.com", "1.2.3.4"]
)
def test_a_name_that_looks_alike_has_none(host: str) -> None:
    assert find_reputation(host) is None


def test_the_nearest_domain_counts() -> None:
    assert find_reputation("factcheck.afp.com")
    assert find_reputation("afp.com") is None


@pytest.mark.parametrize(
    ("claim", "text", "signal"),
    [
        (
            "coffee causes cancer",
            "Tea is fine. Coffee does not cause cancer. Milk is white.",
            "Coffee does not cause cancer.",
        ),
        (
            "the bridge is 200 m long",
            "The bridge is long. The bridge is 200 m in length.",
            "The bridge is 200 m in length.",
        ),
        ("vaccines cause autism", "Vaccines cause fever. However, vaccines are safe.", "However, vaccines are safe."),
        ("population of 1,234", "It is big. It has 1234 people.", "It has 1234 people."),
        ("prices rose 3.5 percent", "Prices rose by 3.5 percent. Then they fell.", "Prices rose by 3.5 percent."),
        ("the cat is in the house", "There is the one in the other.", ""),
        ("cats", "Evidence shows nothing of the kind.", ""),
        ("地球は丸い", "猫は可愛い。地球は丸いと言われる。", "地球は丸いと言われる。"),
        ("anything", "", ""),
        ("?!", "Some text.", ""),
    ],
)
def test_the_sentence_that_bears_most_on_a_claim_is_found(claim: str, text: str, signal: str) -> None:
    assert find_claim_signal(claim, text) == signal


@pytest.mark.parametrize(
    ("query", "shorter"),
    [
        ("what is the capital of france?", "capital france"),
        ("capital france", ""),
        ("what is it", ""),
        ('"to be or not to be" hamlet', ""),
        ("the best -cheap phones", ""),
        ("site:a.example the phones", ""),
    ],
)
def test_a_shorter_query_is_suggested_only_where_it_means_the_same(query: str, shorter: str) -> None:
    assert simplify(query) == shorter


@pytest.mark.parametrize("path", sorted((SOURCE / "search/lenses").glob("*.json")), ids=lambda path: path.stem)
def test_a_lens_names_domains_each_once(path: Path) -> None:
    facts = json.loads(path.read_text())
    assert facts["description"]
    assert len(facts["sites"]) == len(set(facts["sites"])) >= 10
    assert all(normalise_domain(site) == site.removeprefix(".") for site in facts["sites"])


def test_the_lenses_that_the_schema_promises_are_there() -> None:
    described = json.loads((SOURCE / "search/schema.json").read_text())["parameters"]["properties"]["lens"][
        "description"
    ]
    names = sorted(path.stem for path in (SOURCE / "search/lenses").glob("*.json"))
    assert names == ["academic", "code", "docs", "government", "medical", "news"]
    assert all(name in described for name in names)


def test_a_failure_without_a_kind_gets_one_by_its_code() -> None:
    assert failures.render({"code": "TIMEOUT", "message": "Late."}) == {
        "success": False,
        "error": "Late.",
        "error_code": "TIMEOUT",
        "kind": "network",
        "retryable": True,
        "suggestedAction": "retry_after_delay",
    }
    assert failures.render({"code": "INTERNAL_ERROR", "message": "Oh."})["suggestedAction"] == "report_bug"


def test_the_time_to_wait_is_told_to_the_host_too_and_what_is_left_of_it_counts() -> None:
    limited = [
        Attempt(name, "failed", error={"code": "RATE_LIMIT", "message": "No."}, kind="rate_limited", wait=wait)
        for name, wait in (("a", 70.5), ("b", 49.5), ("c", None))
    ]
    facts = search_error(limited, []).facts()
    assert facts["retry_after"] == 50  # by which a cache keeps it no longer than it lasts
    assert failures.render({**facts, "retry_after": 20})["retryAfterSeconds"] == 20
    assert "retry_after" not in search_error(limited[2:], []).facts()


@pytest.mark.parametrize("providers", range(2, 7))
def test_providers_that_say_nothing_give_way_in_under_ten_seconds_and_the_last_has_the_rest(providers: int) -> None:
    elapsed = 0.0
    for others in range(providers - 1, 0, -1):
        share = share_of_time(23.0 - elapsed, elapsed, others)
        assert share >= 1.0  # or else it would not count as one that failed
        elapsed += share
    assert elapsed < 10
    assert share_of_time(23.0 - elapsed, elapsed, 0) == 23.0 - elapsed
