"""The script that builds the CLIs, with a `go` that only writes down what it was asked for."""

import os
import shutil
import subprocess
import tarfile

import pytest

from ferrule_testkit import PROJECT

pytestmark = pytest.mark.process
GO = """#!/bin/sh
[ "$1" = version ] && { echo "go version go1.26.0 linux/amd64"; exit; }
for last; do [ "$before" = -o ] && out=$last; before=$last; done
echo build >>"$LOG"
cp main.go "$out" && chmod 755 "$out"
"""
PATCH = """--- a/main.go
+++ b/main.go
@@ -1 +1 @@
-online
+offline
"""


@pytest.fixture
def install(tmp_path):
    """Run a copy of the script in a project of its own, with the archives in `sources`."""
    for name in ("scripts", "bin", "sources"):
        (tmp_path / name).mkdir()
    shutil.copy(PROJECT / "scripts" / "install-opennotes", tmp_path / "scripts")
    (tmp_path / "bin" / "go").write_text(GO)
    (tmp_path / "bin" / "go").chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "FERRULE_OPENNOTES_SOURCES": str(tmp_path / "sources"),
        "LOG": str(tmp_path / "log"),
    }

    def install():
        command = ["sh", tmp_path / "scripts" / "install-opennotes"]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stderr

    return install


def pack(folder, name, content):
    source = folder / "main.go"
    source.write_text(content)
    with tarfile.open(folder / f"{name}-src.tar.gz", "w:gz") as archive:
        archive.add(source, f"{name}/main.go")


def test_three_programs_are_built_once_and_then_taken_from_the_cache(install, tmp_path):
    pack(tmp_path / "sources", "opennotes-0.1.0", "online\n")
    pack(tmp_path / "sources", "jot-0.2.0", "jot\n")
    (tmp_path / "sources" / "opennotes-0.1.0-offline.patch").write_text(PATCH)
    assert "opennotes-offline is built from opennotes-0.1.0-src.tar.gz" in install()
    built = tmp_path / ".tools" / "bin"
    contents = {path.name: path.read_text() for path in built.iterdir()}
    assert contents == {"opennotes": "online\n", "opennotes-offline": "offline\n", "jot": "jot\n"}
    shutil.rmtree(tmp_path / ".tools")
    assert "jot is taken from the cache" in install()
    assert {path.name: path.read_text() for path in built.iterdir()} == contents
    assert (tmp_path / "log").read_text() == "build\n" * 3


def test_an_archive_that_has_changed_is_built_again(install, tmp_path):
    pack(tmp_path / "sources", "jot-0.2.0", "jot\n")
    install()
    pack(tmp_path / "sources", "jot-0.2.0", "another\n")
    install()
    assert (tmp_path / ".tools" / "bin" / "jot").read_text() == "another\n"


def test_what_cannot_be_built_is_told_and_no_failure(install, tmp_path):
    said = install()
    assert "jot could not be built: there is no jot-0.2.0-src.tar.gz; its tests are skipped." in said
    record = tmp_path / ".tools" / "opennotes.unavailable"
    assert record.read_text() == "opennotes could not be built: there is no opennotes-0.1.0-src.tar.gz\n"
