"""What a relay passes on to a proxy and back, and what it makes of requests that are forged."""

import re
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
import trustme

from ferrule_dev.testing import refused_port
from ferrule_testkit.attacks.ways import Answered
from ferrule_testkit.web.office import FAR, PASSWORD, VARIABLES, Office, way_to
from ferrule_testkit.web.proxy import USER, Proxy

pytestmark = pytest.mark.process


def test_a_body_goes_through_in_both_directions_in_pieces_too(
    office: Office, run_reach: Callable[..., Answered]
) -> None:
    office.install(FAR)
    office.far.route("/echo", lambda exchange: exchange.answer(exchange.read_body() * 3))
    chunks = "".join(f"{len(one):x}\r\n{one}\r\n" for one in ("one ", "two ", ""))
    head = "POST http://far.invalid/echo HTTP/1.1|Host: x|Connection: close"
    whole = run_reach("raw", f"{head}|Content-Length: 5", "hello").text
    assert "hello" * 3 in whole, whole
    pieces = run_reach("raw", f"{head}|Transfer-Encoding: chunked", chunks).text
    assert "one two " * 3 in pieces, pieces


def test_several_requests_of_one_connection_are_judged_each(office: Office, run_reach: Callable[..., Answered]) -> None:
    office.install(FAR)
    first = "GET http://far.invalid/ HTTP/1.1|Host: far.invalid"
    second = f"GET http://{office.near_authority}/ HTTP/1.1|Host: far.invalid|Connection: close"
    got = str(run_reach("raw", f"{first}||{second}").document["got"])
    assert "from afar" in got
    assert "403 Refused by ferrule" in got
    assert office.near.requests == []


REFUSED = [
    "CONNECT far.invalid:22",
    "CONNECT other.far.invalid:80",
    "CONNECT xfar.invalid:80",
    "CONNECT 2130706433:80",
    "CONNECT 0x7f000001:80",
    "CONNECT 127.1:80",
    "CONNECT far.invalid:80@127.0.0.1:80",
    "CONNECT far.invalid%00.example:80",
    "CONNECT [::ffff:127.0.0.1]:80",
    "CONNECT [::1%25lo]:80",
    "CONNECT far.invalid",
    "CONNECT far.invalid:0",
    "CONNECT far.invalid:99999",
    "GET http://far.invalid@127.0.0.1/",
    "GET http://127.0.0.1#far.invalid/",
    "GET http://127.0.0.1?far.invalid/",
    r"GET http://127.0.0.1\far.invalid/",
    "GET https://far.invalid/",
    "GET ftp://far.invalid/",
    "GET //far.invalid/",
    "GET /",
    "OPTIONS *",
    "TRACE http://far.invalid/",
]


def test_nothing_reaches_the_proxy_that_the_permissions_do_not_have(office: Office) -> None:
    """By one server, whose calls have a relay each; `ferrule run` has the same for its one call."""
    office.install(FAR)
    way = way_to("serve", office.machine)
    try:
        for line in REFUSED:
            got = str(way.call("reach", {"how": "raw", "where": f"{line} HTTP/1.1|Host: far.invalid:80"}).text)
            assert re.search(r"HTTP/1\.1 4\d\d ", got) or "PERMISSION_DENIED" in got, (line, got)
            assert office.proxy.asked == office.proxy.strangers == [], line
        answered = way.call("reach", {"how": "page", "where": "http://far.invalid/"})
        assert answered.document == {"got": "from afar"}
    finally:
        way.close()


def test_what_the_proxy_says_of_its_client_is_not_passed_on(office: Office, run_reach: Callable[..., Answered]) -> None:
    """Its page of an error shows the request with the password; the name is one that it cannot connect to."""
    office.install("nowhere.invalid:80")
    got = run_reach("raw", "GET http://nowhere.invalid/ HTTP/1.1|Host: x|Connection: close").text
    assert "HTTP/1.1 502" in got
    assert "Proxy-Authorization: Basic ****" in got
    assert office.proxy.token not in got


def test_a_body_has_one_length(office: Office, run_reach: Callable[..., Answered]) -> None:
    office.install(FAR)
    lines = "Host: x|Connection: close, transfer-encoding|Content-Length: 40|Transfer-Encoding: chunked"
    hidden = f"GET http://{office.near_authority}/ HTTP/1.1\r\n\r\n"
    run_reach("raw", f"POST http://far.invalid/ HTTP/1.1|{lines}", f"0\r\n\r\n{hidden}")
    (request,) = office.far.requests
    assert request.headers["transfer-encoding"] == "chunked"
    assert "content-length" not in request.headers


def test_headers_for_the_proxy_are_the_relays_alone(office: Office, run_reach: Callable[..., Answered]) -> None:
    office.install(FAR)
    lines = (
        "Host: 127.0.0.1|Proxy-Authorization: Basic x|Max-Forwards: 0|Connection: close, x-mine|X-Mine: 1|X-Other: 2"
    )
    run_reach("raw", f"GET http://far.invalid/ HTTP/1.1|{lines}")
    (request,) = office.far.requests
    assert request.headers["host"] == "far.invalid"
    assert request.headers["x-other"] == "2"
    assert not {"proxy-authorization", "max-forwards", "x-mine"} & set(request.headers)


def test_a_password_that_the_proxy_does_not_take_is_told_without_it(
    office: Office, run_reach: Callable[..., Answered]
) -> None:
    office.install(FAR)
    for name in VARIABLES:
        office.machine.environment[name] = office.proxy.url.replace(PASSWORD, "wr0ng-password")
    text = run_reach("page", "http://far.invalid/").text
    assert "502" in text
    assert "wr0ng-password" not in text
    got = run_reach("raw", "GET http://far.invalid/ HTTP/1.1|Host: x|Connection: close").text
    assert "names does not accept its user and password (HTTP 407)" in got


def test_a_proxy_that_is_not_there_is_told(office: Office, run_reach: Callable[..., Answered]) -> None:
    office.install(FAR)
    for name in VARIABLES:
        office.machine.environment[name] = f"http://{USER}:{PASSWORD}@127.0.0.1:{refused_port()}"
    got = run_reach("raw", "GET http://far.invalid/ HTTP/1.1|Host: x|Connection: close").text
    assert "names cannot be reached (Connection refused)" in got
    assert PASSWORD not in got


def test_a_proxy_that_is_reached_by_tls_is_used(office: Office, reach: Callable[..., Answered], tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    office.install(FAR, "far.invalid:443")
    office.far.page("/large", "x" * 1_000_000)
    with Proxy(PASSWORD, context, office.proxy.hosts) as proxy:
        for name in VARIABLES:
            office.machine.environment[name] = proxy.url
        office.machine.environment["SSL_CERT_FILE"] = str(tmp_path / "authority.pem")
        assert reach("page", "http://far.invalid/").document == {"got": "from afar"}
        got = reach("raw", "CONNECT far.invalid:443 HTTP/1.1|Host: x").document["got"]
        assert "from afar" in str(got)
        assert proxy.asked == ["GET http://far.invalid/", "CONNECT far.invalid:443"]


@pytest.mark.slow
def test_a_tool_that_may_reach_the_public_web_is_kept_from_the_own_network(office: Office) -> None:
    office.install("public")
    way = way_to("run", office.machine)
    office.proxy.hosts["unknown.invalid:80"] = office.far.address
    assert way.call("reach", {"how": "page", "where": "http://unknown.invalid/"}).document == {"got": "from afar"}
    for host in (
        office.near_authority,
        "localhost:80",
        "10.0.0.1:80",
        "169.254.169.254:80",
        "metadata.google.internal:80",
    ):
        answered = way.call("reach", {"how": "page", "where": f"http://{host}/"})
        assert answered.document["error_code"] == "PERMISSION_DENIED", answered.text
    assert len(office.proxy.asked) == 1
