"""The answer for a tool is kept until anything behind it changes, holds no other tool's settings, and no secret."""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ferrule.config import configuration
from ferrule.errors import FerruleError, ToolDisabled
from ferrule.plugin.admission import judgement
from ferrule.plugin.admission.admitted_tool import AdmittedTool, Refused
from ferrule.storage import stamps
from ferrule.trust.declaration import MalformedPermissions, parse
from ferrule.trust.door import kept_admission
from ferrule_testkit.admissions import SCHEMA, SETTINGS, Site, keep_answer, make_site, settle, write


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    return make_site(tmp_path, monkeypatch)


@pytest.fixture
def kept(site: Site) -> Site:
    """The same, where the answer for the tool is kept."""
    keep_answer(site)
    return site


def install(site: Site, name: str) -> None:
    write(site.packages / f"{name}-1.0.dist-info" / "METADATA")


def install_anew(site: Site) -> None:
    shutil.rmtree(site.metadata)
    shutil.copytree(site.outer, site.metadata)


def replace(path: Path) -> None:
    """Put other content into a file, and give it the time of modification that it had."""
    facts = path.stat()
    path.write_text("x" * facts.st_size)
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


CHANGES: dict[str, Callable[[Site], object]] = {
    "config.toml written": lambda site: write(site.config, SETTINGS + "memory = 5\n"),
    "config.toml removed": lambda site: site.config.unlink(),
    "config.toml with its old time": lambda site: replace(site.config),
    "ferrule.lock made": lambda site: write(site.lock, "{}"),
    "another distribution installed": lambda site: install(site, "other"),
    "one installed in an earlier folder": lambda site: write(site.earlier / "other-1.0.dist-info" / "METADATA"),
    "uninstalled": lambda site: shutil.rmtree(site.metadata),
    "upgraded": lambda site: site.metadata.rename(site.packages / "acme_weather-1.1.dist-info"),
    "installed anew": lambda site: install_anew(site),
    "entry_points.txt": lambda site: write(site.metadata / "entry_points.txt", "[ferrule.tools]\nweather = evil\n"),
    "METADATA": lambda site: replace(site.metadata / "METADATA"),
    "RECORD": lambda site: write(site.metadata / "RECORD", "a,,\n"),
    "INSTALLER": lambda site: write(site.metadata / "INSTALLER", "uv"),
    "made editable": lambda site: write(site.metadata / "direct_url.json", '{"dir_info": {"editable": true}}'),
    "the schema": lambda site: replace(site.module / "schema.json"),
    "the schema removed": lambda site: (site.module / "schema.json").unlink(),
    "the declaration": lambda site: write(site.module / "tool.json", "{}"),
    "the declaration with its old time": lambda site: replace(site.module / "tool.json"),
    "the declaration removed": lambda site: (site.module / "tool.json").unlink(),
    "a declaration of the package around": lambda site: write(site.outer / "tool.json", "{}"),
    "the module": lambda site: write(site.module / "__init__.py", "import os\n"),
    "the module replaced by a file": lambda site: write(site.outer / "weather.py"),
    "a package before it on the path": lambda site: write(site.earlier / "acme" / "__init__.py"),
    "a module before it on the path": lambda site: write(site.earlier / "acme" / "weather.py"),
    "a schema before it on the path": lambda site: write(site.earlier / "acme" / "weather" / "schema.json"),
    "another package of that name": lambda site: write(site.earlier / "acme.py"),
    "what was accepted": lambda site: replace(site.record("permissions")),
    "what was accepted removed": lambda site: site.record("permissions").unlink(),
    "what its hook has named": lambda site: write(site.record("declared_credentials"), "{ }"),
    "its credentials": lambda site: write(site.record("credentials"), "{ }"),
    "credentials of another tool": lambda site: write(site.record("credentials", "newcomer"), "{}"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_any_file_behind_it_ends_a_kept_answer(change: Callable[[Site], object], kept: Site) -> None:
    change(kept)
    assert kept_admission.read("weather") is None


HEADS: dict[str, Callable[[pytest.MonkeyPatch, Site], object]] = {
    "another host": lambda patch, site: patch.setattr(kept_admission, "__version__", "99.0"),
    "another interpreter": lambda patch, site: patch.setattr(sys, "version", "3.99"),
    "another environment": lambda patch, site: patch.setattr(sys, "prefix", "/elsewhere"),
    "another user": lambda patch, site: patch.setattr(os, "geteuid", lambda: os.getuid() + 1),
    "another order of the path": lambda patch, site: patch.setattr(sys, "path", sys.path[::-1]),
    "another config.toml": lambda patch, site: patch.setenv("FERRULE_CONFIG", f"{site.config}2"),
    "another state folder": lambda patch, site: patch.setenv("FERRULE_STATE", f"{site.state}2"),
}


@pytest.mark.parametrize("change", HEADS.values(), ids=HEADS)
def test_an_answer_holds_for_one_installation(
    change: Callable[[pytest.MonkeyPatch, Site], object], kept: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(monkeypatch, kept)
    assert kept_admission.read("weather") is None


def test_the_code_of_the_host_that_decides_is_behind_it_too(kept: Site) -> None:
    content = json.loads(kept.kept().read_text())
    paths = {line.partition("\t")[2] for line in content["stamps"]}
    own = Path(kept_admission.__file__).parents[1]
    assert {str(own), str(own / "credentials"), str(own / "resolution"), str(own.parent / "schema/rules")} <= paths


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_an_answer_that_another_user_can_have_written_does_not_count(mode: int, kept: Site) -> None:
    kept.kept().chmod(mode)
    assert kept_admission.read("weather") is None


def test_a_link_in_the_place_of_an_answer_does_not_count(kept: Site, tmp_path: Path) -> None:
    moved = kept.kept().rename(tmp_path / "moved")
    (kept.state / kept_admission.FOLDER / moved.name).symlink_to(moved)
    assert kept_admission.read("weather") is None


def test_the_answer_of_one_tool_is_none_of_another(kept: Site) -> None:
    assert kept_admission.read("vault") is None
    path = kept.kept()
    path.rename(kept_admission._path("vault", kept_admission._head("vault")))
    assert kept_admission.read("vault") is None


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b'{"head": 1}', b"\xff"])
def test_what_is_no_answer_does_not_count(data: bytes, kept: Site) -> None:
    kept.kept().write_bytes(data)
    assert kept_admission.read("weather") is None


@pytest.mark.parametrize("more", [{"stamps": None}, {"stamps": []}, {"stamps": [1]}, {"facts": None}, {"facts": []}])
def test_an_answer_without_all_of_its_parts_does_not_count(more: dict[str, object], kept: Site) -> None:
    path = kept.kept()
    path.write_text(json.dumps({**json.loads(path.read_text()), **more}))
    assert kept_admission.read("weather") is None


def test_it_holds_no_settings_but_those_of_its_tool(kept: Site) -> None:
    content = kept.kept().read_text()
    assert "celsius" in content
    assert "another tool's own setting" not in content
    assert "vault" not in content
    assert "what a command alone reads" not in content


def test_it_answers_as_the_files_do(kept: Site) -> None:
    found = kept_admission.read("weather")
    assert found == {**judgement.judge("weather", may_keep=False), "is_kept": True}


def test_an_answer_for_who_only_wants_the_schema_records_nothing_and_admits_no_call(site: Site) -> None:
    settle()
    judgement.judge("weather", is_called=False)
    kept = kept_admission.read("weather")
    assert kept is not None
    assert kept["schema"] == SCHEMA
    assert "grant" not in kept
    assert not site.record("permissions").exists()


def test_a_file_that_has_just_changed_is_not_relied_on(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamps, "_TICK_NS", 60_000_000_000)
    judgement.judge("weather")
    judgement.judge("weather")
    assert not (site.state / kept_admission.FOLDER).exists()


def test_a_change_right_before_the_first_look_is_not_relied_on_however_long_the_second_takes(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another change in the same moment would have left the stamp as it was."""
    judgement.judge("weather")
    settle()
    looked, found = stamps.stamps, judgement.judge

    def look_at_what_has_just_changed(paths: Any) -> list[str]:
        write(site.config, SETTINGS)
        return looked(paths)

    def take_long(*arguments: Any, **options: Any) -> Any:
        settle()
        return found(*arguments, **options)

    monkeypatch.setattr(stamps, "stamps", look_at_what_has_just_changed)
    monkeypatch.setattr(judgement, "judge", take_long)
    found("weather")
    assert kept_admission.read("weather") is None


@pytest.mark.parametrize(("seconds", "is_settled"), [(0, False), (3, True)])
def test_a_time_of_whole_seconds_is_relied_on_later(seconds: int, is_settled: bool) -> None:
    moment = (int(time.time()) - seconds) * 1_000_000_000
    assert stamps._is_settled(SimpleNamespace(st_mtime_ns=moment, st_ctime_ns=moment)) is is_settled  # type: ignore[arg-type] # all that is looked at


NOT_KEPT: dict[str, Callable[[Site], object]] = {
    "a setting that may be a secret": lambda site: write(site.config, '[tools.weather]\napi_key = "k-1"\n'),
    "a password in a URL": lambda site: write(site.config, '[wrappers.cache]\nredis = "redis://:pass@host/0"\n'),
    "locked": lambda site: write(site.config, "locked = true\n"),
    "a host that it requires": lambda site: write(
        site.module / "tool.json", '{"requires_ferrule": ">=0", "credentials": []}'
    ),
    "a failure": lambda site: write(site.module / "schema.json", "{"),
    "a record that cannot be written": lambda site: write(site.state, ""),
    "a module that is not found": lambda site: shutil.rmtree(site.outer),
}


@pytest.mark.parametrize("prepare", NOT_KEPT.values(), ids=NOT_KEPT)
def test_what_is_in_doubt_is_not_kept(prepare: Callable[[Site], object], site: Site) -> None:
    prepare(site)
    for _ in range(2):
        judgement.judge("weather")
        settle()
    assert kept_admission.read("weather") is None


def test_no_answer_is_kept_where_modules_come_from_the_working_folder(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    for _ in range(2):
        judgement.judge("weather")
        settle()
    assert not (site.state / kept_admission.FOLDER).exists()


@pytest.mark.process
def test_what_the_environment_switches_off_is_asked_each_time(kept: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRULE_DISABLE", "weather")
    admitted = AdmittedTool("weather")
    with pytest.raises(Refused) as caught:
        admitted.tool()
    assert caught.value.facts()["code"] == ToolDisabled.code


def test_no_tool_can_declare_the_folder_of_the_answers() -> None:
    with pytest.raises(MalformedPermissions, match="is the host's own"):
        parse({"state": [kept_admission.FOLDER]})


@pytest.mark.process
def test_a_process_that_looks_a_tool_up_never_reads_the_configuration(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent, read = os.getpid(), configuration._bytes

    def read_in_a_copy(path: str) -> bytes:
        assert os.getpid() != parent, "config.toml was read in the process that forks the tool's"
        return read(path)

    monkeypatch.setattr(configuration, "_bytes", read_in_a_copy)
    for _ in range(3):  # first worked out in a copy, then kept
        admitted = AdmittedTool("weather")
        settings = admitted.configuration()
        assert admitted.tool().name == "weather"
        assert admitted.schema() == SCHEMA
        assert admitted.policy().network == ("public",)
        assert settings.tool("weather") == {"unit": "celsius"}
        assert settings.tool("vault") == {}
        settle()
    assert admitted.is_kept


@pytest.mark.process
def test_the_failures_of_a_copy_are_those_of_the_call(site: Site) -> None:
    write(site.config, "[")
    admitted = AdmittedTool("weather")
    with pytest.raises(FerruleError) as caught:
        admitted.configuration()
    with pytest.raises(FerruleError) as direct:
        configuration.read()
    assert caught.value.facts() == direct.value.facts()


@pytest.mark.process
def test_a_link_below_a_grant_is_judged_by_all_of_the_configuration(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What other tools may write is not kept: a copy that reads config.toml says what the link leads to."""
    target = tmp_path / "target"
    target.mkdir()
    (tmp_path / "link").symlink_to(target)
    declared: dict[str, Any] = {"permissions": {"read": [str(tmp_path / "link")]}, "credentials": []}
    write(site.module / "tool.json", json.dumps(declared))
    policies = []
    for _ in range(3):
        admitted = AdmittedTool("weather")
        policies.append(admitted.policy())
        settle()
    assert admitted.is_kept
    assert [policy.read for policy in policies] == [(str(target),)] * 3


def test_answers_of_environments_that_are_gone_are_removed(kept: Site) -> None:
    folder = kept.state / kept_admission.FOLDER
    for name, days in (("gone-0123456789abcdef.json", 31), ("another-0123456789abcdef.json", 29)):
        (folder / name).write_text("{}")
        then = time.time() - days * 86400
        os.utime(folder / name, (then, then))
    kept_admission.keep("weather", kept_admission.read("weather") or {}, stamps.stamps([str(kept.config)]))
    names = {path.name for path in folder.iterdir()}
    assert "gone-0123456789abcdef.json" not in names
    assert "another-0123456789abcdef.json" in names
    assert len(names) == 2


def test_the_oldest_of_too_many_answers_are_removed(kept: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_admission, "_MOST_FILES", 3)
    folder = kept.state / kept_admission.FOLDER
    for hours in range(1, 5):
        path = folder / f"other-{hours:016x}.json"
        path.write_text("{}")
        then = time.time() - hours * 3600
        os.utime(path, (then, then))
    kept_admission.keep("weather", kept_admission.read("weather") or {}, stamps.stamps([str(kept.config)]))
    left = sorted(path.name for path in folder.iterdir())
    assert left[:2] == [f"other-{hours:016x}.json" for hours in (1, 2)]
    assert left[2].startswith("weather-")
    assert len(left) == 3
