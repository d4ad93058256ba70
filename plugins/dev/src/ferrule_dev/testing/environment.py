"""The environment of a user who has configured nothing, with folders that belong to one test."""

from __future__ import annotations

import os
import site
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

_PREFIXES = ("FERRULE_", "IKIGAI_")
_NAMES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUEST_METHOD")  # the last one is of a CGI program, which has no proxy
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


class Environment(NamedTuple):
    """The folders of one test. configuration: has config.toml and credentials.json, where a test writes them."""

    home: Path
    configuration: Path
    state: Path
    cache: Path

    @property
    def config_toml(self) -> Path:
        """The file with the admin's settings; it need not be there."""
        return self.configuration / "config.toml"

    @property
    def variables(self) -> dict[str, str]:
        """The variables that lead to the folders."""
        own = {
            "HOME": self.home,
            "XDG_CONFIG_HOME": self.configuration,
            "XDG_STATE_HOME": self.state,
            "XDG_CACHE_HOME": self.cache,
            "XDG_DATA_HOME": self.home / ".local" / "share",
            "IKIGAI_CONFIG_DIR": self.configuration,
            "FERRULE_CONFIG": self.config_toml,
            "FERRULE_STATE": self.state,
            "FERRULE_DATA": self.home / ".local" / "share" / "ferrule",
        }
        # what `pip install --user` has installed is found through the home
        user = {"PYTHONUSERBASE": site.getuserbase()} if site.ENABLE_USER_SITE else {}
        return {**{name: str(path) for name, path in own.items()}, **user}


def make_environment(folder: Path) -> Environment:
    """Make the folders inside of another one."""
    made = Environment(*(folder / name for name in Environment._fields))
    for one in made:
        one.mkdir(parents=True)
    return made


def foreign_variables(environ: Mapping[str, str] | None = None) -> list[str]:
    """The names of the variables by which a user configures ferrule, its client, proxies and certificates."""
    names = os.environ if environ is None else environ
    return [name for name in names if name.startswith(_PREFIXES) or name in _NAMES or name in PROXIES]
