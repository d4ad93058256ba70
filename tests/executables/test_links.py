"""The executables that `ferrule link` writes: what they answer themselves, and when they do not trust themselves."""

import json
import os
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from ferrule.errors import LinkError
from ferrule.links import linked_executables
from ferrule.links.launchers import find_launcher
from ferrule_testkit import ikigai
from ferrule_testkit.corpus import EXAMPLE, Site
from ferrule_testkit.launcher import hide_launcher
from ferrule_testkit.runs import SECONDS, Run, run

pytestmark = pytest.mark.process


OSLO = b'{"city": "Oslo"}'
GREETING = {"success": True, "greeting": "Hello, Oslo!"}
GONE = "The tool example cannot be started: {} is gone, or has no ferrule any more. If its environment was moved, run \
`ferrule link example` there, else `ferrule unlink example`."
SHELLS = [shell for shell in (["dash"], ["bash"], ["bash", "--posix"], ["busybox", "sh"]) if shutil.which(shell[0])]

Ask = Callable[..., Run]
# Where the form of a link makes no difference, one of them is there in each tier.
ONE_FORM = pytest.mark.parametrize(
    "link_form", ["launcher", pytest.param("shell", marks=pytest.mark.slow)], indirect=True
)


@pytest.fixture(autouse=True)
def form(link_form: str, site: Site) -> str:
    """What starts the links."""
    if link_form == "shell":
        hide_launcher(site.path)
    return link_form


@pytest.fixture
def linked(form: str, site: Site, environment: dict[str, str]) -> Path:
    """A link to the example, in a folder of its own; it is a minute old, so that whatever changes is newer."""
    site.link(["example"], environment)
    path = site.links / "example-tool"
    return _as_of(path, time.time() - 60, before=site.path)


@pytest.fixture
def ask(environment: dict[str, str], linked: Path) -> Ask:
    """Run the link: `ask()` for its schema, `ask(b"{}", IKIGAI_AGENT_ID="1")` for a call."""

    def ask(arguments: bytes | None = None, **environ: str) -> Run:
        words = ["--schema"] if arguments is None else []
        return run([linked, *words], arguments or b"", environment={**environment, **environ})

    return ask


def test_a_schema_is_answered_without_an_interpreter(linked: Path, tmp_path: Path, ask: Ask) -> None:
    log = _log_of_starts(linked, tmp_path)

    done = ask(PATH="")

    assert (done.document["name"], done.exit_code, done.stderr) == ("example", 0, b"")
    assert not log.exists()
    assert ask(OSLO).document == GREETING
    assert log.read_text() == "started\n"


def test_a_link_is_written_for_what_starts_it(form: str, linked: Path) -> None:
    first = linked.read_bytes().partition(b"\n")[0]
    assert first == (b"#!/bin/sh" if form == "shell" else b"#!" + os.fsencode(find_launcher()))


@pytest.mark.parametrize("link_form", ["shell"], indirect=True)
@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_every_shell_understands_a_link(shell: list[str], linked: Path, environment: dict[str, str]) -> None:
    for words, expected in (([], GREETING), (["--schema"], None)):
        done = run([*shell, linked, *words], OSLO, environment=environment)
        assert done.document == expected or done.document["name"] == "example"
        assert (done.exit_code, done.stderr) == (0, b"")


def test_a_link_prints_what_the_console_script_prints(linked: Path, site: Site, environment: dict[str, str]) -> None:
    script = run([site.scripts / linked.name, "--schema"], environment={**environment, "PYTHONPATH": str(site.path)})
    assert run([linked, "--schema"], environment=environment).stdout == script.stdout


def test_a_link_is_found_by_a_relative_path(linked: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    tools = tmp_path / "project/.ikigai/tools"
    shutil.copytree(linked.parent, tools)
    for folder in (".ikigai/tools/", "./.ikigai//tools", "../project/.ikigai/tools"):
        for words, expected in (([], GREETING), (["--schema"], None)):
            done = run([f"{folder}/example-tool", *words], OSLO, environment=environment, cwd=tmp_path / "project")
            assert done.document == expected or done.document["name"] == "example", folder
            assert done.stderr == b"", folder


# ---- when a link is out of date


@pytest.mark.parametrize("what", ["METADATA", "", "../ferrule_example/schema.json"], ids=["file", "folder", "schema"])
def test_a_link_that_is_older_than_what_it_shows_says_so(what: str, site: Site, ask: Ask) -> None:
    os.utime(_metadata(site) / what)

    done = ask()

    assert done.document["name"] == "example"
    assert b"example-tool: this link is out of date; run `ferrule link example`." in done.stderr
    assert ask(OSLO).document == GREETING


def test_a_schema_that_changed_is_shown_as_it_is_now(site: Site, ask: Ask) -> None:
    schema = site.path / "ferrule_example/schema.json"
    schema.write_text(schema.read_text().replace("Greets a city", "Salutes a city"))
    assert ask().document["description"] == "Salutes a city by its name."


def test_an_upgrade_with_old_times_is_noticed(site: Site, ask: Ask) -> None:
    before = _metadata(site).stat().st_mtime
    upgraded = _metadata(site).rename(site.path / "ferrule_example-9.9.dist-info")
    os.utime(upgraded, (before, before))

    done = ask()

    assert done.document["name"] == "example"
    assert b"out of date" in done.stderr


def test_a_tool_that_was_uninstalled_is_not_offered(site: Site, environment: dict[str, str]) -> None:
    site.link(["probe"], environment)
    shutil.rmtree(next(site.path.glob("probe-*.dist-info")))

    for words, exits in (["--schema"], 1), ([], 0):
        done = run([site.links / "probe-tool", *words], environment={**environment, "IKIGAI_AGENT_ID": "agent-1"})
        assert "No installed distribution offers a tool named 'probe'" in done.document["error"]
        assert done.exit_code == exits


def test_a_schema_file_that_is_gone_is_an_error(site: Site, ask: Ask) -> None:
    (site.path / "ferrule_example/schema.json").unlink()
    done = ask()
    assert done.exit_code == 1
    assert "FileNotFoundError" in done.document["error"]


def test_a_configuration_that_came_later_is_obeyed(environment: dict[str, str], ask: Ask) -> None:
    assert ask().exit_code == 0
    config = Path(environment["HOME"], ".config/ferrule/config.toml")
    config.parent.mkdir(parents=True)
    config.write_text("[tools.example]\nenabled = false\n")

    done = ask()

    assert done.exit_code == 1
    assert "disabled by [tools.example]" in done.document["error"]


@pytest.mark.parametrize("environ", [{"FERRULE_DISABLE": "example"}, {"FERRULE_CONFIG": "off.toml"}])
def test_an_environment_that_decides_is_asked(environ: dict[str, str], tmp_path: Path, ask: Ask) -> None:
    off = tmp_path / "off.toml"
    off.write_text("[tools.example]\nenabled = false\n")
    done = ask(**{name: value.replace("off.toml", str(off)) for name, value in environ.items()})
    assert done.exit_code == 1
    assert "is disabled by" in done.document["error"]


# ---- when what a link starts is gone


@pytest.fixture(params=["interpreter", pytest.param("ferrule", marks=pytest.mark.slow)])
def gone(request: pytest.FixtureRequest, linked: Path, tmp_path: Path) -> str:
    """Take the interpreter away, or ferrule from the interpreter."""
    bare = tmp_path / "bare"
    if request.param == "ferrule":
        venv.create(bare, with_pip=False)
    _replace_interpreter(linked, bare / "bin/python")
    return str(request.param)


def _gone_text(link: Path) -> str:
    facts = linked_executables.read_facts(str(link))
    assert facts is not None
    return GONE.format(facts["python"])


def test_a_link_to_what_is_gone_is_not_offered(gone: str, ask: Ask, linked: Path) -> None:
    done = ask()
    if gone == "interpreter":
        assert done.exit_code == 1
        assert done.document["error"] == _gone_text(linked)
    else:
        # The schema is still there, and true; that nothing can answer a call is for `ferrule doctor` to find.
        assert done.document["name"] == "example"


EXITS: list[tuple[dict[str, str], int]] = [
    ({}, 1),
    ({"IKIGAI_AGENT_ID": "agent-1"}, 0),
    ({"IKIGAI_AGENT_ID": ""}, 1),
    ({"FERRULE_EXIT_ZERO": "1"}, 0),
    ({"FERRULE_EXIT_ZERO": "0", "IKIGAI_AGENT_ID": "agent-1"}, 1),
    ({"FERRULE_EXIT_ZERO": "yes"}, 1),
]


def test_a_link_to_what_is_gone_answers_a_call(gone: str, ask: Ask, linked: Path) -> None:
    text = _gone_text(linked)
    for environ, exits in EXITS:
        done = ask(OSLO, **environ)
        assert done.document == {"success": False, "error": text, "error_code": "TOOL_UNAVAILABLE"}, environ
        assert done.stderr.decode() == text + "\n", environ
        assert done.exit_code == exits, environ


def test_a_link_to_what_is_gone_reads_what_the_client_writes(gone: str, linked: Path) -> None:
    process = subprocess.Popen(
        [linked], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
    )
    for line in range(200):
        process.stdin.write(b"x" * 999 + b"\n")  # a broken pipe would end the client
        time.sleep(0.2 if line == 0 else 0)
    process.stdin.close()
    assert ikigai.parse_strictly(process.stdout.read())["error"] == _gone_text(linked)
    process.stdout.close()
    process.wait(SECONDS)


def test_a_link_to_what_is_gone_needs_stdout_alone(gone: str, linked: Path, environment: dict[str, str]) -> None:
    for closing in ("<&-", "2>&-", "<&- 2>&-"):
        done = run(["sh", "-c", f'exec "$0" {closing}', linked], environment=environment)
        assert done.document["error"] == _gone_text(linked), closing


# ---- other names


def test_a_tool_under_another_name_uses_it_everywhere(site: Site, environment: dict[str, str]) -> None:
    schema = site.path / "ferrule_example/schema.json"
    schema.write_text(schema.read_text().replace("Greets", "example, unlike probe or examples, greets"))
    site.link(["example"], environment, names='{"example": "salute", "probe": "poke"}')
    tools = ikigai.discover([site.links])

    assert set(tools) == {"salute"}
    assert tools["salute"].schema["name"] == "salute"
    assert tools["salute"].schema["description"].startswith("salute, unlike poke or examples, greets")
    done = run([site.links / "salute-tool"], environment=environment)
    assert done.first_line.startswith("salute: INVALID_INPUT: ")
    assert run([site.links / "salute-tool", "--help"], environment=environment).stdout.startswith(b"Usage: salute-tool")


def test_a_stale_link_shows_its_schema_under_the_other_name(site: Site, environment: dict[str, str]) -> None:
    site.link(["example"], environment, names='{"example": "salute"}')
    link = _as_of(site.links / "salute-tool", time.time() - 60, before=site.path)
    os.utime(_metadata(site))

    done = run([link, "--schema"], environment=environment)

    assert done.document["name"] == "salute"
    assert b"run `ferrule link example`" in done.stderr


# ---- odd places


ODD = ["a b", "it's", 'say "x"', "$HOME", "`date`", "a\nb", "a\\nb", "-n", "%s", "ø🦀", "a;b", "#!"]
ODD_FOR_A_LAUNCHER = {"a b", "a\nb", "a\\nb", "ø🦀", "#!"}
"""Those that change the first line of a file, or how its parts are told apart. The others mean something to a shell."""


APART = ("a\nb", "a\\nb", "-n", "#!")
"""Those that mean something alone only, or would hide what others mean."""

ALL_IN_ONE = " ".join(name for name in ODD if name not in APART)


def _tier_of_launcher(name: str) -> pytest.MarkDecorator:
    return pytest.mark.slow if name in ODD_FOR_A_LAUNCHER else pytest.mark.full


@pytest.mark.parametrize(
    ("link_form", "name"),
    [
        *(("shell", name) for name in (ALL_IN_ONE, *APART)),
        *(pytest.param("shell", name, marks=pytest.mark.slow) for name in ODD if name not in APART),
        *(("launcher", name) for name in ("a b", "a\nb")),
        *(pytest.param("launcher", name, marks=_tier_of_launcher(name)) for name in ODD if name not in ("a b", "a\nb")),
    ],
    indirect=["link_form"],
)
def test_any_path_can_be_linked(name: str, form: str, tmp_path: Path, environment: dict[str, str]) -> None:
    odd = tmp_path / name
    venv.create(odd, with_pip=False)
    site = Site(odd / "installed").install(EXAMPLE)
    if form == "launcher":
        shutil.copy(find_launcher(), odd / "bin")  # which is used where the path fits into a first line
    python = odd / "bin/python"
    site.link(["example"], environment, python=python, beside=[path for path in sys.path if path])

    link = site.links / "example-tool"
    assert linked_executables.read_facts(str(link))["python"] == str(python)
    schema = run([link, "--schema"], environment=environment)
    assert (schema.document["name"], schema.stderr) == ("example", b"")
    assert run([link], OSLO, environment=environment).document == GREETING


@ONE_FORM
def test_the_working_directory_is_in_no_link(site: Site, environment: dict[str, str], tmp_path: Path) -> None:
    here = tmp_path / "somewhere"
    here.mkdir()
    command = [sys.executable, "-m", "ferrule", "link", "example", "--to", str(tmp_path / "to")]
    run(command, environment={**environment, "PYTHONPATH": str(site.path)}, cwd=here)
    content = (tmp_path / "to/example-tool").read_text()
    assert str(site.path) in content
    assert str(here) not in content


# ---- writing and removing


@ONE_FORM
def test_linking_again_changes_nothing(linked: Path, site: Site, environment: dict[str, str]) -> None:
    before = (linked.read_bytes(), linked.stat().st_mtime_ns)
    site.link(["example"], environment)
    assert (linked.read_bytes(), linked.stat().st_mtime_ns) == before


def test_linking_again_brings_a_stale_link_up_to_date(site: Site, environment: dict[str, str], ask: Ask) -> None:
    os.utime(_metadata(site) / "METADATA")
    assert b"out of date" in ask().stderr
    site.link(["example"], environment)
    assert ask().stderr == b""


@ONE_FORM
@pytest.mark.parametrize("content", ["", "#!/bin/sh\necho mine\n", "#!/bin/sh\n# ferrule link: no JSON\n"])
def test_a_file_of_somebody_else_stays(content: str, site: Site, environment: dict[str, str]) -> None:
    foreign = site.links / "example-tool"
    foreign.write_text(content)

    with pytest.raises(subprocess.CalledProcessError):
        site.link(["example"], environment)
    with pytest.raises(LinkError, match="was not written by ferrule"):
        linked_executables.remove(str(foreign))

    assert foreign.read_text() == content


@ONE_FORM
def test_a_dangling_link_of_somebody_else_stays(site: Site, environment: dict[str, str]) -> None:
    (site.links / "example-tool").symlink_to("nowhere")
    with pytest.raises(subprocess.CalledProcessError):
        site.link(["example"], environment)
    assert (site.links / "example-tool").is_symlink()


@ONE_FORM
def test_only_links_are_listed_and_removed(linked: Path) -> None:
    (linked.parent / "mine-tool").write_text("#!/bin/sh\n")
    os.mkfifo(linked.parent / "fifo-tool")

    assert [path for path, _ in linked_executables.links(str(linked.parent))] == [str(linked)]

    linked_executables.remove(str(linked))
    assert sorted(path.name for path in linked.parent.iterdir()) == ["fifo-tool", "mine-tool"]


@ONE_FORM
def test_nothing_but_the_link_is_left_in_its_folder(linked: Path) -> None:
    assert [path.name for path in linked.parent.iterdir()] == ["example-tool"]
    assert linked.stat().st_mode & 0o777 == 0o755


# ---- without the launcher


@pytest.fixture
def left(form: str, linked: Path, tmp_path: Path) -> Path:
    """The link, whose launcher has been uninstalled."""
    times = (linked.stat().st_atime, linked.stat().st_mtime)
    linked.write_text(linked.read_text().replace(find_launcher(), str(tmp_path / "gone")))
    os.utime(linked, times)
    return linked


@pytest.mark.parametrize("link_form", ["launcher"], indirect=True)
def test_a_link_whose_launcher_is_gone_is_out_of_date(left: Path, tmp_path: Path) -> None:
    facts = linked_executables.read_facts(str(left))
    assert facts is not None
    reason = f"the program {tmp_path / 'gone'} that starts it is gone"
    assert linked_executables.reasons_to_doubt(str(left), facts) == [reason]


@pytest.mark.parametrize("link_form", ["launcher"], indirect=True)
def test_a_link_whose_launcher_is_gone_becomes_a_shell_file(
    left: Path, site: Site, environment: dict[str, str], ask: Ask
) -> None:
    assert linked_executables.replace_lost_launchers(str(left.parent)) == [str(left)]
    assert (ask().document["name"], ask().stderr, ask(OSLO).document) == ("example", b"", GREETING)
    assert linked_executables.replace_lost_launchers(str(left.parent)) == []
    hide_launcher(site.path)
    content = left.read_bytes()
    left.unlink()
    site.link(["example"], environment)
    assert left.read_bytes() == content


# ---- help for the tests above


def _metadata(site: Site) -> Path:
    return next(site.path.glob("ferrule_example-*.dist-info"))


def _as_of(path: Path, moment: float, *, before: Path) -> Path:
    """Date a link back, and what it was made from further."""
    for one in (before, *before.rglob("*")):
        os.utime(one, (moment - 60, moment - 60))
    os.utime(path, (moment, moment))
    return path


def _replace_interpreter(link: Path, python: Path) -> None:
    times = (link.stat().st_atime, link.stat().st_mtime)
    link.write_text(link.read_text().replace(json.loads(_facts(link))["python"], str(python)))
    os.utime(link, times)


def _facts(link: Path) -> str:
    return json.dumps(linked_executables.read_facts(str(link)))


def _log_of_starts(link: Path, tmp_path: Path) -> Path:
    """Put a program before the interpreter that writes a line when it is started."""
    log, python = tmp_path / "starts", tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho started >> {log}\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    _replace_interpreter(link, python)
    return log
