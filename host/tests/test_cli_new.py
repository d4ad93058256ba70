"""`ferrule new`: a plugin that works as it is."""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from ferrule.admin import template
from ferrule_testkit.machine import Machine

pytestmark = pytest.mark.slow


ROOT = Path(__file__).parents[2]
AS_TYPED = (
    "ferrule new weather && pip install -e ./ferrule-weather && ferrule validate weather"
    " && ferrule run weather city=Oslo"
)


def files(folder: Path) -> dict[str, str]:
    """The texts in a folder by their paths, without what Python and its tools leave there."""
    found = [path for path in folder.rglob("*.*") if path.is_file()]
    own = [path for path in found if "__pycache__" not in path.parts and ".pytest_cache" not in path.parts]
    return {str(path.relative_to(folder)): path.read_text() for path in own}


def test_the_template_is_copied_under_the_new_name(machine: Machine) -> None:
    made = machine.ferrule("new", "tide_table")
    assert made.code == 0
    assert "pip install -e ./ferrule-tide-table" in made.out
    copied = files(machine.work / "ferrule-tide-table")
    assert set(copied) == {
        "README.md",
        "pyproject.toml",
        "src/ferrule_tide_table/__init__.py",
        "src/ferrule_tide_table/py.typed",
        "src/ferrule_tide_table/schema.json",
        "tests/test_tide_table.py",
    }
    assert not [path for path, text in copied.items() if template.NAME in path + text]
    assert 'tide-table-tool = "ferrule.dispatch:main"' in copied["pyproject.toml"]
    assert 'tide_table = "ferrule_tide_table"' in copied["pyproject.toml"]
    assert '"name": "tide_table"' in copied["src/ferrule_tide_table/schema.json"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ferrule-example", "ferrule-tide-table"),
        ("ferrule_example.schema", "ferrule_tide_table.schema"),
        ("run example-tool now", "run tide-table-tool now"),
        ("`example`, a tool", "`tide_table`, a tool"),
        ("tests/test_example.py", "tests/test_tide_table.py"),
        ("examples counterexample", "examples counterexample"),
    ],
)
def test_only_the_names_themselves_are_replaced(old: str, new: str) -> None:
    assert template.renamed(old, "tide_table") == new


@pytest.mark.parametrize("name", ["", "Weather", "web-fetch", "1st", "a__b", "a_", "_a", "ü", "../x", "a b", "x" * 65])
def test_a_bad_name_is_refused(machine: Machine, name: str) -> None:
    refused = machine.ferrule("new", name)
    assert refused.code == 1
    assert "is no good name" in refused.err
    assert list(machine.work.iterdir()) == []


def test_a_folder_that_is_there_is_left_as_it_is(machine: Machine) -> None:
    (machine.work / "ferrule-weather").mkdir()
    refused = machine.ferrule("new", "weather")
    assert refused.code == 1
    assert "there already" in refused.err
    assert list((machine.work / "ferrule-weather").iterdir()) == []


def test_it_is_put_where_it_is_wanted_and_json_says_where(machine: Machine) -> None:
    made = machine.ferrule("new", "weather", "--to", "plugins", "--json")
    target = machine.work / "plugins" / "ferrule-weather"
    assert made.document == {"tool": "weather", "path": str(target)}
    assert (target / "pyproject.toml").exists()


def test_a_folder_that_cannot_be_written_is_one_message(machine: Machine) -> None:
    (machine.work / "file").touch()
    refused = machine.ferrule("new", "weather", "--to", "file")
    assert refused.code == 1
    assert "Not a directory" in refused.err


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A virtual environment with ferrule in it, and what ferrule needs from that of the tests."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True, symlinks=True)
    site = next((folder / "lib").glob("python*/site-packages"))
    known = [path for path in sys.path if path.endswith("site-packages")]
    (site / "known.pth").write_text("".join(f"import site; site.addsitedir({path!r})\n" for path in known))
    settings = {
        "PATH": f"{folder / 'bin'}:/usr/bin:/bin",
        "HOME": str(folder),
        "PIP_NO_BUILD_ISOLATION": "false",  # which, of all things, switches the isolation off
        "PIP_NO_DEPS": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    install = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--force-reinstall"]
    subprocess.run([*install, "--editable", ROOT / "host"], env=settings, check=True, capture_output=True)
    return settings


def test_a_new_plugin_works_as_a_user_types_it_and_its_tests_pass(environment: dict[str, str], tmp_path: Path) -> None:
    typed = subprocess.run(
        ["bash", "-c", AS_TYPED], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert typed.returncode == 0, typed.stdout + typed.stderr
    assert typed.stdout.endswith('weather: ok\n{"success":true,"greeting":"Hello, Oslo!"}\n')
    tests = ["python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "ferrule-weather/tests"]
    tested = subprocess.run(tests, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert "passed" in tested.stdout


def test_the_tests_of_a_new_plugin_follow_its_schema(environment: dict[str, str], tmp_path: Path) -> None:
    start = "ferrule new tides && pip install -e ./ferrule-tides"
    subprocess.run(["bash", "-c", start], cwd=tmp_path, env=environment, check=True, capture_output=True)
    schema = tmp_path / "ferrule-tides/src/ferrule_tides/schema.json"
    described = json.loads(schema.read_text())
    described["parameters"]["properties"]["days"] = {"type": "integer", "description": "How many days.", "minimum": 1}
    described["parameters"]["required"].append("days")
    schema.write_text(json.dumps(described))
    tests = tmp_path / "ferrule-tides/tests/test_tides.py"
    tests.write_text(tests.read_text().replace('ARGUMENTS = {"city": "Oslo"', 'ARGUMENTS = {"city": "Oslo", "days": 2'))
    run = ["python", "-m", "pytest", "-q", "-p", "no:cacheprovider", tests]
    tested = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_the_sdist_and_the_wheel_made_from_it_contain_the_template(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", tmp_path, ROOT / "host"]
    subprocess.run(build, check=True, capture_output=True, env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"})
    (wheel,) = tmp_path.glob("*.whl")
    site = tmp_path / "site"
    subprocess.run([sys.executable, "-m", "zipfile", "-e", wheel, site], check=True)
    assert files(site / "ferrule" / "template") == files(ROOT / "plugins" / "example")
    made = subprocess.run(
        [sys.executable, "-c", "from ferrule.admin.template import create; print(create('weather', '.'))"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (tmp_path / made.stdout.strip() / "pyproject.toml").exists()
