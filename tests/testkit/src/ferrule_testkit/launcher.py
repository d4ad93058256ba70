"""Links for a launcher whose Python is a script that shows what it was given, and the build of the launcher."""

import importlib.util
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ferrule.links.launcher_form import write_for_launcher
from ferrule.links.link_content import LinkContent
from ferrule_testkit import PROJECT
from ferrule_testkit.processes.stub_keeper import place_socket
from ferrule_testkit.runs import SECONDS

LAUNCHER = PROJECT / "plugins/launcher"
SOURCE = LAUNCHER / "src/launcher"
SANITIZED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Werror")
STRICT = (
    "-Wpedantic",
    "-Wshadow",
    "-Wconversion",
    "-Wstrict-prototypes",
    "-Wmissing-prototypes",
    "-Wvla",
    "-Wformat=2",
)
INSTALLATION = "00000000feedbeef"
SCHEMA = '{"name":"tell","description":"A \\\\ and \\n."}'
# Shows the words that it is started with, its limit, and its stdin; nothing of these is JSON.
_PYTHON = """\
#!/bin/sh
[ -z "$FERRULE_DEADLINE" ] || printf 'limit '
printf '<%s>' "$@"
printf '\\n'
[ "$#" -gt 6 ] || exec cat
"""


def load_hook() -> Any:
    """The module that compiles the launcher into a wheel."""
    spec = importlib.util.spec_from_file_location("launcher_hatch_build", LAUNCHER / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Linked:
    """One link on a machine of its own. path: of the link. folder: of all that it has."""

    def __init__(self, launcher: Path, folder: Path) -> None:
        self.launcher, self.folder = launcher, folder
        self.runtime = Path(tempfile.mkdtemp(prefix="run-"))  # the path of a socket has to be short
        self.environment = {"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(self.runtime), "TERM": "dumb"}
        self.python = folder / "python"
        self.python.write_text(_PYTHON)
        self.python.chmod(0o755)
        for name in ("watched", "site"):
            (folder / name).mkdir()
        (folder / "marks.clash").write_text("other\n")
        self.path = folder / "tell-tool"
        self.write(self.content())

    def close(self) -> None:
        """Remove what is elsewhere."""
        shutil.rmtree(self.runtime)

    def content(self) -> LinkContent:
        """What stands in the link."""
        at = self.folder
        return LinkContent(
            facts="{}",
            tool="tell",
            name="tell",
            python=str(self.python),
            watched=(str(at / "watched"),),
            folders=(str(at / "site"),),
            config=str(at / "config.toml"),
            off=str(at / "marks.off"),
            lock=str(at / "ferrule.lock"),
            differing=str(at / "marks.lock"),
            clash=str(at / "marks.clash"),
            installation=INSTALLATION,
            schema=SCHEMA,
            gone='{"gone": true}',
            gone_text="It is\ngone.",
            options=("-I", "-S"),
            code="a\nb\\n",
            orders='{"tool": "tell"}',
        )

    def write(self, content: LinkContent) -> None:
        """Write the link."""
        written = write_for_launcher(content, str(self.launcher), "# ferrule link: ")
        assert written is not None
        self.path.write_bytes(written)
        self.path.chmod(0o755)

    def socket(self, **environ: str) -> Path:
        """Where the keeper's socket belongs for calls with this environment."""
        return place_socket(self.runtime, INSTALLATION, {**self.environment, **environ})

    def start(self, *words: str, environ: Mapping[str, str] | None = None, **options: Any) -> "subprocess.Popen[bytes]":
        """Start the link."""
        pipes: dict[str, Any] = {
            "stdin": subprocess.PIPE,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            **options,
        }
        return subprocess.Popen([self.path, *words], env={**self.environment, **(environ or {})}, **pipes)

    def run(
        self, *words: str, stdin: bytes = b"{}", environ: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run it to its end."""
        return subprocess.run(
            [self.path, *words],
            input=stdin,
            env={**self.environment, **(environ or {})},
            capture_output=True,
            timeout=SECONDS,
        )


def cold(stdin: bytes, *, doubt: str = "", limit: str = "") -> bytes:
    """What a cold start prints. limit: `limit ` where it has a deadline of its own."""
    return limit.encode() + f'<-I><-S><-c><a\nb\\n><{{"tool": "tell"}}><{doubt}>\n'.encode() + stdin


def hide_launcher(folder: Path) -> None:
    """Have links be shell files where this folder of packages comes first."""
    (folder / "ferrule_launcher-0.dist-info").mkdir()
