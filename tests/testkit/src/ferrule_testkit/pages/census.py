"""How many blocks of each page are run, by language: `python -m ferrule_testkit.pages.census` prints them."""

from __future__ import annotations

from collections import Counter

from ferrule_testkit.pages.blocks import find_pages, read_blocks
from ferrule_testkit.pages.table import PAGES, Page

_ADVICE = "Say in tests/testkit/src/ferrule_testkit/pages/table.py"


def find_faults(name: str) -> list[str]:
    """What the table does not say of a page, or says wrongly: each with what to do."""
    page = PAGES.get(name)
    blocks = read_blocks(find_pages()[name])
    there = [block.language for block in blocks if not block.is_typed]
    if page is None:
        return [f"{name} is new. {_ADVICE} what its reader has installed, and what is done with each of {there}."]
    faults = []
    if there != (said := [use.language for use in page.uses]):
        faults.append(f"{name} has the blocks {there}, and the table uses for {said}. {_ADVICE} what each is used for.")
    lines = [line for block in blocks if block.is_typed for line in block.lines()]
    for start in (*page.left_out, *page.fails, *page.answers):
        if not any(line.startswith(start) for line in lines):
            faults.append(f"{name} has no line {start!r} any more. Take it out of the table.")
    return faults


def count(name: str, page: Page) -> tuple[Counter[str], Counter[str], list[str]]:
    """The blocks that are run and those that are not, by language, and the reasons."""
    run, left, reasons = Counter[str](), Counter[str](), []
    uses = iter(page.uses)
    for block in read_blocks(find_pages()[name]):
        if block.is_typed:
            lines = block.lines()
            typed = [line for line in lines if not line.startswith(tuple(page.left_out))]
            (run if typed else left)[block.language] += 1
            continue
        use = next(uses)
        (left if use.reason else run)[block.language] += 1
        reasons += [f"{block.language}: {use.reason}"] if use.reason else []
    return run, left, [*reasons, *(f"`{start}…`: {why}" for start, why in page.left_out.items())]


def main() -> None:
    """Print the table, as markdown."""
    print("| page | run | not run | why |\n|---|---|---|---|")
    for name, page in PAGES.items():
        run, left, reasons = count(name, page)
        print(f"| {name} | {_tell(run)} | {_tell(left)} | {'; '.join(reasons)} |")


def _tell(counted: Counter[str]) -> str:
    return ", ".join(f"{number} {language}" for language, number in counted.items())


if __name__ == "__main__":
    main()
