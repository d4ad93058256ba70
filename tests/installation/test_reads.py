"""`ferrule install` finds packages by what the user types, and reads them before any of their code can run.

The index is one on loopback, with the wheel of the host, those that it needs, and packages made for this.
"""

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ferrule_testkit.installation import wheels
from ferrule_testkit.installation.package_user import User
from ferrule_testkit.installation.wheels import PackageIndex, write_source_archive, write_tool, write_wheel

ROOT = Path(__file__).resolve().parents[2]
EVIL = "import pathlib; pathlib.Path({!r}).touch()\n"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackageIndex]:
    folder = tmp_path_factory.mktemp("index")
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder), str(ROOT / "host")]
    subprocess.run(build, check=True, capture_output=True)
    wheels.write_needs_of("ferrule", folder)
    write_tool(folder, "ferrule-tides", "tide_table")
    write_tool(folder, "ferrule-weather", "weather_report")
    write_wheel(folder, "weather-report", {"weather_report.py": ""}, requires=["burden"])
    write_wheel(folder, "burden", {"burden.py": ""})
    write_tool(folder, "ferrule-example", "example")
    with wheels.serving(folder) as serving:
        yield serving


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory, index: PackageIndex) -> User:
    return User(tmp_path_factory.mktemp("user"), index).make_environment(with_pip=False)


def test_the_last_part_of_a_packages_name_is_enough(user: User) -> None:
    done = user.install("tides==1.0")
    assert done.returncode == 0, done.stderr
    assert "tides==1.0 is ferrule-tides 1.0." in done.stderr
    assert "1 tool new or changed:" in done.stdout
    assert "ferrule-tides" in user.packages()


def test_a_tools_name_finds_its_package_and_not_the_one_of_that_name(user: User) -> None:
    done = user.install("weather_report", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tools"] == ["weather_report"]
    assert "weather_report is a tool of ferrule-weather 1.0." in done.stderr
    assert user.index.asked[0] == "ferrule-weather-report"
    assert "weather-report" not in user.index.asked
    assert not user.packages() & {"weather-report", "burden"}


def test_a_tool_that_is_installed_means_its_own_package(user: User) -> None:
    user.install("tides")
    done = user.install("--upgrade", "tide-table-tool")
    assert done.returncode == 0, done.stderr
    assert "tide-table-tool is a tool of ferrule-tides 1.0." in done.stderr


def test_a_known_tool_means_the_package_that_is_published_with_ferrule(user: User) -> None:
    user.install("web_fetch")
    assert set(user.index.asked) == {"ferrule-fetch"}


def test_what_is_no_plugin_is_refused_with_what_was_meant(user: User) -> None:
    before = user.packages()
    write_wheel(user.index.folder, "tavili", {"tavili.py": ""}, requires=["burden"])
    done = user.install("tavili", "ferrule-example")
    assert done.returncode == 1
    assert "Error: tavili 1.0 is no plugin of ferrule" in done.stderr
    assert "Did you mean ferrule-tavily" in done.stderr
    assert f"uv pip install --python {user.python} tavili" in done.stderr
    assert user.packages() == before
    assert "burden" not in user.index.asked
    error = json.loads(user.install("--json", "tavili").stdout)["error"]
    assert (error["code"], error["details"]["package"]) == ("PACKAGE_REFUSED", "tavili 1.0")


def test_what_is_not_there_is_told_with_what_was_meant(user: User) -> None:
    done = user.install("web_serch_brave")
    assert done.returncode == 1
    assert "Did you mean web_search_brave" in done.stderr


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("ferrule-pth", "evil.pth"),
        ("ferrule-data", "ferrule_data-1.0.data/purelib/evil.pth"),
        ("ferrule-site", "sitecustomize.py"),
        ("ferrule-over", "ferrule/_version.py"),
        ("ferrule-inside", "ferrule/_version/__init__.py"),
        ("ferrule-other", "click/decorators.py"),
        ("ferrule-meta", "click-0.0.1.egg-info/entry_points.txt"),
        ("ferrule-script", "ferrule_script-1.0.data/scripts/ferrule"),
        ("ferrule-shell", "ferrule_shell-1.0.data/data/bin/activate"),
        ("ferrule-prefix", "ferrule_prefix-1.0.data/data/pyvenv.cfg"),
    ],
)
def test_what_would_run_in_ferrule_itself_is_refused_before_it_does(user: User, name: str, file: str) -> None:
    before = user.packages()
    write_tool(user.index.folder, name, name.replace("-", "_"), {file: EVIL.format(str(user.mark))})
    done = user.install(name)
    assert done.returncode == 1
    assert f"Error: Nothing was installed: {name} would have effects in ferrule itself" in done.stderr
    assert f"--trust {name}" in done.stderr
    assert user.packages() == before
    assert user.ferrule("list").returncode == 0
    assert not user.mark.exists()


def test_what_a_list_of_files_leaves_out_is_refused(user: User) -> None:
    write_tool(user.index.folder, "ferrule-hidden", "hidden", {"evil.pth": "import os"}, unlisted=["evil.pth"])
    done = user.install("ferrule-hidden")
    assert done.returncode == 1
    assert "evil.pth" in done.stderr
    assert "ferrule-hidden" not in user.packages()


def test_what_a_plugin_requires_is_read_too(user: User) -> None:
    write_wheel(user.index.folder, "sneaky", {"sneaky.pth": EVIL.format(str(user.mark))})
    write_tool(user.index.folder, "ferrule-burdened", "burdened", requires=["ferrule", "sneaky"])
    done = user.install("burdened")
    assert done.returncode == 1
    assert "Nothing was installed: sneaky would have effects" in done.stderr
    refused = json.loads(user.install("--json", "burdened").stdout)["error"]["details"]["parent_code"]
    assert [(one["id"], one["distribution"]) for one in refused] == [("code-at-start", "sneaky")]
    assert not user.packages() & {"ferrule-burdened", "sneaky"}
    assert not user.mark.exists()


def test_what_is_trusted_is_installed_and_told_by_doctor_and_list(tmp_path: Path, index: PackageIndex) -> None:
    user = User(tmp_path, index).make_environment(with_pip=False)
    write_tool(index.folder, "ferrule-trusted", "trusted", {"trusted.pth": EVIL.format(str(user.mark))})
    done = user.install("--trust", "Ferrule_Trusted", "trusted")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Warning: ferrule-trusted: trusted.pth has a line of code") == 1
    findings = json.loads(user.ferrule("doctor", "--json").stdout)["findings"]
    (finding,) = (one for one in findings if one["severity"] != "note")  # of extras that are not there
    assert (finding["id"], finding["severity"], finding["subject"]) == ("code-at-start", "warning", "ferrule-trusted")
    assert "ferrule uninstall ferrule-trusted" in finding["fix"]
    assert "ferrule-trusted" in user.ferrule("list", "--check").stdout.partition("RUNS IN FERRULE ITSELF")[2]
    listed = json.loads(user.ferrule("list", "--check", "--json").stdout)["parent_code"]
    assert [one["file"] for one in listed] == ["trusted.pth"]
    assert "parent_code" not in json.loads(user.ferrule("list", "--json").stdout)
    assert "RUNS IN FERRULE" not in user.ferrule("list").stdout


def test_a_changed_file_of_the_host_is_told(tmp_path: Path, index: PackageIndex) -> None:
    user = User(tmp_path, index).make_environment(with_pip=False)
    assert "warning" not in user.ferrule("doctor").stdout
    Path(user.site, "ferrule", "added.py").touch()
    findings = json.loads(user.ferrule("doctor", "--json").stdout)["findings"]
    (finding,) = (one for one in findings if one["severity"] != "note")
    assert (finding["id"], finding["subject"]) == ("host-changed", "ferrule")
    assert "ferrule/added.py is not in RECORD" in finding["message"]


def test_a_source_archive_is_built_where_it_is_trusted_only(tmp_path: Path, index: PackageIndex, user: User) -> None:
    mark = tmp_path / "BUILT"
    write_source_archive(write_tool(tmp_path, "ferrule-built", "built"), index.folder, mark)
    refused = user.install("ferrule-built")
    assert refused.returncode == 1
    assert "ferrule install --trust ferrule-built ferrule-built" in refused.stderr
    assert not mark.exists()
    done = user.install("--trust", "ferrule-built", "built")
    assert done.returncode == 0, done.stderr
    assert mark.exists()
    assert "ferrule-built" in user.packages()


def test_an_address_that_has_to_be_built_is_refused(user: User) -> None:
    done = user.install("ferrule-x @ git+https://127.0.0.1:1/x")
    assert done.returncode == 1
    assert "has to be built, which runs its code" in done.stderr
    assert "--trust 'ferrule-x'" in done.stderr


def test_a_wheel_is_read_and_a_wheel_that_is_no_plugin_is_refused(user: User, tmp_path: Path) -> None:
    good = write_tool(tmp_path, "ferrule-filed", "filed")
    assert user.install(good).returncode == 0
    assert "ferrule-filed" in user.packages()
    bad = write_wheel(tmp_path, "filing", {"filing.py": ""})
    done = user.install(bad)
    assert done.returncode == 1
    assert "filing 1.0 is no plugin" in done.stderr
    with zipfile.ZipFile(good) as archive:
        assert "module_filed.py" in archive.namelist()


def test_a_project_that_is_no_plugin_is_refused(user: User, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1"\n')
    for arguments in ([tmp_path], ["--editable", tmp_path]):
        done = user.install(*arguments)
        assert done.returncode == 1
        assert f"The project in {tmp_path} has no tool, wrapper or command for ferrule." in done.stderr


def test_commands_of_other_packages_say_the_line_that_brings_them(user: User) -> None:
    owners = {"ask": ("ask", "ask"), "connect": ("serve", "mcp"), "new": ("dev", "dev"), "serve": ("serve", "mcp")}
    for name, (owner, extra) in owners.items():
        done = user.ferrule(name, "--help")
        assert done.returncode == 2
        ways = f"`ferrule install ferrule-{owner}` or `pip install 'ferrule[{extra}]'`"
        told = f"`ferrule {name}` comes with ferrule-{owner}, which is not installed: run {ways}."
        assert told in done.stderr
    told_as_json = json.loads(user.ferrule("check", "x", "--json").stdout)["error"]
    assert told_as_json["code"] == "USAGE"
    assert "pip install 'ferrule[dev]'" in told_as_json["message"]
    assert "run `ferrule install ferrule-fetch`" in user.ferrule("link", "web_fetch").stderr


def test_pip_reads_as_uv_does(tmp_path: Path, index: PackageIndex) -> None:
    user = User(tmp_path, index).make_environment(with_pip=True)
    write_tool(index.folder, "ferrule-hostile", "hostile", {"evil.pth": EVIL.format(str(user.mark))})
    refused = user.install("hostile")
    assert refused.returncode == 1
    assert "Nothing was installed: ferrule-hostile would have effects" in refused.stderr
    done = user.install("weather_report", "tides")
    assert done.returncode == 0, done.stderr
    assert "2 tools new or changed:" in done.stdout
    assert not user.mark.exists()
    write_source_archive(write_tool(tmp_path, "ferrule-archive", "archive"), index.folder, user.mark)
    assert "ferrule install --trust ferrule-archive ferrule-archive" in user.install("archive").stderr
    assert not user.mark.exists()
