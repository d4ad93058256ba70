"""`manifest.json` of a bundle (MCPB 0.4), and `server.json` of a registry (2025-12-11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject
    from ferrule_serve.bundles.package import Package

MANIFEST_VERSION = "0.4"
SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
MAX_DESCRIPTION_CHARS = 100  # of server.json
START = "server.py"


def manifest(package: Package) -> JSONObject:
    """What a desktop client reads of the bundle. Credentials and settings become fields that it asks its user for."""
    fields = {**_credential_fields(package), **_setting_fields(package)}
    environment = {field["variable"]: f"${{user_config.{name}}}" for name, field in fields.items()}
    optional: JSONObject = {}
    if package.licence:
        optional["license"] = package.licence
    if package.home:
        optional["homepage"] = package.home
    if fields:
        optional["user_config"] = {
            name: {key: value for key, value in field.items() if key != "variable"} for name, field in fields.items()
        }
    return {
        "manifest_version": MANIFEST_VERSION,
        "name": package.distribution,
        "display_name": package.title,
        "version": package.version,
        "description": shortened(package.description, MAX_DESCRIPTION_CHARS),
        "long_description": package.description,
        "author": {"name": package.author},
        "server": {
            "type": "uv",
            "entry_point": START,
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", START],
                **({"env": environment} if environment else {}),
            },
        },
        "tools": [{"name": package.tool, "description": package.description}],
        "compatibility": {"platforms": ["darwin", "linux"], "runtimes": {"python": package.requires_python}},
        **optional,
    }


def server(package: Package, namespace: str) -> JSONObject:
    """The entry of a registry: where the package is, how it is started, and which variables it needs."""
    variables: list[JSONObject] = [
        {
            "name": one["environment"],
            "description": one["description"] or f"{one['name']} of {package.tool}",
            "isRequired": True,
            "isSecret": one["secret"],
        }
        for one in package.credentials
    ]
    variables += [
        {"name": one["variable"], "description": one.get("purpose") or one["variable"]} for one in package.settings
    ]
    found: JSONObject = {
        "$schema": SERVER_SCHEMA,
        "name": f"{namespace}/{package.tool.replace('_', '-')}",
        "title": shortened(package.title, MAX_DESCRIPTION_CHARS),
        "description": shortened(package.description, MAX_DESCRIPTION_CHARS),
        "version": package.version,
        "packages": [
            {
                "registryType": "pypi",
                "identifier": package.distribution,
                "version": package.version,
                "runtimeHint": "uvx",
                "runtimeArguments": [{"type": "named", "name": "--with", "value": "ferrule-serve"}],
                "transport": {"type": "stdio"},
                **({"environmentVariables": variables} if variables else {}),
            }
        ],
    }
    if package.home.startswith("https://github.com/"):
        found["repository"] = {"url": package.home, "source": "github"}
    return found


def project(package: Package, has_wheels: bool) -> str:
    """`pyproject.toml` of the bundle, from which uv makes its environment."""
    import tomlkit

    content: JSONObject = {
        "project": {
            "name": f"{package.tool.replace('_', '-')}-bundle",
            "version": package.version,
            "requires-python": package.requires_python,
            "dependencies": [f"{package.distribution}=={package.version}", "ferrule-serve"],
        }
    }
    if has_wheels:
        content["tool"] = {"uv": {"find-links": ["wheels"]}}
    return tomlkit.dumps(content)


def start(package: Package) -> str:
    """`server.py`: the tool alone, on stdin and stdout."""
    return (
        f'"""Serves {package.tool} on stdin and stdout."""\n\n'
        "import sys\n\nfrom ferrule.cli import main\n\n"
        f'sys.argv[1:] = ["serve", "{package.tool}", *sys.argv[1:]]\nmain()\n'
    )


def shortened(text: str, chars: int) -> str:
    """The first sentence, or as much of it as fits, in whole words."""
    first = text.split(". ")[0].rstrip(".") + "." if ". " in text else text
    if len(first) <= chars:
        return first
    return first[: chars - 1].rsplit(" ", 1)[0].rstrip(",;:") + "…"


def _credential_fields(package: Package) -> dict[str, dict[str, object]]:
    return {
        str(one["name"]): {
            "type": "string",
            "title": str(one["description"] or one["name"]),
            "description": f"{one['environment']}" + (f", from {one['url']}" if one["url"] else ""),
            "required": True,
            "sensitive": bool(one["secret"]),
            "variable": one["environment"],
        }
        for one in package.credentials
    }


def _setting_fields(package: Package) -> dict[str, dict[str, object]]:
    return {
        str(one["variable"]).lower(): {
            "type": "string",
            "title": str(one.get("purpose") or one["variable"]),
            "description": str(one["variable"]),
            "required": False,
            "variable": one["variable"],
        }
        for one in package.settings
    }
