"""A link in shell, which needs nothing but a shell: its script, with the values in it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule.links.link_content import LinkContent

_SCRIPT = """\
#!/bin/sh
{mark}{facts}
# Written by `ferrule link`, which writes it anew; `ferrule unlink` removes it.
doubt=
if [ "$#" -eq 1 ] && [ "$1" = --schema ] && [ -z "${{FERRULE_DISABLE-}}${{FERRULE_CONFIG-}}" ]; then
  if {is_fresh}; then
    off= differs= clash=
    if {is_switch_known} && {are_claims_known}; then
      case " $off $differs $clash " in
        *\\ {tool}\\ *) ;;
        *)
          printf '%s\\n' {schema}
          exit
          ;;
      esac
    fi
    doubt=marks
  else
    doubt=$0
  fi
fi
if [ ! -x {python} ]; then
  [ "$#" -gt 0 ] || while read -r _; do :; done
  printf '%s\\n' {gone}
  echo {gone_text} >&2
  [ "$#" -eq 0 ] || exit 1
  case ${{FERRULE_EXIT_ZERO-}} in
    1) exit 0 ;;
    0) exit 1 ;;
    *) [ -n "${{IKIGAI_AGENT_ID-}}" ] ; exit ;;
  esac
fi
exec {python} {options} -c {code} {orders} "$doubt" "$@"
"""

_IS_SWITCH_KNOWN = """\
{{ [ ! -e {config} ] ||
      {{ [ -e {mark} ] && ! [ {config} -nt {mark} ] && ! [ {mark} -nt {config} ] && read -r off < {mark} &&
        {{ [ -e {lock} ] || [ ! -e {differing} ]; }} &&
        {{ [ ! -e {lock} ] || {{ [ -e {differing} ] && ! [ {lock} -nt {differing} ] &&
          ! [ {differing} -nt {lock} ] && read -r differs < {differing}; }}; }}; }}; }}"""
_ARE_CLAIMS_KNOWN = """\
[ -e {mark} ] && {are_older} && read -r clash < {mark}"""


def write_for_shell(content: LinkContent, mark: str) -> bytes:
    """The bytes of a link that is a shell file."""
    quoted = {name: shlex.quote(value) for name, value in content._asdict().items() if isinstance(value, str)}
    script = _SCRIPT.format(
        **{name: quoted[name] for name in ("schema", "python", "gone", "gone_text", "code", "tool", "orders")},
        mark=mark,
        facts=content.facts,
        is_fresh=" && ".join(_tests(content)),
        is_switch_known=_IS_SWITCH_KNOWN.format(
            config=quoted["config"], mark=quoted["off"], lock=quoted["lock"], differing=quoted["differing"]
        ),
        are_claims_known=_ARE_CLAIMS_KNOWN.format(mark=quoted["clash"], are_older=_are_older(content)),
        options=" ".join(content.options),
    )
    return script.encode(errors="surrogateescape")


def _tests(content: LinkContent) -> Iterator[str]:
    yield f"[ -x {shlex.quote(content.python)} ]"
    for path in map(shlex.quote, content.watched):
        yield f"[ -e {path} ]"
        yield f'! [ {path} -nt "$0" ]'


def _are_older(content: LinkContent) -> str:
    """The test that nothing has been installed or removed since the mark was written."""
    mark = shlex.quote(content.clash)
    return " && ".join(f"! [ {shlex.quote(folder)} -nt {mark} ]" for folder in content.folders)
