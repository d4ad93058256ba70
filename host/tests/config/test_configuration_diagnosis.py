"""What config.toml has that is not read, or not as it was meant, told with its line by doctor and by each command."""

import tomllib
from pathlib import Path

import pytest

from ferrule.config.configuration import Configuration
from ferrule.config.lines import line_of
from ferrule_testkit.machine import Machine

TEXT = '''\
# locked = true
note = """
[tools.alpha]
locked = true
"""
[tools.beta]
allow = [
  "loopback",  # memory
]
"memory" = 5
enabled = "no"

[tools.alpha]
memory = 3
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (["note"], 2),
        (["tools", "beta"], 6),
        (["tools", "beta", "allow"], 7),
        (["tools", "beta", "memory"], 10),
        (["tools", "beta", "enabled"], 11),
        (["tools", "alpha", "memory"], 14),
        (["locked"], None),
    ],
    ids=lambda one: ".".join(one) if isinstance(one, list) else "",
)
def test_the_line_is_that_of_the_key_and_not_of_a_comment_or_a_text(path: list[str], line: int | None) -> None:
    assert line_of(TEXT, path) == line


@pytest.mark.parametrize("switch", ['"true"', "1", "[]", '"no"'])
def test_a_wrapper_whose_switch_is_no_boolean_is_off(switch: str) -> None:
    content = tomllib.loads(f"[wrappers.cache]\nenabled = {switch}\nmax_mib = 5\n")
    settings = Configuration("config.toml", content, {"FERRULE_WRAPPERS_DEFAULT": "cache"})
    assert settings.wrappers() == {}
    assert (settings.wrapper_tables() or {})["cache"]["enabled"] is False


@pytest.fixture
def config(machine: Machine) -> Path:
    machine.install("alpha")
    path = machine.home / ".config" / "ferrule" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("a = 1\nlockd = true\n", "unused", "Line 2: `lockd` is nothing that ferrule or an installed command reads."),
        ("Locked = false\n", "malformed", "Line 1: The switch is called 'Locked' instead of `locked`"),
        ('\nlocked = "false"\n', "malformed", "Line 2: `locked` is neither true nor false, so tools are locked."),
        ("[tools.alpha]\nlocked = true\n", "malformed", "Line 2: `locked` in [tools.alpha] locks nothing"),
        ("[tools.alpha]\n\nenabled = 0\n", "malformed", "Line 3: alpha is off: it has [tools.alpha], whose `enabled`"),
        ("[tools.alpha]\nmemroy = 5\n", "unused", "Line 2: `memroy` in [tools.alpha] is read as a setting of its own"),
        ("[tools.alpha]\nimport_ahead = 1\n", "malformed", "Line 2: `import_ahead` in [tools.alpha] is neither"),
        ("[tools]\nalhpa = {}\n", "unused", "Line 2: [tools.alhpa] is about a tool that is not installed."),
        ("[wraper.cache]\n", "unused", "Line 1: [wraper] is nothing that ferrule or an installed command reads."),
        ("wrappers = 1\n", "malformed", "Line 1: `wrappers` is not a table."),
        ("[wrappers.near]\nenable = true\n", "unused", "Line 1: [wrappers.near] is about a wrapper"),
    ],
)
def test_what_is_not_read_is_told_by_doctor_and_by_the_command_that_reads_it(
    text: str, kind: str, told: str, config: Path, machine: Machine
) -> None:
    config.write_text(text)
    said = machine.ferrule("list")
    assert f"{config}: {told}" in said.err
    assert told not in said.out
    found = [one for one in machine.ferrule("doctor", "--json").document["findings"] if told in one["message"]]
    assert [(one["id"], one["subject"]) for one in found] == [(f"configuration-{kind}", str(config))]
    assert found[0]["fix"]


@pytest.mark.process
def test_settings_of_a_tool_and_tables_of_installed_commands_are_their_own(config: Path, machine: Machine) -> None:
    declared = '{"settings": [{"variable": "ALPHA", "setting": "memori", "purpose": "what alpha keeps"}]}'
    (machine.site / "module_alpha.tool.json").write_text(declared)
    metadata = machine.site / "dist_command-1.0.dist-info"
    metadata.mkdir()
    (metadata / "entry_points.txt").write_text("[ferrule.commands]\nwave = nowhere\n")
    config.write_text("locked = false\n[tools.alpha]\nenabled = true\nmemori = 'x'\ncli = '/x'\n[wave]\nhigh = 1\n")
    assert machine.ferrule("list").err == ""
    assert machine.ferrule("run", "alpha", "city=Oslo").err == ""
