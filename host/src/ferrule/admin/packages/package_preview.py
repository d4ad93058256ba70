"""What would come into the environment, fetched and unpacked in a folder of its own to be read; no code of it runs.

The installer that would install it fetches it, so that indexes, credentials and constraints are the user's. Wheels
alone are taken: a source archive has to be built, which runs its code.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from ferrule.admin.packages import distribution_files
from ferrule.admin.packages.package_names import distribution_name
from ferrule.errors import FerruleError

if TYPE_CHECKING:
    from ferrule.admin.packages.distribution_files import DistributionFiles
    from ferrule.admin.packages.installer import Installer
    from ferrule.text.json_types import JSONObject

_WHEELS_ALONE = ("--only-binary", ":all:")
# What they say of a package that would have to be built; pip says it of one that is not there, too.
_NO_WHEEL_OF_UV, _NO_WHEEL_OF_PIP = "no usable wheels", "from versions: none"
# What has a meaning for the environment only, and none for a folder that is read and removed.
_OF_THE_ENVIRONMENT = ("--user", "--dry-run", "--upgrade", "-U", "--force-reinstall", "--no-deps")
_ARRIVAL = re.compile(r"^ [+~] (?P<pin>(?P<name>[^\s=]+)==\S+)(?: \(from (?P<url>[^)]+)\))?$", re.MULTILINE)
"""How uv says that a package would come."""


class Unpacked(NamedTuple):
    """What was fetched. distributions: those that were asked for. strangers: others that came in their wheels.
    unlisted: files that no list of files has, as `distribution_files` names them.
    """

    distributions: list[DistributionFiles]
    strangers: list[DistributionFiles]
    unlisted: list[str]


class NotFetched(FerruleError):
    """The installer could not fetch it; the message has what it said."""


class PackagePreview:
    """Reads packages before they are installed.

    Args:
        options: for the installer, those of the user.
        folder: where packages are unpacked, each time in one of its own.
        trusted: names of those whose code may run to build them, if there is no wheel.
    """

    def __init__(self, installer: Installer, options: Sequence[str], folder: str, trusted: Iterable[str] = ()) -> None:
        self._program = installer.reader()
        self._options = [*installer.index_options(), *options]
        self._environ = {**installer.environ(), "UV_COMPILE_BYTECODE": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        self._folder = folder
        self._trusted = sorted(trusted)

    def unpack(self, requirements: Sequence[str]) -> Unpacked:
        """Fetch these without what they require, and unpack them. Raises NotFetched."""
        prefix = os.path.realpath(tempfile.mkdtemp(dir=self._folder))
        plain = [] if self._is_uv else ["--ignore-installed", "--no-compile"]
        options = [one for one in self._options if one not in _OF_THE_ENVIRONMENT]
        self._install("--quiet", "--prefix", prefix, "--no-deps", *plain, *options, *requirements)
        sites = distribution_files.sites_under(prefix)
        found = [one for site in sites for one in distribution_files.in_folder(site)]
        asked = {distribution_name(one) for one in requirements}
        own, strangers = ([one for one in found if (one.name in asked) is is_own] for is_own in (True, False))
        return Unpacked(own, strangers, distribution_files.unlisted(prefix, found))

    def coming(self, requirements: Sequence[str], *, is_upgrade: bool) -> list[str]:
        """All that would be installed for these, what they require included, as requirements. Raises NotFetched."""
        options = ["--dry-run", *(["--upgrade"] if is_upgrade else []), *self._options]
        if self._is_uv:
            told = self._install(*options, *requirements)
            return [f"{one['name']} @ {one['url']}" if one["url"] else one["pin"] for one in _ARRIVAL.finditer(told)]
        report = os.path.join(self._folder, "report.json")
        self._install("--quiet", "--report", report, *options, *requirements)
        with open(report, "rb") as file:
            return [_requirement(one) for one in json.load(file)["install"]]

    def has_source_alone(self, name: str, failure: NotFetched) -> bool:
        """Whether the index has a package of which no wheel could be fetched. Nothing is built for it."""
        if self._is_uv or _NO_WHEEL_OF_PIP not in failure.message:
            return _NO_WHEEL_OF_UV in failure.message
        return self._start([*self._program, "index", "versions", *self._options, name]).returncode == 0

    @property
    def _is_uv(self) -> bool:
        return "-m" not in self._program

    def _install(self, *arguments: str) -> str:
        """Run the installer, for wheels alone; what it writes to stderr. Raises NotFetched.

        Where that fails, it is run once more, and may build what is trusted.
        """
        try:
            return self._run(*arguments)
        except NotFetched:
            if not self._trusted:
                raise
        return self._run(*(part for name in self._trusted for part in ("--no-binary", name)), *arguments)

    def _run(self, *arguments: str) -> str:
        python = ["--python", sys.executable] if self._is_uv else []
        command = [*self._program, "install", *python, *_WHEELS_ALONE, *arguments]
        done = self._start(command)
        if done.returncode:
            raise NotFetched(done.stderr.strip() or done.stdout.strip())
        return done.stderr

    def _start(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(command, env=self._environ, capture_output=True, text=True, check=False)
        except OSError as error:
            raise FerruleError(f"{command[0]} cannot be started: {error.strerror}.") from None


def _requirement(one: JSONObject) -> str:
    """What a report of pip says of one package, as a requirement of this very version."""
    name, version = one["metadata"]["name"], one["metadata"]["version"]
    return f"{name} @ {one['download_info']['url']}" if one["is_direct"] else f"{name}=={version}"


@contextmanager
def opened(installer: Installer, options: Sequence[str], trusted: Iterable[str] = ()) -> Iterator[PackagePreview]:
    """A preview, whose folder is removed at the end."""
    folder = tempfile.mkdtemp(prefix="ferrule-read-")
    try:
        yield PackagePreview(installer, options, folder, trusted)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
