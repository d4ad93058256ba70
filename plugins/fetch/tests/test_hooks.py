"""The tool as the host sees it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import ferrule_fetch

SCHEMA = {
    "name": "web_fetch",
    "description": (
        "Fetches content from a specified URL and returns it as markdown. Converts HTML to markdown using"
        " turbohtml or html5lib. Supports pagination via offset and limit parameters similar to file_read."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "url": {"type": "string", "format": "uri", "description": "The URL to fetch content from"},
            "offset": {
                "type": "integer",
                "description": "Line number to start reading from (1-based)",
                "minimum": 1,
            },
            "limit": {"type": "integer", "description": "Maximum number of lines to return", "minimum": 1},
        },
        "required": ["url"],
    },
}


def test_the_schema_is_the_specified_one() -> None:
    assert ferrule_fetch.schema() == SCHEMA


def test_the_file_and_the_hook_agree() -> None:
    file = Path(ferrule_fetch.__file__).with_name("schema.json")
    assert json.loads(file.read_bytes()) == ferrule_fetch.schema()


def _imported(script: str) -> set[str]:
    program = f"import json, sys\n{script}\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


@pytest.mark.process
def test_the_import_leaves_what_is_heavy_unimported() -> None:
    imported = _imported("import ferrule_fetch; ferrule_fetch.schema(); ferrule_fetch.result_policy()")
    assert not imported & {"httpx", "httpcore", "html5lib", "ssl", "click", "jsonschema", "urllib.parse"}


@pytest.mark.process
def test_a_wrong_url_imports_neither_client_nor_parser() -> None:
    imported = _imported(
        "import ferrule, ferrule_fetch\n"
        "try:\n    ferrule_fetch.execute({'url': 'nonsense'}, ferrule.Context('web_fetch', 0))\n"
        "except ferrule.ToolError:\n    pass"
    )
    assert "ferrule_fetch.addresses" in imported
    assert not imported & {"httpx", "httpcore", "html5lib", "ssl", "click"}
