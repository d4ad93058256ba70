"""All of these tests hold with the other versions of DuckDB that are supported: the oldest, and in `full` all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


HERE = Path(__file__).resolve().parent
# DuckDB 1.4 may spin for ever in Executor::CancelTasks while it cancels a query, with no Python code on any stack.
NOT_WITH = {"1.4.5": "not interrupted_from_another_thread"}
QUIET = {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}


@pytest.mark.index
@pytest.mark.timeout(600)  # a fetch from the index, and a hundred tests
@pytest.mark.parametrize("version", [pytest.param("1.5.6", marks=pytest.mark.full), "1.4.5"])
def test_all_of_it_holds_with_duckdb(version: str, tmp_path: Path) -> None:
    place = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", f"--target={place}", f"duckdb=={version}"]
    subprocess.run(pip, check=True, env={**os.environ, **QUIET})
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = str(place)
    found = subprocess.check_output([sys.executable, "-c", "import duckdb; print(duckdb.__version__)"], env=environment)
    assert found.decode().strip() == version
    options = ["-n0", "-q", "-m", "not index", f"--basetemp={tmp_path / 'inner'}", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", HERE, *options, "-k", NOT_WITH.get(version, "")],
        env=environment,
        cwd=HERE.parents[2],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
