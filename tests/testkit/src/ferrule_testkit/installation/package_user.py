"""A user with an environment of their own, into which ferrule and packages come from an index on loopback."""

import os
import subprocess
import sys
from pathlib import Path

from ferrule_testkit.installation.wheels import PackageIndex

BIN = Path(sys.executable).parent


class User:
    """A user with an environment that ferrule was installed into. mark: is there once hostile code has run."""

    def __init__(self, folder: Path, index: PackageIndex) -> None:
        self.folder, self.index = folder, index
        self.mark = folder / "RAN"
        kept = {
            k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "UV_", "PYTHON", "VIRTUAL", "FERRULE"))
        }
        home = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), "PATH": f"{BIN}:{os.environ['PATH']}"}
        self.environ = {**kept, **index.environment, **home}
        self.python = folder / "env/bin/python"

    def start(self, *command: str | Path) -> "subprocess.CompletedProcess[str]":
        line = list(map(str, command))
        return subprocess.run(line, cwd=self.folder, env=self.environ, capture_output=True, text=True, check=False)

    def make_environment(self, *, with_pip: bool) -> "User":
        make = [sys.executable, "-m", "venv"] if with_pip else ["uv", "venv", "-q", "--python", sys.executable]
        install = [self.python, "-m", "pip"] if with_pip else ["uv", "pip"]
        where = [] if with_pip else ["--python", self.python]
        for command in ([*make, self.folder / "env"], [*install, "install", "-q", *where, "ferrule"]):
            done = self.start(*command)
            assert done.returncode == 0, done.stdout + done.stderr
        return self

    def ferrule(self, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
        return self.start(self.folder / "env/bin/ferrule", *arguments)

    def install(self, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
        self.index.asked.clear()
        return self.ferrule("install", *arguments)

    def packages(self) -> set[str]:
        code = "import importlib.metadata as m; print(*{d.metadata['Name'] for d in m.distributions()})"
        return set(
            self.start(
                self.python, "-I", "-S", "-c", f"import sys; sys.path.append({self.site!r}); {code}"
            ).stdout.split()
        )

    @property
    def site(self) -> str:
        return str(next(self.folder.glob("env/lib/python*/site-packages")))
