"""`ferrule bundle`: a bundle that a desktop client can install and start, and the entry of a registry."""

import asyncio
import json
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from ferrule.errors import FerruleError
from ferrule_serve.bundles.documents import server, shortened
from ferrule_serve.bundles.package import Package
from ferrule_serve.commands.bundle import command as bundle
from ferrule_testkit.programs.node import command
from ferrule_testkit.serve.service import ERAS, connected

VERSION = version("ferrule-brave")
VALIDATOR = "@anthropic-ai/mcpb/dist/cli/cli.js"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of a tool with a credential, unpacked, and its server.json."""
    folder = tmp_path_factory.mktemp("bundle")
    wheels = folder / "wheels-of-mine"
    wheels.mkdir()
    (wheels / "a-1-py3-none-any.whl").write_bytes(b"a wheel")
    arguments = ["web_search_brave", "--output", str(folder), "--namespace", "io.github.ann", "--wheels", str(wheels)]
    done = CliRunner().invoke(bundle, arguments)
    assert done.exit_code == 0, done.output
    with zipfile.ZipFile(folder / f"web-search-brave-{VERSION}.mcpb") as archive:
        archive.extractall(folder / "unpacked")
    return folder


@pytest.mark.process
def test_the_client_asks_for_the_credentials_and_hands_them_over(made: Path) -> None:
    manifest = json.loads((made / "unpacked/manifest.json").read_text())
    assert manifest["user_config"]["api_key"]["sensitive"] is True
    assert manifest["server"]["mcp_config"]["env"] == {"BRAVE_API_KEY": "${user_config.api_key}"}
    assert manifest["tools"][0]["name"] == "web_search_brave"
    project = (made / "unpacked/pyproject.toml").read_text()
    assert f'"ferrule-brave=={VERSION}"' in project
    assert 'find-links = ["wheels"]' in project
    assert (made / "unpacked/wheels/a-1-py3-none-any.whl").read_bytes() == b"a wheel"


@pytest.mark.slow
def test_the_validator_of_the_format_takes_the_manifest(made: Path) -> None:
    done = subprocess.run(
        [*command(VALIDATOR), "validate", str(made / "unpacked/manifest.json")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Manifest schema validation passes" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.process
def test_what_the_client_starts_serves_the_tool_alone(made: Path) -> None:
    from mcp.client.stdio import StdioServerParameters

    async def listed() -> set[str]:
        start = StdioServerParameters(command=sys.executable, args=[str(made / "unpacked/server.py"), "--no-artifacts"])
        async with connected(start, ERAS[0]) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert asyncio.run(listed()) == {"web_search_brave"}


# What the registry's schema of server.json (2025-12-11) asks of the parts that are written, and of their names.
_TEXT = {"type": "string", "minLength": 1}
_SHORT = {**_TEXT, "maxLength": 100}
_ARGUMENT = {
    "type": "object",
    "properties": {"type": {"const": "named"}, "name": _TEXT, "value": _TEXT},
    "required": ["type", "name"],
    "additionalProperties": False,
}
_VARIABLE = {
    "type": "object",
    "properties": {
        "name": _TEXT,
        "description": _TEXT,
        "isRequired": {"type": "boolean"},
        "isSecret": {"type": "boolean"},
    },
    "required": ["name"],
    "additionalProperties": False,
}
_PACKAGE = {
    "type": "object",
    "properties": {
        "registryType": {"enum": ["npm", "pypi", "cargo", "oci", "nuget", "mcpb"]},
        "identifier": _TEXT,
        "version": {**_TEXT, "maxLength": 255, "pattern": r"^[0-9][0-9A-Za-z.+-]*$"},
        "runtimeHint": _TEXT,
        "runtimeArguments": {"type": "array", "items": _ARGUMENT},
        "transport": {"type": "object", "properties": {"type": {"const": "stdio"}}, "required": ["type"]},
        "environmentVariables": {"type": "array", "items": _VARIABLE},
    },
    "required": ["registryType", "identifier", "transport"],
    "additionalProperties": False,
}
REGISTRY = {
    "type": "object",
    "properties": {
        "$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
        "name": {"type": "string", "minLength": 3, "maxLength": 200, "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$"},
        "title": _SHORT,
        "description": _SHORT,
        "version": {**_TEXT, "maxLength": 255},
        "packages": {"type": "array", "items": _PACKAGE},
        "repository": {
            "type": "object",
            "properties": {"url": _TEXT, "source": _TEXT},
            "required": ["url", "source"],
            "additionalProperties": False,
        },
    },
    "required": ["name", "description", "version"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("home", ["", "https://github.com/ann/weather", "https://ann.example/weather"])
def test_every_entry_is_as_the_schema_of_the_registry_wants_it(home: str) -> None:
    words = "A tool with a title and a description that are far too long for any registry. " * 5
    package = Package(
        tool="web_weather",
        distribution="ferrule-weather",
        version="1.2.3",
        title=words,
        description=words,
        author="Ann",
        licence="MIT",
        home=home,
        requires_python=">=3.11",
        credentials=[],
        settings=[],
        is_server=False,
    )
    jsonschema.validate(server(package, "io.github.ann"), REGISTRY)


@pytest.mark.process
def test_the_entry_of_the_registry_has_what_its_schema_wants(made: Path) -> None:
    """What the registry checks: a name in reverse-DNS form, at most 100 characters of description, exact versions."""
    entry = json.loads((made / "server.json").read_text())
    jsonschema.validate(entry, REGISTRY)
    assert entry["name"] == "io.github.ann/web-search-brave"
    assert 1 <= len(entry["description"]) <= 100
    (package,) = entry["packages"]
    assert set(package) <= {
        "registryType", "identifier", "version", "runtimeHint", "runtimeArguments", "transport", "environmentVariables",
    }  # fmt: skip
    assert (package["identifier"], package["version"], package["transport"]) == (
        "ferrule-brave",
        VERSION,
        {"type": "stdio"},
    )
    (variable,) = package["environmentVariables"]
    assert (variable["name"], variable["isSecret"], variable["isRequired"]) == ("BRAVE_API_KEY", True, True)


@pytest.mark.process
def test_the_same_tool_gives_the_same_bytes(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        assert CliRunner().invoke(bundle, ["example", "--output", str(tmp_path / folder)]).exit_code == 0
    first, second = (next((tmp_path / folder).iterdir()) for folder in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.process
def test_a_tool_that_is_not_there_is_no_bundle(tmp_path: Path) -> None:
    error = CliRunner().invoke(bundle, ["web_serch", "--output", str(tmp_path)]).exception
    assert isinstance(error, FerruleError)
    assert "web_serch" in error.message
    assert list(tmp_path.iterdir()) == []


def test_a_namespace_is_a_name_with_dots() -> None:
    assert CliRunner().invoke(bundle, ["example", "--namespace", "ann"]).exit_code == 2


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("Tells the weather. Use it often.", "Tells the weather."),
        ("Tells the weather", "Tells the weather"),
        ("One two three four five six", "One two three four…"),
    ],
)
def test_a_description_is_cut_at_a_sentence_or_a_word(text: str, short: str) -> None:
    assert shortened(text, 20) == short
