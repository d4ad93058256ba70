"""What can be on or off, and the rows in which every two values meet at least once.

A new value is a word in FACTORS, what it means in `household`, and, where it changes the answer, a line in `oracle`. A
combination that cannot be is in APART. The rows stand in `rows.csv`, which `generation` makes of these.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

KINDS = ("object", "text", "image", "file", "large", "failure", "events")
SERVED = ("stdio", "http")
ASKED = ("ask", "sql")
FACTORS = {
    # link: the linked executable; stdio, http: `ferrule serve`; execute, open: the two ways of ferrule.installed.
    "way": ("link", "run", *SERVED, *ASKED, "execute", "run_tool"),
    "kind": KINDS,
    # empty: a file without a byte; own: what the row says; full: every table, with values that change nothing.
    "config": ("absent", "empty", "own", "full"),
    # default: nothing is said of them. Without a config.toml of its own, a row says the others by FERRULE_WRAPPERS.
    "wrappers": ("default", "none", "cache", "artifacts", "timing", "every"),
    "isolation": ("default", "off", "standard", "strict"),
    # link: HOME is a symbolic link; unset: there is none, and the folders are told by variables of their own.
    "home": ("writable", "readonly", "link", "unset"),
    "stdin": ("pipe", "closed", "null"),
    "stderr": ("pipe", "closed"),
    "locale": ("utf8", "c", "latin1", "none"),
    "journal": ("off", "on"),
    "lock": ("off", "on"),
    "user": ("self", "nobody"),
    # home: the state folder is where it is without a setting; named: FERRULE_STATE.
    "state": ("home", "named"),
    # malformed: a file that is no JSON, so that there is none.
    "credentials": ("absent", "file", "variable", "malformed"),
    "agent": ("unset", "set"),
    "form": ("function", "hooks"),
    "cwd": ("own", "root"),
    "tmpdir": ("unset", "missing"),
    # odd: the folders of the user have blanks, quotes and letters of no ASCII in their names.
    "names": ("plain", "odd"),
}

FILE = Path(__file__).with_name("rows.csv")
Some: TypeAlias = tuple[str, *tuple[str, ...]]
"""A factor, and some of its values."""
APART: list[tuple[Some, Some]] = [
    (("config", "absent", "empty"), ("journal", "on")),
    (("config", "absent", "empty"), ("lock", "on")),
    (("config", "absent", "empty"), ("isolation", "off", "standard", "strict")),
    (("way", "link", "stdio"), ("stdin", "closed", "null")),  # the arguments come there
    (("way", *ASKED), ("credentials", "absent", "malformed")),  # a tool that lacks one is not offered to a model
    (("home", "readonly"), ("user", "self")),  # for root, every folder is writable
    (("home", "readonly", "unset"), ("state", "home")),
]


class Row(NamedTuple):
    """One machine, and one call on it; each field has one of the values that FACTORS names."""

    way: str
    kind: str
    config: str
    wrappers: str
    isolation: str
    home: str
    stdin: str
    stderr: str
    locale: str
    journal: str
    lock: str
    user: str
    state: str
    credentials: str
    agent: str
    form: str
    cwd: str
    tmpdir: str
    names: str

    @property
    def tool(self) -> str:
        """The name of the tool that is called."""
        return f"{self.form}_{self.kind}"

    @property
    def can_store(self) -> bool:
        """Whether the state folder can be written."""
        return self.state != "nowhere" and (self.home, self.state) != ("readonly", "home")

    @property
    def has_own_configuration(self) -> bool:
        """Whether config.toml says anything."""
        return self.config in ("own", "full")

    @property
    def id(self) -> str:
        """All of its values, for the name of the test."""
        return "-".join(value if name in _TELLING else f"{name}.{value}" for name, value in self._asdict().items())


_TELLING = ("way", "kind")
PLAIN = Row(
    way="link", kind="object", config="absent", wrappers="default", isolation="default", home="writable", stdin="pipe",
    stderr="pipe", locale="utf8", journal="off", lock="off", user="self", state="home", credentials="absent",
    agent="unset", form="function", cwd="own", tmpdir="unset", names="plain",
)  # fmt: skip
# What has failed before where three came together, or what pairs alone need not have.
FORCED = [
    *(
        PLAIN._replace(way=way, kind=kind, config=config)
        for config in ("empty", "full")
        for way in SERVED
        for kind in ("image", "file")
    ),
    PLAIN._replace(way="http", kind="large", config="own", wrappers="none", credentials="file"),
    PLAIN._replace(way="stdio", kind="image", user="nobody", config="own", isolation="strict", home="readonly",
                    state="named"),
]  # fmt: skip


def rows() -> list[Row]:
    """Every two values that can be together are in one of them, and the forced ones are among them."""
    with FILE.open(newline="") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def are_apart(values: Mapping[str, str]) -> bool:
    """Whether some of these values, by their factors, cannot be together."""
    return any(values.get(one[0]) in one[1:] and values.get(other[0]) in other[1:] for one, other in APART)


def rows_without_state() -> list[Row]:
    """Machines whose state folder cannot be written: for each way an image, and one other kind of result."""
    nowhere, readonly = {"state": "nowhere"}, {"home": "readonly", "user": "nobody"}
    found = []
    for number, way in enumerate(FACTORS["way"]):
        for place, kind in enumerate(("image", KINDS[number % len(KINDS)])):
            why = (nowhere, readonly)[(number + place) % 2]
            usual = {"way": way, "kind": kind, "config": "own", "journal": "on", "credentials": "file"}
            found.append(PLAIN._replace(**usual, **why))
    return found
