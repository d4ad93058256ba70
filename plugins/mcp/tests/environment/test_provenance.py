"""What an index and a registry say of who has published a package; both are served here on loopback."""

from __future__ import annotations

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ferrule_mcp.environment.provenance import find_provenance
from ferrule_mcp.environment.record import Package
from ferrule_mcp.launch.plan import NPM, PYPI, SCRIPT, Launch

pytestmark = pytest.mark.process

DIGEST = "ab" * 32
PACKAGE = Package(PYPI, "own-mcp", "1.0", "sha256=00")


@pytest.fixture
def pages():
    return {}


@pytest.fixture
def address(pages):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            content = pages.get(self.path)
            self.send_response(404 if content is None else 200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def launch(address: str) -> Launch:
    return Launch(PYPI, SCRIPT, "", requirements=("own-mcp",), options=("--index-url", f"{address}/simple"))


def file(**more: object) -> dict[str, object]:
    return {"filename": "own_mcp-1.0-py3-none-any.whl", "hashes": {"sha256": DIGEST}, **more}


def attestation(digest: str) -> dict[str, object]:
    statement = json.dumps({"subject": [{"name": "x", "digest": {"sha256": digest}}]})
    bundle = {
        "publisher": {"kind": "GitHub", "repository": "ann/own-mcp", "workflow": "release.yml"},
        "attestations": [{"envelope": {"statement": base64.b64encode(statement.encode()).decode()}}],
    }
    return {"version": 1, "attestation_bundles": [bundle]}


@pytest.mark.parametrize(
    ("digest", "words"),
    [(DIGEST, "attested by GitHub ann/own-mcp (release.yml)"), ("cd" * 32, "its attestation is for another file")],
)
def test_an_attestation_of_the_index_is_told_where_it_is_for_the_file(address, pages, digest, words):
    pages["/simple/own-mcp/"] = {"files": [file(provenance=f"{address}/provenance")]}
    pages["/provenance"] = attestation(digest)
    assert find_provenance(PACKAGE, launch(address)) == words


def test_an_index_that_knows_of_attestations_and_has_none_says_so(address, pages):
    pages["/simple/own-mcp/"] = {"files": [file(provenance=None), {"filename": "own_mcp-2.0-py3-none-any.whl"}]}
    assert find_provenance(PACKAGE, launch(address)) == "not attested"


@pytest.mark.parametrize(
    "page", [None, {"files": [file()]}, {"files": 3}, [], {"files": [file(provenance="http://other.invalid/x")]}]
)
def test_an_index_that_does_not_tell_tells_nothing(address, pages, page):
    pages["/simple/own-mcp/"] = page
    assert find_provenance(PACKAGE, launch(address)) == ""


def test_an_index_that_does_not_answer_tells_nothing():
    assert find_provenance(PACKAGE, Launch(PYPI, SCRIPT, "", options=("--index-url", "http://127.0.0.1:9/"))) == ""


def test_the_archive_that_was_installed_goes_before_the_name(address, pages):
    other = {"filename": "own_mcp-1.0-py3-none-any.whl", "hashes": {"sha256": "ee" * 32}, "provenance": None}
    pages["/simple/own-mcp/"] = {"files": [other, file(provenance=f"{address}/provenance")]}
    pages["/provenance"] = attestation(DIGEST)
    words = find_provenance(PACKAGE._replace(archive=f"sha256={DIGEST}"), launch(address))
    assert words == "attested by GitHub ann/own-mcp (release.yml)"


def packument(address: str, dist: dict[str, object]) -> dict[str, object]:
    version = {"name": "own-mcp", "version": "1.0.0", "dist": {"tarball": f"{address}/own-mcp-1.0.0.tgz", **dist}}
    return {"name": "own-mcp", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signatures", "is_attested", "words"),
    [
        ([{"keyid": "k", "sig": "s"}], False, "signed by the registry"),
        ([], False, ""),
        ([], True, "attested by https://code.example/ann/own (.github/release.yml)"),
    ],
)
def test_what_the_registry_of_npm_keeps_with_a_version_is_told(address, pages, signatures, is_attested, words):
    integrity = base64.b64encode(b"x" * 64).decode()
    dist: dict[str, object] = {"integrity": f"sha512-{integrity}", "signatures": signatures}
    if is_attested:
        dist["attestations"] = {"url": f"{address}/attestations"}
    pages["/own-mcp"] = packument(address, dist)
    flow = {"repository": "https://code.example/ann/own", "path": ".github/release.yml"}
    statement = {
        "subject": [{"digest": {"sha512": (b"x" * 64).hex()}}],
        "predicate": {"buildDefinition": {"externalParameters": {"workflow": flow}}},
    }
    payload = base64.b64encode(json.dumps(statement).encode()).decode()
    pages["/attestations"] = {"attestations": [{"bundle": {"dsseEnvelope": {"payload": payload}}}]}
    options = (f"--registry={address}/", "--prefer-online")
    package = Package(NPM, "own-mcp", "1.0.0", "sha256=00")
    assert find_provenance(package, Launch(NPM, SCRIPT, "", options=options), seconds=60) == words
