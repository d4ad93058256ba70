"""Wrappers of third parties around real tools: what they may do, and that whatever they do costs no call."""

import hashlib
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from ferrule_testkit import PROJECT
from ferrule_testkit.corpus import DISTS, EXAMPLE, PROBE, Site
from ferrule_testkit.own_keeper import OwnKeeper
from ferrule_testkit.runs import Run, run, run_forked

pytestmark = pytest.mark.process


WRAPPERS = PROJECT / "tests/wrappers"
OSLO = b'{"city": "Oslo"}'
GREETING = {"success": True, "greeting": "Hello, Oslo!"}
SECRET = "sk-0123456789-abcdefghij"

Wrapped = Callable[..., Run]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """The example, the probe and the wrappers."""
    secretive, large = DISTS / "exception-with-a-secret", DISTS / "returns-10-megabytes"
    return Site(tmp_path / "installed").install(EXAMPLE, PROBE, secretive, large, WRAPPERS)


@pytest.fixture
def wrapped(site: Site, environment: dict[str, str], own_keeper: OwnKeeper | None, tmp_path: Path) -> Wrapped:
    """Call a tool inside of wrappers: `wrapped("timing", OSLO, tool="example", PYTEST_HOW="raises")`.

    By the script that `pip` installs, as a fork of a process that has the host, or started where `is_forked` is false;
    and by a linked executable whose call a keeper makes.
    """

    def wrapped(
        wrappers: str | None, arguments: bytes = OSLO, *, tool: str = "example", is_forked: bool = True, **environ: str
    ) -> Run:
        on = {} if wrappers is None else {"FERRULE_WRAPPERS": wrappers}
        where = {**environment, "PYTHONPATH": str(site.path), **on, **environ}
        if own_keeper is None and not is_forked:
            return run([site.scripts / f"{tool}-tool"], arguments, environment=where)
        if own_keeper is None:
            return run_forked(site.scripts / f"{tool}-tool", arguments, environment=where, cwd=tmp_path)
        site.link([tool.replace("-", "_")], environment, beside=[str(PROJECT / "host/src")])
        return own_keeper.run([site.links / f"{tool}-tool"], arguments, where)

    return wrapped


def both_ways(name: str, rows: Iterable[object], *, kept: Iterable[object]) -> pytest.MarkDecorator:
    """Each row, and those that a keeper's process meets otherwise than one that ends with its call; all in `full`."""
    chosen = list(kept)
    params = [pytest.param("cold", row, id=f"cold-{row}") for row in rows]
    for row in rows:
        marks = [] if row in chosen else [pytest.mark.full]
        params.append(pytest.param("kept", row, id=f"kept-{row}", marks=marks))
    return pytest.mark.parametrize(("own_keeper", name), params, indirect=["own_keeper"])


ONLY_COLD = pytest.mark.parametrize("own_keeper", ["cold", pytest.param("kept", marks=pytest.mark.full)], indirect=True)
"""For what the process of a call does with what it has been given, whoever has made the process."""


def events(done: Run) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stderr.decode().splitlines() if line.startswith("{")]


def told(done: Run) -> tuple[str, str]:
    """The one wrapper that has failed, and why."""
    (event,) = events(done)
    assert event.pop("event") == "wrapper_failed"
    return event["wrapper"], event["error"]


def configured(tmp_path: Path, text: str) -> dict[str, str]:
    path = tmp_path / "config.toml"
    path.write_text(text)
    return {"FERRULE_CONFIG": str(path)}


def test_without_a_word_of_the_admin_nothing_is_wrapped(wrapped: Wrapped) -> None:
    assert wrapped(None).document == GREETING


def test_a_wrapper_is_told_of_the_call_and_its_result(wrapped: Wrapped, tmp_path: Path) -> None:
    config = configured(tmp_path, "[wrappers.tells_what_it_sees]\nenabled = true\ncolour = 'blue'\n")
    done = wrapped(None, b'{"letter": "a", "sleep": null}', tool="probe", is_forked=False, **config)

    seen = done.document["_meta"]["tells_what_it_sees"]
    assert (seen["tool"], seen["distribution"], seen["version"]) == ("probe", "probe", "1.0")
    schema = json.loads((PROBE / "probe.schema.json").read_text())
    canonical = json.dumps(schema, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert seen["schema"] == schema
    assert seen["schema_hash"] == hashlib.sha256(canonical.encode()).hexdigest()
    assert seen["given"] == {"letter": "a"}
    assert seen["result"]["arguments"] == {"letter": "a"}
    assert seen["table"] == {"enabled": True, "colour": "blue"}
    assert seen["colour"] == "blue"
    assert seen["results"] == {"cache_seconds": 0, "linkable": False, "paging": [], "environment": [], "wrappers": []}


def test_the_environment_decides_about_a_wrapper_and_its_settings(wrapped: Wrapped, tmp_path: Path) -> None:
    config = configured(tmp_path, "[wrappers.tells_what_it_sees]\nenabled = true\ncolour = 'blue'\n")
    assert wrapped("", **config).document == GREETING
    noted = wrapped("timing tells_what_it_sees", PYTEST_COLOUR="red", **config).document["_meta"]
    assert set(noted) == {"timing", "tells_what_it_sees"}
    assert noted["tells_what_it_sees"]["colour"] == "red"


@ONLY_COLD
def test_a_wrapper_that_is_not_enabled_is_off(wrapped: Wrapped, tmp_path: Path) -> None:
    for text in ("[wrappers.timing]\ncolour = 1\n", "[wrappers.timing]\nenabled = 'yes'\n", "wrappers = 3\n"):
        assert wrapped(None, **configured(tmp_path, text)).document == GREETING


def test_ferrule_run_wraps_as_the_executable_does(site: Site, environment: dict[str, str]) -> None:
    where = {**environment, "PYTHONPATH": str(site.path), "FERRULE_WRAPPERS": "replaces_the_result"}
    command = [sys.executable, "-m", "ferrule", "run", "example"]
    assert run(command, OSLO, environment=where).document == {"success": True, "had": ["greeting", "success"]}
    assert run([*command, "--dry-run", "-"], OSLO, environment=where).document == {"valid": True}


def test_a_linked_executable_wraps_too(site: Site, environment: dict[str, str]) -> None:
    site.link(["example"], environment, beside=[str(PROJECT / "host/src")])
    done = run([site.links / "example-tool"], OSLO, environment={**environment, "FERRULE_WRAPPERS": "answers_instead"})
    assert done.document == {"success": True, "instead": {"city": "Oslo"}}


@ONLY_COLD
def test_a_call_that_does_not_fit_the_schema_is_not_wrapped(wrapped: Wrapped) -> None:
    assert wrapped("swallows_errors", b"{}").document["error_code"] == "INVALID_INPUT"
    assert wrapped("swallows_errors", b'{"city": " "}').document["error_code"] == "INVALID_INPUT"


def test_what_answers_instead_keeps_the_tool_from_being_asked(wrapped: Wrapped, written: Path) -> None:
    arguments = json.dumps({"touch": str(written / "asked")}).encode()
    done = wrapped("answers_instead", arguments, tool="probe", PROBE_WRITES=str(written))
    assert done.document == {"success": True, "instead": json.loads(arguments)}
    assert not (written / "asked").exists()


@ONLY_COLD
def test_what_answers_instead_may_answer_with_a_failure(wrapped: Wrapped) -> None:
    done = wrapped("refuses")
    assert (done.document["error_code"], done.document["retry_after"]) == ("RATE_LIMIT", 7)
    assert events(done) == []


@both_ways("how", NONSENSE := {"a list": "TypeError", "nan": "ResultInvalid", "raises": "KeyError"}, kept=["raises"])
def test_what_answers_instead_with_nonsense_is_absent(how: str, wrapped: Wrapped) -> None:
    done = wrapped("answers_instead", PYTEST_HOW=how)
    assert done.document == GREETING
    assert told(done)[0] == "answers_instead"
    assert NONSENSE[how] in told(done)[1]


@pytest.mark.parametrize("when", ["before", "after"])
@both_ways(
    "how",
    [
        "mutates and raises",
        "raises a base exception",
        "raises a tool error",
        "calls sys.exit",
        "raises StopIteration",
        "recurses",
    ],
    kept=["mutates and raises", "calls sys.exit"],
)
def test_a_wrapper_that_fails_is_absent(when: str, how: str, wrapped: Wrapped) -> None:
    done = wrapped("fails, replaces_the_result", PYTEST_WHEN=when, PYTEST_HOW=how)

    assert done.document == {"success": True, "had": ["greeting", "success"]}
    assert done.exit_code == 0
    assert told(done)[0] == "fails"
    assert done.left == []


@both_ways("how", ["dies", "is killed"], kept=["is killed"])
def test_a_process_that_dies_in_a_wrapper_after_the_tool_has_its_answer(how: str, wrapped: Wrapped) -> None:
    done = wrapped("fails, replaces_the_result", PYTEST_WHEN="after", PYTEST_HOW=how)

    assert (done.document, done.exit_code) == (GREETING, 0)
    assert told(done)[0] == "fails"
    assert done.left == []


@both_ways("how", ["dies", "is killed", "ends as it is imported"], kept=["dies", "ends as it is imported"])
def test_a_process_that_dies_in_a_wrapper_before_the_tool_fails_the_call(how: str, wrapped: Wrapped) -> None:
    """The tool's code can say as well that a wrapper runs: a call without the wrapper would be the tool's to have."""
    wrapper = "exits_on_import" if how == "ends as it is imported" else "fails"
    done = wrapped(f"{wrapper},replaces_the_result", PYTEST_WHEN="before", PYTEST_HOW=how)

    assert done.document["error_code"] == "INTERNAL_ERROR"
    assert f"It had said that the wrapper {wrapper} runs" in done.document["error"]
    assert told(done)[0] == wrapper
    assert done.left == []


@both_ways(
    "how",
    ["a list", "nothing", "nan", "a set", "an object", "yields twice", "never yields"],
    kept=["a set", "never yields"],
)
def test_a_wrapper_that_returns_nonsense_is_absent(how: str, wrapped: Wrapped) -> None:
    done = wrapped("fails", PYTEST_HOW=how)
    assert done.document == GREETING
    assert told(done)[0] == "fails"


@pytest.mark.slow
@both_ways("how", ["mutates and raises", "raises a tool error", "dies"], kept=["dies"])
def test_an_error_of_the_tool_goes_through_a_wrapper_that_fails(how: str, wrapped: Wrapped) -> None:
    alone = wrapped(None, b'{"city": "4711"}')
    assert alone.document["error_code"] == "NOT_A_CITY"
    done = wrapped("fails", b'{"city": "4711"}', PYTEST_WHEN="after", PYTEST_HOW=how)
    assert (done.document, done.exit_code) == (alone.document, alone.exit_code)


def test_a_crash_of_the_tool_is_told_as_without_wrappers(wrapped: Wrapped) -> None:
    arguments = b'{"how": "raise"}'
    alone = wrapped(None, arguments, tool="exception-with-a-secret", ALMANAC_KEY=SECRET)
    assert "ValueError" in alone.document["error"]
    inside = "tells_what_it_sees,outer,inner"
    done = wrapped(inside, arguments, tool="exception-with-a-secret", ALMANAC_KEY=SECRET)
    assert done.document == alone.document


def test_the_tool_is_asked_once_whatever_a_wrapper_does(wrapped: Wrapped, written: Path) -> None:
    """Also where the process dies after it: what it did must not be done again."""
    arguments = json.dumps({"say": "asked", "touch": str(written / "says")}).encode()
    where = {"PROBE_WRITES": str(written)}
    done = wrapped("fails", arguments, tool="probe", PYTEST_WHEN="after", PYTEST_HOW="dies", **where)
    assert done.document["success"] is True
    assert done.stderr.count(b"asked") == 2  # once on each of the tool's streams


@pytest.mark.slow
def test_a_wrapper_that_hangs_after_the_tool_takes_no_answer_away(wrapped: Wrapped) -> None:
    done = wrapped("fails", PYTEST_WHEN="after", PYTEST_HOW="hangs", FERRULE_DEADLINE="1.5")
    assert done.document == GREETING
    assert told(done)[0] == "fails"
    assert done.left == []


@ONLY_COLD
def test_a_wrapper_that_hangs_before_the_tool_is_named(wrapped: Wrapped) -> None:
    done = wrapped("fails", PYTEST_WHEN="before", PYTEST_HOW="hangs", FERRULE_DEADLINE="1")
    assert done.document["error_code"] == "TIMEOUT"
    assert "The wrapper fails had not let the tool begin" in done.document["error"]


UNLOADABLE = {
    "raises_on_import": "RuntimeError: on purpose (site/raises_on_import.py, line 3)",
    "has_no_hook": "has no `execute`",
    "misspells_a_hook": "exceute",
    "is_missing": "No module named",
    "nobody_offers_it": "No installed distribution offers a wrapper named",
}


@both_ways("wrapper", UNLOADABLE, kept=["raises_on_import"])
def test_a_wrapper_that_cannot_be_loaded_is_absent(wrapper: str, wrapped: Wrapped) -> None:
    done = wrapped(f"{wrapper},replaces_the_result")
    assert done.document == {"success": True, "had": ["greeting", "success"]}
    assert told(done)[0] == wrapper
    assert UNLOADABLE[wrapper] in told(done)[1]


@ONLY_COLD
def test_a_wrapper_that_two_distributions_claim_is_absent(site: Site, wrapped: Wrapped) -> None:
    metadata = site.path / "another-2.0.dist-info"
    metadata.mkdir()
    (metadata / "entry_points.txt").write_text("[ferrule.wrappers]\nreplaces_the_result = replaces_the_result\n")
    done = wrapped("replaces_the_result")
    assert done.document == GREETING
    assert "claimed by another 2.0 and by strange-wrappers 1.0" in told(done)[1]


@ONLY_COLD
def test_a_wrapper_may_put_a_result_in_the_place_of_an_error(wrapped: Wrapped) -> None:
    done = wrapped("swallows_errors", b'{"city": "4711"}')
    assert done.document == {"success": True, "instead_of": "ToolError"}


@both_ways("on", ["outer,inner", "inner,outer"], kept=["inner,outer"])
def test_the_wrapper_with_the_smaller_order_is_further_out(on: str, wrapped: Wrapped) -> None:
    assert wrapped(on).document["turns"] == ["inner", "outer"]


@ONLY_COLD
def test_a_wrapper_sees_a_result_of_any_size(wrapped: Wrapped) -> None:
    done = wrapped("replaces_the_result", b"{}", tool="returns-10-megabytes")
    assert done.document["success"] is True
    assert "had" in done.document


@both_ways("size", ROOM := {65_534: set(), 65_400: {"timing"}, 1000: {"timing", "notes_much"}}, kept=[65_400])
def test_a_note_is_left_out_where_there_is_no_room_for_it(size: int, wrapped: Wrapped) -> None:
    arguments = json.dumps({"size": size, "letter": "x"}).encode()
    done = wrapped("notes_much,timing", arguments, tool="probe")
    assert set(done.document.get("_meta", {})) == ROOM[size]
    assert len(done.document["text"]) == size - len('{"text":""}')


@ONLY_COLD
def test_a_result_that_is_too_large_says_by_which_arguments_there_is_less(site: Site, wrapped: Wrapped) -> None:
    def error(**environ: str) -> str:
        return str(wrapped("", b"{}", tool="returns-10-megabytes", **environ).document["error"])

    schema = site.path / "returns_10_megabytes.schema.json"
    assert error().endswith("Ask for less at a time.")
    described = json.loads(schema.read_text())
    described["parameters"]["properties"] = {name: {"type": "integer"} for name in ("limit", "offset", "lines")}
    schema.write_text(json.dumps(described))
    assert error().endswith("Ask for less at a time, with the arguments offset and limit.")
    module = site.path / "returns_10_megabytes.py"
    module.write_text(
        module.read_text()
        + (
            "\nfrom ferrule import ResultPolicy, hookimpl\n"
            "result_policy = hookimpl(lambda: ResultPolicy(paging=['lines']))\n"
        )
    )
    assert error().endswith("Ask for less at a time, with the argument lines.")


def test_a_variable_that_a_tool_asks_for_and_nobody_knows_of_is_told(site: Site, wrapped: Wrapped) -> None:
    def unkeyed(results: str) -> list[str]:
        module = site.path / "probe.py"
        asks = "    context.setting('a', 'ALMANAC_PLACE'), context.setting('b', 'FERRULE_ALMANAC')\n    if 'say'"
        text = (
            (PROBE / "probe.py").read_text().replace("    if 'say'".replace("'", '"'), asks.replace("'say'", '"say"'))
        )
        module.write_text(
            f"{text}\nfrom ferrule import ResultPolicy, hookimpl\nresult_policy = hookimpl(lambda: {results})\n"
        )
        done = wrapped("tells_what_it_sees", b"{}", tool="probe", ALMANAC_PLACE="Oslo")
        seen: list[str] = done.document["_meta"]["tells_what_it_sees"]["untracked_variables"]
        return seen

    assert unkeyed("None") == ["ALMANAC_PLACE"]
    assert unkeyed("ResultPolicy(environment=['ALMANAC_PLACE'])") == []


def test_a_tool_may_say_what_else_decides_its_results(site: Site, wrapped: Wrapped) -> None:
    def wrapped_probe(identity: str) -> Run:
        text = (PROBE / "probe.py").read_text()
        module = (
            f"{text}\nfrom ferrule import ResultPolicy, hookimpl\n"
            f"result_policy = hookimpl(lambda: ResultPolicy(identity={identity}))\n"
        )
        (site.path / "probe.py").write_text(module)
        return wrapped("tells_what_it_sees", b"{}", tool="probe")

    seen = wrapped_probe("lambda context: [context.tool, 7]").document["_meta"]["tells_what_it_sees"]
    assert seen["identity"]["tool"] == ["probe", 7]
    done = wrapped_probe("lambda context: {1, 2}")
    assert done.document["success"] is True
    assert told(done)[0] == "tells_what_it_sees"


def test_a_credential_leaves_on_no_way_through_a_wrapper(wrapped: Wrapped, tmp_path: Path) -> None:
    url = "redis://ferrule:pa%20ss-word-1@cache.example:6379"
    config = configured(tmp_path, f"[wrappers.leaks_a_secret]\nenabled = true\nurl = '{url}'\n")
    for how in ("", "raises"):
        environ = {**config, "ALMANAC_KEY": SECRET, "PYTEST_HOW": how, "FERRULE_OWN_TOKEN": "hidden-value-3"}
        done = wrapped(None, b'{"how": "return"}', tool="exception-with-a-secret", **environ)
        shown = done.stdout + done.stderr
        assert ("leaks_a_secret" in done.document.get("_meta", {})) is (how == "")
        assert b"leak" in done.stderr
        for secret in (SECRET[:6], "ss-word-1", "hidden-value-3"):
            assert secret.encode() not in shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "part"),
    [
        ({"ALMANAC_KEY": "another-key-of-the-user"}, "credentials"),
        ({"FERRULE_ARTIFACTS_THRESHOLD": "5000"}, "environment"),
        ({"FERRULE_DISABLE": "other"}, "environment"),
        ({"LC_ALL": "C.UTF-8"}, "environment"),
        ({"LANG": "de_DE.UTF-8"}, "environment"),
        ({"TZ": "Asia/Tokyo"}, "environment"),
    ],
)
def test_whatever_can_decide_a_result_is_part_of_the_identity(
    changed: dict[str, str], part: str, wrapped: Wrapped
) -> None:
    def identity(**environ: str) -> dict[str, Any]:
        more = {"ALMANAC_KEY": SECRET, **environ}
        done = wrapped("tells_what_it_sees", b'{"how": "print"}', tool="exception-with-a-secret", **more)
        seen: dict[str, Any] = done.document["_meta"]["tells_what_it_sees"]["identity"]
        return seen

    before, after = identity(), identity(**changed)
    assert identity() == before
    assert {name for name in before if before[name] != after[name]} == {part}


@ONLY_COLD
def test_what_cannot_decide_a_result_is_not_part_of_the_identity(wrapped: Wrapped, tmp_path: Path) -> None:
    irrelevant = {
        "FERRULE_DEADLINE": "20",
        "FERRULE_MEMORY": "900",
        "FERRULE_EXIT_ZERO": "1",
        "FERRULE_STATE": str(tmp_path),
        "FERRULE_CONFIG": str(tmp_path / "none.toml"),
        "FERRULE_REDIS": "redis://nowhere.example",
        "IKIGAI_AGENT_ID": "7",
    }
    first, second = wrapped("tells_what_it_sees"), wrapped("tells_what_it_sees", **irrelevant)
    seen = [done.document["_meta"]["tells_what_it_sees"]["identity"] for done in (first, second)]
    assert seen[0] == seen[1]


@pytest.mark.slow
def test_the_tools_table_is_part_of_the_identity(wrapped: Wrapped, tmp_path: Path) -> None:
    def settings(text: str) -> object:
        done = wrapped("tells_what_it_sees", **configured(tmp_path, f"[tools.example]\n{text}\n"))
        return done.document["_meta"]["tells_what_it_sees"]["identity"]["settings"]

    texts = [
        "",
        "a = 1",
        "a = true",
        "a = '1'",
        "a = nan",
        "a = inf",
        "a = 2020-01-01",
        "a = 01:00:00",
        "a = [[1], {}]",
    ]
    shown = [json.dumps(settings(text)) for text in texts]
    assert len(set(shown)) == len(texts)


@pytest.mark.slow
def test_ferrule_tells_which_wrappers_are_installed_and_on(site: Site, environment: dict[str, str]) -> None:
    where = {**environment, "PYTHONPATH": str(site.path), "FERRULE_WRAPPERS": "timing,nobody,raises_on_import"}

    def ferrule(*words: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "ferrule", *words, "--json"]
        return json.loads(run(command, environment=where).stdout)

    listed = {one["name"]: one["state"] for one in ferrule("list")["wrappers"]}
    assert {name: listed[name] for name in ("timing", "outer", "nobody", "raises_on_import")} == {
        "timing": "on",
        "outer": "off",
        "nobody": "broken",
        "raises_on_import": "on",
    }
    checked = {one["name"]: one["state"] for one in ferrule("list", "--check")["wrappers"]}
    assert checked["raises_on_import"] == "broken"
    found = [one for one in ferrule("doctor")["findings"] if one["id"] == "wrapper-broken"]
    assert [one["subject"] for one in found] == ["nobody", "raises_on_import"]
    assert "RuntimeError: on purpose" in found[1]["message"]
    shown = ferrule("show", "example")
    assert {one["name"] for one in shown["wrappers"] if one["state"] == "on"} == {"timing", "raises_on_import"}
    assert shown["results"]["cache_seconds"] == 0


@pytest.mark.parametrize(("wrappers", "are_there"), [("", False), ("timing", True)])
def test_a_call_without_wrappers_imports_nothing_for_them(wrappers: str, are_there: bool, wrapped: Wrapped) -> None:
    done = wrapped(wrappers, b'{"show_modules": true}', tool="probe", is_forked=False)
    modules = set(done.document["modules"])
    names = {"ferrule.wrappers.guard", "ferrule.plugin.wrapper_context", "ferrule.wrappers.timer"}
    assert names & modules == (names if are_there else set())
    assert {
        "ferrule.plugin.cache_identity",
        "ferrule.text.sha256",
        "hashlib",
        "json",
        "ferrule.plugin.hooks.result_policy",
    }.isdisjoint(modules) or are_there
