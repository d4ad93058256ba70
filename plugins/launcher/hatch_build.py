"""Compiles the launcher into a wheel of its platform.

Where FERRULE_LAUNCHER_TARGET names one of `TARGETS`, zig compiles for it, on whatever machine. Else the compiler of
this machine compiles for it. The programs for Linux are static, so that one fits every distribution.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAME = "ferrule-launcher"
TARGET = "FERRULE_LAUNCHER_TARGET"
ZIG = "ziglang==0.13.0"
TARGETS = {
    "x86_64-linux-musl": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "aarch64-linux-musl": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "x86_64-macos.11.0": "macosx_11_0_x86_64",
    "aarch64-macos.11.0": "macosx_11_0_arm64",
}
FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-fstack-protector-strong", "-fPIE")
# zig's own C library has no checked functions.
CHECKED = ("-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2")
STATIC = (("-s", "-static-pie", "-Wl,-z,relro,-z,now"), ("-s", "-static"))
NO_COMPILER = (
    "ferrule-launcher is a program in C, and there is no C compiler here (cc, gcc or clang; CC names another one). "
    "Install one, or a wheel of ferrule-launcher, which needs none. Without it, links are shell files."
)


class LauncherHook(BuildHookInterface):  # type: ignore[type-arg] # it is generic in later versions only
    """Adds the program to a wheel."""

    def dependencies(self) -> list[str]:
        """What the build needs beside hatchling."""
        return [ZIG] if os.environ.get(TARGET) else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and say where the program belongs. An editable installation does without where it has to."""
        target = os.environ.get(TARGET, "")
        compiler = find_compiler(target)
        if not compiler:
            if version == "editable":
                self.app.display_warning(NO_COMPILER)
                return
            raise RuntimeError(NO_COMPILER)
        self._folder = tempfile.mkdtemp()
        program = Path(self._folder, NAME)
        compile_launcher(compiler, Path(self.root, "src", "launcher"), program)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{TARGETS[target] if target else name_platform()}"
        build_data["shared_scripts"] = {str(program): NAME}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled."""
        shutil.rmtree(getattr(self, "_folder", ""), ignore_errors=True)


def find_compiler(target: str = "") -> list[str]:
    """The command of a compiler; empty where there is none."""
    if target:
        return [sys.executable, "-m", "ziglang", "cc", "-target", target]
    named = os.environ.get("CC", "").split()
    found = next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)
    return named or ([found] if found else [])


def compile_launcher(compiler: list[str], source: Path, program: Path, flags: tuple[str, ...] = ()) -> None:
    """Compile all files of a folder to one program. Raises RuntimeError with what the compiler says."""
    is_zig = "-target" in compiler
    is_linux = any("linux" in word for word in compiler) if is_zig else sys.platform == "linux"
    base = [*compiler, *FLAGS, *(() if is_zig else CHECKED), *flags, *map(str, sorted(source.glob("*.c")))]
    said = ""
    for linking in STATIC if is_linux and not flags else ((),):
        done = subprocess.run([*base, *linking, "-o", str(program)], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            if is_zig:
                program.chmod(0o755)
            return
        said = done.stderr
    raise RuntimeError(f"The launcher cannot be compiled by {' '.join(compiler)}:\n{said}")


def name_platform() -> str:
    """The tag of this machine: a static program runs on every Linux of its processor."""
    machine = platform.machine()
    if sys.platform == "linux":
        return TARGETS.get(f"{machine}-linux-musl", f"linux_{machine}")
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")
