"""Distributions that offer something else than a tool: one module, and one entry point of any group."""

from pathlib import Path

from ferrule_testkit.machine import Machine


def offer(
    machine: Machine,
    group: str,
    name: str,
    source: str,
    *,
    value: str = "",
    distribution: str = "",
    metadata_lines: str = "",
    site: Path | None = None,
) -> None:
    """Install a distribution with an entry point. value: what it names, else the attribute `command` of its module.

    metadata_lines: more of its METADATA, such as what it requires.
    """
    site = site or machine.site
    site.mkdir(exist_ok=True)
    module = f"offer_{name}"
    (site / f"{module}.py").write_text(source)
    named = distribution or f"dist_{name}"
    metadata = site / f"{named}-1.0.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {named}\nVersion: 1.0\n{metadata_lines}")
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{name} = {value or f'{module}:command'}\n")
