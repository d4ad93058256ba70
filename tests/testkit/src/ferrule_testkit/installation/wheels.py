"""Wheels, written file by file, and a package index on loopback that serves them as an installer expects it."""

import base64
import csv
import hashlib
import html
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import ClassVar

from packaging.requirements import Requirement

from ferrule.text.names import same_distribution

TOOL = """\
from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    return {"success": True, "got": arguments}
"""


def write_wheel(
    folder: Path,
    name: str,
    files: Mapping[str, str | bytes],
    *,
    version: str = "1.0",
    entry_points: str = "",
    requires: Sequence[str] = (),
    unlisted: Sequence[str] = (),
) -> Path:
    """A wheel of these files, by their names in it. unlisted: those that its RECORD does not have."""
    stem = f"{name.replace('-', '_')}-{version}"
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {name}",
        f"Version: {version}",
        *(f"Requires-Dist: {r}" for r in requires),
    ]
    wheel = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    metadata = {f"{stem}.dist-info/METADATA": "\n".join(lines) + "\n", f"{stem}.dist-info/WHEEL": wheel}
    if entry_points:
        metadata[f"{stem}.dist-info/entry_points.txt"] = entry_points
    content = {**files, **metadata}
    listed = {one: data for one, data in content.items() if one not in unlisted}
    content[f"{stem}.dist-info/RECORD"] = _record(listed, f"{stem}.dist-info/RECORD")
    path = folder / f"{stem}-py3-none-any.whl"
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for one, data in content.items():
            archive.writestr(one, data)
    return path


def write_tool(
    folder: Path,
    name: str,
    tool: str,
    files: Mapping[str, str | bytes] | None = None,
    *,
    version: str = "1.0",
    requires: Sequence[str] = ("ferrule",),
    unlisted: Sequence[str] = (),
) -> Path:
    """The wheel of a distribution with one tool. files: besides those of the tool. The rest is as in `write_wheel`."""
    module = f"module_{tool}"
    parameters = {"type": "object", "properties": {"city": {"type": "string", "description": "A city."}}}
    described = {"name": tool, "description": "Does something.", "parameters": parameters}
    own = {f"{module}.py": TOOL, f"{module}.schema.json": json.dumps(described), **(files or {})}
    points = f"[ferrule.tools]\n{tool} = {module}\n"
    return write_wheel(folder, name, own, version=version, entry_points=points, requires=requires, unlisted=unlisted)


def write_source_archive(wheel: Path, folder: Path, mark: Path) -> Path:
    """A source archive that is built into this wheel, and leaves a mark when its code is run."""
    name, version = wheel.name.split("-")[:2]
    backend = (
        "import pathlib, shutil\n\n\n"
        "def build_wheel(folder, settings=None, metadata=None):\n"
        f"    pathlib.Path({str(mark)!r}).touch()\n"
        f"    return pathlib.Path(shutil.copy({wheel.name!r}, folder)).name\n"
    )
    project = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    facts = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    content: dict[str, str | bytes] = {"backend.py": backend, "pyproject.toml": project, "PKG-INFO": facts}
    content[wheel.name] = wheel.read_bytes()
    path = folder / f"{name}-{version}.tar.gz"
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for one, data in content.items():
            raw = data if isinstance(data, bytes) else data.encode()
            entry = tarfile.TarInfo(f"{name}-{version}/{one}")
            entry.size = len(raw)
            archive.addfile(entry, io.BytesIO(raw))
    return path


def write_needs_of(name: str, folder: Path) -> None:
    """The wheels of all that an installed distribution requires, made again of what is installed."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        for requirement in map(Requirement, distribution(waiting.pop()).requires or ()):
            required = same_distribution(requirement.name)
            is_needed = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if is_needed and required not in seen:
                seen.add(required)
                waiting.append(required)
                _write_again(distribution(required), folder)


def _write_again(installed: Distribution, folder: Path) -> None:
    tags = [
        line.partition(":")[2].strip() for line in (installed.read_text("WHEEL") or "").splitlines() if "Tag:" in line
    ]
    name, version = installed.metadata["Name"].replace("-", "_").replace(".", "_"), installed.version
    folder.mkdir(parents=True, exist_ok=True)
    skipped = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")
    content = {
        str(one): Path(str(one.locate())).read_bytes()
        for one in installed.files or ()
        if not str(one).startswith("../") and "__pycache__" not in str(one) and one.name not in skipped
    }
    metadata = next(str(Path(one).parent) for one in content if one.endswith(".dist-info/METADATA"))
    content[f"{metadata}/RECORD"] = _record(content, f"{metadata}/RECORD").encode()
    with zipfile.ZipFile(folder / f"{name}-{version}-{tags[-1]}.whl", "w") as archive:
        for one, data in content.items():
            archive.writestr(one, data)


def _record(content: Mapping[str, str | bytes], own: str) -> str:
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    for name, data in content.items():
        raw = data.encode() if isinstance(data, str) else data
        digest = base64.urlsafe_b64encode(hashlib.sha256(raw).digest()).rstrip(b"=").decode()
        lines.writerow([name, f"sha256={digest}", len(raw)])
    lines.writerow([own, "", ""])
    return text.getvalue()


class PackageIndex:
    """A package index on loopback. folder: the wheels and source archives that it has. asked: the packages that it was
    asked for, in turn.
    """

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.asked: list[str] = []
        self.url = f"http://127.0.0.1:{port}/simple/"

    def page(self, name: str) -> str | None:
        """The page of one package, None where it has none."""
        self.asked.append(name)
        files = [one.name for one in sorted(self.folder.iterdir()) if same_distribution(_package(one.name)) == name]
        links = "".join(f'<a href="/{html.escape(one)}">{html.escape(one)}</a>\n' for one in files)
        return f"<!DOCTYPE html><html><body>{links}</body></html>" if files else None

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which pip and uv ask it, and nothing else."""
        kept = {"PIP_INDEX_URL": self.url, "UV_DEFAULT_INDEX": self.url, "PIP_CONFIG_FILE": "/dev/null"}
        return {**kept, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "UV_NO_CONFIG": "1", "PIP_NO_CACHE_DIR": "1"}


@contextmanager
def serving(folder: Path) -> Iterator[PackageIndex]:
    """A package index of what is in the folder, now and later."""
    folder.mkdir(parents=True, exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
    index = _Handler.indexes[server.server_port] = PackageIndex(folder, server.server_port)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield index
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(SimpleHTTPRequestHandler):
    indexes: ClassVar[dict[int, PackageIndex]] = {}

    def do_GET(self) -> None:
        """Answer with the page of a package, or with a file."""
        if not self.path.startswith("/simple/"):
            with suppress(ConnectionError):  # an installer that has read enough goes
                super().do_GET()
            return
        page = self.indexes[self.connection.getsockname()[1]].page(self.path.removeprefix("/simple/").strip("/"))
        data = (page or "").encode()
        self.send_response(200 if page else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def _package(file: str) -> str:
    return file.partition("-")[0]
