"""`ferrule cache`."""

import json
import time
from pathlib import Path

import pytest

from ferrule.wrappers.cache import entries, inspection
from ferrule.wrappers.cache.entries import Entry
from ferrule.wrappers.cache.store import FileStore
from ferrule_testkit.machine import Machine

pytestmark = pytest.mark.process


PROPERTIES = {
    "query": {"type": "string", "description": "What to look for."},
    "count": {"type": "integer", "description": "How many.", "default": 10},
}
TOP = "from ferrule import ResultPolicy, hookimpl\nresult_policy = hookimpl(lambda: ResultPolicy(cache_seconds=1000))"
ON = {"FERRULE_WRAPPERS": "cache"}


@pytest.fixture
def machine(machine: Machine) -> Machine:
    return machine.uncover_the_host()


@pytest.fixture
def kept(machine: Machine) -> Machine:
    """A machine on which two tools have answered and one has failed."""
    return _answer(machine)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """The same, for all tests of a worker that change nothing of what is kept."""
    return _answer(Machine(tmp_path_factory.mktemp("asked")).hide_commands().hide_tools().uncover_the_host())


def _answer(machine: Machine) -> Machine:
    for name in ("alpha", "beta"):
        machine.install(name, properties=PROPERTIES, top=TOP)
    machine.install("gamma", properties=PROPERTIES, top=TOP, execute="raise ToolError('INVALID_URL', 'No.')")
    for name in ("alpha", "beta", "gamma"):
        machine.ferrule("run", name, "query=cats", environment=ON)
    machine.ferrule("run", "alpha", "query=dogs", "count=3", environment=ON)
    return machine


def test_help_shows_how(machine: Machine) -> None:
    assert "ferrule cache why web_search_brave query=cats" in machine.ferrule("cache", "--help").out
    for name in ("show", "why", "clear"):
        assert "Example" in machine.ferrule("cache", name, "--help").out


def test_where_nothing_is_kept_that_is_said(machine: Machine) -> None:
    shown = machine.ferrule("cache", "show")
    assert (shown.code, shown.out) == (0, "0 entries, 0 bytes, files: ~/.local/state/ferrule/cache\n")
    assert machine.ferrule("cache", "clear").out == "Removed 0 entries (0 bytes).\n"


def test_entries_are_shown_with_what_was_asked_and_how_old_they_are(asked: Machine) -> None:
    shown = asked.ferrule("cache", "show")
    lines = shown.out.splitlines()
    assert lines[0].split() == ["TOOL", "KEY", "KIND", "AGE", "KEPT", "FOR", "FRESHNESS", "BYTES", "ARGUMENTS"]
    assert [line.split()[0] for line in lines[1:-1]] == ["alpha", "alpha", "beta", "gamma"]
    assert '{"count":3,"query":"dogs"}' in shown.out
    assert lines[-1].startswith("4 entries, ")
    document = asked.ferrule("cache", "show", "gamma", "--json").document
    (entry,) = document["entries"]
    assert (entry["tool"], entry["kind"], entry["maxAgeSeconds"]) == ("gamma", "validation", 14_400)
    assert (entry["freshness"], document["backend"]["kind"]) == ("fresh", "files")
    assert document["bytes"] == entry["bytes"]


def test_why_says_that_a_call_would_be_answered_from_the_cache(asked: Machine) -> None:
    shown = asked.ferrule("cache", "why", "alpha", "query=cats", "--json", environment=ON)
    assert shown.code == 0
    document = shown.document
    assert document["cached"]
    assert document["parts"]["arguments"] == {"query": "cats", "count": 10}
    entry = asked.ferrule("cache", "show", "alpha", "--json").document["entries"]
    assert document["key"] in [one["key"] for one in entry]
    noted = json.loads(asked.ferrule("run", "alpha", "query=cats", environment=ON).out)["_meta"]["cache"]
    assert document["key"].startswith(noted["key"])
    text = asked.ferrule("cache", "why", "alpha", "query=cats", environment=ON).out
    assert "It would be answered from the cache" in text


def test_why_has_the_key_of_a_call_that_may_be_linked(machine: Machine) -> None:
    linkable = TOP.replace("ResultPolicy(", "ResultPolicy(linkable=True, ")
    machine.install("alpha", properties=PROPERTIES, top=linkable, execute="return {'big': 'x' * 30_000}")
    both = {"FERRULE_WRAPPERS": "cache,artifacts"}
    noted = machine.ferrule("run", "alpha", "query=cats", environment=both).document["_meta"]["cache"]
    document = machine.ferrule("cache", "why", "alpha", "query=cats", "--json", environment=both).document
    assert document["cached"]
    assert document["key"].startswith(noted["key"])


def test_why_says_that_the_cache_is_off(asked: Machine) -> None:
    shown = asked.ferrule("cache", "why", "alpha", "query=cats")
    assert shown.code == 1
    assert "there is an entry, but the cache is off here" in shown.out


@pytest.mark.parametrize(
    ("tool", "setting", "reason"),
    [
        ("alpha", "[wrappers.cache.tools.alpha]\nseconds = 0", "results of this tool are not kept"),
        ("alpha", "[wrappers.cache.tools.alpha]\nseconds = 0.001", "it is given no more"),
        ("gamma", "[wrappers.cache]\nnegative = false", "it is given no more"),
    ],
)
def test_an_entry_that_is_older_than_a_stricter_setting_is_not_given(
    tool: str, setting: str, reason: str, kept: Machine, tmp_path: Path
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(setting)
    environment = {**ON, "FERRULE_CONFIG": str(path)}
    why = kept.ferrule("cache", "why", tool, "query=cats", environment=environment)
    assert (why.code, reason in why.out) == (1, True)
    answer = kept.ferrule("run", tool, "query=cats", environment=environment).document
    assert not answer.get("_meta", {}).get("cache", {}).get("cached")


def test_what_is_stored_while_the_entries_are_listed_has_not_expired(tmp_path: Path) -> None:
    store = FileStore(str(tmp_path))

    def keep(key: str) -> None:
        store.put(Entry(key, {"tool": "alpha"}, {"result": {}}, entries.now(), 1000))

    both = {"a" * 64, "b" * 64}
    for key in both:
        keep(key)
    listed = inspection.records(store)
    (other,) = both - {next(listed).entry.key}
    time.sleep(1.1)  # more than a clock may step back
    keep(other)
    assert [one.freshness for one in listed] == ["fresh"]


def test_why_says_in_what_the_nearest_entries_differ(asked: Machine) -> None:
    shown = asked.ferrule("cache", "why", "alpha", "--stdin", "--json", stdin=b'{"query": "dogs"}')
    assert shown.code == 1
    nearest = [one["differences"] for one in shown.document["nearest"]]
    assert nearest == [
        [{"part": "arguments.count", "asked": 10, "kept": 3}],
        [{"part": "arguments.query", "asked": "dogs", "kept": "cats"}],
    ]
    text = asked.ferrule("cache", "why", "alpha", "query=dogs").out
    assert "arguments.count: asked 10, kept 3" in text


def test_why_names_what_differs_in_the_environment_and_shows_no_value(asked: Machine) -> None:
    shown = asked.ferrule("cache", "why", "alpha", "query=cats", environment={"FERRULE_ALPHA_WAY": "a-value-of-my-own"})
    assert shown.code == 1
    assert "identity.environment.FERRULE_ALPHA_WAY: asked" in shown.out
    assert "a-value-of-my-own" not in shown.out


def test_why_says_that_a_tool_is_not_kept(machine: Machine) -> None:
    machine.install("delta")
    shown = machine.ferrule("cache", "why", "delta", "city=Oslo")
    assert shown.code == 1
    assert "results of this tool are not kept" in shown.out


@pytest.mark.parametrize(
    "words", [["nothing"], ["alpha", "query"], ["alpha", "wrong=1"], ["alpha", "[1]"], ["alpha", "query=a", "--stdin"]]
)
def test_why_refuses_what_is_no_call(words: list[str], asked: Machine) -> None:
    shown = asked.ferrule("cache", "why", *words)
    assert shown.code in (1, 2)
    assert shown.out == ""
    assert "Error" in shown.err


def test_entries_are_removed_of_one_tool_or_of_all(kept: Machine) -> None:
    assert kept.ferrule("cache", "clear", "--expired", "--json").document == {"removed": 0, "bytes": 0}
    assert kept.ferrule("cache", "clear", "alpha").out.startswith("Removed 2 entries (")
    assert kept.ferrule("cache", "clear", "beta").out.startswith("Removed 1 entry (")
    assert [one["tool"] for one in kept.ferrule("cache", "show", "--json").document["entries"]] == ["gamma"]
    assert kept.ferrule("cache", "clear", "--json").document["removed"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("words", [["clear"], ["clear", "--expired"]])
def test_what_is_no_whole_entry_is_removed_as_well(words: list[str], kept: Machine) -> None:
    folder = kept.home / ".local/state/ferrule/cache"
    torn = next(folder.glob("tools/*/??/*"))
    torn.write_bytes(torn.read_bytes()[:-3])
    kept.ferrule("cache", "clear", "alpha", "--expired")
    assert torn.exists()
    assert "Removed" in kept.ferrule("cache", *words).out
    assert not torn.exists()


def test_a_store_that_cannot_be_used_is_an_error_without_a_secret(machine: Machine, tmp_path: Path) -> None:
    for url in ("nonsense-open-sesame", "redis://:open-sesame@127.0.0.1:1/0"):
        for words in (["show"], ["clear"]):
            shown = machine.ferrule("cache", *words, environment={"FERRULE_REDIS": url})
            assert shown.code == 1
            assert "Redis" in shown.err
            assert "open-sesame" not in shown.err
