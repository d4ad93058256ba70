"""Which tools are off, in three small files that a shell can read, so that no link has to be written anew for it.

A link shows its schema without Python. Whether its tool may be shown depends on config.toml, on ferrule.lock beside it,
and on what else is installed: a second distribution may claim the same name. Each of these has a mark, a file with one
line that names the tools in question. The marks of config.toml and ferrule.lock have the very times of modification
that these have; the mark of the claims is not older than the folders in which distributions are. Where that does not
hold, the first link that notices starts Python, which writes all marks anew, and all other links believe them.
"""

from __future__ import annotations

import os
import time

from ferrule import discovery
from ferrule.config import configuration
from ferrule.config.configuration import Configuration

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ferrule.discovery import InstalledTool

_FORM = "2"  # of what links and marks agree about
_TICK_SECONDS = 0.02  # by which the time of a file that is written now may be behind the clock


class Availability:
    """The marks of one installation. config: the path of config.toml. stem: what the names of both marks begin with."""

    __slots__ = ("config", "stem")

    def __init__(self, config: str, stem: str) -> None:
        self.config = config
        self.stem = stem

    @property
    def switches(self) -> str:
        """The mark of config.toml, which names the tools that it switches off."""
        return f"{self.stem}.off"

    @property
    def lock(self) -> str:
        """Where ferrule.lock is, or would be."""
        return Configuration(self.config, {}, {}).lock_path

    @property
    def differing(self) -> str:
        """The mark of ferrule.lock, which names the tools that it keeps out; not there if there is no lock."""
        return f"{self.stem}.lock"

    @property
    def claims(self) -> str:
        """The mark of what is installed, which names the tools that more than one distribution claims."""
        return f"{self.stem}.clash"

    def is_current(self, folders: Iterable[str]) -> bool:
        """Whether all marks are up to date, as a link judges. folders: where distributions are installed."""
        config, switches, claims = map(_modified_ns, (self.config, self.switches, self.claims))
        if config is not None and (config != switches or _modified_ns(self.lock) != _modified_ns(self.differing)):
            return False
        return claims is not None and all((_modified_ns(folder) or 0) <= claims for folder in folders)

    def renew(self) -> bool:
        """Write all marks as of now; False where they cannot be written, so that each link asks Python each time.

        Raises ConfigurationMalformed where config.toml cannot be read.
        """
        from ferrule.storage.private_files import make_folder

        started = time.time()
        claims = discovery.scan()
        clashing = [name for name, found in claims.items() if len(found) > 1]
        config, lock = _modified_ns(self.config), _modified_ns(self.lock)
        settings = configuration.read({"FERRULE_CONFIG": self.config})
        differing = _differing(claims, settings) if settings.is_locked else []
        try:
            make_folder(os.path.dirname(self.stem))
            _write(self.claims, clashing, int((started - _TICK_SECONDS) * 1e9))
            if config is not None:
                # Without a lock file there is no time that its mark could have.
                missing = differing if lock is None else []
                _write(self.switches, [*settings.disabled_tools(), *missing], config)
                self._mark_differing(differing, lock)
        except OSError:
            return False
        return True

    def _mark_differing(self, tools: Iterable[str], lock: int | None) -> None:
        from ferrule.storage.private_files import remove_file

        if lock is not None:
            _write(self.differing, tools, lock)
        else:
            remove_file(self.differing)


def for_installation(python: str, folders: Sequence[str]) -> Availability:
    """The marks that all links to one interpreter share, which finds distributions in these folders."""
    from ferrule.config.own_folders import state_folder
    from ferrule.text.sha256 import sha256_hex

    config = configuration.default_path()
    key = sha256_hex("\0".join((_FORM, config, python, *folders)).encode(errors="surrogateescape"))
    return Availability(config, os.path.join(os.path.abspath(state_folder()), "links", key[:16]))


def _differing(claims: Mapping[str, Sequence[InstalledTool]], settings: Configuration) -> list[str]:
    """The tools that ferrule.lock keeps out."""
    from ferrule.trust.door.admission import admit

    return [name for name, found in claims.items() if len(found) == 1 and admit(found[0], settings).find_lock_refusal()]


def _write(path: str, tools: Iterable[str], modified_ns: int) -> None:
    from ferrule.storage.private_files import replace_file

    replace_file(path, f"{' '.join(sorted(tools))}\n".encode(errors="replace"), modified_ns=modified_ns)


def _modified_ns(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None
