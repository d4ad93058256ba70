"""What `ferrule new` writes, installed as its author installs it, and built as its workflow builds it."""

import os
import shutil
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from ferrule_testkit.runs import read_output

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
AS_TYPED = """
ferrule new weather --description "Tells the weather." && cd ferrule-weather
pip install --editable ".[dev]"
ferrule schema --write
ferrule run weather city=Oslo
python -m pytest
python -m build --no-isolation
"""
IN_JAVASCRIPT = """
ferrule new tides --script && cd ferrule-tides
pip install --editable ".[dev]"
python -m build --no-isolation
pip install --force-reinstall dist/*.whl
echo '{"city": "Oslo"}' | tides-tool
"""


def run(script: str, folder: Path, environ: dict[str, str]) -> str:
    """What a script of the shell prints in a folder; each of its commands has to succeed."""
    return read_output(["bash", "-e", "-c", script], folder, environ)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A virtual environment with ferrule in it, and what ferrule needs from that of the tests."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True, symlinks=True)
    site = next((folder / "lib").glob("python*/site-packages"))
    known = [path for path in sys.path if path.endswith("site-packages")]
    (site / "known.pth").write_text("".join(f"import site; site.addsitedir({path!r})\n" for path in known))
    settings = {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "HOME": str(folder),
        "PIP_NO_BUILD_ISOLATION": "false",  # which, of all things, switches the isolation off
        "PIP_NO_DEPS": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    projects = f"--editable {ROOT / 'host'} --editable {ROOT / 'plugins/dev'}"
    install = f"python -m pip install --quiet --force-reinstall {projects}"
    run(install, folder, settings)
    return settings


def names_in_wheel(folder: Path) -> list[str]:
    """The files in the one wheel of a project."""
    (wheel,) = folder.glob("dist/*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_a_new_tool_works_as_its_author_types_it(environment: dict[str, str], tmp_path: Path) -> None:
    printed = run(AS_TYPED, tmp_path, environment)
    assert '{"success":true,"greetings":["Hello, Oslo!"]}\n' in printed
    assert " passed" in printed
    names = names_in_wheel(tmp_path / "ferrule-weather")
    assert {"ferrule_weather/__init__.py", "ferrule_weather/schema.json", "ferrule_weather/tool.json"} <= set(names)
    assert not [name for name in names if "test" in name or ".github" in name]


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
def test_a_new_tool_in_another_language_is_installed_as_a_program(environment: dict[str, str], tmp_path: Path) -> None:
    printed = run(IN_JAVASCRIPT, tmp_path, environment)
    assert printed.endswith('{"success":true,"greeting":"Hello, Oslo!"}\n')
    names = names_in_wheel(tmp_path / "ferrule-tides")
    assert "ferrule_tides-0.1.0.data/scripts/tides-tool" in names


def test_the_distribution_contains_the_templates(tmp_path: Path) -> None:
    python = sys.executable
    build = f"{python} -m build --no-isolation --outdir . {ROOT / 'plugins/dev'} && {python} -m zipfile -e *.whl site"
    run(build, tmp_path, dict(os.environ))
    create = (
        "from ferrule_dev.creation.templates import *; print(*(create(one, 'x', k) for k, one in templates().items()))"
    )
    made = run(f'{python} -c "{create}"', tmp_path, {**os.environ, "PYTHONPATH": str(tmp_path / "site")}).split()
    assert len(made) == 8
    for folder in made:
        assert (tmp_path / folder / ".github/workflows/package.yml").exists()
    assert os.access(tmp_path / "script/ferrule-x/bin/x-tool", os.X_OK)
