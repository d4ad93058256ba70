"""Behind a proxy: a tool reaches what its permissions name and nothing else, and never sees the proxy's password."""

import json
import re
from collections.abc import Callable

import pytest

from ferrule_testkit.attacks.ways import Answered
from ferrule_testkit.web.office import FAR, PASSWORD, VARIABLES, Office, way_to
from ferrule_testkit.web.proxy import USER

pytestmark = pytest.mark.process


def test_a_host_of_the_tool_is_reached_with_the_password(office: Office, reach: Callable[..., Answered]) -> None:
    office.install(FAR)
    assert reach("page", "http://far.invalid/page").document == {"got": "from afar"}
    assert office.proxy.asked == ["GET http://far.invalid/page"]
    assert office.proxy.strangers == []


def test_a_tunnel_to_a_host_of_the_tool_is_opened(office: Office, reach: Callable[..., Answered]) -> None:
    office.install("far.invalid:443")
    answered = reach("raw", "CONNECT far.invalid:443 HTTP/1.1|Host: far.invalid:443")
    assert "from afar" in str(answered.document["got"])
    assert office.proxy.asked == ["CONNECT far.invalid:443"]


@pytest.mark.parametrize("kind", ["tunnel", "page"])
def test_another_host_is_refused_and_told_as_any_refused_connection(
    kind: str, office: Office, reach: Callable[..., Answered]
) -> None:
    office.install(FAR)
    scheme = "https" if kind == "tunnel" else "http"
    answered = reach("page", f"{scheme}://{office.near_authority}/")
    assert answered.document["error_code"] == "PERMISSION_DENIED", answered.text
    assert f"reach wanted to reach {office.near_authority}" in str(answered.document["error"])
    assert office.proxy.asked == office.proxy.strangers == []
    assert office.near.requests == []


@pytest.mark.slow
def test_the_password_is_nowhere_in_the_process_of_the_tool(office: Office, reach: Callable[..., Answered]) -> None:
    office.install(FAR)
    reach("page", "http://far.invalid/page")
    text = reach("everything").text
    assert "HTTPS_PROXY" in text
    assert PASSWORD not in text
    assert office.proxy.token not in text
    assert str(office.proxy.address[1]) not in re.findall(r"127\.0\.0\.1:(\d+)", text)


@pytest.mark.slow
def test_the_proxy_itself_is_out_of_reach(office: Office, reach: Callable[..., Answered]) -> None:
    office.install(FAR)
    answered = reach("direct", "{}:{}".format(*office.proxy.address))
    assert answered.document["error_code"] == "PERMISSION_DENIED", answered.text


def test_what_was_refused_is_in_the_journal_also_where_the_tool_goes_on(
    office: Office, reach: Callable[..., Answered]
) -> None:
    office.install(FAR)
    office.configure("[journal]\nenabled = true\n")
    assert "403" in str(reach("swallow", f"http://{office.near_authority}/").document["got"])
    assert PASSWORD not in office.wait_for_refusal(office.near_authority)


@pytest.mark.parametrize("scheme", ["socks5", "socks5h", "ftp"])
def test_another_kind_of_proxy_is_refused(scheme: str, office: Office, run_reach: Callable[..., Answered]) -> None:
    office.install(FAR)
    for name in VARIABLES:
        del office.machine.environment[name]
    office.machine.environment["ALL_PROXY"] = f"{scheme}://{USER}:{PASSWORD}@127.0.0.1:1080"
    answered = run_reach("page", "http://far.invalid/")
    assert answered.document["error_code"] == "PROXY_UNUSABLE"
    assert f"ALL_PROXY names a {scheme} proxy" in str(answered.document["error"])
    assert PASSWORD not in answered.text


def test_another_kind_of_proxy_that_no_client_would_use_is_left_out(office: Office) -> None:
    office.install(FAR)
    office.machine.environment["ALL_PROXY"] = f"socks5://{USER}:{PASSWORD}@127.0.0.1:1080"
    way = way_to("run", office.machine)
    text = way.call("reach", {"how": "everything"}).text
    assert "ALL_PROXY" not in text
    assert PASSWORD not in text
    assert way.call("reach", {"how": "page", "where": "http://far.invalid/"}).document == {"got": "from afar"}


def test_a_tool_without_a_network_has_neither_proxy_nor_relay(office: Office) -> None:
    office.install()
    text = way_to("run", office.machine).call("reach", {"how": "everything"}).text
    assert '"got"' in text
    assert "_PROXY" not in text.upper()


@pytest.mark.parametrize(
    "permissions", [{"environment": ["HTTPS_PROXY", "https_*", "H*"]}, {"network": ["variable:HTTPS_PROXY"]}]
)
def test_no_declaration_gives_a_tool_the_variable(permissions: dict[str, list[str]], office: Office) -> None:
    office.install()
    (office.machine.site / "module_reach.tool.json").write_text(
        json.dumps({"permissions": {"network": [], **permissions}})
    )
    text = way_to("run", office.machine).call("reach", {"how": "everything"}).text
    assert '"got"' in text
    assert PASSWORD not in text


@pytest.mark.slow
def test_no_credential_is_the_variable(office: Office) -> None:
    office.install(FAR)
    source = office.machine.site / "module_reach.py"
    source.write_text(
        source.read_text()
        + "\n@hookimpl\ndef credentials():\n"
        + "    return [Credential('proxy', environment='HTTPS_PROXY', path='proxy.url')]\n"
    )
    source.write_text(
        source.read_text().replace(
            'if how == "page":',
            'if how == "key":\n        return {"got": context.credential("proxy")}\n    if how == "page":',
        )
    )
    way = way_to("run", office.machine)
    text = way.call("reach", {"how": "key"}).text
    assert PASSWORD not in text
    assert "PERMISSION_DENIED" in text, text
    office.machine.ferrule("permissions", "accept", "reach")
    office.machine.ferrule("credentials", "accept", "reach")
    assert PASSWORD not in way.call("reach", {"how": "key"}).text


def test_doctor_names_a_proxy_that_no_tool_can_be_given(office: Office) -> None:
    office.install(FAR)
    for name in VARIABLES:
        office.machine.environment[name] = f"socks5://{USER}:{PASSWORD}@127.0.0.1:1080"
    told = office.machine.hide_commands().ferrule("doctor", "--json").out
    assert "proxy-unusable" in told
    assert "http_proxy names a socks5 proxy" in told
    assert PASSWORD not in told


@pytest.mark.slow
@pytest.mark.parametrize("isolation", ["standard", "off"])
def test_without_a_judge_of_addresses_the_relay_still_judges(
    isolation: str, office: Office, reach: Callable[..., Answered]
) -> None:
    office.install(FAR)
    office.configure(f'[permissions]\nisolation = "{isolation}"\n[journal]\nenabled = true\n')
    assert reach("page", "http://far.invalid/page").document == {"got": "from afar"}
    assert PASSWORD not in reach("everything").text
    answered = reach("page", f"http://{office.near_authority}/")
    if isolation == "off":
        assert answered.document == {"got": "the secret of the house"}
    else:
        assert answered.document["error_code"] == "PERMISSION_DENIED", answered.text
        office.wait_for_refusal(office.near_authority)
