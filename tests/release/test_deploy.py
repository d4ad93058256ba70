"""The files of deploy/, as far as they can be tried without a container runtime and without systemd as process 1."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from ferrule_testkit import PROJECT
from ferrule_testkit.machine import Machine
from ferrule_testkit.serve.service import HttpService

DEPLOY = PROJECT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
SERVICE = (DEPLOY / "ferrule-serve.service").read_text()


def entry_point() -> list[str]:
    """The options with which the container starts the server."""
    (line,) = re.findall(r"^ENTRYPOINT (.+)$", DOCKERFILE, re.MULTILINE)
    command: list[str] = json.loads(line)
    assert command[:2] == ["ferrule", "serve"]
    return command[2:]


def unit_options() -> list[str]:
    (line,) = re.findall(r"^ExecStart=\S+/ferrule serve (.+)$", SERVICE, re.MULTILINE)
    return shlex.split(line)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(
    "options", [entry_point() + COMPOSE["services"]["serve"]["command"], unit_options()], ids=["container", "systemd"]
)
def test_the_server_starts_with_the_options_of_the_files(options: list[str], machine: Machine) -> None:
    machine.install("greets", execute="return {}")
    (machine.work / "token").write_text("a-token-of-some-length-4711\n")
    (machine.work / "token").chmod(0o600)
    started = [
        f"--token-file={machine.work}/token" if option.startswith("--token-file") else option
        for option in options
        if not option.startswith("--http=")
    ]
    with HttpService(machine.environment, *started, work=machine.work) as service:
        assert service.post("tools/list", {})[0] == 401
        assert service.post("tools/list", {}, Authorization="Bearer a-token-of-some-length-4711")[0] == 200


def test_compose_lets_addresses_be_judged_and_keeps_tools_from_redis() -> None:
    serve, redis = COMPOSE["services"]["serve"], COMPOSE["services"]["redis"]
    assert (serve["cap_drop"], serve["cap_add"]) == (["ALL"], ["SYS_PTRACE"])
    assert "no-new-privileges:true" in serve["security_opt"]
    assert re.search(r"^USER (?!root|0)", DOCKERFILE, re.MULTILINE)
    assert redis["command"][redis["command"].index("--requirepass") + 1] == "${REDIS_PASSWORD}"
    assert serve["environment"]["FERRULE_REDIS"].startswith("redis://:${REDIS_PASSWORD:?")
    (uid,) = re.findall(r"useradd .*--uid (\d+)", DOCKERFILE)
    assert f"chown {uid} deploy/token" in (DEPLOY / "compose.yaml").read_text()
    assert all("mode" not in secret for secret in serve["secrets"])  # which is ignored where it is a file


def test_what_compose_mounts_and_builds_is_there() -> None:
    assert (DEPLOY / COMPOSE["services"]["serve"]["build"]["context"] / "deploy/Dockerfile").is_file()
    source = COMPOSE["services"]["nginx"]["volumes"][0].partition(":")[0]
    assert (DEPLOY / source).is_file()
    for copied in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE)[0].split():
        assert "*" in copied or (PROJECT / copied).is_file()


@pytest.mark.process
def test_nginx_takes_the_configuration_that_compose_makes(tmp_path: Path) -> None:
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if nginx is None:
        pytest.skip("nginx is not installed; scripts/install-system-packages brings it")
    script = COMPOSE["services"]["nginx"]["command"][2]
    script = script.replace("/etc/ferrule/nginx.conf", str(PROJECT / "docs/how-to/nginx.conf"))
    script = script.replace("/etc/nginx/conf.d/default.conf", str(tmp_path / "default.conf")).partition("&&")[0]
    subprocess.run(["sh", "-c", script], check=True)
    made = (tmp_path / "default.conf").read_text()
    assert "server serve:8700" in made
    assert "127.0.0.1" not in made
    # The name is known in the network of compose alone.
    (tmp_path / "default.conf").write_text(made.replace("serve:8700", "127.0.0.1:8700"))
    whole = f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ include {tmp_path}/default.conf; }}"
    (tmp_path / "nginx.conf").write_text(whole)
    done = subprocess.run(
        [nginx, "-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.process
def test_systemd_knows_every_line_of_the_unit(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / "ferrule-serve.service"
    unit.write_text(SERVICE.replace("/opt/ferrule/bin/ferrule", shutil.which("true") or "/bin/true"))
    done = subprocess.run([analyze, "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (done.returncode, [line for line in done.stderr.splitlines() if unit.name in line]) == (0, [])
