"""`ferrule permissions`, and what other commands say of permissions: real tools, real files."""

import json
from pathlib import Path
from typing import Any

import pytest

from ferrule_testkit.machine import Finished, Machine

pytestmark = pytest.mark.process

COMMENTED = """\
# keep me
[tools.alpha]   # and me
memory = 512

[tools.alpha.permissions]
# what it may run
programs = ["git"]   # for history
"""


def declare(machine: Machine, name: str, **permissions: object) -> None:
    (machine.site / f"module_{name}.tool.json").write_text(json.dumps({"permissions": permissions}))


def configure(machine: Machine, text: str) -> None:
    config(machine).parent.mkdir(parents=True, exist_ok=True)
    config(machine).write_text(text)


def config(machine: Machine) -> Any:
    return machine.home / ".config" / "ferrule" / "config.toml"


def record(machine: Machine, name: str) -> Any:
    return machine.home / ".local" / "state" / "ferrule" / "permissions" / f"{name}.json"


def of(shown: Finished, name: str) -> Any:
    return next(one for one in shown.document["tools"] if one["tool"] == name)


@pytest.fixture
def notes(machine: Machine) -> Machine:
    machine.install("alpha")
    declare(machine, "alpha", network=[], read=["~/*"], programs=["opennotes"])
    return machine


WORDS = "reads ~ but no hidden folder; runs `opennotes`; no network"


def test_what_tools_may_touch_is_said_in_words_before_anything_of_them_runs(notes: Machine) -> None:
    marker = notes.work / "imported"
    notes.install("beta", top=f"open({str(marker)!r}, 'w').close()")
    shown = notes.ferrule("permissions")
    assert shown.code == 0
    rows = {line.split()[0]: line.split(maxsplit=3)[3] for line in shown.out.splitlines()[1:]}
    assert (rows["alpha"], rows["beta"]) == (WORDS, "no network")
    assert f"May           {WORDS}" in notes.ferrule("permissions", "alpha").out
    facts = of(notes.ferrule("permissions", "--json"), "alpha")
    assert facts["words"] == WORDS.split("; ")
    assert facts["granted"] == facts["declared"]
    assert not marker.exists()
    assert f"May           {WORDS}" in notes.ferrule("show", "alpha").out
    linked = notes.ferrule("link", "alpha")
    assert linked.out.splitlines()[1] == f"  {WORDS}"


def test_a_grant_is_written_beside_what_the_admin_wrote_and_shows_in_list_and_doctor(notes: Machine) -> None:
    configure(notes, COMMENTED)
    (notes.home / "almanac").mkdir()
    done = notes.ferrule("permissions", "grant", "alpha", "--read", str(notes.home / "almanac"), "--network", "public")
    assert (done.code, done.err) == (0, "")
    written = config(notes).read_text()
    added = '\n[tools.alpha.permissions.added]\nread = ["~/almanac"]\nnetwork = ["public"]\n'
    assert written == COMMENTED + added
    facts = of(notes.ferrule("permissions", "--json"), "alpha")
    assert (facts["state"], facts["widened"]) == ("widened", {"network": ["public"], "programs": ["git"]})
    assert facts["narrowed"] == {"programs": ["opennotes"]}
    listed = notes.ferrule("list")
    assert "alpha  asks the public web; runs `git`" in listed.out
    found = {(one["id"], one["subject"]) for one in notes.ferrule("doctor", "--json").document["findings"]}
    assert ("permissions-widened", "alpha") in found


def test_what_is_revoked_is_gone_and_all_of_it_leaves_the_file_as_it_was(notes: Machine) -> None:
    before = "# mine\n[tools.alpha]\nmemory = 512\n"
    configure(notes, before)
    notes.ferrule("permissions", "grant", "alpha", "--write", "/srv/notes", "--processes", "2")
    assert notes.ferrule("permissions", "revoke", "alpha", "--read", "~/*").code == 0
    facts = of(notes.ferrule("permissions", "--json"), "alpha")
    assert (facts["granted"]["read"], facts["granted"]["write"], facts["granted"]["processes"]) == (
        [],
        ["/srv/notes"],
        2,
    )
    missing = notes.ferrule("permissions", "revoke", "alpha", "--write", "/srv/notes/a")
    assert missing.code == 1
    assert "is a part of '/srv/notes'" in missing.err
    assert notes.ferrule("permissions", "revoke", "alpha", "--all").code == 0
    assert config(notes).read_text().rstrip() == before.rstrip()
    assert of(notes.ferrule("permissions", "--json"), "alpha")["state"] == "as declared"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--network", "everything"), "is none of public, loopback, private"),
        (("--program", "a/b"), "is neither a name on PATH nor an absolute path"),
        (("--variable", "*"), "is no name of one"),
        (("--state", "permissions"), "is the host's own"),
        (("--read", "~/.config/ferrule/config.toml"), "are read and written by no tool"),
        (("--read", "~/.config/ikigai/credentials.json"), "are read and written by no tool"),
        (("--read", "~/.local/state/ferrule/journal"), "are read and written by no tool"),
        (("--write", "~/.ikigai/tools"), "is written by none"),
        (("--with-tool", "alhpa"), "Did you mean alpha?"),
        ((), "Say what to grant"),
    ],
)
def test_what_cannot_be_granted_changes_nothing(notes: Machine, options: tuple[str, ...], told: str) -> None:
    refused = notes.ferrule("permissions", "grant", "alpha", *options)
    assert refused.code in (1, 2)
    assert told in refused.err
    assert not config(notes).exists()


def test_a_pattern_grants_and_takes_from_each_tool_that_it_fits(machine: Machine) -> None:
    for name in ("notes_get", "notes_list", "weather"):
        machine.install(name)
    granted = machine.ferrule("permissions", "grant", "notes_*", "--read", "/srv/notes", "--json")
    assert [(one["tool"], one["changed"]) for one in granted.document["tools"]] == [
        ("notes_get", ["read"]),
        ("notes_list", ["read"]),
    ]
    assert config(machine).read_text().count('read = ["/srv/notes"]') == 2
    again = machine.ferrule("permissions", "grant", "notes_*", "--read", "/srv/notes")
    assert "notes_get has that already" in again.err
    assert machine.ferrule("permissions", "revoke", "notes_*", "--read", "/srv/notes").code == 0
    assert "/srv/notes" not in config(machine).read_text()
    nobody = machine.ferrule("permissions", "grant", "nobody_*", "--read", "/srv/notes")
    assert nobody.code == 1
    assert "nobody_*" in nobody.err


@pytest.mark.slow
def test_what_is_granted_is_beside_what_a_later_version_declares(notes: Machine) -> None:
    notes.ferrule("link", "alpha")
    (notes.home / "almanac").mkdir()
    notes.ferrule("permissions", "grant", "alpha", "--read", "~/almanac", "--network", "public", "--processes", "3")
    declare(notes, "alpha", network=["loopback"], read=["~/*", "~/almanac/maps"], programs=["opennotes"])
    (asked,) = notes.ferrule("permissions", "show", "alpha", "--json").document["tools"]
    assert asked["state"] == "held"
    assert asked["error"]["details"]["asks_for"] == {"network": ["loopback"]}  # the admin has granted the other
    notes.ferrule("permissions", "accept", "alpha")
    (now,) = notes.ferrule("permissions", "show", "alpha", "--json").document["tools"]
    granted = {key: now["granted"][key] for key in ("network", "read", "processes")}
    assert granted == {
        "network": ["loopback", "public"],
        "read": ["~/*", "~/almanac/maps", "~/almanac"],
        "processes": 3,
    }
    revoked = ("--read", "~/almanac", "--network", "public", "--processes")
    assert notes.ferrule("permissions", "revoke", "alpha", *revoked).code == 0
    assert of(notes.ferrule("permissions", "--json"), "alpha")["state"] == "as declared"
    assert config(notes).read_text() == ""


def test_a_list_that_stands_in_place_of_the_declared_one_is_added_to(notes: Machine) -> None:
    configure(notes, 'tools.alpha.permissions = {read = ["/srv/notes"]}\n')
    for path in ("/srv/maps", "~/almanac"):
        assert notes.ferrule("permissions", "grant", "alpha", "--read", path, "--program", "git").code == 0
    assert config(notes).read_text().count("\n") == 1
    facts = of(notes.ferrule("permissions", "--json"), "alpha")
    assert facts["granted"]["read"] == ["/srv/notes", "/srv/maps", "~/almanac"]
    assert facts["granted"]["programs"] == ["opennotes", "git"]


def test_an_added_table_that_cannot_be_read_stops_the_tool_and_is_told(notes: Machine) -> None:
    configure(notes, "[tools.alpha.permissions]\nadded = 3\n")
    shown = notes.ferrule("permissions", "alpha", "--json")
    assert (shown.code, shown.document["tools"][0]["state"]) == (1, "malformed")
    assert "[tools.alpha.permissions.added]" in shown.document["tools"][0]["error"]["message"]
    assert notes.ferrule("run", "alpha", "city=Oslo").document["error_code"] == "CONFIG_MALFORMED"


@pytest.mark.slow
def test_a_tool_that_asks_for_more_is_held_until_that_is_accepted(notes: Machine) -> None:
    assert notes.ferrule("link", "alpha").code == 0
    assert record(notes, "alpha").stat().st_mode & 0o777 == 0o600
    declare(notes, "alpha", network=["public"], read=["~"], programs=["opennotes"])
    held = notes.ferrule("run", "alpha", "city=Oslo")
    assert held.code == 1
    assert held.document["error_code"] == "PERMISSION_DENIED"
    told = held.out + held.err
    assert "asks the public web; reads all of ~, hidden folders too" in told
    assert "ferrule permissions accept alpha" in told
    shown = notes.ferrule("permissions", "--json")
    assert (shown.code, of(shown, "alpha")["state"]) == (1, "held")
    assert of(shown, "alpha")["error"]["details"]["asks_for"] == {"network": ["public"], "read": ["~"]}
    assert "held" in notes.ferrule("list").out
    assert "PERMISSION_DENIED" not in notes.ferrule("link", "alpha").out
    doctor = notes.ferrule("doctor", "--json")
    assert {one["id"] for one in doctor.document["findings"]} >= {"tool-held", "link-held"}
    assert notes.ferrule("permissions", "accept", "alpha").code == 0
    assert notes.ferrule("run", "alpha", "city=Oslo").code == 0
    assert notes.ferrule("permissions", "accept").out == "No tool is held.\n"


def test_a_tool_is_not_held_for_what_the_admin_has_decided_or_what_it_had(notes: Machine) -> None:
    notes.ferrule("link", "alpha")
    configure(notes, "[tools.alpha.permissions]\nnetwork = []\n")
    declare(notes, "alpha", network=["public"], read=["~/notes"])
    assert notes.ferrule("run", "alpha", "city=Oslo").code == 0
    configure(notes, "")
    assert notes.ferrule("run", "alpha", "city=Oslo").code == 1


def edit(machine: Machine, name: str) -> Path:
    """Make of a tool one that is installed editable from a folder of the user; its declaration there."""
    project = machine.home / "src"
    project.mkdir()
    for file in machine.site.glob(f"module_{name}*"):
        file.rename(project / file.name)
    told = {"dir_info": {"editable": True}, "url": project.as_uri()}
    (machine.site / f"dist_{name}-1.0.dist-info" / "direct_url.json").write_text(json.dumps(told))
    machine.environment["PYTHONPATH"] = f"{project}:{machine.environment['PYTHONPATH']}"
    return project / f"module_{name}.tool.json"


@pytest.mark.slow
def test_a_tool_that_the_user_edits_is_accepted_where_the_user_starts_it(notes: Machine) -> None:
    file = edit(notes, "alpha")
    first = {"network": [], "read": ["~/*"], "programs": ["opennotes"]}
    more = {"network": ["public"], "read": ["~/*"], "programs": ["opennotes"]}
    assert notes.ferrule("link", "alpha").err == ""
    file.write_text(json.dumps({"permissions": more}))
    assert of(notes.ferrule("permissions", "--json"), "alpha")["state"] == "held"  # a client does not accept it
    run = notes.ferrule("run", "alpha", "city=Oslo")
    assert (run.code, run.document) == (0, {"got": {"city": "Oslo"}})
    folder = file.parent
    assert run.err == (
        "alpha asks for more than before: it asks the public web. That was accepted, since it is installed editable "
        f"from your own folder {folder}.\n"
    )
    assert notes.ferrule("run", "alpha", "city=Oslo").err == ""
    for asked in (first, more):  # less, and again what it asked before
        file.write_text(json.dumps({"permissions": asked}))
        assert notes.ferrule("link", "alpha").err == ""
    assert of(notes.ferrule("permissions", "--json"), "alpha")["state"] == "as declared"


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["a wheel that says so", "a folder that all may write", "no editable one"])
def test_only_an_editable_tool_of_the_users_own_folder_is_the_users(notes: Machine, fault: str) -> None:
    file = notes.site / "module_alpha.tool.json" if fault.startswith("a wheel") else edit(notes, "alpha")
    told = notes.site / "dist_alpha-1.0.dist-info" / "direct_url.json"
    if fault.startswith("a wheel"):
        told.write_text(json.dumps({"dir_info": {"editable": True}, "url": notes.site.parent.as_uri()}))
    elif fault.startswith("no"):
        told.write_text(json.dumps({"dir_info": {}, "url": file.parent.as_uri()}))
    else:
        file.parent.chmod(0o777)
    notes.ferrule("link", "alpha")
    file.write_text(json.dumps({"permissions": {"read": ["~"]}}))
    assert notes.ferrule("run", "alpha", "city=Oslo").document["error_code"] == "PERMISSION_DENIED"
    assert "refused alpha: " in notes.ferrule("link", "alpha").out


@pytest.mark.parametrize("content", ["{", "[]", '{"permissions": {"read": "~"}}'])
def test_a_record_that_cannot_be_read_holds_the_tool(notes: Machine, content: str) -> None:
    notes.ferrule("link", "alpha")
    record(notes, "alpha").write_text(content)
    held = notes.ferrule("permissions", "alpha")
    assert held.code == 1
    assert "What alpha asked for before is not known" in held.out


def test_a_table_that_cannot_be_read_stops_the_tool_and_is_told(notes: Machine) -> None:
    configure(notes, '[permissions]\nunenforced = "sometimes"\n[tools.alpha.permissions]\nnetwrok = []\n')
    held = notes.ferrule("run", "alpha", "city=Oslo")
    assert held.code == 1
    assert "cannot be read" in held.out + held.err
    assert notes.ferrule("permissions", "alpha").code == 1
    found = notes.ferrule("doctor", "--json").document["findings"]
    messages = [one["message"] for one in found if one["id"] == "configuration-malformed"]
    assert any("'netwrok' is no kind of permission" in message for message in messages)
    assert any('unenforced is not "warn" or "refuse"' in message for message in messages)


@pytest.mark.slow
@pytest.mark.usefixtures("commands")
def test_a_tool_that_is_denied_something_with_its_examples_fails_its_check(machine: Machine) -> None:
    read = "return {'text': open('/etc/passwd').read()[:1]}"
    for name, permissions in (("sly", {"network": []}), ("honest", {"network": [], "read": ["/etc/passwd"]})):
        machine.install(name, execute=read)
        content = {"permissions": permissions, "examples": [{"city": "Oslo"}]}
        (machine.site / f"module_{name}.tool.json").write_text(json.dumps(content))
    found = {}
    for name in ("sly", "honest"):
        checked = machine.ferrule("check", name, "--quick", "--json").document
        found[name] = next(one for one in checked["targets"][0]["checks"] if one["id"] == "permissions")
    assert found["sly"]["state"] == "failed"
    assert "/etc/passwd" in found["sly"]["message"]
    assert found["honest"]["state"] == "passed"


def test_that_a_process_of_a_tool_takes_several_calls_is_said_where_the_tool_is_allowed(machine: Machine) -> None:
    machine.install("alpha")
    (machine.site / "module_alpha.tool.json").write_text(json.dumps({"permissions": {"network": []}, "reusable": True}))
    words = "no network; takes several served calls in one process"
    for command in ("permissions", "show", "link"):
        assert words in machine.ferrule(command, "alpha").out
    assert words in machine.ferrule("permissions").out
    assert of(machine.ferrule("permissions", "--json"), "alpha")["reusable"] is True
    configure(machine, "[tools.alpha]\nreusable = false\n")
    assert words not in machine.ferrule("permissions", "alpha").out
    assert of(machine.ferrule("permissions", "--json"), "alpha")["reusable"] is False


def test_that_nothing_is_held_is_said_of_each_tool(notes: Machine) -> None:
    words = "Nothing of it is held, since isolation is off."
    for arguments in (("permissions",), ("permissions", "alpha")):
        assert words not in notes.ferrule(*arguments).out
    configure(notes, '[permissions]\nisolation = "off"\n')
    for arguments in (("permissions",), ("permissions", "alpha")):
        assert words in notes.ferrule(*arguments).out
