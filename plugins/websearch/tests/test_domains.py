"""Domains as people and models write them."""

import pytest

from ferrule.errors import ToolError
from ferrule_websearch import DomainFilter, Query
from ferrule_websearch.domains import InvalidDomain, domain_findings, host_of, normalise_domain


@pytest.mark.parametrize(
    ("pasted", "domain"),
    [
        ("example.com", "example.com"),
        ("EXAMPLE.Com", "example.com"),
        ("  example.com\n", "example.com"),
        ("'example.com'", "example.com"),
        ("<https://example.com>", "example.com"),
        ("example.com.", "example.com"),
        ("https://example.com", "example.com"),
        ("HTTP://Example.com:8080/some/path?a=b#c", "example.com"),
        ("//example.com/x", "example.com"),
        ("example.com/path", "example.com"),
        ("example.com:443", "example.com"),
        ("example.com?x", "example.com"),
        ("https://user:word@example.com/", "example.com"),
        ("*.example.com", "example.com"),
        (".example.com", "example.com"),
        ("https://*.example.com/*", "example.com"),
        ("site:example.com", "example.com"),
        ("site: example.com", "example.com"),
        ("www.example.com", "www.example.com"),
        ("my_host.example.com", "my_host.example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.Example", "xn--bcher-kva.example"),
        ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
        ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
        ("例え。テスト", "xn--r8jz45g.xn--zckzah"),
        ("https://bücher.example./straße", "xn--bcher-kva.example"),
        (".edu", "edu"),
        ("*.gov", "gov"),
        ("192.0.2.7", "192.0.2.7"),
    ],
)
def test_a_pasted_domain_is_understood(pasted: str, domain: str) -> None:
    assert normalise_domain(pasted) == domain


@pytest.mark.parametrize(
    "pasted",
    [
        "wikipedia",
        "edu",
        "two words",
        "example .com",
        "example,com",
        "a.com, b.com",
        "example..com",
        "-example.com",
        "example-.com",
        "*",
        "*.",
        ".",
        "https://",
        "/path",
        "exa*mple.com",
        "*example.com",
        "[::1]",
        "::1",
        "a" * 64 + ".com",
        ".".join(["a" * 60] * 5),
        "exam\x00ple.com",
        "a\u2028b.com",
        "ex\N{SNOWMAN}mple.com",
        "\ud800.com",
        "a..b.ü",
    ],
)
def test_nonsense_is_a_finding_that_names_it(pasted: str) -> None:
    with pytest.raises(InvalidDomain):
        normalise_domain(pasted)
    (finding,) = domain_findings({"allowed_domains": ["example.com", pasted]})
    assert finding.startswith("allowed_domains: ")
    assert repr(pasted)[1:20].rstrip("'") in finding
    (finding,) = domain_findings({"blocked_domains": [pasted]})
    assert finding.startswith("blocked_domains: ")


def test_a_bare_word_is_told_how_to_mean_a_whole_branch() -> None:
    (finding,) = domain_findings({"allowed_domains": ["edu"]})
    assert finding == (
        "allowed_domains: 'edu' is not a domain, write the whole domain, or .edu for all domains under it"
    )


def test_a_long_entry_is_not_repeated_at_length() -> None:
    (finding,) = domain_findings({"allowed_domains": ["x" * 10_000]})
    assert len(finding) < 200


def test_every_wrong_entry_is_named() -> None:
    assert len(domain_findings({"allowed_domains": ["a b", "ok.example", "c d"], "blocked_domains": ["e f"]})) == 3


def test_a_filter_that_leaves_nothing_is_a_finding() -> None:
    finding = "allowed_domains: blocked_domains leaves none of them"
    assert domain_findings({"allowed_domains": ["a.example.com"], "blocked_domains": ["example.com"]}) == [finding]
    assert domain_findings({"allowed_domains": ["example.com"], "blocked_domains": ["a.example.com"]}) == []


@pytest.mark.parametrize("arguments", [{}, {"allowed_domains": []}, {"blocked_domains": ["", " "]}])
def test_nothing_is_no_filter(arguments: dict[str, list[str]]) -> None:
    assert domain_findings(arguments) == []
    assert not DomainFilter.of(arguments).is_active
    assert DomainFilter.of(arguments).passes("anything at all")


def test_an_allowed_list_that_names_no_domain_is_a_finding() -> None:
    finding = "allowed_domains: it names no domain, leave it out or empty to search everywhere"
    assert domain_findings({"allowed_domains": ["", " "]}) == [finding]
    assert domain_findings({"allowed_domains": ["", "example.com"]}) == []


def test_no_host_is_beneath_an_ip_address() -> None:
    domains = DomainFilter.of({"allowed_domains": ["127.0.0.1"]})
    assert domains.passes("http://127.0.0.1/")
    assert not domains.passes("http://1.127.0.0.1/")


@pytest.mark.parametrize(
    ("url", "is_on"),
    [
        ("https://example.com", True),
        ("https://example.com/path", True),
        ("https://EXAMPLE.COM/", True),
        ("https://example.com./", True),
        ("https://example.com:8443/", True),
        ("https://www.example.com/", True),
        ("https://a.b.example.com/", True),
        ("https://user@example.com/", True),
        ("https://notexample.com/", False),
        ("https://example.com.evil.example/", False),
        ("https://example.co/", False),
        ("https://evil.example/example.com", False),
        ("https://evil.example/?https://example.com", False),
        ("https://evil.example#@example.com", False),
        ("https://evil.example\\@example.com/", False),
        ("https://ex%61mple.com/", False),
        ("example.com", False),
        ("", False),
        ("https://[::1", False),
    ],
)
def test_a_domain_is_itself_and_its_subdomains(url: str, is_on: bool) -> None:
    assert DomainFilter(allowed=("example.com",)).passes(url) is is_on
    if host_of(url):
        assert DomainFilter(blocked=("example.com",)).passes(url) is not is_on


def test_a_url_whose_host_cannot_be_told_passes_no_filter() -> None:
    assert not DomainFilter(blocked=("example.com",)).passes("https://evil.example\\@example.com/")


@pytest.mark.parametrize("entry", ["bücher.example", "xn--bcher-kva.example"])
@pytest.mark.parametrize(
    "url", ["https://bücher.example/x", "https://xn--bcher-kva.example/x", "https://www.BÜCHER.example"]
)
def test_either_form_of_an_international_domain_matches_either(entry: str, url: str) -> None:
    assert DomainFilter.of({"allowed_domains": [entry]}).passes(url)
    assert not DomainFilter.of({"blocked_domains": [entry]}).passes(url)


def test_www_means_itself() -> None:
    assert not DomainFilter.of({"allowed_domains": ["www.example.com"]}).passes("https://example.com/")


def test_blocked_wins_over_allowed() -> None:
    domains = DomainFilter.of({"allowed_domains": ["example.com"], "blocked_domains": ["old.example.com"]})
    assert domains.passes("https://new.example.com/")
    assert not domains.passes("https://very.old.example.com/")
    assert not domains.is_allowed_alone
    assert DomainFilter(("example.com",), ("other.example",)).is_allowed_alone


def test_what_another_entry_includes_is_left_out() -> None:
    given = {"allowed_domains": ["b.example.com", "example.com", "EXAMPLE.com", "a.example.com", "other.example"]}
    assert DomainFilter.of(given).allowed == ("example.com", "other.example")


def test_operators_put_the_filter_into_words() -> None:
    domains = DomainFilter(("a.com", "b.com"), ("c.com",))
    assert domains.operators() == "site:a.com OR site:b.com -site:c.com"
    assert domains.operators(blocked=False) == "site:a.com OR site:b.com"
    assert domains.operators(allowed=False) == "-site:c.com"
    assert DomainFilter().operators() == ""


def test_a_tool_that_does_not_validate_is_told_too() -> None:
    with pytest.raises(ToolError, match="'no domain' is not a domain") as caught:
        Query.of({"query": "q", "allowed_domains": ["no domain"]}, offset=0, limit=1)
    assert caught.value.code == "INVALID_INPUT"
