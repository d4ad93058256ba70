"""Where a keeper's socket can be: systems without a session, folders that are taken, a disk that is full.

Each of these has a system's folders of its own, in a name space of mounts, which only root can make.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ferrule_testkit import PATIENCE_SECONDS, PROJECT
from ferrule_testkit.keeper import LinkedMachine

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(os.geteuid() != 0, reason="elsewhere: only root can make name spaces"),
]

OSLO = b'{"city": "Oslo"}'
GOT_OSLO = {"got": {"city": "Oslo"}}
# /tmp and /run are empty but for what the test needs. $1: the folders that stay, $2: what is prepared.
_EMPTY = """\
set -e
mount --make-rprivate /
mount -t tmpfs none /mnt
mkdir /mnt/tmp
mount --rbind /tmp /mnt/tmp
mount -t tmpfs none /tmp
mount -t tmpfs none /run
for folder in $1; do
  if [ -d "/mnt$folder" ]; then mkdir -p "$folder"; mount --rbind "/mnt$folder" "$folder"; fi
done
eval "$2"
shift 2
exec "$@"
"""
# A call; then some others, until a keeper has made one, which it may be too busy for; and the keepers, which it ends.
# argv: the executable, and the seconds for which a keeper is waited for.
_CALLS = """\
import json, os, subprocess, sys, time
from ferrule.calls.keeper.client import find_keepers, stop_keeper
def call():
    done = subprocess.run([sys.argv[1]], input=b'{"city": "Oslo"}', capture_output=True)
    return [json.loads(done.stdout), done.stderr.decode(), done.returncode]
def find():
    return [one for one in find_keepers(os.environ) if one.facts]
answers = [call()]
limit = time.monotonic() + float(sys.argv[2])
while not find() and time.monotonic() < limit:
    time.sleep(0.02)
answers += [call()]
while (keepers := find()) and not keepers[0].facts["calls"] and len(answers) < 12:
    answers += [call()]
facts = [[one.path, one.facts["calls"]] for one in keepers]
for one in keepers:
    stop_keeper(one)
print(json.dumps({"answers": answers, "keepers": facts}))
"""


def call_and_find_keepers(linked: LinkedMachine, prepared: str, *, seconds: float, **environ: str) -> Any:
    """Make calls on such a system, which all have to be right. Returns the keepers that were there then.

    Args:
        prepared: commands of a shell, before the calls.
        seconds: for which a keeper is waited for between the calls.
        environ: of the callers.
    """
    executable = linked.install("alpha")
    folders = f"{linked.kept.machine.home.parent} {PROJECT} {linked.kept.runtime.parent}"
    command = ["unshare", "--mount", "sh", "-c", _EMPTY, "sh", folders, prepared]
    known = {name: value for name, value in linked.environment.items() if name != "XDG_RUNTIME_DIR"}
    done = subprocess.run(
        [*command, sys.executable, "-c", _CALLS, str(executable), str(seconds)],
        env={**known, **environ},
        capture_output=True,
        cwd=PROJECT,  # which is there on that system, too
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    assert found["answers"] == [[GOT_OSLO, "", 0]] * max(2, len(found["answers"]))
    return found["keepers"]


@pytest.mark.parametrize(
    ("prepared", "runtime", "folder"),
    [
        ("", "", "/tmp/ferrule-0"),
        ("", "/run/gone", "/tmp/ferrule-0"),
        ("", "relative", "/tmp/ferrule-0"),
        ("mkdir -p /run/user/0", "", "/run/user/0/ferrule"),
        ("mkdir -p /run/user/0/ferrule && chmod 770 /run/user/0/ferrule", "", "/tmp/ferrule-0"),
    ],
    ids=["cron", "gone", "relative", "sudo", "open-to-the-group"],
)
def test_a_keeper_is_where_there_is_a_folder_for_it(
    prepared: str, runtime: str, folder: str, linked: LinkedMachine
) -> None:
    environ = {"XDG_RUNTIME_DIR": runtime} if runtime else {}
    ((path, calls),) = call_and_find_keepers(linked, prepared, seconds=PATIENCE_SECONDS, **environ)
    assert (str(Path(path).parent), calls) == (folder, 1)


@pytest.mark.parametrize(
    "prepared",
    [
        "mkdir /tmp/ferrule-0 && chown 65534 /tmp/ferrule-0",
        "mkdir -m 1777 /tmp/ferrule-0",
        "mkdir -m 700 /tmp/x && ln -s x /tmp/ferrule-0",
        "touch /tmp/ferrule-0",
        "mount -o remount,ro /tmp",
        "mkdir -m 700 /tmp/ferrule-0 && mount -t tmpfs -o mode=700,nr_inodes=1 none /tmp/ferrule-0",
    ],
    ids=["of-another-user", "open", "symbolic-link", "file", "read-only", "full"],
)
def test_where_there_is_none_calls_are_made_without(prepared: str, linked: LinkedMachine) -> None:
    assert call_and_find_keepers(linked, prepared, seconds=0.5) == []
