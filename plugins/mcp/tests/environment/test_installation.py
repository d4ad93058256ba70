"""Environments that are made of packages from this machine, by uv, by pip and by npm."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import zipfile
from typing import TYPE_CHECKING

import pytest

from ferrule.errors import PackageRefused
from ferrule_mcp.environment import installation, python_environment
from ferrule_mcp.environment.installation import install, measure_bytes, move_environment, remove_environment
from ferrule_mcp.environment.programs import find_uv
from ferrule_mcp.environment.record import Environment, InstallFailed
from ferrule_mcp.environment.verification import verify
from ferrule_mcp.launch.bundles import read_bundle
from ferrule_mcp.launch.command_line import parse_command
from ferrule_mcp.launch.plan import NONE, PYPI, SCRIPT, Launch, Secret

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.process


# By uv and by pip are made, with the tier `full`, what the same packages lead to, which another test asserts.
_BY_BOTH = pytest.mark.parametrize("installer", ["uv", pytest.param("pip", marks=pytest.mark.full)], indirect=True)


@pytest.fixture(params=["uv", pytest.param("pip", marks=pytest.mark.slow)])
def installer(request, monkeypatch):
    if request.param == "pip":
        monkeypatch.setattr(python_environment, "find_uv", lambda: None)
    return request.param


@pytest.mark.slow
def test_a_server_in_python_starts_from_its_environment(start, installer, python_launch, tmp_path):
    lines: list[str] = []
    environment = install(python_launch, tmp_path / "greeting", on_line=lines.append)
    assert start(environment) == "hello x"
    assert environment.command[0] == f"{tmp_path}/greeting/bin/python"
    assert environment.version == "1.2"
    assert [(one.name, one.version) for one in environment.packages] == [
        ("greeting-mcp", "1.2"), ("greeting-part", "0.5"),
    ]  # fmt: skip
    assert "Compiling the modules." in lines
    assert verify(environment) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == [".greeting.lock", "greeting"]
    modules = list((tmp_path / "greeting").glob("lib/python*/site-packages/greeting_*/*.py"))
    assert [path.stat().st_nlink for path in modules] == [1, 1]  # shared with no cache and no other environment
    assert "greeting-part==0.5" in (tmp_path / "greeting" / "requirements.lock").read_text()
    assert "--hash=sha256:" in (tmp_path / "greeting" / "requirements.lock").read_text()


@pytest.mark.slow
def test_pip_and_uv_make_the_same_packages(python_launch, tmp_path, monkeypatch):
    by_uv = install(python_launch, tmp_path / "uv")
    monkeypatch.setattr(python_environment, "find_uv", lambda: None)
    by_pip = install(python_launch, tmp_path / "pip")
    assert [one.digest for one in by_uv.packages] == [one.digest for one in by_pip.packages]
    assert [one.archive[:7] for one in by_pip.packages] == ["sha256="] * 2
    pip_files, uv_files = (
        {name for name in json.loads((tmp_path / made / "files.json").read_text()) if name.endswith((".py", ".pyc"))}
        for made in ("pip", "uv")
    )
    assert {name for name in uv_files if "_virtualenv" not in name} == pip_files
    assert any(name.endswith(".pyc") for name in pip_files)


@_BY_BOTH
def test_a_script_beside_finds_its_interpreter_wherever_the_environment_is(start, installer, python_launch, tmp_path):
    environment = install(python_launch, tmp_path / "greeting")
    (tmp_path / "other").mkdir()
    moved = move_environment(environment, tmp_path / "other" / "place")
    assert start(moved) == "hello x"
    assert verify(moved) == []
    script = subprocess.run([f"{tmp_path}/other/place/bin/greeting-mcp", "y"], capture_output=True, text=True)
    assert script.stdout == "hello y\n"
    assert not (tmp_path / "greeting").exists()


def test_an_environment_takes_the_place_of_an_older_one(start, python_launch, tmp_path):
    old = install(python_launch._replace(requirements=("greeting-mcp==1.1",)), tmp_path / "greeting")
    new = install(python_launch, tmp_path / "next")
    moved = move_environment(new, tmp_path / "greeting")
    assert (old.version, moved.version) == ("1.1", "1.2")
    assert start(moved) == "hello x"
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == ["greeting"]
    assert measure_bytes(moved) > 1000
    remove_environment(moved)
    assert list(tmp_path.iterdir()) == []


def test_a_module_of_a_package_and_a_file_with_requirements_are_started(start, python_launch, tmp_path):
    (tmp_path / "server.py").write_text("from greeting_part import WORD\nprint(WORD, 'file')\n")
    launch = parse_command(["uv", "run", "--with", "greeting-part", "server.py"], tmp_path)
    environment = install(launch._replace(options=python_launch.options), tmp_path / "file")
    assert start(environment) == "hello file"
    (tmp_path / "server.py").write_text("print(1)\n")
    assert verify(environment) == [f"{tmp_path}/server.py was changed."]
    module = parse_command(["uv", "run", "--no-project", "--with", "greeting-part", "-m", "greeting_part"], tmp_path)
    environment = install(module._replace(options=python_launch.options), tmp_path / "module")
    assert "greeting_part.__main__" in start(environment)


def test_another_spelling_and_a_wheel_by_its_path_are_the_same_server(start, wheels, python_launch, tmp_path):
    spelled = python_launch._replace(requirements=("Greeting_MCP",), executable="greeting_mcp")
    assert start(install(spelled, tmp_path / "a")) == "hello x"
    wheel = next(str(path) for path in wheels.glob("greeting_mcp-1.1*"))
    environment = install(python_launch._replace(requirements=(wheel,), executable=""), tmp_path / "b")
    assert (start(environment), environment.version) == ("hello x", "1.1")


def test_a_missing_package_and_a_missing_command_say_what_to_do(installer, python_launch, tmp_path):
    with pytest.raises(InstallFailed, match="not-there") as caught:
        install(python_launch._replace(requirements=("not-there",)), tmp_path / "a")
    assert "pip.conf" in str(caught.value.hint)
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == []


def test_a_server_for_another_python_says_how_to_name_one(installer, python_launch, wheels, tmp_path):
    wheel = next(wheels.glob("greeting_part-*.whl"))
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(tmp_path / "newer_mcp-1-py3-none-any.whl", "w") as target:
        for name in source.namelist():
            text = source.read(name).decode().replace("greeting-part", "newer-mcp").replace("0.5", "1")
            if name.endswith("METADATA"):
                text = text.replace("Name:", "Requires-Python: >=3.99\nName:")
            target.writestr(name.replace("greeting_part-0.5", "newer_mcp-1"), text)
    options = ("--no-index", "--find-links", str(tmp_path))
    with pytest.raises(InstallFailed, match="newer-mcp") as caught:
        install(Launch(PYPI, SCRIPT, "", requirements=("newer-mcp",), options=options), tmp_path / "a")
    assert "--python" in str(caught.value.hint)


@_BY_BOTH
def test_a_command_may_come_from_another_package_than_the_first(start, installer, python_launch, tmp_path):
    two = python_launch._replace(requirements=("greeting-part", "greeting-mcp"), executable="greeting-mcp")
    assert start(install(two, tmp_path / "a")) == "hello x"


def test_what_has_no_wheel_is_refused_before_its_code_runs(installer, tmp_path):
    archive, repository = "https://code.example/a.tar.gz", "git+https://code.example/a/serena@v1"
    for text in (archive, repository, "x @ git+ssh://git@h.example/x"):
        with pytest.raises(PackageRefused, match="runs its code") as caught:
            install(Launch(PYPI, SCRIPT, "a", requirements=(text,)), tmp_path / "a")
        assert "--allow-scripts" in str(caught.value.hint)


BACKEND = """
import pathlib, zipfile
pathlib.Path(r"{mark}").write_text("built")
def build_wheel(folder, config_settings=None, metadata_directory=None):
    with zipfile.ZipFile(f"{{folder}}/own_folder-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("own_folder.py", "def main(): print('from a folder')")
        wheel.writestr("own_folder-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: own-folder\\nVersion: 1\\n")
        kind = "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
        wheel.writestr("own_folder-1.dist-info/WHEEL", kind)
        wheel.writestr("own_folder-1.dist-info/entry_points.txt", "[console_scripts]\\nown = own_folder:main\\n")
        wheel.writestr("own_folder-1.dist-info/RECORD", "own_folder.py,,\\nown_folder-1.dist-info/METADATA,,\\n")
    return "own_folder-1-py3-none-any.whl"
"""


def test_the_code_of_a_folder_runs_only_where_that_was_allowed(start, installer, tmp_path):
    folder, mark = tmp_path / "folder", tmp_path / "mark"
    folder.mkdir()
    (folder / "backend.py").write_text(BACKEND.format(mark=mark))
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "own-folder"\nversion = "1"\nscripts = {own = "own_folder:main"}\n'
    )
    launch = parse_command(["uv", "--directory", str(folder), "run", "own"], "/")
    launch = launch._replace(options=("--no-index",))
    with pytest.raises(PackageRefused, match="would be built") as caught:
        install(launch, tmp_path / "a")
    assert "--allow-scripts own-folder." in str(caught.value.hint)
    assert not mark.exists()
    environment = install(launch, tmp_path / "a", allowed=["own-folder"])
    assert (start(environment), environment.version) == ("from a folder", "1")
    assert mark.exists()


def test_the_lock_of_a_project_says_which_versions_are_taken(python_launch, wheels, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "server.py").write_text("")
    (project / "pyproject.toml").write_text(
        '[project]\nname = "own"\nversion = "1"\nrequires-python = ">=3.11"\ndependencies = ["greeting-mcp==1.1"]\n'
        f'[tool.uv]\nno-index = true\nfind-links = ["{wheels}"]\n'
    )
    subprocess.run([find_uv(), "lock", "--quiet", "--offline", "--project", project], check=True)
    free = (project / "pyproject.toml").read_text().replace("==1.1", "")
    (project / "pyproject.toml").write_text(free)
    launch = parse_command(["uv", "run", "--directory", str(project), "server.py"], "/")
    environment = install(launch._replace(options=(*launch.options, *python_launch.options)), tmp_path / "a")
    assert next((one.name, one.version) for one in environment.packages) == ("greeting-mcp", "1.1")


def test_a_file_of_requirements_needs_uv(python_launch, tmp_path, monkeypatch):
    (tmp_path / "r.txt").write_text("greeting-mcp\n")
    launch = python_launch._replace(requirements=("greeting-mcp", f"-r {tmp_path}/r.txt"))
    assert install(launch, tmp_path / "a").version == "1.2"
    monkeypatch.setattr(python_environment, "find_uv", lambda: None)
    with pytest.raises(InstallFailed, match="without uv"):
        install(launch, tmp_path / "b")


def test_a_source_archive_in_an_index_is_refused(python_launch, tmp_path):
    links = tmp_path / "links"
    project = tmp_path / "sdist"
    (project / "only_source").mkdir(parents=True)
    (project / "only_source" / "__init__.py").write_text("")
    (project / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "only-source"\nversion = "1"\n'
    )
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", links], cwd=project, check=True)
    options = ("--no-index", "--find-links", str(links))
    with pytest.raises(PackageRefused, match="only-source has no wheel") as caught:
        install(Launch(PYPI, SCRIPT, "", requirements=("only-source",), options=options), tmp_path / "a")
    assert caught.value.hint == "Where you trust it with them, add --allow-scripts only-source."


def test_a_file_for_an_interpreter_needs_no_folder_and_is_watched(start, tmp_path):
    script = tmp_path / "server.py"
    script.write_text("print('here')")
    environment = install(parse_command([sys.executable, "server.py"], tmp_path), tmp_path / "none")
    assert (environment.ecosystem, environment.folder, start(environment)) == (NONE, "", "here")
    assert not (tmp_path / "none").exists()
    assert verify(environment) == []
    script.unlink()
    assert "cannot be read" in verify(environment)[0]


def test_tampering_is_found_without_a_network(python_launch, tmp_path):
    environment = install(python_launch, tmp_path / "greeting")
    assert "were not looked at" in verify(environment, seconds=-1)[0]  # in so little time
    site = next((tmp_path / "greeting").glob("lib/python*/site-packages"))
    module = site / "greeting_part" / "__init__.py"
    kept = module.read_bytes()
    module.write_bytes(kept.replace(b"hello", b"hullo"))
    (site / "evil.pth").write_text("import os\n")
    (site / "greeting_mcp" / "__init__.py").unlink()
    compiled = next(site.glob("greeting_part/__pycache__/*.pyc"))
    compiled.write_bytes(compiled.read_bytes() + b"x")
    found = verify(environment)
    assert len(found) == 4
    assert any(f"{compiled.name} was changed." in text for text in found)
    assert any("greeting_part/__init__.py was changed." in text for text in found)
    assert any("evil.pth was added." in text for text in found)
    assert any("greeting_mcp/__init__.py is gone." in text for text in found)
    (tmp_path / "greeting" / "files.json").write_text("{}")
    assert "files.json" in " ".join(verify(environment))
    assert verify(environment._replace(folder=str(tmp_path / "gone")))[-1].endswith("gone is gone.")


def test_a_record_brings_the_environment_back(python_launch, tmp_path):
    secrets = (Secret("token", "hidden-value", "TOKEN"), Secret("key", "hidden-value"))
    launch = python_launch._replace(secrets=secrets, folder="/srv", variables={"TZ": "UTC"}, arguments=("{key}",))
    environment = install(launch, tmp_path / "greeting")
    assert "hidden-value" not in json.dumps(environment.to_json())
    assert (environment.start_folder, environment.command[-1]) == ("/srv", "{key}")
    assert [one.variable for one in environment.secrets] == ["TOKEN", ""]
    again = Environment.from_json(json.loads(json.dumps(environment.to_json())))
    assert again == environment
    assert verify(again) == []
    with pytest.raises(InstallFailed):
        Environment.from_json({"folder": "/x"})


def test_an_interruption_leaves_nothing_and_the_old_environment_stays(python_launch, tmp_path):
    environment = install(python_launch, tmp_path / "greeting")

    def interrupt(line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        install(python_launch, tmp_path / "greeting", on_line=interrupt)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".greeting.lock", "greeting"]
    assert verify(environment) == []


def test_an_interrupted_installer_is_ended_with_all_that_it_started(tmp_path):
    from ferrule_mcp.environment.programs import run_program

    started: list[int] = []

    def interrupt(line: str) -> None:
        started.append(os.pidfd_open(int(line)))
        if len(started) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_program(["sh", "-c", "echo $$; sh -c 'echo $$; exec sleep 1000' & wait"], tmp_path, interrupt)
    for process in started:
        assert select.select([process], [], [], 60)[0]
        os.close(process)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_an_install_and_leaves_nothing(python_launch, tmp_path, number):
    code = (
        "import json, sys; from pathlib import Path\n"
        "from ferrule_mcp.environment.installation import install; from ferrule_mcp.launch.plan import Launch\n"
        "def show(line): print(line, flush=True); sys.stdin.read()\n"
        "install(Launch.from_json(json.loads(sys.argv[1])), Path(sys.argv[2]), on_line=show)\n"
    )
    words = [sys.executable, "-c", code, json.dumps(python_launch.to_json()), str(tmp_path / "greeting")]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert process.stdout
    assert process.stdout.readline() == "Resolving the packages.\n"
    process.send_signal(number)
    process.communicate()
    assert process.returncode in (-signal.SIGINT, 128 + number)
    assert [path.name for path in tmp_path.iterdir()] == [".greeting.lock"]


def test_what_an_installer_leaves_running_is_ended_with_it(tmp_path):
    from ferrule_mcp.environment.programs import run_program

    left: list[int] = []

    def open_process(line: str) -> None:
        with contextlib.suppress(ProcessLookupError):  # it has ended already
            left.append(os.pidfd_open(int(line)))

    run_program(["sh", "-c", "sleep 1000 & echo $!"], tmp_path, open_process)  # which would wait for the end of sleep
    for process in left:
        assert select.select([process], [], [], 60)[0]
        os.close(process)


def test_an_installer_that_hangs_is_ended(tmp_path):
    from ferrule_mcp.environment.programs import run_program

    with pytest.raises(InstallFailed, match="sh has not ended after"):
        run_program(["sh", "-c", "exec sleep 1000"], tmp_path, lambda _line: None, seconds=0.05)


def test_what_a_killed_process_has_left_is_removed_by_the_next(python_launch, tmp_path):
    code = (
        "import os, signal, sys; from pathlib import Path; from ferrule_mcp.environment.folders import stage\n"
        "with stage(Path(sys.argv[1])) as building:\n"
        "    (building / 'half').write_text('x')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run([sys.executable, "-c", code, tmp_path / "greeting"], env=environ)
    assert killed.returncode == -signal.SIGKILL
    assert len([path for path in tmp_path.iterdir() if ".new-" in path.name]) == 1
    install(python_launch, tmp_path / "greeting")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".greeting.lock", "greeting"]


def test_two_installs_of_one_name_do_not_mix(python_launch, tmp_path, monkeypatch):
    from ferrule_mcp.environment import folders

    monkeypatch.setattr(folders, "_WAIT_SECONDS", 0.0)
    inside, leave = threading.Event(), threading.Event()

    def wait(line: str) -> None:
        inside.set()
        leave.wait()

    first = threading.Thread(target=install, args=(python_launch, tmp_path / "greeting"), kwargs={"on_line": wait})
    first.start()
    inside.wait()
    with pytest.raises(InstallFailed, match="Another process is installing greeting"):
        install(python_launch, tmp_path / "greeting")
    leave.set()
    first.join()
    assert (tmp_path / "greeting" / "files.json").is_file()


def test_a_disk_that_takes_nothing_is_an_error_with_what_to_do(python_launch, tmp_path, monkeypatch):
    def fill(folder: Path) -> str:
        raise OSError(28, "No space left on device", str(folder))

    monkeypatch.setattr(installation, "write_list", fill)
    with pytest.raises(InstallFailed, match="No space left on device") as caught:
        install(python_launch, tmp_path / "greeting")
    assert caught.value.hint == "Make room on the disk, and try again."
    assert [path.name for path in tmp_path.iterdir()] == [".greeting.lock"]


def test_logins_in_the_output_of_an_installer_are_not_shown(tmp_path):
    from ferrule_mcp.environment.programs import ProgramFailed, run_program

    lines: list[str] = []
    with pytest.raises(ProgramFailed) as caught:
        run_program(["sh", "-c", "echo '\033[31mat https://ann:pw@i.example/simple'; exit 3"], tmp_path, lines.append)
    assert lines == ["at https://i.example/simple"]
    assert caught.value.summary == "at https://i.example/simple"


def test_a_bundle_in_python_is_installed_moved_and_checked(start, tmp_path):
    config = {"command": "python", "args": ["${__dirname}/main.py"], "env": {"PYTHONPATH": "${__dirname}/lib"}}
    server = {"type": "python", "entry_point": "main.py", "mcp_config": config}
    with zipfile.ZipFile(tmp_path / "a.mcpb", "w") as archive:
        archive.writestr("manifest.json", json.dumps({"name": "a", "version": "1", "server": server}))
        archive.writestr("main.py", "import sys; sys.path[:0] = [sys.path[0] + '/lib']; import own; print(own.X)")
        archive.writestr("lib/own.py", "X = 'from the bundle'")
    environment = install(read_bundle(tmp_path / "a.mcpb").fill({}), tmp_path / "a")
    assert start(environment) == "from the bundle"
    assert environment.variables == {"PYTHONPATH": f"{tmp_path}/a/bundle/lib"}
    assert environment.watched == {}
    assert list((tmp_path / "a" / "bundle" / "lib").glob("__pycache__/own.*.pyc"))
    assert verify(environment) == []
    (tmp_path / "a" / "bundle" / "main.py").write_text("print('other')")
    assert verify(environment) == ["bundle/main.py was changed."]


def test_a_project_in_a_bundle_is_not_built_without_a_word(tmp_path):
    server = {"type": "uv", "entry_point": "server.py"}
    with zipfile.ZipFile(tmp_path / "a.mcpb", "w") as archive:
        archive.writestr("manifest.json", json.dumps({"name": "own-bundle", "version": "1", "server": server}))
        archive.writestr("server.py", "")
        archive.writestr("pyproject.toml", '[project]\nname = "x"\n[build-system]\nrequires = ["hatchling"]\n')
    with pytest.raises(PackageRefused, match="own-bundle would be built") as caught:
        install(read_bundle(tmp_path / "a.mcpb").fill({}), tmp_path / "a")
    assert "--allow-scripts own-bundle" in str(caught.value.hint)
    assert not (tmp_path / "a").exists()


def test_a_python_that_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    if find_uv() is None:
        pytest.skip("uv is missing")
    with pytest.raises(InstallFailed, match=r"Python 3\.99 is not on PATH") as caught:
        install(parse_command(["uvx", "--python", "3.99", "anything"], tmp_path), tmp_path / "a")
    assert "uvx --python /usr/bin/python3.99" in str(caught.value.hint)


def test_a_python_that_uv_cannot_fetch_is_named(tmp_path, monkeypatch):
    uv = tmp_path / "uv"
    uv.write_text(
        "#!/bin/sh\necho 'error: Failed to download `http://127.0.0.1:9/cpython-3.12.16-x86_64.tar.gz`'\nexit 2\n"
    )
    uv.chmod(0o700)
    monkeypatch.setattr(python_environment, "find_uv", lambda: str(uv))
    with pytest.raises(InstallFailed, match=r"Python 3\.12 is not on PATH"):
        install(parse_command(["uvx", "--python", "3.12", "anything"], tmp_path), tmp_path / "a")
