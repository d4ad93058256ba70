"""What a package brings beside its tools, installed by pip: it runs in no linked executable, and is nobody else.

Each attack is a wheel that `pip install` puts in place, so that `ferrule install` has had no say.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ferrule_testkit.installation import wheels
from ferrule_testkit.installation.package_user import User
from ferrule_testkit.installation.wheels import PackageIndex, write_tool, write_wheel

ROOT = Path(__file__).resolve().parents[2]
RUNS = "import os; open(os.path.expanduser('~/RAN'), 'w').write(str(os.getpid()))\n"
NEEDS = "import builtins; builtins.FROM_START = 'kept'\n"
TOOL = wheels.TOOL.replace('"got": arguments', '"got": arguments, "start": __builtins__.get("FROM_START")')

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackageIndex]:
    folder = tmp_path_factory.mktemp("index")
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder), str(ROOT / "host")]
    subprocess.run(build, check=True, capture_output=True)
    wheels.write_needs_of("ferrule", folder)
    write_tool(folder, "ferrule-real", "real", {"module_real.py": TOOL})
    with wheels.serving(folder) as serving:
        yield serving


@pytest.fixture
def user(tmp_path: Path, index: PackageIndex) -> User:
    """A user who has linked one tool."""
    found = User(tmp_path, index).make_environment(with_pip=False)
    pip_install(found, "ferrule-real")
    done = found.ferrule("link", "real")
    assert done.returncode == 0, done.stderr
    return found


def pip_install(user: User, *names: str) -> None:
    done = user.start("uv", "pip", "install", "-q", "--python", user.python, *names)
    assert done.returncode == 0, done.stderr


def call(user: User, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [user.folder / ".ikigai/tools/real-tool", *arguments],
        input='{"city": "Oslo"}',
        env=user.environ,
        cwd=user.folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("file", ["evil.pth", "sitecustomize.py", "evil-1.0.data/purelib/zz.pth"])
def test_what_python_runs_at_its_start_does_not_run_in_a_linked_executable(user: User, file: str) -> None:
    write_wheel(user.index.folder, "evil", {file: RUNS})
    pip_install(user, "evil")
    assert user.start(user.python, "-I", "-c", "pass").returncode == 0
    assert user.mark.exists()  # it would run
    user.mark.unlink()

    for _ in range(2):
        schema, answer = call(user, "--schema"), call(user)
        assert json.loads(schema.stdout)["name"] == "real", schema.stderr
        assert json.loads(answer.stdout)["got"] == {"city": "Oslo"}, answer.stderr
        assert not user.mark.exists()


def test_a_tool_has_what_python_starts_in_its_own_process(user: User) -> None:
    write_wheel(
        user.index.folder, "needed", {"needed.pth": NEEDS + RUNS, "elsewhere.pth": "more\n", "more/extra.py": ""}
    )
    pip_install(user, "needed")
    answer = call(user)
    assert json.loads(answer.stdout)["start"] == "kept", answer.stderr
    assert not user.mark.exists()


@pytest.mark.parametrize(
    "metadata",
    ["ferrule_real-0.0.1.egg-info", "ferrule_real.egg-info", "ferrule_real-0.0.1.dist-info", "Ferrule.Real-9.egg-info"],
)
def test_a_package_takes_no_others_place_by_a_second_folder_of_metadata(user: User, metadata: str) -> None:
    points = {f"evil-1.0.data/purelib/{metadata}/entry_points.txt": "[ferrule.tools]\nreal = evil\n"}
    evil = wheels.TOOL.replace("arguments}", "'evil'}")
    write_wheel(user.index.folder, "evil", {"evil.py": evil, **points})
    pip_install(user, "evil")
    for told in (call(user), user.ferrule("run", "real", "city=Oslo"), call(user, "--schema")):
        assert "evil" not in json.loads(told.stdout).get("got", "")
        assert "The tool 'real' is claimed by ferrule-real" in told.stderr + told.stdout
    findings = json.loads(user.ferrule("doctor", "--json").stdout)["findings"]
    assert {one["id"] for one in findings if one["severity"] != "note"} >= {"tool-clash", "metadata-of-another"}
