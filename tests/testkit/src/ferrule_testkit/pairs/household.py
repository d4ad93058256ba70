"""A machine as a row of the table says: its folders, its files, its environment, and who starts programs on it."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from ferrule_testkit import PROJECT
from ferrule_testkit.attacks import ordinary_user
from ferrule_testkit.corpus import Site
from ferrule_testkit.pairs.table import FACTORS, Row
from ferrule_testkit.runs import SECONDS, mark

SECRET = "k1nds-Key-of-the-Tests-0815"
_DISTRIBUTION = PROJECT / "tests/testkit/kinds"
_CITY = {"type": "string", "description": "Name of a city."}
_PARAMETERS = {"type": "object", "properties": {"city": _CITY}, "required": ["city"]}
_LOCALES = {
    "utf8": {"LANG": "C.UTF-8"},
    "c": {"LANG": "C", "LC_ALL": "C"},
    "latin1": {"LANG": "en_US.ISO-8859-1", "PYTHONIOENCODING": "latin-1"},
    "none": {},
}
_ODD = "O'Brien's \"Größe\" $HOME"
_NOWHERE = "/proc/nowhere"  # where not even root makes a folder
_WRAPPERS = ("cache", "artifacts", "timing")
# Every table that is not about a tool; the values are the defaults, or change nothing here.
_FULL = """\
[permissions]
unenforced = "warn"
{isolation}
[wrappers.cache]
max_mib = 64
negative = true
{cache}
[wrappers.cache.tools.{tool}]
seconds = 600

[wrappers.artifacts]
threshold = 24576
seconds = 1800
total = 268435456
{artifacts}
[wrappers.timing]
{timing}
[journal]
enabled = {journal}
arguments = "full"
max_mib = 16
path = {path}

[tools.{tool}]
enabled = true
memory = 1024
import_ahead = true
reusable = true

[tools.{tool}.permissions]
network = []
read = ["."]
write = []
programs = []
environment = ["WEATHER_*"]
processes = 2
state = ["almanacs"]
tools = []

[serve]
result_bytes = 65534
media_bytes = 524288

[ask]
model = "claude-sonnet-5-5"
max_tokens = 1000
tools = ["{tool}"]
on_tool_error = "answer"

[ask.prices]
my-model = [3.0, 15.0]
"""


class Premises:
    """What the machines of one run share: installed tools that all may read, and Python for an ordinary user."""

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="pairs-"))
        self.root.chmod(0o755)
        self.site = Site(self.root / "installed").install(_DISTRIBUTION)
        for form in FACTORS["form"]:
            for kind in FACTORS["kind"]:
                self._describe(f"{form}_{kind}")
        for form, permissions in (("function", {"network": []}), ("hooks", {"network": ["public"]})):
            for kind in FACTORS["kind"]:
                declared = self.site.path / f"{form}_{kind}.tool.json"
                declared.write_text(json.dumps({"permissions": permissions}))
        _write_record(self.site.path)

    def _describe(self, name: str) -> None:
        described = {"name": name, "description": "Returns one kind of result.", "parameters": _PARAMETERS}
        (self.site.path / f"{name}.schema.json").write_text(json.dumps(described))

    @cached_property
    def python_of_nobody(self) -> Path:
        """An interpreter that an ordinary user can start."""
        return ordinary_user.interpreter(self.root)

    def remove(self) -> None:
        """Remove all of it."""
        shutil.rmtree(self.root)


class Household:
    """One machine, set up as a row says. mark: in the environment of all that is started on it."""

    def __init__(self, premises: Premises, row: Row) -> None:
        self.row = row
        self._premises = premises
        self.folder = Path(tempfile.mkdtemp(prefix="m" if row.names == "plain" else _ODD, dir=premises.root))
        self.home, self.links, self.work = (self._make(name) for name in ("home", "links", "work"))
        settled = self.home if row.home != "unset" else self._make("elsewhere")
        self._config_home, self._state_home = settled / ".config", settled / ".local/state"
        self.config = self._config_home / "ferrule/config.toml"
        self.state = self._state_home / "ferrule" if row.state == "home" else self._named_state()
        self.journal = self.folder / "calls.jsonl" if row.config == "full" else self.state / "journal/calls.jsonl"
        self.mark, self.environment = mark(self._environment())
        self._write_files()
        self._hand_over()

    def _make(self, name: str) -> Path:
        path = self.folder / name
        path.mkdir()
        return path

    def _named_state(self) -> Path:
        return Path(_NOWHERE) if self.row.state == "nowhere" else self._make("state")

    def _environment(self) -> dict[str, str]:
        path, row = [str(self._premises.site.path)], self.row
        if self.is_nobodys:
            path += ordinary_user.search_path()
        environment = {
            "PATH": f"{self._python.parent}:/usr/bin:/bin",
            "PYTHONPATH": os.pathsep.join(path),
            "PYTHONDONTWRITEBYTECODE": "1",
            **_LOCALES[row.locale],
        }
        if row.home == "unset":
            environment |= {"XDG_CONFIG_HOME": str(self._config_home), "XDG_STATE_HOME": str(self._state_home)}
        else:
            environment["HOME"] = str(self._linked_home() if row.home == "link" else self.home)
        if row.state != "home":
            environment["FERRULE_STATE"] = str(self.state)
        if row.credentials == "variable":
            environment["KINDS_KEY"] = SECRET
        if row.agent == "set":
            environment["IKIGAI_AGENT_ID"] = "agent-7"
        if row.tmpdir == "missing":
            environment["TMPDIR"] = str(self.folder / "no-such-folder")
        if row.wrappers != "default" and not row.has_own_configuration:
            environment["FERRULE_WRAPPERS"] = ",".join(self._wrappers)
        return environment

    def _linked_home(self) -> Path:
        link = self.folder / "link"
        link.symlink_to(self.home)
        return link

    @property
    def _wrappers(self) -> Sequence[str]:
        one = {"default": (), "none": (), "every": _WRAPPERS}
        return one.get(self.row.wrappers, (self.row.wrappers,))

    def has_wrapper(self, name: str) -> bool:
        """Whether a wrapper surrounds the calls of the tool, other than by what `ferrule serve` does by default."""
        return name in self._wrappers

    @property
    def serves_artifacts(self) -> bool:
        """Whether `ferrule serve` links what is large; only a setting about that wrapper switches it off."""
        if self.has_wrapper("artifacts") or self.row.wrappers == "default":
            return True
        return self.row.config == "own" and self.row.wrappers != "none"

    def _write_files(self) -> None:
        row = self.row
        self.config.parent.mkdir(parents=True)
        if row.credentials in ("file", "malformed"):
            file = self._config_home / "ikigai/credentials.json"
            file.parent.mkdir()
            file.write_text(json.dumps({"kinds": {"key": SECRET}})[: None if row.credentials == "file" else -1])
            file.chmod(0o600)
        if row.lock == "on":
            self._own(self.folder)
            locked = self.run([*self.ferrule, "lock", row.tool])
            assert locked.returncode == 0, locked.stderr
        if row.config != "absent":
            self.config.write_text(self._configuration())

    def _configuration(self) -> str:
        row = self.row
        if row.config == "empty":
            return ""
        locked = "locked = true\n" if row.lock == "on" else ""
        isolation = "" if row.isolation == "default" else f'isolation = "{row.isolation}"'
        if row.config == "full":
            switches = {name: f"enabled = {str(name in self._wrappers).lower()}\n" for name in _WRAPPERS}
            switches = dict.fromkeys(switches, "") if row.wrappers == "default" else switches
            journal = str(row.journal == "on").lower()
            facts = {
                "tool": row.tool,
                "isolation": isolation,
                "journal": journal,
                "path": json.dumps(str(self.journal), ensure_ascii=False),
            }
            return locked + _FULL.format(**facts, **switches)
        chosen = {name: name in self._wrappers for name in (_WRAPPERS if row.wrappers == "none" else self._wrappers)}
        tables = [f"[wrappers.{name}]\nenabled = {str(is_on).lower()}" for name, is_on in chosen.items()]
        tables += [f"[permissions]\n{isolation}"] if isolation else []
        tables += ["[journal]\nenabled = true"] if row.journal == "on" else []
        return locked + "\n".join([*tables, ""])

    def _hand_over(self) -> None:
        if self.row.way == "link":
            self._own(self.folder)
            linked = self.run([*self.ferrule, "link", self.row.tool, "--to", str(self.links)])
            assert linked.returncode == 0, linked.stderr
        self._own(self.folder)
        if self.row.home == "readonly":
            _allow(self.home, 0o555)

    def _own(self, top: Path) -> None:
        if self.is_nobodys:
            for path in (top, *top.rglob("*")):
                os.chown(path, ordinary_user.NOBODY, ordinary_user.NOBODY, follow_symlinks=False)

    @property
    def is_nobodys(self) -> bool:
        """Whether programs run as another user than this process."""
        return self.row.user == "nobody"

    @property
    def _python(self) -> Path:
        return self._premises.python_of_nobody if self.is_nobodys else Path(sys.executable)

    @property
    def ferrule(self) -> list[str]:
        """The beginning of every command of `ferrule`."""
        return [str(self._python), "-P", "-m", "ferrule"]

    def python(self, script: str, *arguments: str) -> list[str]:
        """The command that runs a program of Python's, from a file, as users have it."""
        program = self.folder / "program.py"
        program.write_text(script)
        return [str(self._python), "-P", str(program), *arguments]

    def start(
        self, command: Sequence[str], *, stdin: IO[bytes] | int, environment: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a program on the machine."""
        someone: dict[str, Any] = {}
        if self.is_nobodys:
            someone = {"user": ordinary_user.NOBODY, "group": ordinary_user.NOBODY, "extra_groups": []}
        prefix = ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh"] if self.row.stderr == "closed" else []
        return subprocess.Popen(
            [*prefix, *command],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**self.environment, **(environment or {})},
            cwd="/" if self.row.cwd == "root" else self.work,
            start_new_session=True,
            **someone,
        )

    def run(
        self, command: Sequence[str], data: bytes = b"", *, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a program to its end, with data on its stdin."""
        process = self.start(command, stdin=subprocess.PIPE, environment=environment)
        out, err = process.communicate(data, SECONDS)
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def remove(self) -> None:
        """Remove the machine."""
        _allow(self.home, 0o755)
        shutil.rmtree(self.folder)


def _allow(top: Path, mode: int) -> None:
    for path in (top, *top.rglob("*")):
        if path.is_dir():
            path.chmod(mode)


def _write_record(site: Path) -> None:
    """As an installer does, so that the tools can be locked."""
    (metadata,) = site.glob("*.dist-info")
    files = sorted(path for path in site.rglob("*") if path.is_file())
    lines = [f"{path.relative_to(site)},{_hash(path)},{path.stat().st_size}" for path in files]
    (metadata / "RECORD").write_text("\n".join([*lines, f"{metadata.name}/RECORD,,", ""]))


def _hash(path: Path) -> str:
    digest = hashlib.sha256(path.read_bytes()).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).decode().rstrip("=")
