"""Tools of a source: written as data, and found, run, locked and removed as any tool."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ferrule import discovery
from ferrule.errors import InputError, SchemaInvalid, SourceError, ToolNameClash, ToolUnavailable
from ferrule.installed import SourceTools, find_sources
from ferrule.trust.lock.installed_files import InstalledFiles

_MAKER = """
import json, os, sys
import ferrule

def make_tool(folder, tool):
    module = type(sys)(tool)

    @ferrule.hookimpl
    def schema():
        return json.load(open(os.path.join(folder, f"{tool}.schema.json")))

    @ferrule.hookimpl
    def execute(arguments, context):
        return {"tool": tool, "said": arguments["text"], "facts": open(os.path.join(folder, "facts.txt")).read()}

    module.schema, module.execute = schema, execute
    return module
"""


def schema_of(tool: str, **changes: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"text": {"type": "string", "description": "What to say."}}}
    return {"name": tool, "description": "Says it.", "parameters": {**parameters, "required": ["text"]}, **changes}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the path with a distribution that has the source `words`; state and data are the test's own."""
    site = tmp_path / "site"
    metadata = site / "word_source-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: word-source\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[ferrule.sources]\nwords = word_source:make_tool\n")
    (site / "word_source.py").write_text(_MAKER)
    for name in ("FERRULE_DATA", "FERRULE_STATE"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("FERRULE_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.setattr(sys, "path", [*sys.path, str(site)])
    return site


def write(name: str = "one", *tools: str, version: str = "1.0", facts: str = "a") -> SourceTools:
    source = SourceTools("words", name)
    schemas = {tool: schema_of(tool) for tool in tools or (f"{name}_say",)}
    source.write(version, schemas, {"permissions": {"network": []}}, {"facts.txt": facts.encode()})
    return source


@pytest.mark.usefixtures("site")
def test_what_is_written_is_found_and_goes_as_a_whole() -> None:
    source = write("one", "one_say", "one_tell")
    found = discovery.scan()["one_say"]
    assert [(one.source, one.is_of_source, one.value) for one in found] == [
        ("source-words-one 1.0", True, "source_words_one:one_say")
    ]
    assert [one.name for one in source.tools()] == ["one_say", "one_tell"]
    assert [one.name for one in find_sources("words")] == ["one"]
    assert find_sources("other") == []
    assert InstalledFiles(found[0]).problems() == []

    write("one", "one_tell", version="2.0", facts="b")
    assert "one_say" not in discovery.scan()
    assert (source.version, source.read("facts.txt"), source.read("none")) == ("2.0", b"b", None)
    assert InstalledFiles(source.tools()[0]).problems() == []

    assert source.remove()
    assert "one_tell" not in discovery.scan()
    assert not source.remove()
    assert os.listdir(os.path.dirname(source.folder)) == [".lock"]


@pytest.mark.usefixtures("site")
def test_what_a_killed_process_has_left_goes_with_the_next_one() -> None:
    source = write("one", "one_say")
    sources = Path(source.folder).parent
    assert source.metadata
    (sources / ".source_words_one-killed/source_words_one").mkdir(parents=True)
    (sources / ".source_words_one_more-works").mkdir()
    shutil.rmtree(source.metadata)  # it was taken out, and the new one not put there
    assert "one_say" not in discovery.scan()
    write("one", "one_tell")
    left = {path.name for path in sources.iterdir()}
    expected = {".lock", ".source_words_one_more-works", "source_words_one", "source_words_one-1.0.dist-info"}
    assert left == expected
    assert [one.name for one in source.tools()] == ["one_tell"]


@pytest.mark.usefixtures("site")
def test_a_change_by_hand_is_seen_by_the_lock() -> None:
    source = write()
    Path(source.folder, "facts.txt").write_text("mine")
    assert "facts.txt is not as RECORD has it" in InstalledFiles(source.tools()[0]).problems()[0]


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("schemas", "error"),
    [
        ({"one_say": schema_of("one_tell")}, SchemaInvalid),
        ({"one_say": schema_of("one_say", description=7)}, SchemaInvalid),
        ({"one-say": schema_of("one-say")}, ToolUnavailable),
        ({"two_say": schema_of("two_say")}, ToolNameClash),
    ],
)
def test_what_no_client_would_take_changes_nothing(schemas: dict[str, Any], error: type[Exception]) -> None:
    write("two")
    source = write()
    with pytest.raises(error):
        source.write("2.0", {"one_more": schema_of("one_more"), **schemas}, {}, {})
    assert (source.version, [one.name for one in source.tools()]) == ("1.0", ["one_say"])


@pytest.mark.parametrize("name", ["", "One", "a-b", "a__b", "_a", "../x", "ä"])
def test_a_name_that_two_spellings_could_have_is_none(name: str) -> None:
    with pytest.raises(InputError):
        SourceTools("words", name)


@pytest.mark.usefixtures("site")
def test_a_version_or_file_that_leads_elsewhere_is_refused() -> None:
    source = write()
    for version, files in (("1/2", {}), ("", {}), ("1-2", {}), ("2", {"tool.json": b""})):
        with pytest.raises(InputError):
            source.write(version, {}, {}, files)
    assert source.version == "1.0"


def test_a_source_that_nothing_has_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRULE_DATA", str(tmp_path))
    with pytest.raises(SourceError, match="No installed distribution has the source 'words'"):
        write()


@pytest.mark.process
def test_a_tool_of_a_source_answers_as_any_other(site: Path) -> None:
    write()
    command = [sys.executable, "-m", "ferrule", "run", "one_say", '{"text": "hi"}']
    done = subprocess.run(command, capture_output=True, text=True, cwd=site, check=True)
    assert json.loads(done.stdout) == {"tool": "one_say", "said": "hi", "facts": "a"}


@pytest.mark.process
def test_a_tool_whose_source_is_gone_says_so(site: Path) -> None:
    write()
    (site / "word_source.py").unlink()
    command = [sys.executable, "-m", "ferrule", "run", "one_say", '{"text": "hi"}']
    done = subprocess.run(command, capture_output=True, text=True, cwd=site, check=False)
    assert done.returncode == 1
    assert "No module named 'word_source'" in json.loads(done.stdout)["error"]


@pytest.mark.process
@pytest.mark.parametrize("name", ["one_say", "source-words-one"])
def test_uninstalling_it_names_the_command_that_does(name: str, site: Path) -> None:
    write()
    command = [sys.executable, "-m", "ferrule", "uninstall", name]
    done = subprocess.run(command, capture_output=True, text=True, cwd=site, check=False)
    assert done.returncode == 1
    assert "`ferrule words remove one` removes it" in done.stderr
    assert SourceTools("words", "one").version == "1.0"
