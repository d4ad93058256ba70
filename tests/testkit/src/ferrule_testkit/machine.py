"""A user's machine for tests of the admin's command: a home, a working folder, installed tools, the real `ferrule`."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ferrule_testkit import PATIENCE_SECONDS
from ferrule_testkit.installation.hidden_distributions import KEYLESS, hide, offering_commands, offering_tools
from ferrule_testkit.processes import fork_server

BIN = Path(sys.executable).parent
CITY = {"city": {"type": "string", "description": "A city."}}
_MODULE = """\
from ferrule import Credential, ToolError, hookimpl, static_schema

{top}

@hookimpl
def schema():
    return {schema}

@hookimpl
def execute(arguments, context):
    {execute}
"""


class Finished(NamedTuple):
    """How a command ended: its exit code, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


class Machine:
    """A user's machine. home, work: folders. site: where tools are installed. environment: of every command."""

    def __init__(self, root: Path) -> None:
        self.home, self.work, self.site, hiding = (root / name for name in ("home", "work", "site", "hiding"))
        self._hiding = hiding
        for folder in (self.home, self.work, self.site, hiding):
            folder.mkdir()
        hide(hiding, offering_tools() - KEYLESS)
        self.tools = self.home / ".ikigai" / "tools"
        self.credentials = self.home / ".config" / "ikigai" / "credentials.json"
        self.environment = {
            "HOME": str(self.home),
            "PATH": f"{BIN}:/usr/bin:/bin",
            "PYTHONPATH": f"{self.site}:{hiding}",
            "LANG": "C.UTF-8",
        }

    def uncover_the_host(self) -> "Machine":
        """Let the tools and wrappers show that the host itself brings along; they are hidden as others are."""
        hidden = self._hiding / "ferrule-0.dist-info"
        if hidden.exists():
            hidden.rmdir()
        return self

    def hide_commands(self, *kept: str) -> "Machine":
        """Hide the commands of other distributions, each of which `ferrule doctor` loads, for a second in all.

        kept: distributions whose commands are called.
        """
        hide(self._hiding, offering_commands() - set(kept))
        return self

    def hide_tools(self) -> "Machine":
        """Hide the tools of the project that need no key, too: `list --check`, `lock` and `doctor` load each."""
        hide(self._hiding, KEYLESS)
        return self

    def show_commands(self) -> "Machine":
        """Let the commands show that `hide_commands` has hidden."""
        for name in offering_commands() - (offering_tools() - KEYLESS):
            hidden = self._hiding / f"{name.replace('-', '_')}-0.dist-info"
            if hidden.exists():
                hidden.rmdir()
        return self

    def install(
        self,
        name: str,
        *,
        properties: Mapping[str, Any] = CITY,
        static: bool = True,
        top: str = "",
        execute: str = "return {'got': arguments}",
        description: str = "Does something.",
        schema: Mapping[str, Any] | None = None,
        distribution: str | None = None,
        module: str | None = None,
        permissions: Mapping[str, Any] | None = None,
    ) -> Path:
        """Install a tool as a wheel would: a module, and the metadata of a distribution. The module's path."""
        module = module or f"module_{name}"
        parameters = {"type": "object", "properties": dict(properties)}
        described = schema or {"name": name, "description": description, "parameters": parameters}
        if static:
            (self.site / f"{module}.schema.json").write_text(json.dumps(described))
        source = "static_schema(__file__)" if static else repr(described)
        path = self.site / f"{module}.py"
        path.write_text(_MODULE.format(top=top, schema=source, execute=execute))
        if permissions is not None:
            (self.site / f"{module}.tool.json").write_text(json.dumps({"permissions": permissions}))
        metadata = self.site / f"{distribution or 'dist_' + name}-1.0.dist-info"
        metadata.mkdir(exist_ok=True)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[ferrule.tools]\n{name} = {module}\n")
        return path

    def gate(self) -> Path:
        """A FIFO beside the tools, which they may read, and no more: `open(gate).read()` holds a tool there.

        To open it for writing waits until a tool is there; to close it lets the tool go on.
        """
        path = self.site / "gate"
        os.mkfifo(path)
        return path

    def ferrule(
        self,
        *arguments: str,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        encoding: str = "utf-8",
        **options: Any,
    ) -> Finished:
        """Run `ferrule ARGUMENT…` to its end: in a fork where that shows the same, else as a program of its own."""
        merged = {**self.environment, **(environment or {})}
        if not options and fork_server.is_possible(merged):
            argv = [str(BIN / "ferrule"), *arguments]
            ended = fork_server.run(
                "ferrule.cli:main", argv, stdin, environment=merged, cwd=self.work, packages=_preloaded(arguments)
            )
            return Finished(ended.exit_code, ended.stdout.decode(encoding), ended.stderr.decode(encoding))
        finished = subprocess.run(
            [BIN / "ferrule", *arguments],
            input=stdin,
            capture_output=True,
            cwd=self.work,
            env=merged,
            timeout=PATIENCE_SECONDS,
            check=False,
            **options,
        )
        return Finished(finished.returncode, finished.stdout.decode(encoding), finished.stderr.decode(encoding))

    def start(self, *arguments: str, **options: Any) -> "subprocess.Popen[bytes]":
        """Start `ferrule ARGUMENT…`."""
        return subprocess.Popen([BIN / "ferrule", *arguments], cwd=self.work, env=self.environment, **options)

    def on_terminal(
        self, *arguments: str, prompt: str = "", typed: str = "", environment: Mapping[str, str] | None = None
    ) -> Finished:
        """Run `ferrule ARGUMENT…` on a terminal, which shows stdout and stderr as one.

        typed: what a person types once the prompt has been shown.
        """
        ours, theirs = pty.openpty()
        shown = b""
        process = subprocess.Popen(
            [BIN / "ferrule", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=self.work,
            env={**self.environment, "TERM": "xterm", **(environment or {})},
            start_new_session=True,
        )
        os.close(theirs)
        while data := _read(ours):
            shown += data
            if typed and prompt.encode() in shown:
                os.write(ours, typed.encode())
                typed = ""
        os.close(ours)
        return Finished(process.wait(timeout=PATIENCE_SECONDS), shown.decode().replace("\r\n", "\n"), "")


def _preloaded(arguments: Sequence[str]) -> tuple[str, ...]:
    """What the process has imported that a command is a fork of: the modules of a plugin's commands, too."""
    return ("ferrule", "ferrule_mcp.commands") if arguments[:1] == ("mcp",) else ("ferrule",)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how a terminal says that nobody is left on the other side
        return b""
