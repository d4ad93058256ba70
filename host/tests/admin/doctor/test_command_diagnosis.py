"""What `ferrule doctor` finds in commands and requirements: what is imported late, what is missing, what fixes it."""

import pytest

from ferrule.admin.packages.reachable_modules import reachable_modules
from ferrule.plugin.remedies.missing_module import missing_module
from ferrule.plugin.requirements import requirement_for, unmet
from ferrule_testkit.entry_points import offer
from ferrule_testkit.machine import Machine

COMMANDS = "ferrule.commands"
LATE = '''"""Draw."""

import click


@click.command("draw")
def command() -> int:
    """Draw."""
    from offer_parts import pencil

    return 0
'''
REQUIRES = """Requires-Dist: click
Requires-Dist: absent-paper>=2
Provides-Extra: ink
Requires-Dist: absent-ink ; extra == "ink"
"""


def draw(machine: Machine, pencil: str, **more: str) -> None:
    """A command that imports a module of its own when it runs, which has this source."""
    source = LATE.replace("offer_parts", "offer_draw.parts")
    offer(machine, COMMANDS, "draw", source, value="offer_draw.main:command", **more)
    package = machine.site / "offer_draw"
    package.mkdir()
    (machine.site / "offer_draw.py").rename(package / "main.py")
    (package / "parts").mkdir()
    for file, text in (("__init__.py", ""), ("parts/__init__.py", ""), ("parts/pencil.py", pencil)):
        (package / file).write_text(text)


def findings(machine: Machine) -> list[dict[str, str]]:
    told = machine.ferrule("doctor", "--json").document["findings"]
    return [one for one in told if one["id"].split("-")[0] in ("command", "requirement", "module")]


@pytest.mark.slow
@pytest.mark.process
def test_what_a_command_imports_when_it_runs_is_loaded_by_doctor(machine: Machine) -> None:
    draw(machine, "raise RuntimeError('no lead')")
    (finding,) = findings(machine)
    assert (finding["id"], finding["severity"], finding["subject"]) == ("command-broken", "error", "draw")
    assert "offer_draw.parts.pencil cannot be imported (RuntimeError: no lead)" in finding["message"]


@pytest.mark.slow
@pytest.mark.process
def test_a_requirement_that_is_missing_is_told_with_the_line_that_brings_it(machine: Machine) -> None:
    draw(machine, "import absent_paper", metadata_lines=REQUIRES)
    broken, missing = findings(machine)
    assert (broken["id"], broken["subject"]) == ("command-broken", "draw")
    assert (missing["id"], missing["severity"]) == ("requirement-missing", "error")
    assert missing["subject"] == "absent-paper>=2"
    for one in (broken, missing):
        assert one["fix"].endswith("ferrule install --upgrade dist-draw")
    done = machine.ferrule("draw")
    assert done.code == 1
    assert done.err.startswith("Error: The command 'draw' of dist-draw 1.0 needs the module absent_paper, which is not")
    assert "ferrule install --upgrade dist-draw" in done.err


@pytest.mark.slow
@pytest.mark.process
def test_what_an_extra_brings_is_a_note_until_it_is_needed(machine: Machine) -> None:
    draw(machine, "import absent_ink", metadata_lines=REQUIRES.replace("Requires-Dist: absent-paper>=2\n", ""))
    (finding,) = findings(machine)
    assert (finding["id"], finding["severity"], finding["subject"]) == ("module-missing", "note", "absent_ink")
    assert finding["fix"].endswith("ferrule install 'dist-draw[ink]'")
    assert machine.ferrule("doctor").code == 0
    assert "ferrule install 'dist-draw[ink]'" in machine.ferrule("draw").err


@pytest.mark.slow
def test_a_command_that_ends_the_process_or_hangs_keeps_doctor_from_nothing(machine: Machine) -> None:
    draw(machine, "import os\nos._exit(3)")
    (finding,) = findings(machine)
    assert (finding["id"], finding["subject"]) == ("command-broken", "draw")
    (machine.site / "offer_draw" / "parts" / "pencil.py").write_text("while True:\n    pass\n")
    (finding,) = findings(machine)
    assert (finding["id"], finding["subject"]) == ("command-broken", "draw")


def test_modules_that_types_alone_name_are_not_reached(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "reached"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "main.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import reached.types_only\n"
        "def run():\n    from . import late\n"
        "ENTRY = 'reached.process:main'\n"
    )
    for name in ("types_only", "late", "process", "alone"):
        (package / f"{name}.py").write_text("def (")
    monkeypatch.syspath_prepend(tmp_path)
    found = reachable_modules("reached.main")
    assert sorted(found) == ["reached", "reached.late", "reached.main", "reached.process"]


def test_a_requirement_is_found_by_what_distributions_say_of_themselves() -> None:
    assert unmet("ferrule") == []
    assert unmet("no-such-distribution") == []
    assert requirement_for("opentelemetry.sdk", "ferrule-serve") == "ferrule-serve[traces]"
    assert requirement_for("prometheus_client", "no-such-distribution", "ferrule-serve") == "ferrule-serve[metrics]"
    assert requirement_for("pptx", "ferrule-fetch") == "ferrule-fetch[documents]"
    assert requirement_for("msgspec", "ferrule-example", "ferrule") == "ferrule[schema]"
    assert requirement_for("nothing_of_the_kind", "ferrule-serve") is None


def test_only_a_module_that_is_not_there_is_missing() -> None:
    assert missing_module(ModuleNotFoundError("No module named 'absent_ink'", name="absent_ink")) == "absent_ink"
    assert missing_module(ModuleNotFoundError("No module named 'click.absent'", name="click.absent")) is None
    assert missing_module(ImportError("cannot import name")) is None
    assert missing_module(ValueError()) is None
