"""Make a bundle of a tool for desktop clients of MCP, and its entry for a registry."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import click

from ferrule.cli import complete, json_option, note, print_json
from ferrule.errors import FerruleError
from ferrule_serve.bundles.documents import manifest, project, server, start
from ferrule_serve.bundles.package import Package, read_package

_NAMESPACE = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+\Z")
_DATE = (1980, 1, 1, 0, 0, 0)  # of every member, so that the same content gives the same bytes


@click.command("bundle")
@click.argument("tool", metavar="TOOL", shell_complete=complete)
@click.option("--output", type=click.Path(path_type=Path), default=".", metavar="DIR", help="Where the files go.")
@click.option(
    "--wheels", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR",
    help="Wheels that the bundle brings, for packages that no index has.",
)  # fmt: skip
@click.option("--namespace", metavar="NAME", help="Also write server.json, under your name, as in io.github.ann.")
@json_option
def command(tool: str, output: Path, wheels: Path | None, namespace: str | None, as_json: bool) -> int:
    """Write TOOL-VERSION.mcpb, which a desktop client installs with a click: it asks for the credentials itself.

    The bundle names the package and its version; the client gets both with uv. With --namespace, server.json is written
    too, which `mcp-publisher publish` takes. The registry wants the line `mcp-name: NAMESPACE/TOOL` in the package's
    README.

    \b
    Examples:
      ferrule bundle weather
      ferrule bundle weather --namespace io.github.ann --output dist

    Exit code: 1 where the tool is not well, or a file cannot be written; 0 otherwise.
    """
    if namespace is not None and not _NAMESPACE.match(namespace):
        raise click.UsageError("--namespace takes a name with dots, such as io.github.ann.")
    package = read_package(tool)
    if namespace is not None and not package.is_server:
        line = f'{package.distribution} = "ferrule.cli:serve_tool"'
        raise FerruleError(
            f"{package.distribution} has no script of its name, by which a client could start it.",
            hint=f"Add to [project.scripts] in its pyproject.toml: {line}",
        )
    written = [output / f"{tool.replace('_', '-')}-{package.version}.mcpb"]
    try:
        output.mkdir(parents=True, exist_ok=True)
        _write_bundle(written[0], package, wheels)
        if namespace is not None:
            written.append(output / "server.json")
            written[-1].write_text(_as_json(server(package, namespace)))
    except OSError as error:
        raise FerruleError(f"{error.filename or output} cannot be written: {error.strerror}.") from None
    if as_json:
        print_json({"tool": tool, "version": package.version, "files": list(map(str, written))})
    else:
        for path in written:
            click.echo(str(path))
        if namespace is not None:
            note(f"Put this line into README.md: mcp-name: {namespace}/{tool.replace('_', '-')}")
    return 0


def _write_bundle(path: Path, package: Package, wheels: Path | None) -> None:
    brought = sorted(wheels.glob("*.whl")) if wheels else []
    members = {
        "manifest.json": _as_json(manifest(package)).encode(),
        "pyproject.toml": project(package, bool(brought)).encode(),
        "server.py": start(package).encode(),
        **{f"wheels/{wheel.name}": wheel.read_bytes() for wheel in brought},
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in members.items():
            bundle.writestr(zipfile.ZipInfo(name, _DATE), content, zipfile.ZIP_DEFLATED)


def _as_json(document: object) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
