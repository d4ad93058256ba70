"""Whatever a tool does, the client gets one document that says what happened, and no other tool is hurt."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from ferrule.confinement import support
from ferrule_serve.pool import CallAnswer, Pool
from ferrule_testkit import PROJECT, ikigai
from ferrule_testkit.corpus import DISTS, Site
from ferrule_testkit.runs import SECONDS, mark, run, run_forked, wait_until_gone

pytestmark = pytest.mark.process


FERRULE = [sys.executable, "-m", "ferrule"]
INTERNAL, TIMEOUT, CLASH, NO_SCHEMA = "INTERNAL_ERROR", "TIMEOUT", "TOOL_NAME_CLASH", "SCHEMA_INVALID"
LATE = "had not answered when the call's time was over"
NOT_JSON = "result cannot be written as JSON: "
HEALTHY, GREETING = b'{"city": "Oslo"}', b'{"success":true,"greeting":"Hello, Oslo!"}'
SECRET = "sk-0123456789-abcdefghij"


class Fault(NamedTuple):
    """tool: as its executable is named. code, phrase: of the failure, None where the tool answers. state: in a list."""

    tool: str
    code: str | None = None
    phrase: str = ""
    state: str = "ok"


def broken(tool: str, phrase: str) -> Fault:
    return Fault(tool, INTERNAL, phrase, "broken")


def invalid(tool: str, phrase: str) -> Fault:
    return Fault(tool, NO_SCHEMA, phrase, "invalid")


def crashing(tool: str, phrase: str) -> Fault:
    return Fault(tool, INTERNAL, phrase)


def hanging(tool: str, state: str = "ok") -> Fault:
    return Fault(tool, TIMEOUT, LATE, state)


FAULTS = [
    # what cannot be loaded
    broken("raises-on-import", "raises-on-import 1.0 cannot be loaded: RuntimeError: the almanac is out of print."),
    broken("missing-module", "ModuleNotFoundError: No module named 'a_module_that_nobody_installed'"),
    broken("syntax-error", "SyntaxError: invalid syntax (syntax_error.py, line 7)"),
    broken("not-utf-8", "SyntaxError: (unicode error)"),
    broken("exits-on-import", "SystemExit: no licence found"),
    broken("dies-on-import", "ended its process with exit code 7"),
    hanging("hangs-on-import", "broken"),
    # A hook of a later host, or a misspelt one, has no effect: `ferrule list --check` warns of it.
    Fault("misspells-a-hook"),
    broken("has-no-execute", "has no hook `execute`"),
    broken("has-no-schema", "has no hook `schema`"),
    broken("names-no-such-attribute", "has no attribute 'Tool'"),
    broken("takes-too-many-arguments", "Argument(s) {'weather'} are declared in the hookimpl but can not be found"),
    # what raises
    crashing("raises-in-execute", "crashed with ValueError: no such almanac (site/raises_in_execute.py, line 13)."),
    crashing("raises-keyboard-interrupt", "crashed with KeyboardInterrupt (site/"),
    crashing("raises-base-exception", "crashed with Vanish: into thin air (site/"),
    crashing("calls-sys-exit", "called sys.exit(goodbye)"),
    crashing("calls-os-exit", "ended its process with exit code 3"),
    crashing("unprintable-exception", "crashed with Unprintable: (its text cannot be had)"),
    crashing("exception-of-ten-megabytes", "crashed with ValueError: so long so long"),
    Fault("tool-error-with-odd-values", "404", "half a letter: ?, and a \N{REPLACEMENT CHARACTER}"),
    crashing("tool-error-without-init", "raised Bare, which says nothing"),
    crashing("recurses-forever", "RecursionError: maximum recursion depth exceeded"),
    crashing("validate-raises", "crashed with KeyError: 'city'"),
    crashing("validate-returns-text", "validate returned str, a list was expected"),
    broken("credentials-raises", "crashed with OSError: the key ring is locked"),
    broken("credentials-returns-text", "credentials returned a list with str in it"),
    # what dies
    crashing("segfaults", "was ended by SIGSEGV"),
    crashing("aborts", "was ended by SIGABRT"),
    crashing("sets-alarm", "was ended by SIGALRM"),
    crashing("becomes-another-program", "closed the descriptor on which the host waits"),
    crashing("kills-its-group", "was ended by SIGKILL"),
    # what does not end
    hanging("loops-in-python"),
    hanging("loops-in-c"),
    hanging("hangs-in-sleep"),
    hanging("ignores-sigterm"),
    hanging("stops-itself"),
    hanging("waits-for-a-child"),
    hanging("prints-forever"),
    crashing("prints-lines-to-the-channel-forever", "lines that are no message"),
    # what takes too much
    crashing("fills-memory", "ran out of memory"),
    crashing("opens-files-forever", "Too many open files"),
    # what returns something odd
    crashing("returns-none", "execute returned NoneType, an object or content was expected"),
    crashing("returns-a-list", "execute returned list with int in it, an object or content was"),
    crashing("returns-a-coroutine", "execute returned coroutine, an object or content was expected"),
    crashing("returns-a-set", f"{NOT_JSON}/cities: a value of a type that JSON does not have"),
    crashing("returns-bytes", f"{NOT_JSON}/page/body: a value of a type that JSON does not have"),
    crashing("returns-nan", f"{NOT_JSON}/temperatures/1: NaN"),
    crashing("returns-infinity", f"{NOT_JSON}/distance: an infinity"),
    crashing("returns-lone-surrogate", f"{NOT_JSON}/text: a lone surrogate"),
    crashing("returns-nul", f"{NOT_JSON}/text: a NUL character"),
    crashing("returns-circle", f"{NOT_JSON}it is circular"),
    crashing("returns-deep-nesting", f"{NOT_JSON}it is circular or nested too deeply"),
    crashing("returns-integer-keys", f"{NOT_JSON}/counts/1: a key that is not a string"),
    crashing("returns-a-huge-integer", f"{NOT_JSON}/number: an integer that is out of range"),
    crashing("returns-an-endless-integer", f"{NOT_JSON}/number: an integer that is out of range"),
    crashing("returns-a-lying-dict", "crashed with RuntimeError: none of your business"),
    crashing("returns-10-megabytes", "result takes 10,000,011 bytes, more than the 65,534 that the client reads"),
    crashing("returns-just-too-much", "result takes 65,535 bytes"),
    # what writes where it should not, leaves something behind, or changes the ground it stands on
    crashing("closes-all-descriptors", "closed all descriptors, before it had answered"),
    crashing("patches-builtins", "left nothing with which its answer could be sent"),
    Fault("logs-on-import"),
    Fault("pattern-takes-years"),
    Fault("prints-to-stdout"),
    Fault("prints-what-cannot-be-encoded"),
    Fault("prints-a-megabyte-to-stderr"),
    Fault("writes-to-descriptor-1"),
    Fault("writes-to-every-descriptor"),
    Fault("child-prints-to-stdout"),
    Fault("replaces-sys-stdout"),
    Fault("reads-stdin"),
    Fault("atexit-prints"),
    Fault("raises-in-a-thread"),
    Fault("raises-beside-busy-threads", "BUSY", "the files keep us busy"),
    Fault("thread-outlives-execute"),
    Fault("leaves-a-child"),
    Fault("leaves-a-daemon"),
    Fault("leaves-a-chain"),
    Fault("forks-and-both-return"),
    Fault("patches-json"),
    Fault("patches-os-write"),
    Fault("clears-the-environment"),
    Fault("changes-directory-and-deletes-it"),
    # what fails while its failure is rendered in its own shape
    Fault("failures-raise", "NO_ALMANAC", "There is no almanac."),
    Fault("failures-hang", "NO_ALMANAC", "There is no almanac."),
    Fault("failures-write-everywhere", "NO_ALMANAC", "There is no almanac."),
    # schemas and names
    invalid("schema-is-not-json", "is not valid JSON: expecting property name"),
    invalid("schema-breaks-a-rule", "'required' names 'town', which 'properties' has not"),
    invalid("schema-has-another-name", "its schema 'almanac'"),
    invalid("schema-has-a-nul", "a NUL character"),
    invalid("schema-is-too-large", "drops a tool that prints more than 8,191"),
    invalid("schema-is-too-deep", "more than 64 levels"),
    Fault("schema-hook-returns-nan", NO_SCHEMA, "/parameters/properties/x/minimum: NaN", "broken"),
    broken("schema-hook-returns-a-list", "schema returned list, an object was expected"),
    broken("schema-hook-raises", "crashed with LookupError: no schema today"),
    hanging("schema-hook-hangs", "broken"),
    Fault("schema-and-file-differ", state="broken"),
    Fault("same-name", CLASH, "is claimed by same-name-a 1.0 and by same-name-b 1.0", "clash"),
]
OTHER_TOOLS = {"exception-with-a-secret", "kills-its-parent", "same-name-a", "same-name-b"}
HANGING_SECONDS = 0.4  # that a tool gets which would not end by itself
# One of each kind of what can happen to the process of a call. What a tool does there is the same whoever has started
# it, and so is the document that comes of it; the other ways in differ in how they start it and what they make of that.
KINDS = {
    "raises-on-import",
    "exits-on-import",
    "dies-on-import",
    "hangs-on-import",
    "has-no-execute",
    "raises-in-execute",
    "raises-keyboard-interrupt",
    "calls-os-exit",
    "exception-of-ten-megabytes",
    "tool-error-with-odd-values",
    "recurses-forever",
    "validate-returns-text",
    "segfaults",
    "becomes-another-program",
    "kills-its-group",
    "loops-in-c",
    "ignores-sigterm",
    "stops-itself",
    "prints-forever",
    "fills-memory",
    "returns-none",
    "returns-lone-surrogate",
    "returns-10-megabytes",
    "closes-all-descriptors",
    "patches-builtins",
    "prints-a-megabyte-to-stderr",
    "writes-to-every-descriptor",
    "reads-stdin",
    "raises-beside-busy-threads",
    "leaves-a-daemon",
    "leaves-a-chain",
    "forks-and-both-return",
    "clears-the-environment",
    "failures-raise",
    "failures-write-everywhere",
    "schema-is-not-json",
    "schema-is-too-large",
    "schema-hook-hangs",
    "schema-and-file-differ",
    "same-name",
}
ENDS = {
    *("raises-on-import", "raises-in-execute", "tool-error-with-odd-values", "validate-returns-text"),
    *("calls-os-exit", "segfaults", "kills-its-group", "loops-in-c", "fills-memory"),
    *("reads-stdin", "prints-a-megabyte-to-stderr", "closes-all-descriptors"),
    *("schema-is-not-json", "schema-hook-hangs", "same-name"),
}
"""One of each way to come to a document: the process says it, it has ended, it is ended, it succeeds whatever it does
to its streams, and it is not started. Those who start it as a console script does differ in their exit code alone.
"""


def _faults_of(chosen: set[str]) -> pytest.MarkDecorator:
    """Each fault; what is not chosen is for the tier `full`."""
    marks = {fault.tool: [] if fault.tool in chosen else [pytest.mark.full] for fault in FAULTS}
    return pytest.mark.parametrize(
        "fault", [pytest.param(fault, id=fault.tool, marks=marks[fault.tool]) for fault in FAULTS]
    )


EVERY_FAULT = pytest.mark.parametrize(
    "fault",
    [pytest.param(one, id=one.tool, marks=[] if one.tool in KINDS else [pytest.mark.slow]) for one in FAULTS],
)
"""One of each kind in the quick tiers, the others in the tier `slow`."""
A_FAULT_OF_EACH_KIND, A_FAULT_OF_EACH_END = _faults_of(KINDS), _faults_of(ENDS)


def test_every_broken_distribution_is_put_through_a_call() -> None:
    folders = {path.parent.name for path in DISTS.glob("*/pyproject.toml")}
    assert folders == {fault.tool for fault in FAULTS} - {"same-name"} | OTHER_TOOLS
    assert {fault.tool for fault in FAULTS} >= KINDS >= ENDS


@EVERY_FAULT
def test_a_console_script_ends_in_one_document_and_says_first_what_happened(
    fault: Fault, corpus: Site, environment: dict[str, str], tmp_path: Path
) -> None:
    """A process of its own for one of each end; what a tool does is the same in a fork of one that has the host."""
    script, limited = corpus.scripts / f"{fault.tool}-tool", _limited(environment, fault, corpus)
    is_process = fault.tool in ENDS
    done = run([script], environment=limited) if is_process else run_forked(script, environment=limited, cwd=tmp_path)

    assert done.left == []
    assert _tells(done.document, fault)
    assert done.exit_code == (1 if fault.code else 0)
    assert len(done.stderr) <= 8_192
    if fault.code in (INTERNAL, TIMEOUT, CLASH, NO_SCHEMA):
        assert f"{fault.tool.replace('same-name', 'same-name-a')} 1.0" in str(done.document)
    if fault.code:
        assert done.first_line.startswith(f"{fault.tool.replace('-', '_')}: {fault.code}: ")
        assert len(done.first_line.encode()) < ikigai.ERROR_BYTES
        assert b"Traceback" not in done.stderr


@pytest.mark.slow
@A_FAULT_OF_EACH_END
def test_an_agent_gets_the_document_with_exit_code_0(fault: Fault, corpus: Site, environment: dict[str, str]) -> None:
    linked = corpus.links / f"{fault.tool}-tool"
    executable = linked if linked.exists() else corpus.scripts / linked.name
    limited = {**_limited(environment, fault, corpus), "IKIGAI_AGENT_ID": "agent-1"}

    done = run([executable], environment=limited)

    assert done.left == []
    assert _tells(done.document, fault)
    assert done.exit_code == 0
    assert len(done.stderr) <= 8_192


Serve = Callable[[str, float], CallAnswer]


@contextmanager
def _serving(environment: dict[str, str]) -> Iterator[Serve]:
    """Call a tool, with a deadline in seconds, in the same pool each time; it keeps tools loaded between calls."""
    with asyncio.Runner() as runner:
        pool = Pool(environment=environment)

        async def call(tool: str, seconds: float) -> CallAnswer:
            return await pool.call(tool.replace("-", "_"), b"{}" if tool != "example" else HEALTHY, seconds=seconds)

        yield lambda tool, seconds: runner.run(call(tool, seconds))
        runner.run(pool.close())


@pytest.fixture(scope="module")
def served(corpus: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    home = str(tmp_path_factory.mktemp("home"))
    with _serving(_in(corpus, {"PATH": os.environ["PATH"], "HOME": home, "FERRULE_MEMORY": "300"})) as serve:
        yield serve


@pytest.fixture(scope="module")
def served_again(corpus: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """As `served`, where every tool says that its processes may be used again."""
    home = tmp_path_factory.mktemp("home")
    environment = _in(corpus, {"PATH": os.environ["PATH"], "HOME": str(home), "FERRULE_MEMORY": "300"})
    copied = shutil.copytree(corpus.path, home / "site")
    for module in {*copied.glob("*.py")}:
        declaration = module.with_suffix(".tool.json")
        declared = json.loads(declaration.read_text()) if declaration.exists() else {}
        declaration.write_text(json.dumps({**declared, "reusable": True}))
    environment["PYTHONPATH"] = environment["PYTHONPATH"].replace(str(corpus.path), str(copied))
    with _serving(environment) as serve:
        yield serve


@A_FAULT_OF_EACH_KIND
def test_a_pool_that_serves_it_serves_others_as_before(fault: Fault, served: Serve) -> None:
    answer = served(fault.tool, HANGING_SECONDS if fault.code == TIMEOUT else SECONDS)

    assert served("example", SECONDS).document == GREETING
    assert _tells(ikigai.parse_strictly(answer.document), fault)
    assert answer.is_error == bool(fault.code)
    assert len(answer.text.encode()) <= 8_192


@pytest.mark.slow
@A_FAULT_OF_EACH_KIND
def test_a_fault_in_a_process_that_may_be_used_again_is_told_and_changes_no_later_call(
    fault: Fault, served_again: Serve
) -> None:
    seconds = HANGING_SECONDS if fault.code == TIMEOUT else SECONDS

    first, second = served_again(fault.tool, seconds), served_again(fault.tool, seconds)

    assert _tells(ikigai.parse_strictly(first.document), fault)
    assert first.document == second.document
    assert served_again("example", SECONDS).document == GREETING


@pytest.mark.slow
@A_FAULT_OF_EACH_END
def test_ferrule_run_survives_it(fault: Fault, corpus: Site, environment: dict[str, str]) -> None:
    command = [*FERRULE, "run", fault.tool.replace("-", "_"), "{}"]

    done = run(command, environment=_limited(environment, fault, corpus))

    assert done.left == []
    assert _tells(done.document, fault)
    assert done.exit_code == (1 if fault.code else 0)
    assert fault.code is None or b"Traceback" not in done.stderr


@pytest.mark.slow
def test_a_pattern_that_takes_years_ends_with_the_deadline(corpus: Site, environment: dict[str, str]) -> None:
    arguments = json.dumps({"city": "a" * 64 + "b"}).encode()
    limited = {**_in(corpus, environment), "FERRULE_DEADLINE": "2"}

    done = run([corpus.links / "pattern-takes-years-tool"], arguments, environment=limited)

    assert _tells(done.document, hanging("pattern-takes-years"))
    assert done.left == []


@pytest.mark.slow
def test_list_checks_each_tool_and_finds_the_broken_ones(corpus: Site, environment: dict[str, str]) -> None:
    done = run([*FERRULE, "list", "--check", "--json"], environment=_in(corpus, environment))

    found = {tool["name"]: tool for tool in json.loads(done.stdout)["tools"]}
    expected = {fault.tool.replace("-", "_"): fault.state for fault in FAULTS}
    assert {name: tool["state"] for name, tool in found.items() if name in expected} == expected
    told = {fault.tool: found[fault.tool.replace("-", "_")]["error"] for fault in FAULTS if fault.state != "ok"}
    assert [tool for tool, error in told.items() if not error["message"]] == []
    assert found["example"]["state"] == found["kills_its_parent"]["state"] == "ok"
    assert done.exit_code == 1
    assert done.left == []
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
def test_list_checks_with_every_stream_but_stdout_closed(site: Site, environment: dict[str, str]) -> None:
    command = ["sh", "-c", 'exec "$0" -m ferrule list --check --json <&- 2>&-', sys.executable]

    done = run(command, environment=_in(site, environment))

    assert {tool["name"]: tool["state"] for tool in json.loads(done.stdout)["tools"]}["probe"] == "ok"


@pytest.mark.slow
@pytest.mark.parametrize(
    "tool",
    [
        "raises_on_import",
        "segfaults",
        "calls_os_exit",
        "returns_nan",
        "returns_10_megabytes",
        "leaves_a_daemon",
        "writes_to_every_descriptor",
        "prints_a_megabyte_to_stderr",
        "tool_error_with_odd_values",
        "child_prints_to_stdout",
    ],
)
def test_the_client_shows_its_model_what_happened(tool: str, corpus: Site, environment: dict[str, str]) -> None:
    fault = next(fault for fault in FAULTS if fault.tool == tool.replace("_", "-"))
    command = [sys.executable, ikigai.__file__, "call", tool, "{}", "--folder", corpus.links]

    answer = run(command, environment=environment).document

    assert answer["tool_success"] is True
    assert _tells(answer["result"], fault)


def test_a_schema_hook_that_hangs_ends_before_the_client_does(corpus: Site, environment: dict[str, str]) -> None:
    done = run([corpus.scripts / "schema-hook-hangs-tool", "--schema"], environment=_in(corpus, environment))

    assert done.exit_code == 1
    assert done.document["error_code"] == TIMEOUT
    assert done.left == []


def test_a_broken_tool_whose_schema_is_a_file_still_prints_it(corpus: Site, environment: dict[str, str]) -> None:
    done = run([corpus.scripts / "raises-on-import-tool", "--schema"], environment=_in(corpus, environment))

    assert done.document["name"] == "raises_on_import"
    assert done.exit_code == 0


def test_a_tool_without_a_sound_schema_gets_no_link(corpus: Site) -> None:
    unsound = {f"{fault.tool}-tool" for fault in FAULTS if fault.state in ("invalid", "clash")}
    assert unsound & {path.name for path in corpus.links.iterdir()} == set()


@pytest.fixture
def secretive(tmp_path: Path) -> Site:
    """The one tool that has a credential, and puts it everywhere."""
    return Site(tmp_path / "installed").install(DISTS / "exception-with-a-secret")


@pytest.mark.parametrize("zero", ["0", "1"])
def test_a_credential_leaves_on_no_way(zero: str, secretive: Site, environment: dict[str, str], tmp_path: Path) -> None:
    keyed = {**_in(secretive, environment), "ALMANAC_KEY": SECRET, "FERRULE_EXIT_ZERO": zero}
    script = secretive.scripts / "exception-with-a-secret-tool"
    for how in ("raise", "print", "event", "error", "return"):
        arguments = json.dumps({"how": how}).encode()
        is_process = how == "raise"  # it stands for the others; those are forks of a process that has the host
        done = (
            run([script], arguments, environment=keyed)
            if is_process
            else run_forked(script, arguments, environment=keyed, cwd=tmp_path)
        )

        assert done.document["success"] is (how not in ("raise", "error")), how
        assert b"[redacted]" in done.stdout, how
        assert SECRET[:10].encode() not in done.stdout + done.stderr, how


def test_a_text_that_is_cut_shows_no_half_of_a_credential(
    secretive: Site, environment: dict[str, str], tmp_path: Path
) -> None:
    keyed = {**_in(secretive, environment), "ALMANAC_KEY": SECRET}
    for length in range(220, 300, 7):
        arguments = json.dumps({"how": "raise", "before": "x" * length}).encode()

        script = secretive.scripts / "exception-with-a-secret-tool"
        done = run_forked(script, arguments, environment=keyed, cwd=tmp_path)

        assert done.document["error_code"] == INTERNAL
        assert SECRET[:6].encode() not in done.stdout + done.stderr, length


@pytest.mark.skipif(support().landlock_abi < 6, reason="this kernel keeps no signals within a call")
def test_a_tool_that_wants_to_kill_the_host_is_told_that_it_may_not(corpus: Site, environment: dict[str, str]) -> None:
    value, marked = mark(_in(corpus, environment))

    command = [corpus.scripts / "kills-its-parent-tool"]
    done = subprocess.run(command, input=b"{}", env=marked, capture_output=True, timeout=SECONDS, check=False)

    assert done.returncode == 1
    assert json.loads(done.stdout)["error_code"] == "PERMISSION_DENIED"
    assert b"wanted to send a signal to another process" in done.stdout
    wait_until_gone(value)


@pytest.mark.slow
@pytest.mark.index
def test_pip_installs_the_broken_distributions_as_they_are(tmp_path: Path, environment: dict[str, str]) -> None:
    chosen = [fault for fault in FAULTS if fault.tool in ("raises-on-import", "segfaults", "prints-to-stdout")]
    folder = tmp_path / "venv"
    venv.create(folder, with_pip=False)
    packages = [PROJECT / "host", PROJECT / "plugins/example", *(DISTS / fault.tool for fault in chosen)]
    # By the pip and the build backend of this environment, which is faster than to bring each into being once more.
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    wheel = ["wheel", "--quiet", "--no-build-isolation", "--no-deps", "--wheel-dir", tmp_path / "wheels"]
    subprocess.run([*pip, *wheel, *packages], check=True, timeout=300)
    wheels = sorted((tmp_path / "wheels").iterdir())
    install = ["--python", folder / "bin/python", "install", "--quiet"]
    subprocess.run([*pip, *install, *wheels], check=True, timeout=300)

    for fault in chosen:
        done = run([folder / "bin" / f"{fault.tool}-tool"], environment=environment)
        assert _tells(done.document, fault)
    healthy = run([folder / "bin/example-tool"], b'{"city": "Oslo"}', environment=environment)
    assert healthy.document == {"success": True, "greeting": "Hello, Oslo!"}


def _tells(document: dict[str, object], fault: Fault) -> bool:
    """Whether the document says what the fault is about; AssertionError, with the document, where it does not."""
    if fault.code is None:
        assert document.get("success") is True, document
        return True
    code = document.get("error_code", document.get("code"))
    text = str(document.get("message", document["error"]))
    assert code == fault.code, document
    assert fault.phrase in text, document
    return True


def _in(site: Site, environment: dict[str, str]) -> dict[str, str]:
    return {**environment, "PYTHONPATH": str(site.path)}


def _limited(environment: dict[str, str], fault: Fault, corpus: Site) -> dict[str, str]:
    """With limits that are reached soon: a deadline for what hangs, memory for what fills it."""
    limits = {"FERRULE_MEMORY": "300"} | ({"FERRULE_DEADLINE": str(HANGING_SECONDS)} if fault.code == TIMEOUT else {})
    return {**_in(corpus, environment), **limits}
