"""What tools import is compiled once, where an installer has left it as source."""

import base64
import hashlib
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from ferrule.admin.packages.bytecode import compile_files, find_uncompiled
from ferrule_testkit.machine import Machine

pytestmark = pytest.mark.process


def describe(site: Path, distribution: str, *files: str, requires: str = "") -> None:
    """Write the metadata of a distribution as an installer does that compiles nothing."""
    metadata = site / f"{distribution.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir(exist_ok=True)
    lines = ["Metadata-Version: 2.1", f"Name: {distribution}", "Version: 1.0"]
    if requires:
        lines += ["Provides-Extra: more", f"Requires-Dist: {requires}"]
    (metadata / "METADATA").write_text("\n".join(lines) + "\n")
    digests = [base64.urlsafe_b64encode(hashlib.sha256((site / name).read_bytes()).digest()) for name in files]
    rows = [f"{name},sha256={digest.decode().rstrip('=')}," for name, digest in zip(files, digests, strict=True)]
    (metadata / "RECORD").write_text("\n".join(rows) + "\n")


@pytest.fixture
def sources(machine: Machine) -> list[Path]:
    """A tool, a library that it requires with an extra, and one that nothing requires, all as source."""
    tool = machine.install("alpha", top="import library", distribution="alpha")
    library, other = machine.site / "library" / "__init__.py", machine.site / "other.py"
    library.parent.mkdir()
    library.write_text("import warnings\nassert 1 is 1\n")  # compiling it warns
    other.write_text("")
    describe(machine.site, "alpha", tool.name, requires="library; extra == 'more'")
    describe(machine.site, "library", "library/__init__.py")
    describe(machine.site, "other", "other.py")
    return [tool, library, other]


def compiled(path: Path) -> Path:
    return path.parent / "__pycache__" / f"{path.stem}.{sys.implementation.cache_tag}.pyc"


def test_a_link_has_what_its_tool_imports_compiled_once(machine: Machine, sources: list[Path]) -> None:
    tool, library, other = sources
    told = machine.hide_commands().ferrule("doctor", "--json").document["findings"]
    (found,) = [one for one in told if one["id"] == "bytecode-missing"]
    assert (found["subject"], "ferrule link" in found["fix"]) == ("alpha, library", True)

    linked = machine.ferrule("link", "alpha", "--json")
    assert linked.document["compiled_files"] == 2
    assert "Compiling 2 files" in linked.err
    assert "Warning" not in linked.err
    assert [compiled(path).exists() for path in (tool, library, other)] == [True, True, False]
    before = compiled(tool).stat().st_ino, compiled(library).stat().st_ino
    imported = [sys.executable, "-c", f"import {tool.stem}"]
    subprocess.run(imported, env={"PYTHONPATH": str(machine.site)}, check=True)
    after = compiled(tool).stat().st_ino, compiled(library).stat().st_ino
    assert before == after  # the interpreter takes it for what it has compiled itself

    again = machine.ferrule("link", "alpha", "--json")
    assert (again.document["compiled_files"], again.err) == (0, "")
    assert "bytecode-missing" not in machine.ferrule("doctor").out

    library.write_text("changed = 1\n")
    os.utime(library, (1, 1))
    assert machine.ferrule("link", "alpha", "--json").document["compiled_files"] == 1


def test_so_has_the_standard_library_where_that_is_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one.py", "two.py", "package/__init__.py", "test/three.py", "site-packages/four.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    monkeypatch.setattr(sysconfig, "get_path", {"stdlib": str(tmp_path)}.__getitem__)
    (files,) = (found for name, found in find_uncompiled([]).items() if name == "python")
    assert sorted(os.path.relpath(file, tmp_path) for file in files) == ["one.py", "package/__init__.py", "two.py"]
    assert compile_files(files) == 3
    assert "python" not in find_uncompiled([])


def test_source_that_cannot_be_compiled_costs_nothing_else(machine: Machine, sources: list[Path]) -> None:
    tool, library, _ = sources
    broken = machine.site / "library" / "old.py"
    broken.write_text("print 'of another Python'\n")
    deep = machine.site / "library" / "deep.py"
    deep.write_text("(" * 5000 + ")" * 5000 + "\n")
    fifo = machine.site / "library" / "pipe.py"
    fifo.write_text("")
    describe(machine.site, "library", *(f"library/{name}.py" for name in ("deep", "old", "pipe", "__init__")))
    fifo.unlink()
    os.mkfifo(fifo)
    compiled(library).parent.mkdir()
    os.mkfifo(compiled(deep))

    linked = machine.ferrule("link", "alpha", "--json")
    assert (linked.code, linked.document["compiled_files"]) == (0, 2)
    assert "Traceback" not in linked.err
    assert [compiled(path).exists() for path in (tool, library, broken, deep)] == [True, True, False, True]
    assert compiled(deep).is_fifo()


def test_nothing_is_written_outside_of_the_installation(machine: Machine, sources: list[Path]) -> None:
    outside = machine.work / "outside"
    (outside / "packed").mkdir(parents=True)
    for path in (outside / "one.py", outside / "packed" / "two.py", machine.site / "library" / "three.py"):
        path.write_text("")
    (machine.site / "linked").symlink_to(outside / "packed")
    (machine.site / "library" / "__pycache__").symlink_to(outside)
    climbing = f"library/../../{machine.work.name}/outside/one.py"
    describe(machine.site, "library", climbing, "linked/two.py", "library/three.py")

    assert machine.ferrule("link", "alpha", "--json").document["compiled_files"] == 1  # the tool's own module
    assert sorted(path.name for path in outside.rglob("*")) == ["one.py", "packed", "two.py"]
