"""Which certificates are trusted, and for which names."""

import shutil
import ssl
import subprocess
import time
from pathlib import Path

import pytest
import trustme

from ferrule.errors import ToolError
from ferrule.http import Client, RequestFailed, trust
from ferrule.http.trust import tls_context
from ferrule_dev.testing import Server
from ferrule_testkit.web.clients import LONG, get_body, reason_of_failure

pytestmark = pytest.mark.usefixtures("ferrule_environment")


@pytest.mark.process
@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("host", ["secure.example", "secure.example."])
def test_a_dot_at_the_end_of_a_name_is_no_part_of_its_certificate(
    secure_server: Server, authority: trustme.CA, host: str
) -> None:
    secure_server.page("/", "safe")
    url = f"https://{host}:{secure_server.address[1]}/"
    client = Client(time.monotonic() + LONG, resolver=lambda host, port: ["127.0.0.1"])
    with client, client.open("GET", url) as response:
        assert response.read() == b"safe"
    assert secure_server.requests[0].headers["host"] == f"{host}:{secure_server.address[1]}"


@pytest.mark.process
def test_a_name_that_idna_2008_does_not_know_is_asked_for_as_it_is_written(server: Server) -> None:
    server.page("/", "found")
    client = Client(time.monotonic() + LONG, resolver=lambda host, port: ["127.0.0.1"])
    with client, client.open("GET", f"http://xn--ls8h.example:{server.address[1]}/") as response:
        assert response.read() == b"found"
    assert server.requests[0].headers["host"] == f"xn--ls8h.example:{server.address[1]}"


@pytest.mark.process
def test_a_certificate_of_an_unknown_authority_is_refused(secure_server: Server) -> None:
    reason = reason_of_failure(secure_server.page("/", "x"))
    assert reason.startswith("TLS certificate verify failed: ")
    assert "certificate" in reason.removeprefix("TLS certificate verify failed: ")


@pytest.mark.process
@pytest.mark.usefixtures("trusted")
def test_the_authorities_of_ssl_cert_file_are_trusted(secure_server: Server) -> None:
    assert get_body(secure_server.page("/", "safe" * 100_000)) == b"safe" * 100_000


@pytest.mark.process
@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl computes the names of the files")
def test_the_authorities_of_ssl_cert_dir_are_trusted(
    authority: trustme.CA, secure_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(file)
    command = ["openssl", "x509", "-hash", "-noout", "-in", str(file)]
    hashed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    file.rename(tmp_path / f"{hashed}.0")
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    assert get_body(secure_server.page("/", "safe")) == b"safe"


@pytest.mark.parametrize("folder", ["hashed", "empty", "missing"])
def test_the_systems_folder_is_trusted_only_where_its_names_are_hashed(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if folder != "missing":
        (tmp_path / folder).mkdir()
    if folder == "hashed":
        (tmp_path / folder / "0123abcd.0").touch()
    monkeypatch.setattr(trust, "SYSTEM_FOLDERS", [str(tmp_path / folder)])
    context = tls_context()
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert bool(context.get_ca_certs()) is (folder != "hashed")  # a folder is only read as it is needed


@pytest.mark.process
@pytest.mark.usefixtures("trusted")
def test_a_certificate_for_another_host_is_refused(secure_server: Server) -> None:
    with Client(time.monotonic() + LONG, resolver=lambda host, port: ["127.0.0.1"]) as client:
        with pytest.raises(RequestFailed, match="TLS certificate verify failed: Hostname mismatch"):
            client.open("GET", f"https://other.example:{secure_server.address[1]}/")
        secure_server.page("/", "x")
        with client.open("GET", f"https://secure.example:{secure_server.address[1]}/") as response:
            assert response.status == 200


@pytest.mark.process
def test_a_context_of_the_tools_own_is_used(authority: trustme.CA, secure_server: Server) -> None:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    url = secure_server.page("/", "x")
    with Client(time.monotonic() + LONG, tls=context) as client, client.open("GET", url) as response:
        assert response.read() == b"x"


@pytest.mark.process
def test_https_where_http_is_spoken_is_told(server: Server) -> None:
    assert reason_of_failure(f"https://127.0.0.1:{server.address[1]}/").startswith("TLS failed: ")


@pytest.mark.process
@pytest.mark.parametrize(
    ("variable", "value"),
    [("SSL_CERT_FILE", "/nowhere.pem"), ("SSL_CERT_DIR", "/proc/nowhere"), ("SSL_CERT_FILE", __file__)],
)
def test_a_variable_that_names_no_certificates_is_told(
    variable: str, value: str, secure_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ToolError, match=variable) as failed:
        get_body(secure_server.url)
    assert failed.value.code == "NETWORK_ERROR"
    assert value in failed.value.message


@pytest.mark.process
def test_certificates_are_not_looked_for_where_there_is_no_tls(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere.pem")
    assert get_body(server.page("/", "x")) == b"x"
