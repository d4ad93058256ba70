"""What the scripts of a page may ask for, whatever the administrator allows to a caller."""

import pytest

from ferrule import ToolError
from ferrule.http import AddressGuard, parse
from ferrule_fetch.transfer.request_policy import RequestPolicy, restrict

POLICY = RequestPolicy(AddressGuard(["loopback", "private"]))


@pytest.mark.parametrize(
    "page", ["https://app.example/", "http://intranet/", "http://127.0.0.1:8000/", "http://[::1]/"]
)
@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8001/", "http://10.0.0.1/", "http://localhost/", "http://[::1]:8001/"]
)
def test_another_server_has_to_be_public(page: str, url: str) -> None:
    guard = restrict(POLICY, url, page).guard
    with pytest.raises(ToolError, match="Invalid URL"):
        guard(parse(url, strict=True).host, [])
    with pytest.raises(ToolError, match="not public"):
        guard("rebound.example", ["127.0.0.1"])
    guard("api.example", ["93.184.216.34"])


def test_a_server_that_is_none_of_the_web_by_its_name_may_ask_for_itself_alone() -> None:
    policy = restrict(POLICY, "http://127.0.0.1:8000/words", "http://127.0.0.1:8000/page")
    policy.guard("127.0.0.1", ["127.0.0.1"])
    policy.require_server(parse("http://127.0.0.1:8000/there", strict=True))
    for elsewhere in ("http://127.0.0.1:8001/", "http://10.0.0.1:8000/", "https://app.example/"):
        with pytest.raises(ToolError, match="not of the server"):
            policy.require_server(parse(elsewhere, strict=True))


def test_a_name_that_leads_to_the_own_network_may_not_ask_for_itself() -> None:
    guard = restrict(POLICY, "http://app.example/words", "http://app.example/").guard
    with pytest.raises(ToolError, match="not public"):
        guard("app.example", ["192.168.1.1"])
