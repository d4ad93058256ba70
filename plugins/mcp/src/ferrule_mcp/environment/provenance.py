"""Who has published a package, as far as its index or registry says so. Nothing is said where that is silent.

The signatures themselves are not checked: that needs the keys of a transparency log, from a network. What is checked is
that an attestation is for the file that the index names.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from ferrule.errors import FerruleError
from ferrule_mcp.environment.programs import find_uv, read_variables
from ferrule_mcp.launch.json_values import read_object, read_objects
from ferrule_mcp.launch.plan import NPM, PYPI, Launch

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject
    from ferrule_mcp.environment.record import Package

_SECONDS = 20.0
_MAX_BYTES = 16 << 20
_SIMPLE = "application/vnd.pypi.simple.v1+json"


def find_provenance(package: Package, launch: Launch, seconds: float = _SECONDS) -> str:
    """A few words, such as `attested by GitHub ann/repository (release.yml)`; empty where the index does not tell.

    launch: whose options name the index. Never fails: an index that does not answer in time tells nothing.
    """
    from ferrule.http import RequestFailed

    ends = time.monotonic() + seconds
    try:
        if package.ecosystem == PYPI:
            return _ask_index(package, launch, ends)
        return _ask_registry(package, launch, ends) if package.ecosystem == NPM else ""
    except (FerruleError, RequestFailed, OSError, ValueError, subprocess.SubprocessError):
        return ""


def _ask_index(package: Package, launch: Launch, ends: float) -> str:
    """The provenance of the wheels of a version, by the index's own list of its files."""
    index = _find_index(launch, ends)
    if not index:
        return ""
    page = _fetch(f"{index.rstrip('/')}/{package.name}/", ends, _SIMPLE)
    files = [one for one in read_objects(page.get("files")) if _is_of_version(one, package)]
    known = [one for one in files if "provenance" in one]
    if not known:
        return ""
    urls = [one for one in known if isinstance(one.get("provenance"), str)]
    if not urls:
        return "not attested"
    named = {_read_attestation(one, _fetch(urljoin(index, one["provenance"]), ends, None, index)) for one in urls}
    return "; ".join(sorted(filter(None, named)))


def _is_of_version(file: JSONObject, package: Package) -> bool:
    """Whether a file of the index is a wheel of the version, or the very archive that was installed."""
    digest = read_object(file.get("hashes")).get("sha256")
    if package.archive:
        return f"sha256={digest}" == package.archive
    name = str(file.get("filename", "")).lower()
    start = f"{package.name.replace('-', '_')}-{package.version}-"
    return name.endswith(".whl") and name.replace("-", "_").startswith(start.replace("-", "_").lower())


def _read_attestation(file: JSONObject, document: JSONObject) -> str:
    """Words on the document of one file; none where it could not be had."""
    for bundle in read_objects(document.get("attestation_bundles")):
        publisher = read_object(bundle.get("publisher"))
        statements = [_read_statement(one) for one in read_objects(bundle.get("attestations"))]
        digest = read_object(file.get("hashes")).get("sha256")
        if not any(digest and digest in _read_digests(one) for one in statements):
            return "its attestation is for another file"
        return f"attested by {_name_publisher(publisher)}"
    return ""


def _name_publisher(publisher: JSONObject) -> str:
    """Such as `GitHub ann/repository (release.yml)`."""
    place = str(publisher.get("repository") or publisher.get("email") or "")
    flow = str(publisher.get("workflow") or publisher.get("workflow_filepath") or "")
    return f"{publisher.get('kind', 'somebody')} {place}".strip() + (f" ({flow})" if flow else "")


def _read_statement(attestation: JSONObject) -> JSONObject:
    envelope = read_object(attestation.get("envelope"))
    return read_object(json.loads(base64.b64decode(str(envelope.get("statement", "")))))


def _read_digests(statement: JSONObject) -> set[str]:
    return {
        str(one)
        for subject in read_objects(statement.get("subject"))
        for one in read_object(subject.get("digest")).values()
    }


def _find_index(launch: Launch, ends: float) -> str:
    """The address of the index that was asked, from the options or the installer's configuration."""
    if "--index-url" in launch.options:
        index = launch.options[launch.options.index("--index-url") + 1]
    elif uv := find_uv():
        command = [uv, "pip", "compile", "--quiet", "--emit-index-url", "--no-header", "--offline", "-"]
        index = _run(command, ends).partition("--index-url")[2].split("\n")[0].strip()
    else:
        index = ""
    return index if urlsplit(index).scheme in ("http", "https") and "@" not in index else ""


def _ask_registry(package: Package, launch: Launch, ends: float) -> str:
    """What npm's registry keeps with a version: the attestation of its build, or its own signature alone."""
    npm = shutil.which("npm")
    if npm is None:
        return ""
    written = _run([npm, "view", f"{package.name}@{package.version}", "dist", "--json", *launch.options], ends)
    dist = read_object(json.loads(written or "{}"))
    attested = read_object(dist.get("attestations"))
    if isinstance(attested.get("url"), str):
        tarball = str(dist.get("tarball", ""))
        document = _fetch(urljoin(tarball, attested["url"]), ends, None, tarball)
        builders = {text for one in read_objects(document.get("attestations")) if (text := _name_builder(one, dist))}
        return f"attested by {'; '.join(sorted(builders))}" if builders else "attested"
    return "signed by the registry" if read_objects(dist.get("signatures")) else ""


def _name_builder(attestation: JSONObject, dist: JSONObject) -> str:
    """The repository and the workflow that have built a package, where its attestation is for the same archive."""
    envelope = read_object(read_object(attestation.get("bundle")).get("dsseEnvelope"))
    statement = read_object(json.loads(base64.b64decode(str(envelope.get("payload", ""))) or "{}"))
    integrity = str(dist.get("integrity", "")).removeprefix("sha512-")
    if base64.b64decode(integrity).hex() not in _read_digests(statement):
        return ""
    build = read_object(read_object(statement.get("predicate")).get("buildDefinition"))
    flow = read_object(read_object(build.get("externalParameters")).get("workflow"))
    where = str(flow.get("repository", ""))
    return f"{where} ({flow.get('path', 'a workflow')})" if where else ""


def _run(command: list[str], ends: float) -> str:
    """What a program writes, run with no input; nothing where it fails."""
    left = max(ends - time.monotonic(), 0.1)
    ended = subprocess.run(
        command,
        input="",
        capture_output=True,
        text=True,
        timeout=left,
        check=False,
        cwd=Path("/"),
        env=read_variables(),
    )
    return ended.stdout if ended.returncode == 0 else ""


def _fetch(url: str, ends: float, accept: str | None, near: str = "") -> JSONObject:
    """A JSON object at an address; an empty one where it has none.

    Args:
        url: the address.
        ends: of `time.monotonic()`, when the waiting is over.
        accept: the type that is asked for; None for any JSON.
        near: an address whose host it must have, where that is given.
    """
    from ferrule.http import Client

    if near and urlsplit(url).netloc != urlsplit(near).netloc:
        return {}
    with Client(ends, headers={"accept": accept or "application/json"}) as client:
        response = client.open("GET", url)
        content = response.read(_MAX_BYTES)
        return read_object(json.loads(content)) if response.status == 200 and response.complete else {}
