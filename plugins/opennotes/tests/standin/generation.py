"""In what the two generations of the CLI differ by name, and how either fails."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import datetime


class Failure(Exception):
    """What a command ends with; the program prints it between its usage and once more at the end."""


class Generation:
    """`opennotes` v0.1.0, or `jot` v0.2.0, as which it was renamed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_jot = name == "jot"
        self.config_name = f".{name}.json"
        self.variable = f"{name.upper()}_NOTEBOOK"

    @classmethod
    def of(cls, launcher: str, kind: str | None) -> "Generation":
        return cls(kind or ("jot" if "jot" in os.path.basename(launcher) else "opennotes"))

    @property
    def global_config(self) -> str:
        moved = os.environ.get("JOT_CONFIG", "").strip() if self.is_jot else ""
        base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.environ.get("HOME", ""), ".config")
        return moved or os.path.join(base, self.name, "config.json")


def log(namespace: str, message: str, **fields: object) -> None:
    """A line as zerolog's console writer has it, with its colours."""
    told = " ".join(f"\x1b[36m{name}=\x1b[0m{value}" for name, value in [*fields.items(), ("namespace", namespace)])
    print(f"\x1b[90m{now():%H:%M:%S}\x1b[0m \x1b[32mINF\x1b[0m \x1b[1m{message}\x1b[0m {told}", file=sys.stderr)


def now() -> "datetime.datetime":
    import datetime

    return datetime.datetime.now().astimezone().replace(microsecond=0)


def rfc3339(moment: "datetime.datetime") -> str:
    text = moment.isoformat()
    return text.removesuffix("+00:00") + "Z" if text.endswith("+00:00") else text


def os_error(verb: str, path: str, error: OSError) -> str:
    """An error of the system as Go words it."""
    return f"{verb} {path}: {(error.strerror or str(error)).lower()}"
