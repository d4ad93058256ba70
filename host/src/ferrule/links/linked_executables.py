"""The executables that `ferrule link` writes: small files that answer `--schema` without Python.

An agent asks every tool for its schema at each start, so that answer must not cost an interpreter. The file holds the
schema that was validated when it was written, and the paths whose change makes that schema doubtful. A shell tests them
with what it has built in (`shell_form`), or a launcher does where one is installed (`launcher_form`). So they do with
the marks that say whether the tool is off (`ferrule.links.availability`). Everything else goes to the dispatcher, in an
isolated interpreter, before which nothing of a package runs (`supervision.python_start`).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NotRequired, TypedDict, TypeGuard

from ferrule._version import __version__
from ferrule.errors import LinkError, ToolUnavailable
from ferrule.links import availability, orders
from ferrule.links.keeper_address import installation_number
from ferrule.links.launcher_form import read_content, write_for_launcher
from ferrule.links.launchers import find_launcher
from ferrule.links.link_content import LinkContent
from ferrule.links.shell_form import write_for_shell
from ferrule.schema import schema_file
from ferrule.schema.providers.adaptation import Adaptation, adapt
from ferrule.storage import replace_file
from ferrule.supervision import python_start
from ferrule.supervision.python_process import extra_paths, installation_folders, interpreter, place_of_paths
from ferrule.text import strict_json
from ferrule.text.aliases import rename_schema
from ferrule.text.names import executable_name

if TYPE_CHECKING:
    from ferrule.discovery import InstalledTool
    from ferrule.links.orders import LinkOrders
    from ferrule.text.json_types import JSONMapping

_MARK = "# ferrule link: "
_SHELL = b"#!/bin/sh\n"
_FIRST_LINE_BYTES = 256

# ferrule itself may be gone while the interpreter is still there.
_CODE = """\
{start}\
sys.path[{place}:{place}] = {paths}
try:
    from ferrule.dispatch import run_linked
except ImportError:
    import os
    is_call = not sys.argv[3:]
    try:
        while is_call and os.read(0, 65536):
            pass
    except OSError:
        pass
    for file, text in ((1, {gone}), (2, {gone_text})):
        try:
            os.write(file, text.encode() + b"\\n")
        except OSError:
            pass
    chosen = os.environ.get("FERRULE_EXIT_ZERO")
    is_zero = chosen == "1" if chosen in ("0", "1") else bool(os.environ.get("IKIGAI_AGENT_ID"))
    sys.exit(not (is_call and is_zero))
run_linked()
"""


class LinkFacts(TypedDict):
    """What an executable says of itself.

    name: of the tool in it. watched: paths that date its schema. provider: in whose words the schema is; not there
    where it is in the tool's own. form: `orders.FORM`; not there in links of earlier versions. launcher: the program
    in its first line; not there where that is a shell.
    """

    tool: str
    name: str
    distribution: str
    version: str
    python: str
    watched: list[str]
    provider: NotRequired[str]
    form: NotRequired[int]
    launcher: NotRequired[str]


class Link:
    """One executable: the tool it starts, the name it gives it, and what is in it.

    Args:
        names: every tool that has another name for this link's client, its own included.
        provider: whose words the schema is to be in, as a key of PROFILES; empty for the tool's own. changes: what that
            has changed, a phrase each.
    """

    def __init__(self, tool: InstalledTool, schema: JSONMapping, names: Mapping[str, str], provider: str = "") -> None:
        self.tool = tool
        self.name = names.get(tool.name, tool.name)
        self.names = dict(names)
        self.provider = provider
        adaptation = adapt(dict(schema), provider) if provider else Adaptation(dict(schema), {}, [])
        self.schema = rename_schema(adaptation.schema, self.names)
        self.changes = adaptation.changes
        self._translation = adaptation.translation
        self.facts: LinkFacts = {
            "tool": tool.name,
            "name": self.name,
            "distribution": tool.distribution,
            "version": tool.version,
            "python": interpreter(),
            "watched": watched(tool),
            "form": orders.FORM,
        }
        if provider:
            self.facts["provider"] = provider
        self._folders = installation_folders()
        self._availability = availability.for_installation(self.facts["python"], self._folders)

    def file_name(self) -> str:
        """The executable's name, as in `web-fetch-tool`."""
        return executable_name(self.name)

    def content(self, launcher: str) -> bytes:
        """The executable's bytes; the same tool, installed in the same way, gives the same bytes.

        launcher: the program that starts it; empty for a shell file, which it also is where the launcher cannot read
        as much.
        """
        content = self._content()
        written = write_for_launcher(content, launcher, _MARK) if launcher else None
        return written or write_for_shell(content, _MARK)

    def _content(self) -> LinkContent:
        tool, python = self.tool.name, os.fsencode(self.facts["python"]).decode(errors="replace")
        gone_text = (
            f"The tool {self.name} cannot be started: {python} is gone, or has no ferrule any more. If its environment "
            f"was moved, run `ferrule link {tool}` there, else `ferrule unlink {tool}`."
        )
        gone = json.dumps({"success": False, "error": gone_text, "error_code": ToolUnavailable.code})
        code = _CODE.format(
            start=python_start.CODE,
            place=place_of_paths(),
            paths=extra_paths(),
            gone=repr(gone),
            gone_text=repr(gone_text),
        )
        marks, link_orders = self._availability, self._orders()
        return LinkContent(
            facts=json.dumps(self.facts, sort_keys=True),
            tool=tool,
            name=self.name,
            python=self.facts["python"],
            watched=tuple(self.facts["watched"]),
            folders=tuple(self._folders),
            config=marks.config,
            off=marks.switches,
            lock=marks.lock,
            differing=marks.differing,
            clash=marks.claims,
            installation=link_orders["keeper"],
            schema=strict_json.dumps(self.schema).decode(),
            gone=gone,
            gone_text=gone_text,
            options=tuple(python_start.OPTIONS.split()),
            code=code,
            orders=json.dumps(link_orders, ensure_ascii=True),
        )

    def _orders(self) -> LinkOrders:
        return {
            "tool": self.tool.name,
            "names": self.names,
            "provider": self.provider,
            "translation": self._translation,
            "config": self._availability.config,
            "marks": self._availability.stem,
            "form": orders.FORM,
            "keeper": installation_number(self.facts["python"], self._folders, __version__),
        }

    def renew_marks(self) -> None:
        """Have the marks that this link reads written, where they are not up to date."""
        if not self._availability.is_current(self._folders):
            self._availability.renew()


def watched(tool: InstalledTool) -> list[str]:
    """The paths whose absence or change makes a linked schema doubtful.

    They are the metadata's folder (its name has the version, and a fresh installation makes it anew) and a file in it,
    and the schema's file, or the module's where the schema is computed.
    """
    metadata = os.path.abspath(tool.metadata)
    paths = [metadata, *(os.path.join(metadata, name) for name in ("METADATA", "PKG-INFO"))]
    source = schema_file.find_for_tool(tool) or schema_file.find_module_file(tool.module)
    return [path for path in (*paths, source and os.path.abspath(source)) if path and os.path.exists(path)]


def write(link: Link, folder: str) -> bool:
    """Write the executable into a folder, atomically; False where it was there already, and up to date.

    Raises LinkError where a file of that name is there which ferrule did not write, or which starts another tool,
    and where the folder cannot be written.
    """
    link.renew_marks()
    path = os.path.join(folder, link.file_name())
    content = link.content(find_launcher())
    there = read_facts(path)
    if os.path.lexists(path) and there is None:
        raise LinkError(f"{path} is there and was not written by ferrule.", hint="Move it away, or link elsewhere.")
    if there is not None and there["tool"] != link.tool.name:
        other = there["tool"]
        raise LinkError(f"{path} is a link to {other}.", hint=f"Run `ferrule unlink {other}` first.")
    if there is not None and not reasons_to_doubt(path, there) and _bytes(path) == content:
        return False
    try:
        os.makedirs(folder, exist_ok=True)
        # A schema that changes while it is being linked must be newer than its link.
        replace_file(path, content, mode=0o755, modified=_started)
    except OSError as error:
        raise LinkError(f"{path} cannot be written: {error.strerror}.") from None
    return True


def is_edited(path: str, tool: InstalledTool, schema: JSONMapping) -> bool:
    """Whether an executable that is up to date is not what would be written. tool, schema: what it starts."""
    facts, there = read_facts(path), _bytes(path)
    names = _names_in(there)
    if facts is None or names is None:
        return True
    return Link(tool, schema, names, facts.get("provider", "")).content(facts.get("launcher", "")) != there


def _names_in(content: bytes) -> dict[str, str] | None:
    """The names of tools in the orders of an executable; None where there are none."""
    try:
        names = json.loads(_orders_in(content)).get("names")
    except (ValueError, AttributeError):
        return None
    return names if isinstance(names, dict) else None


def _orders_in(content: bytes) -> str:
    """The orders in an executable of either form, as JSON; empty where there are none."""
    if not content.startswith(_SHELL):
        read = read_content(content)
        return read.orders if read else ""
    words = content.decode(errors="surrogateescape").rstrip().rpartition("\n")[2]
    beginning, end = words.rfind("'{"), words.rfind("}'")
    return words[beginning + 1 : end + 1].replace("'\"'\"'", "'")


def replace_lost_launchers(folder: str) -> list[str]:
    """Make shell files of the executables whose launcher is gone, which no system can start; their paths.

    They stay as old as they are. What cannot be read or written is passed over, and `ferrule doctor` tells of it.
    """
    replaced = []
    for path, facts in links(folder):
        launcher = facts.get("launcher")
        if launcher and not os.access(launcher, os.X_OK):
            try:
                modified = os.stat(path).st_mtime_ns
                content = read_content(_bytes(path))
                if content is not None:
                    replace_file(path, write_for_shell(content, _MARK), mode=0o755, modified_ns=modified)
                    replaced.append(path)
            except OSError:
                continue
    return replaced


def remove(path: str) -> None:
    """Remove an executable that ferrule wrote. Raises LinkError for any other file."""
    if read_facts(path) is None:
        raise LinkError(f"{path} was not written by ferrule, so it stays.")
    try:
        os.unlink(path)
    except OSError as error:
        raise LinkError(f"{path} cannot be removed: {error.strerror}.") from None


def links(folder: str) -> Iterator[tuple[str, LinkFacts]]:
    """Every executable in a folder that ferrule wrote: its path, and what it says of itself."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        facts = read_facts(path)
        if facts is not None:
            yield path, facts


def read_facts(path: str) -> LinkFacts | None:
    """What an executable says of itself; None where ferrule did not write it."""
    if not os.path.isfile(path):
        return None  # a FIFO would not even let itself be opened
    try:
        with open(path, "rb") as file:
            first, second = file.readline(_FIRST_LINE_BYTES), file.readline(1 << 20)
    except OSError:
        return None
    mark = _MARK.encode()
    if not (first.startswith(b"#!/") and first.endswith(b"\n") and second.startswith(mark)):
        return None
    try:
        facts = json.loads(second[len(mark) :])
    except ValueError:
        return None
    if not _are_facts(facts):
        return None
    if first != _SHELL:
        facts["launcher"] = os.fsdecode(first[2:-1])
    return facts


def reasons_to_doubt(path: str, facts: LinkFacts) -> list[str]:
    """Why an executable is out of date, as the executable itself would judge; empty where it is not."""
    reasons = [] if os.access(facts["python"], os.X_OK) else [f"the interpreter {facts['python']} is gone"]
    launcher = facts.get("launcher")
    if launcher and not os.access(launcher, os.X_OK):
        reasons.append(f"the program {launcher} that starts it is gone")
    if facts.get("form") != orders.FORM:
        reasons.append("an earlier ferrule wrote it")
    written = os.stat(path).st_mtime_ns
    for one in facts["watched"]:
        try:
            if os.stat(one).st_mtime_ns > written:
                reasons.append(f"{one} is newer")
        except OSError:
            reasons.append(f"{one} is gone")
    return reasons


def _are_facts(facts: object) -> TypeGuard[LinkFacts]:
    if not isinstance(facts, dict) or not isinstance(facts.get("watched"), list):
        return False
    texts = [*facts["watched"], *(facts.get(key) for key in ("tool", "name", "distribution", "version", "python"))]
    return all(isinstance(text, str) for text in (*texts, facts.get("provider", "")))


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


_started = time.time()
