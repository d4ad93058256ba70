"""Public: what the admin decided and where it is written.

- `read()` returns the `Configuration` of this run: the tables of config.toml, and the environment, which wins.
- `deadline()` is the time that a call may take, in seconds.
- `default_path()` is where config.toml is, `credentials_path()` where the credentials file is, and `home(environ)` the
  user's home folder. All of them take an environment, `os.environ` by default.
- `CredentialsFile(path)` is what one file of secrets holds, as far as it can be trusted.

Every name is loaded when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # spelt out, because importing typing costs as much as starting the interpreter

if TYPE_CHECKING:
    from ferrule.config.configuration import Configuration, credentials_path, deadline, default_path, home, read
    from ferrule.config.credentials_file import CredentialsFile

__all__ = ["Configuration", "CredentialsFile", "credentials_path", "deadline", "default_path", "home", "read"]


def __getattr__(name: str) -> object:
    if name not in __all__:  # such as a module of this package, which Python looks for here first
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ferrule.lazy import load  # not above: what is on the path of a call pays for each file

    module = "credentials_file" if name == "CredentialsFile" else "configuration"
    return load(__name__, f"{__name__}.{module}", name)
