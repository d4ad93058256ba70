"""What hostile URLs, resolvers and servers get a fetch to connect to, and that the legal web goes on working."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from ferrule import ToolError
from ferrule.confinement.networks import kind_of
from ferrule_testkit.hostile import urls as hostile_urls
from ferrule_testkit.hostile.urls import PUBLIC, Case
from ferrule_testkit.web.fake_internet import Internet

pytestmark = pytest.mark.process


Fetch = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def internet() -> Iterator[Internet]:
    with Internet() as internet:
        yield internet


@pytest.fixture(autouse=True)
def _nothing_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FERRULE_FETCH_ALLOW")


def _named(case: Case) -> str:
    answers = "".join(f" ({host} is at {answers})" for host, answers in case.answers.items())
    return ascii(f"{case.group}: {case.url[:80]}{answers}")


def _by_group(cases: Iterable[Case]) -> dict[str, list[Case]]:
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.group, []).append(case)
    return groups


def _outcome(fetch: Fetch, url: str) -> str:
    try:
        fetch(url)
    except ToolError as error:
        return error.code
    return "page"


def test_the_table_is_as_long_as_the_documentation_says() -> None:
    assert len(hostile_urls.ATTACKS) == 391
    assert len(hostile_urls.RESERVED) == 96
    assert len(hostile_urls.POLICY) == 55
    assert len(hostile_urls.LEGAL) == 118


ATTACKS = _by_group([*hostile_urls.ATTACKS, *hostile_urls.RESERVED])
POLICY, LEGAL = _by_group(hostile_urls.POLICY), _by_group(hostile_urls.LEGAL)


@pytest.mark.parametrize("group", ATTACKS)
def test_attacks_reach_no_special_address(internet: Internet, fetch: Fetch, group: str) -> None:
    for case in ATTACKS[group]:
        internet.resolve(case.answers)
        code = _outcome(fetch, case.url)
        is_answer_safe = case.safe_answer and code in ("page", "NETWORK_ERROR")
        assert code == "INVALID_URL" or is_answer_safe, _named(case)
        assert set(internet.connected) <= {PUBLIC}, _named(case)
        assert "to=" in case.url or case.safe_answer or not internet.connected, _named(case)


@pytest.mark.parametrize("group", POLICY)
def test_what_no_page_has_for_an_address_is_refused(internet: Internet, fetch: Fetch, group: str) -> None:
    for case in POLICY[group]:
        internet.resolve(case.answers)
        assert (_outcome(fetch, case.url), internet.connected) == ("INVALID_URL", []), _named(case)


@pytest.mark.parametrize("group", LEGAL)
def test_legal_urls_are_fetched(internet: Internet, fetch: Fetch, group: str) -> None:
    for case in LEGAL[group]:
        internet.resolve(case.answers)
        if "https" in case.url:  # which the server does not speak, but connecting is what matters here
            with pytest.raises(ToolError, match="TLS failed"):
                fetch(case.url)
        else:
            assert fetch(case.url)["content"] == "reached", _named(case)
        assert internet.connected, _named(case)
        assert not [address for address in internet.connected if kind_of(address)], _named(case)


def test_what_was_judged_is_what_is_connected_to(internet: Internet, fetch: Fetch) -> None:
    internet.resolve({"target.example": [["8.8.8.8"], ["127.0.0.1"]]})
    assert fetch("http://target.example/")["content"] == "reached"
    assert internet.connected == ["8.8.8.8"]


def test_a_host_that_changes_between_two_redirects_is_judged_again(internet: Internet, fetch: Fetch) -> None:
    internet.resolve({"a.example": [["8.8.8.8"]], "b.example": [["127.0.0.1"]]})
    there = hostile_urls.redirecting("http://b.example/").replace("start", "a")
    with pytest.raises(ToolError, match=r"b\.example is at an address that is not public"):
        fetch(there)
    assert internet.connected == ["8.8.8.8"]
