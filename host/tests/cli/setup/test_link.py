"""`ferrule link`, and what comes out of it when a client uses it."""

import json
import os
import subprocess

import pytest

from ferrule.links import linked_executables
from ferrule_testkit import ikigai
from ferrule_testkit.launcher import hide_launcher
from ferrule_testkit.machine import Machine

# What starts a link is tested in tests/executables; here one form is there in each tier.
pytestmark = [
    pytest.mark.process,
    pytest.mark.parametrize("link_form", ["launcher", pytest.param("shell", marks=pytest.mark.slow)], indirect=True),
]


@pytest.fixture(autouse=True)
def form(link_form: str, machine: Machine) -> None:
    if link_form == "shell":
        hide_launcher(machine.site)


SIBLINGS = "Reads what `web_search` found, as web_search_deep does, not as web_searches."


def discovered(machine: Machine) -> dict[str, ikigai.Tool]:
    return ikigai.discover([machine.tools])


@pytest.mark.slow
def test_a_tool_is_linked_where_the_client_finds_it(machine: Machine) -> None:
    machine.install("web_almanac")
    linked = machine.ferrule("link", "web_almanac")
    assert (linked.code, linked.out) == (0, "linked ~/.ikigai/tools/web-almanac-tool\n  no network\n")
    tool = discovered(machine)["web_almanac"]
    assert tool.schema["name"] == "web_almanac"
    answer = ikigai.call(tool, {"city": "Oslo"})
    assert answer == {"tool_success": True, "result": {"got": {"city": "Oslo"}}}


@pytest.mark.slow
def test_a_tool_under_another_name_tells_a_person_what_to_set_and_what_to_type(machine: Machine) -> None:
    url = "https://almanac.example/almanac"
    credential = f"Credential('key', environment='ALMANAC_KEY', path='almanac.key', url={url!r})"
    top = f"@hookimpl\ndef credentials():\n    return [{credential}]"
    machine.install("almanac", top=top, execute="return {'key': context.credential('key')}")
    machine.ferrule("link", "almanac", "--as", "sky")
    called = subprocess.run([machine.tools / "sky-tool"], input=b"{}", capture_output=True, env=machine.environment)
    assert json.loads(called.stdout)["error"] == (
        "sky needs key. Get one: https://almanac.example/almanac. Set ALMANAC_KEY, or add it to "
        f"{machine.credentials} as 'almanac.key'. Run: ferrule credentials set almanac key"
    )
    assert machine.ferrule("credentials", "set", "almanac", "key", stdin=b"abcdef").code == 0
    called = subprocess.run([machine.tools / "sky-tool"], input=b"{}", capture_output=True, env=machine.environment)
    assert called.returncode == 0


def test_a_schema_that_changes_while_it_is_linked_is_newer_than_its_link(machine: Machine) -> None:
    gate = machine.gate()
    module = machine.install("alpha", top=f"open({str(gate)!r}).read()")
    with machine.start("link", "alpha") as process, gate.open("w"):
        os.utime(module.with_suffix(".schema.json"))
    assert process.returncode == 0
    path = str(machine.tools / "alpha-tool")
    facts = linked_executables.read_facts(path)
    assert facts is not None
    assert linked_executables.reasons_to_doubt(path, facts) == [f"{module.with_suffix('.schema.json')} is newer"]


def test_linking_again_changes_nothing(machine: Machine) -> None:
    machine.install("alpha")
    machine.ferrule("link", "alpha")
    before = (machine.tools / "alpha-tool").stat()
    assert machine.ferrule("link", "alpha").out == "unchanged ~/.ikigai/tools/alpha-tool\n  no network\n"
    after = (machine.tools / "alpha-tool").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_all_tools_that_are_well_are_linked_and_the_others_refused_with_reasons(machine: Machine) -> None:
    machine.install("alpha")
    machine.install("broken", top="import nothing_of_that_name")
    machine.install("claimed", distribution="one")
    machine.install("claimed", distribution="two")
    machine.install("unsound", schema={"name": "unsound", "description": "", "parameters": {}})
    machine.install("zeta")
    linked = machine.ferrule("link", "--json")
    assert linked.code == 1
    results = {one["tool"]: one for one in linked.document["tools"]}
    names = ("alpha", "broken", "claimed", "unsound", "zeta")
    assert [results[name]["result"] for name in names] == ["linked", "refused", "refused", "refused", "linked"]
    assert "nothing_of_that_name" in results["broken"]["reason"]
    assert "one 1.0 and by two 1.0" in results["claimed"]["reason"]
    assert {"alpha", "zeta"} <= set(discovered(machine))
    assert not {"broken", "claimed", "unsound"} & set(discovered(machine))


def test_a_disabled_tool_is_skipped_unless_it_is_named(machine: Machine) -> None:
    machine.install("alpha")
    environment = {"FERRULE_DISABLE": "alpha"}
    linked = machine.ferrule("link", "--json", environment=environment)
    assert linked.code == 0
    assert "skipped" in [one["result"] for one in linked.document["tools"] if one["tool"] == "alpha"]
    named = machine.ferrule("link", "alpha", environment=environment)
    assert named.code == 1
    assert "refused alpha: It is disabled by FERRULE_DISABLE." in named.out


def test_another_folder_is_made_and_a_note_says_where_the_client_looks(machine: Machine) -> None:
    machine.install("alpha")
    linked = machine.ferrule("link", "alpha", "--to", "some where/tools")
    assert linked.code == 0
    assert os.access(machine.work / "some where" / "tools" / "alpha-tool", os.X_OK)
    assert "~/.ikigai/tools" in linked.err
    assert machine.ferrule("link", "alpha", "--to", ".ikigai/tools").err == ""


def test_as_gives_one_tool_another_name_in_its_schema_its_file_and_its_messages(machine: Machine) -> None:
    machine.install(
        "web_almanac",
        description="web_almanac looks things up.",
        execute="raise ToolError('NO', 'Ask web_almanac later.')",
    )
    linked = machine.ferrule("link", "web_almanac", "--as", "lookup")
    assert linked.out == "linked ~/.ikigai/tools/lookup-tool\n  no network\n"
    tool = discovered(machine)["lookup"]
    assert tool.schema["name"] == "lookup"
    assert tool.schema["description"] == "lookup looks things up."
    assert ikigai.call(tool, {"city": "Oslo"})["result"]["error"] == "Ask lookup later."


def test_prefix_renames_every_tool_that_starts_so_and_whatever_names_one_of_them(machine: Machine) -> None:
    machine.install("web_search", description="Finds pages.")
    machine.install("web_search_deep", description="Finds more than web_search.")
    machine.install("reader", description=SIBLINGS)
    linked = machine.ferrule("link", "web_search", "reader", "--prefix", "web_=net_", "--json")
    assert linked.code == 0
    assert [one["name"] for one in linked.document["tools"]] == ["reader", "net_search"]
    tools = discovered(machine)
    assert tools["net_search"].schema["name"] == "net_search"
    expected = "Reads what `net_search` found, as net_search_deep does, not as web_searches."
    assert tools["reader"].schema["description"] == expected


def test_as_and_prefix_go_together(machine: Machine) -> None:
    machine.install("web_search", description="Not web_fetch.")
    machine.install("web_fetch")
    machine.ferrule("link", "web_search", "--prefix", "web_=net_", "--as", "find")
    schema = discovered(machine)["find"].schema
    assert (schema["name"], schema["description"]) == ("find", "Not net_fetch.")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        pytest.param(("--as", "lookup"), 2, id="as-without-a-tool"),
        pytest.param(("alpha", "beta", "--as", "lookup"), 2, id="as-with-two"),
        pytest.param(("alpha", "--as", "look-up"), 2, id="as-no-name"),
        pytest.param(("alpha", "--as", ""), 2, id="as-nothing"),
        pytest.param(("--prefix", "web_"), 2, id="prefix-without-a-new-one"),
        pytest.param(("--prefix", "=net_"), 2, id="prefix-without-an-old-one"),
        pytest.param(("--prefix", "zzz_=net_"), 1, id="prefix-of-no-tool"),
        pytest.param(("alpha", "--prefix", "al=a l-"), 1, id="prefix-that-is-no-name"),
        pytest.param(("gamma",), 1, id="unknown-tool"),
    ],
)
def test_names_that_cannot_be_are_refused(machine: Machine, options: tuple[str, ...], code: int) -> None:
    machine.install("alpha")
    machine.install("beta")
    assert machine.ferrule("link", *options).code == code
    assert not machine.tools.exists()


def test_two_tools_that_would_get_one_name_are_both_refused(machine: Machine) -> None:
    machine.install("alpha")
    machine.install("old_alpha")
    linked = machine.ferrule("link", "alpha", "old_alpha", "--prefix", "old_=")
    assert linked.code == 1
    assert linked.out.count("2 tools would get the name 'alpha'.") == 2
    assert not machine.tools.exists()


def test_a_schema_that_another_name_makes_too_large_is_refused(machine: Machine) -> None:
    machine.install("alpha")
    bare = len(json.dumps(_schema(machine, "alpha"), separators=(",", ":"))) + 1
    machine.install("alpha", description="Does something." + "x" * (8191 - bare))
    assert machine.ferrule("link", "alpha").code == 0
    refused = machine.ferrule("link", "alpha", "--as", "alphabet")
    assert refused.code == 1
    assert "8,194 bytes" in refused.out


def _schema(machine: Machine, name: str) -> object:
    return machine.ferrule("show", name, "--json").document["schema"]


def test_a_file_that_ferrule_did_not_write_is_never_replaced(machine: Machine) -> None:
    machine.install("alpha")
    machine.tools.mkdir(parents=True)
    (machine.tools / "alpha-tool").write_text("#!/bin/sh\n")
    refused = machine.ferrule("link", "alpha")
    assert refused.code == 1
    assert "was not written by ferrule" in refused.out
    assert (machine.tools / "alpha-tool").read_text() == "#!/bin/sh\n"


def test_a_link_to_another_tool_is_not_replaced(machine: Machine) -> None:
    machine.install("alpha")
    machine.install("beta")
    machine.ferrule("link", "alpha", "--as", "beta")
    refused = machine.ferrule("link", "beta")
    assert refused.code == 1
    assert "is a link to alpha." in refused.out


def test_a_folder_that_cannot_be_written_is_a_refusal(machine: Machine) -> None:
    machine.install("alpha")
    (machine.work / "file").touch()
    refused = machine.ferrule("link", "alpha", "--to", "file/tools")
    assert refused.code == 1
    assert "cannot be written" in refused.out


def test_a_link_works_without_the_environment_that_it_was_made_in(machine: Machine) -> None:
    machine.install("alpha")
    machine.ferrule("link", "alpha")
    done = subprocess.run(
        [machine.tools / "alpha-tool"], input=b'{"city": "Oslo"}', cwd="/", env={}, capture_output=True, check=True
    )
    assert json.loads(done.stdout) == {"got": {"city": "Oslo"}}


@pytest.mark.slow
def test_the_tool_of_a_wrapper_that_is_off_is_linked_only_where_it_is_named(machine: Machine) -> None:
    machine.uncover_the_host()
    skipped = {one["tool"]: one for one in machine.ferrule("link", "--json").document["tools"]}["artifact_read"]
    assert (skipped["result"], skipped["path"]) == ("skipped", None)
    on = machine.ferrule("link", "--json", environment={"FERRULE_WRAPPERS": "artifacts"}).document["tools"]
    assert {one["tool"]: one["result"] for one in on}["artifact_read"] == "linked"
    assert machine.ferrule("link", "artifact_read").out.startswith("unchanged ~/.ikigai/tools/artifact-read-tool\n")
