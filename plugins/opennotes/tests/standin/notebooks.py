"""Notebooks: their configuration, which one is meant, and the commands about them."""

import json
import os

from standin.behaviour import Behaviour
from standin.flags import Parsed
from standin.generation import Failure, Generation, os_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Notebook:
    """A notebook that has been opened. root: where its notes are; it is made where it is missing."""

    def __init__(self, folder: str, config_file: str, config: "dict[str, Any]") -> None:
        self.config_file = config_file
        self.config = config
        # Go's filepath.Join keeps even an absolute root below the folder.
        self.root = os.path.normpath(os.path.join(folder, config.get("root", "").lstrip("/")))
        os.makedirs(self.root, exist_ok=True)

    @property
    def folder(self) -> str:
        return os.path.dirname(self.config_file)


def required(generation: Generation, parsed: Parsed) -> Notebook:
    """The variable beats the flag, which beats the working directory and what is above it."""
    named = os.environ.get(generation.variable) or parsed.text("notebook")
    if named:
        return opened(generation, named)
    here = os.getcwd()
    for folder in (here, *_registered_for(generation, here), *_above(here)):
        if os.path.exists(os.path.join(folder, generation.config_name)):
            return opened(generation, folder)
    raise Failure(
        f"no notebook found. Set {generation.variable}, use --notebook flag, or create one with: "
        f'{generation.name} notebook create --name "My Notebook"'
    )


def opened(generation: Generation, folder: str) -> Notebook:
    file = os.path.join(folder, generation.config_name)
    try:
        text = read(file)
    except OSError as error:
        raise Failure(os_error("open", os.path.normpath(file), error)) from None
    try:
        return Notebook(folder, os.path.normpath(file), json.loads(text))
    except ValueError as error:
        raise Failure(f"invalid notebook config: {error}") from None


def read(path: str) -> str:
    with open(path) as file:
        return file.read()


def write(path: str, text: str, newline: str | None = None) -> None:
    with open(path, "w", newline=newline) as file:
        file.write(text)


def registered(generation: Generation) -> list[str]:
    file = generation.global_config
    default = [os.path.join(os.path.dirname(file), "notebooks")]
    try:
        folders = json.loads(read(file)).get("notebooks", default)
    except (OSError, ValueError):
        return default
    return folders or []


def _registered_for(generation: Generation, here: str) -> list[str]:
    found = []
    for folder in registered(generation):
        if os.path.exists(os.path.join(folder, generation.config_name)):
            contexts = opened(generation, folder).config.get("contexts") or []
            # A prefix of the text, so that /a/note is a context of /a/notes.
            if any(here.startswith(context) for context in contexts):
                found.append(folder)
    return found


def _above(folder: str) -> list[str]:
    """The folders above one, the nearest first."""
    found = []
    while folder != (folder := os.path.dirname(folder)):
        found.append(folder)
    return found


def init(generation: Generation, parsed: Parsed, behaviour: Behaviour) -> None:
    file = generation.global_config
    os.makedirs(os.path.dirname(file), exist_ok=True)
    if not os.path.exists(file):
        write(file, json.dumps({"notebooks": registered(generation)}, indent=2))
    print(f"{'Jot' if generation.is_jot else 'OpenNotes'} initialized at {file}")


def version(generation: Generation, parsed: Parsed, behaviour: Behaviour) -> None:
    print(f"{'Jot' if generation.is_jot else 'OpenNotes'} 0.0.2")


def create(generation: Generation, parsed: Parsed, behaviour: Behaviour) -> None:
    folder = parsed.arguments[0] if parsed.arguments else os.getcwd()
    # opennotes keeps its notes in a hidden folder, even where there are notes already; jot does not.
    root = "." if generation.is_jot and os.path.isdir(folder) else ".notes"
    notes = os.path.normpath(os.path.join(folder, root))
    os.makedirs(notes, exist_ok=True)
    config = {
        "root": root,
        "name": parsed.text("name"),
        "contexts": [folder],
        "groups": [{"name": "Default", "globs": ["**/*.md"], "metadata": {}}],
    }
    file = os.path.join(folder, generation.config_name)
    write(file, json.dumps(config, indent=2))
    print(f"Created notebook '{config['name']}'\n  Config: {file}\n  Notes:  {notes}")
    if parsed.is_on("register"):
        _register(generation, folder)
        print("  Registered globally")


def _register(generation: Generation, folder: str) -> None:
    file = generation.global_config
    folders = registered(generation)
    if folder not in folders:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        # The views that stood there are lost.
        write(file, json.dumps({"notebooks": [*folders, folder]}, indent=2))


def info(generation: Generation, parsed: Parsed, behaviour: Behaviour) -> None:
    notebook = required(generation, parsed)
    print(f"\n  ## {notebook.config.get('name', '')}\n\n  • Config: {notebook.config_file}\n  • Root: {notebook.root}")


def show_all(generation: Generation, parsed: Parsed, behaviour: Behaviour) -> None:
    if not os.path.exists(generation.global_config):
        raise Failure(f"{generation.name} not initialized. Run '{generation.name} init' to create config file")
    here = os.getcwd()
    folders = dict.fromkeys([*registered(generation), here, *_above(here)])
    found = [folder for folder in folders if os.path.exists(os.path.join(folder, generation.config_name))]
    print(f"\n  ## Notebooks ({len(found)})\n")
    for folder in found:
        print(f"  • {opened(generation, folder).config.get('name', '')} {folder}")
