"""The script of a reader, who does what a page says, from its first block to its last."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrule_testkit.pages.blocks import Block
    from ferrule_testkit.pages.table import Page

_ELSEWHERE = {"https://example.com/": "{page}", ":8700": ":{port}"}  # on any page: the internet, and the service
_SERVES = re.compile(r"ferrule serve\b.*--http \S+:(\d+)")
_JUDGE = f"{shlex.quote(sys.executable)} -m ferrule_testkit.pages.judges"
_PYTHON = '"$(dirname "$(readlink -f "$(command -v ferrule)")")/python"'  # whatever has made its environment
_QUERY = str(Path(__file__).with_name("query.py"))
_WAIT = "until (echo > /dev/tcp/127.0.0.1/{port}) 2>&-; do kill -0 $! || break; sleep 0.05; done"


class Script:
    """page: what the table says. folder: for files with the blocks. places: what {site}, {page} and {port} are here."""

    def __init__(self, page: Page, folder: Path, places: Mapping[str, str]) -> None:
        self._page, self._folder, self._port = page, folder, places["port"]
        self._known = {f"{{{name}}}": place for name, place in places.items()}
        others = {**_ELSEWHERE, **page.replaced}
        self._replaced = {text: _fill(other, self._known) for text, other in others.items()}

    def write(self, blocks: Sequence[Block]) -> str:
        """All of it. It ends with 9 at the first line that ends with another code than it should."""
        before, after = (
            [_fill(line, self._known) for line in lines] for lines in (self._page.before, self._page.after)
        )
        steps = [*before, *self._steps(blocks), *after]
        return "\n".join(["set -o pipefail", "trap 'kill $(jobs -p) 2>&-' EXIT", *map(self._checked, steps)])

    def _steps(self, blocks: Sequence[Block]) -> Iterator[str]:
        uses = iter(self._page.uses)
        for number, block in enumerate(blocks):
            if block.is_typed:
                yield from (_fill(line, self._replaced) for line in block.lines() if not self._is_left_out(line))
                continue
            path = self._folder / f"block-{number}"
            path.write_text(_fill(block.text, self._replaced))
            tools = {"{block}": str(path), "{judge}": _JUDGE, "{query}": _QUERY}
            yield from (_fill(line, tools) for line in next(uses).do)

    def _is_left_out(self, line: str) -> bool:
        return line.startswith(tuple(self._page.left_out))

    def _checked(self, line: str) -> str:
        code = next((code for start, code in self._page.fails.items() if line.startswith(start)), 0)
        told = f"echo @@ {shlex.quote(line)} | tee /dev/stderr"
        ends = f"code=$?; if [ $code != {code} ]; then echo @@ ended with $code; exit 9; fi"
        return "\n".join([told, self._run(_fill(line, {"{python}": _PYTHON})), ends])

    def _run(self, line: str) -> str:
        if line.endswith("&"):
            return f"{line}\n{_WAIT.format(port=self._port)}"
        if served := _SERVES.search(line):
            return f"{line} & {_WAIT.format(port=served[1])}; kill $!; wait $!"
        given = next((text for start, text in self._page.answers.items() if line.startswith(start)), None)
        return line if given is None else f"{line} <<< {given}"


def _fill(text: str, known: Mapping[str, str]) -> str:
    for name, value in known.items():
        text = text.replace(name, value)
    return text
