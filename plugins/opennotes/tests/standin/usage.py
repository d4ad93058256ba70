"""Help and usage of every command: the shape that cobra gives them, and the words in them that have misled readers."""

from standin.flags import Flag
from standin.generation import Generation

NOTEBOOK = Flag("notebook", "string", "Path to notebook")
HELP = Flag("help", "bool", "help for this command", "h")
FUZZY = Flag("fuzzy", "bool", "Rank by similarity")
SQL = Flag("sql", "string", "Run a SQL query on the notes of the notebook")

ARGUMENTS = {
    "notes add": "<title> [path] [flags]",
    "notes search": "[query] [flags]",
    "notes view": "[name] [flags]",
    "notebook create": "[path] [flags]",
    "notes remove": "<note> [flags]",
}
OWN = {
    "notes add": [
        Flag("data", "stringArray", "Set a field of the frontmatter (field=value)"),
        Flag("template", "string", "Template to use", "t"),
        Flag("title", "string", "Title of the note (deprecated)"),
    ],
    "notes remove": [Flag("force", "bool", "Do not ask", "f")],
    "notes search query": [Flag(name, "stringArray", f"{name.upper()} condition") for name in ("and", "not", "or")],
    "notes view": [
        Flag("format", "string", 'list, table, or json (default "list")'),
        Flag("list", "bool", "List all views"),
        Flag("param", "string", "Parameters (key=value,key2=value2)"),
    ],
    "notebook create": [Flag("name", "string", "Notebook name", "n"), Flag("register", "bool", "Register it", "r")],
}
SEARCH = {
    "opennotes": "Searches the notes of a notebook by text, or by SQL:\n\n"
    "  opennotes notes search --sql \"SELECT * FROM read_markdown('**/*.md')\"\n\n"
    "Queries are read-only and have a 30s timeout.\nPath traversal (../) is blocked for security.",
    "jot": "Searches the notes of a notebook by text, fuzzily, or by the query language.\nThere is no --sql any more.",
}
GROUPS = {
    "": ["init        Write the configuration", "notebook    Manage notebooks", "notes       Manage notes"],
    "notes": ["add         Add a note", "list        List all notes", "search      Search notes", "view        Views"],
}


def flags(generation: Generation, path: str) -> list[Flag]:
    return [*own_flags(generation, path), HELP, NOTEBOOK, *([Flag("version", "bool", "")] if not path else [])]


def own_flags(generation: Generation, path: str) -> list[Flag]:
    if path == "notes search":
        return [FUZZY] if generation.is_jot else [FUZZY, SQL]
    return OWN.get(path, [])


def help_text(generation: Generation, path: str) -> str:
    return f"{_about(generation, path)}\n\n{usage(generation, path)}"


def usage(generation: Generation, path: str) -> str:
    """The lines from "Usage:" on, which also follow every error."""
    words = [generation.name, path, "[command]" if path in GROUPS else ARGUMENTS.get(path, "[flags]")]
    own = [*own_flags(generation, path), HELP]
    parts = [f"Usage:\n  {' '.join(filter(None, words))}\n"]
    if path in GROUPS:
        parts.append("Available Commands:\n" + "".join(f"  {line}\n" for line in GROUPS[path]))
    else:
        parts.append(f"Examples:\n  {generation.name} {path} --notebook ~/notes\n")
    own += [] if path else [NOTEBOOK]
    parts.append("Flags:\n" + "".join(map(_line, sorted(own))))
    if path:
        parts.append("Global Flags:\n" + _line(NOTEBOOK))
    return "\n".join(parts)


def _about(generation: Generation, path: str) -> str:
    if path == "notes search":
        return SEARCH[generation.name]
    if not path:
        return (
            f"Keeps notes in markdown, in notebooks: folders with a {generation.config_name}.\n\n"
            f"  {generation.name.upper()}_CONFIG  Path of the configuration"
        )
    return f"The command {path} of a notebook."


def _line(flag: Flag) -> str:
    short = f"-{flag.short}, " if flag.short else "    "
    kind = "" if flag.kind == "bool" else f" {flag.kind}"
    return f"  {short}--{flag.name}{kind}   {flag.about}\n"
