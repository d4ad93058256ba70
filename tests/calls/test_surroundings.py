"""What an admin sets, and what the system is like: a call works, or says why not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ferrule_testkit import ikigai
from ferrule_testkit.corpus import Site
from ferrule_testkit.runs import SECONDS, Call, Start, print_schema, run

pytestmark = pytest.mark.process


OSLO = b'{"city": "Oslo"}'
GREETING = {"success": True, "greeting": "Hello, Oslo!"}
BOTH = pytest.mark.parametrize("kind", ["scripts", "links"])


@pytest.mark.parametrize(
    ("chosen", "agent", "exits"),
    [
        (None, None, 1),
        (None, "agent-1", 0),
        (None, "", 1),
        ("1", None, 0),
        ("1", "agent-1", 0),
        ("0", None, 1),
        ("0", "agent-1", 1),
        ("", "agent-1", 0),
        ("yes", None, 1),
        ("yes", "agent-1", 0),
    ],
)
def test_the_exit_code_of_a_failure_is_the_clients_or_the_admins_choice(
    chosen: str | None, agent: str | None, exits: int, call: Call
) -> None:
    settings = {"FERRULE_EXIT_ZERO": chosen, "IKIGAI_AGENT_ID": agent}
    environ = {name: value for name, value in settings.items() if value is not None}

    done = call("example", b"{}", **environ)

    assert done.exit_code == exits
    assert done.document["error_code"] == "INVALID_INPUT"
    assert bool(done.stderr) is bool(exits)


@BOTH
@pytest.mark.parametrize("disabled", ["example", "probe, example", "*"])
def test_a_disabled_tool_says_so(kind: str, disabled: str, healthy: Site, here: dict[str, str], call: Call) -> None:
    done = call("example", OSLO, kind=kind, FERRULE_DISABLE=disabled)
    assert "disabled by FERRULE_DISABLE" in done.document["error"]

    command = [getattr(healthy, kind) / "example-tool", "--schema"]
    shown = run(command, environment={**here, "FERRULE_DISABLE": disabled})
    assert shown.exit_code == 1


def test_a_tool_that_is_not_named_is_not_disabled(call: Call) -> None:
    assert call("example", OSLO, FERRULE_DISABLE="probe examples exampl").document == GREETING


@pytest.mark.parametrize(
    ("content", "phrase"),
    [
        (b"[tools.example]\nenabled = false\n", "disabled by [tools.example] in "),
        (b"[tools.example\n", "config.toml is not TOML: "),
        (b"\xff\xfe", "config.toml is not TOML: "),
        (b"tools = 5\n", None),
        (b"[tools.example]\nenabled = true\nmemory = 'much'\n", None),
    ],
)
def test_the_configuration_decides_or_is_explained(
    content: bytes, phrase: str | None, tmp_path: Path, call: Call
) -> None:
    (tmp_path / "config.toml").write_bytes(content)
    document = call("example", OSLO, FERRULE_CONFIG=str(tmp_path / "config.toml")).document
    assert phrase in document["error"] if phrase else document == GREETING


def test_a_configuration_that_is_not_there_is_no_problem(call: Call) -> None:
    assert call("example", OSLO, FERRULE_CONFIG="/nowhere/config.toml").document == GREETING


@BOTH
@pytest.mark.parametrize(
    ("arguments", "exits", "phrase"),
    [
        (["--schema"], 0, '"name":"example"'),
        (["--help"], 0, "Usage: example-tool --schema"),
        (["--version"], 0, "example-tool, ferrule "),
        (["--schemas"], 1, "takes no argument but --schema"),
        (["--schema", "--schema"], 1, "takes no argument but --schema"),
        ([""], 1, "takes no argument but --schema"),
    ],
)
def test_command_lines_end_with_their_exit_codes(
    kind: str, arguments: list[str], exits: int, phrase: str, healthy: Site, here: dict[str, str]
) -> None:
    done = run([getattr(healthy, kind) / "example-tool", *arguments], b"", environment=here)
    assert done.exit_code == exits
    assert phrase in done.stdout.decode()


def test_a_computed_schema_is_printed(corpus: Site, environment: dict[str, str]) -> None:
    command = [corpus.scripts / "returns-bytes-tool", "--schema"]
    done = print_schema(command, environment={**environment, "PYTHONPATH": str(corpus.path)})
    assert (done.document["name"], done.exit_code) == ("returns_bytes", 0)


@pytest.mark.parametrize("arguments", [[], ["--schema"]])
def test_an_executable_of_no_tool_says_so(arguments: list[str], healthy: Site, here: dict[str, str]) -> None:
    orphan = healthy.scripts.parent / "orphan-tool"
    orphan.write_bytes((healthy.scripts / "example-tool").read_bytes())
    orphan.chmod(0o755)
    done = run([orphan, *arguments], environment=here)
    assert "No installed distribution offers a tool named 'orphan'" in done.document["error"]
    assert done.exit_code == 1


@BOTH
@pytest.mark.parametrize("home", [None, "", "TMP/nowhere", "/dev/null", "relative", "/proc"])
def test_any_home_will_do(kind: str, home: str | None, tmp_path: Path, healthy: Site, here: dict[str, str]) -> None:
    homeless = {name: value for name, value in here.items() if name != "HOME"}
    # The user who runs the tests has a home, too, whose state is not the tests' to change.
    state = {} if home else {"FERRULE_STATE": str(tmp_path / "state")}
    named = {} if home is None else {"HOME": home.replace("TMP", str(tmp_path))}
    for arguments, expected in (([], GREETING), (["--schema"], None)):
        command = [getattr(healthy, kind) / "example-tool", *arguments]
        done = run(command, OSLO, environment={**homeless, **state, **named}, cwd=tmp_path)
        assert done.exit_code == 0
        assert done.document == expected or done.document["name"] == "example"


@BOTH
def test_the_working_directory_may_be_gone(kind: str, tmp_path: Path, healthy: Site, here: dict[str, str]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    tool = getattr(healthy, kind) / "example-tool"
    for arguments in ("", "--schema"):
        gone.mkdir(exist_ok=True)
        done = run(["sh", "-c", f'rmdir "$1" && exec "$0" {arguments}', tool, gone], OSLO, environment=here, cwd=gone)
        assert done.exit_code == 0
        assert done.document


@BOTH
@pytest.mark.parametrize(
    "environ",
    [
        {"LANG": "C"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "de_DE.ISO-8859-1"},
        {"LC_ALL": "no_SUCH.locale", "LANGUAGE": "tlh"},
    ],
)
def test_no_locale_changes_a_letter(kind: str, environ: dict[str, str], call: Call) -> None:
    if subprocess.run([sys.executable, "-c", "import ferrule"], env=environ, capture_output=True).returncode:
        pytest.skip("elsewhere: Python itself cannot read the path of this environment in such a locale")
    arguments = {"say": "Malmö, 東京, 🦀", "names": ["Malmö", "東京", "🦀"]}
    done = call("probe", json.dumps(arguments, ensure_ascii=False).encode(), kind=kind, **environ)

    assert done.document["arguments"] == arguments
    assert done.stderr.decode() == arguments["say"] * 2 + "\n" or done.stderr.decode() == f"{arguments['say']}\n" * 2


@pytest.mark.parametrize(
    "environ",
    [
        {"PYTHONHASHSEED": "no number"},
        {"PYTHONHOME": "/nowhere"},
        {"PYTHONWARNINGS": "error"},
        {"PYTHONSTARTUP": "/nowhere", "PYTHONINSPECT": "1"},
        {"PYTHONVERBOSE": "1", "PYTHONDEVMODE": "1"},
        {"PYTHONPATH": "shadows"},
    ],
    ids=lambda environ: next(iter(environ)),
)
def test_a_link_is_not_moved_by_what_moves_python(environ: dict[str, str], tmp_path: Path, call: Call) -> None:
    for name in ("json", "os", "re", "ferrule", "example", "sitecustomize", "pluggy"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('shadow')")
    done = call("example", OSLO, **{name: value.replace("shadows", str(tmp_path)) for name, value in environ.items()})
    assert done.document == GREETING
    assert done.stderr == b""


def test_the_descriptors_of_the_client_are_not_the_tools(start: Start) -> None:
    pipes = [end for _ in range(200) for end in os.pipe()]
    process = start("probe", pass_fds=pipes)
    output, _ = process.communicate(b"{}", SECONDS)
    for end in pipes:
        os.close(end)

    # Its three streams, the channel to the host, the pipe with its answers, and the listing itself.
    assert ikigai.parse_strictly(output)["descriptors"] == 6


@pytest.mark.parametrize("limit", ["-n 20", "-f 0", "-u 64", "-c unlimited"])
def test_a_call_needs_little_of_the_system(limit: str, healthy: Site, here: dict[str, str]) -> None:
    command = ["sh", "-c", f'ulimit {limit} 2>&-; exec "$0"', healthy.links / "example-tool"]
    assert run(command, OSLO, environment=here).document == GREETING


@pytest.mark.parametrize("memory", ["1", "8"])
def test_memory_that_is_too_little_for_python_is_said_to_be_so(memory: str, call: Call) -> None:
    document = call("probe", b"{}", FERRULE_MEMORY=memory).document
    assert "ran out of memory" in document["error"] or "MemoryError" in document["error"]
