"""How a test wants the stand-in to misbehave: see the package's docstring."""

import json
import os
import signal
import stat
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Behaviour:
    """What stands in the file beside the launcher; all of it is optional."""

    def __init__(self, wishes: "dict[str, Any]") -> None:
        self._wishes = wishes
        self.kind: str | None = wishes.get("kind")
        self.is_offline: bool = wishes.get("offline", False)
        self.sql_seconds: float = wishes.get("sql_seconds", 30)
        self.views: dict[str, Any] = wishes.get("views", {})

    @classmethod
    def of(cls, launcher: str) -> "Behaviour":
        try:
            with open(f"{launcher}.behaviour.json") as file:
                return cls(json.load(file))
        except FileNotFoundError:
            return cls({})

    def misbehave(self) -> None:
        if "record" in self._wishes:
            self._record(self._wishes["record"])
        if self._wishes.get("stubborn"):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if "grandchild" in self._wishes:
            self._leave_behind(self._wishes["grandchild"])
        for name, size in self._wishes.get("flood", {}).items():
            _flood(1 if name == "stdout" else 2, size)
        time.sleep(self._wishes.get("sleep", 0))
        if "stdout" in self._wishes:
            sys.stdout.write(self._wishes["stdout"])
            sys.exit(self._wishes.get("exit", 0))
        if "exit" in self._wishes:
            sys.exit(self._wishes["exit"])

    def _leave_behind(self, wish: "dict[str, Any]") -> None:
        import subprocess

        code = f"import time; time.sleep({wish['seconds']})"
        process = subprocess.Popen([sys.executable, "-I", "-c", code])
        with open(wish["record"], "w") as file:
            file.write(str(process.pid))

    def _record(self, file: str) -> None:
        seen = {
            "arguments": sys.argv[1:],
            "environment": dict(os.environ),
            "cwd": os.getcwd(),
            "stdin_is_null": _is_null(0),
            "group": os.getpgrp(),
            "pid": os.getpid(),
        }
        with open(file, "a") as lines:
            lines.write(json.dumps(seen) + "\n")


def _is_null(descriptor: int) -> bool:
    status = os.fstat(descriptor)
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == os.stat(os.devnull).st_rdev


def _flood(descriptor: int, size: int) -> None:
    piece = b"x" * 1023 + b"\n"
    for _ in range(size // len(piece)):
        os.write(descriptor, piece)
