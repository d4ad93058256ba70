"""The pages about hooks, errors and schema rules agree with the code; a page that does not is told what to paste."""

import inspect
import json
import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from ferrule import errors
from ferrule.errors import FerruleError
from ferrule.plugin import failures
from ferrule.plugin.hooks.hookspecs import ToolSpec
from ferrule.schema.rules import RULES
from ferrule_dev.conformance import CHECKS
from ferrule_testkit.machine import Machine

pytestmark = pytest.mark.slow


ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "reference"
HOOKS = ["schema", "credentials", "validate", "execute", "result_policy"]


def page(name: str) -> str:
    return (DOCS / name).read_text()


def blocks(name: str, language: str) -> list[str]:
    """The fenced blocks of a page that are in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page(name), re.MULTILINE | re.DOTALL)


def headings(name: str) -> list[str]:
    return re.findall(r"^## (.*)$", page(name), re.MULTILINE)


def assert_pasted(name: str, text: str) -> None:
    if text not in page(name):
        pytest.fail(f"docs/reference/{name} lacks this; paste it where it belongs:\n\n{text}", pytrace=False)


# The hooks.


def heading(hook: str) -> str:
    """`execute(arguments: dict[str, Any], context: Context) -> dict[str, Any] | None`, as code."""
    signature = str(inspect.signature(getattr(ToolSpec, hook))).replace("'", "")
    return f"`{hook}{signature.replace('(self, ', '(').replace('(self)', '()')}`"


def example(hook: str) -> str:
    text = inspect.getdoc(getattr(ToolSpec, hook)) or ""
    return textwrap.dedent(text.partition("Example::\n\n")[2]).strip()


def test_the_page_of_the_hooks_has_a_heading_with_the_signature_of_each() -> None:
    assert headings("hooks.md") == [heading(hook) for hook in HOOKS]


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_is_shown_with_the_example_of_its_specification(hook: str) -> None:
    assert_pasted("hooks.md", f"```python\n{example(hook)}\n```\n")


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_is_described_by_when_it_is_called_what_it_returns_and_what_goes_wrong(hook: str) -> None:
    section = page("hooks.md").split(heading(hook))[1].split("\n## ")[0]
    assert re.findall(r"^\*\*(\w+)", section, re.MULTILINE) == ["Called", "Returns", "Errors"]


# The errors.


def tree_in_the_code() -> Iterator[tuple[str, str]]:
    """Each line's beginning and code, as the classes are."""
    return lines(FerruleError, "", "")


def lines(error: type[FerruleError], before: str, below: str) -> Iterator[tuple[str, str]]:
    yield before + error.__name__, "(its own)" if error is errors.ToolError else code(error)
    inner = [one for one in vars(errors).values() if inspect.isclass(one) and one.__bases__ == (error,)]
    for one in inner:
        last = one is inner[-1]
        yield from lines(one, below + ("└── " if last else "├── "), below + ("    " if last else "│   "))


def code(error: type[FerruleError]) -> str:
    return "AUTH_MISSING" if error is errors.CredentialMissing else error.code


def tree_in_the_docstring() -> list[str]:
    return textwrap.dedent((errors.__doc__ or "").split("\n\n")[1]).splitlines()


def test_the_tree_of_errors_is_that_of_the_classes() -> None:
    drawn = re.findall(r"(\w+)  +(?:\(its own\)|\S+)  +(\S.*)", "\n".join(tree_in_the_docstring()))
    sentences = dict(drawn)
    expected = [
        f"{name:<33}{code:<23}{sentences.get(name.split(' ')[-1], '')}".rstrip() for name, code in tree_in_the_code()
    ]
    if tree_in_the_docstring() != expected:
        tree = textwrap.indent("\n".join(expected), "    ")
        pytest.fail(f"the docstring of ferrule.errors draws another tree; paste this one:\n\n{tree}", pytrace=False)


def test_the_page_of_the_errors_shows_the_tree() -> None:
    assert_pasted("errors.md", "```text\n" + "\n".join(tree_in_the_docstring()) + "\n```\n")


def test_every_error_ends_with_the_exit_code_of_the_page() -> None:
    every = [one for one in vars(errors).values() if inspect.isclass(one) and issubclass(one, FerruleError)]
    assert {one.exit_code for one in every} == {1}
    assert "| with a failure, elsewhere | 1," in page("errors.md")


def test_the_failure_on_the_page_is_what_the_error_on_the_page_becomes() -> None:
    names: dict[str, FerruleError] = {}
    exec(blocks("errors.md", "python")[0], names)
    assert failures.default_document(names["error"].facts()) == json.loads(blocks("errors.md", "json")[0])


def test_the_rendering_on_the_page_is_a_plugins_own(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    groups = tomllib.loads(blocks("errors.md", "toml")[0])["project"]["entry-points"]
    raises = "raise ToolError('NOT_FOUND', 'There is no note 7.', hint='List the notes first.')"
    machine.install("note_read", module="ferrule_notes", execute=raises, static=False)
    package = machine.site / "ferrule_notes"
    package.mkdir()
    (machine.site / "ferrule_notes.py").rename(package / "__init__.py")
    (package / "failures.py").write_text(blocks("errors.md", "python")[1])
    (metadata,) = machine.site.glob("*.dist-info")
    sections = (
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in points.items())
        for group, points in groups.items()
    )
    (metadata / "entry_points.txt").write_text("\n".join(sections))
    finished = subprocess.run(
        [sys.executable, "-c", "from ferrule.dispatch import run; run('note_read', [], {})"],
        env=machine.environment,
        input=b"{}",
        capture_output=True,
        check=False,
    )
    assert json.loads(finished.stdout) == json.loads(blocks("errors.md", "json")[1])


# The schema rules.


@pytest.mark.parametrize("severity", ["error", "warning"])
def test_the_page_of_the_schema_rules_has_the_table_of_them(severity: str) -> None:
    rows = [f"| `{rule}` | {sentence} |" for rule, (kind, sentence) in RULES.items() if kind == severity]
    table = "\n".join(["| id | rule |", "|---|---|", *rows])
    assert_pasted("schema-rules.md", f"\n\n{table}\n")
    section = page("schema-rules.md").split(f"\n## {severity.capitalize()}s\n")[1].split("\n## ")[0]
    assert table in section


def test_every_rule_has_a_severity_of_the_page() -> None:
    assert headings("schema-rules.md")[:2] == [f"{severity.capitalize()}s" for severity in ("error", "warning")]
    assert {severity for severity, _ in RULES.values()} == {"error", "warning"}


# The checks.


def test_the_page_of_the_checks_has_the_table_of_them() -> None:
    rows = [
        f"| `{check}` | {one.sentence}{' *(warning)*' if one.severity == 'warning' else ''} |"
        for check, one in CHECKS.items()
    ]
    assert_pasted("checks.md", "\n".join(["| id | what holds where it passes |", "|---|---|", *rows]) + "\n\n")


# The public names.


def test_the_page_of_public_names_lists_every_room_that_is_open_and_no_other() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    closed = next(one["forbidden_modules"] for one in contracts if one["name"].startswith("Public names"))
    host = ROOT / "host/src/ferrule"
    rooms = [path.stem for path in host.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    open_rooms = {f"ferrule.{name}" for name in rooms if not name.startswith("_")} - set(closed)
    listed = set(re.findall(r"^\| `(ferrule\.\w+)` \|", page("public-names.md").split("\n## ")[0], re.MULTILINE))
    assert listed == open_rooms


def test_the_page_of_public_names_lists_all_names_of_ferrule() -> None:
    import ferrule

    row = next(line for line in page("public-names.md").splitlines() if line.startswith("| `ferrule` |"))
    assert set(re.findall(r"`(\w+)`", row)) == {*ferrule.__all__, "ferrule"}
