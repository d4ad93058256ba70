"""html5lib's tree as canonical HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.markdown.elements import RAW_TEXT, VOID

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\xa0": "&nbsp;"})
_ESCAPED_VALUE = {**_ESCAPED, ord('"'): "&quot;"}


def spell_out(html: str) -> str:
    """Parse a page with html5lib, and return its tree as canonical HTML; depth costs no recursion."""
    import html5lib

    root: Element = html5lib.parse(html, treebuilder="etree", namespaceHTMLElements=False)
    return "".join(_pieces(root))


def _pieces(root: Element) -> Iterator[str]:
    yield _start(root)
    open_elements = [(root, iter(root))]
    while open_elements:
        element, children = open_elements[-1]
        child = next(children, None)
        if child is None:
            open_elements.pop()
            yield f"</{_name(element)}>"
        elif callable(child.tag):  # ElementTree's function Comment is the tag of a comment
            yield f"<!--{child.text}-->"
        elif _name(child) in VOID:
            yield _start(child)
        else:
            yield _start(child)
            open_elements.append((child, iter(child)))
            continue
        tail = (child if child is not None else element).tail
        if tail:
            yield tail.translate(_ESCAPED)


def _start(element: Element) -> str:
    attributes = "".join(f' {_local(name)}="{value.translate(_ESCAPED_VALUE)}"' for name, value in element.items())
    text = element.text or ""
    return f"<{_name(element)}{attributes}>{text if element.tag in RAW_TEXT else text.translate(_ESCAPED)}"


def _name(element: Element) -> str:
    return _local(element.tag)


def _local(name: str) -> str:
    return name.rpartition("}")[2]  # html5lib puts the namespace of SVG and MathML before it
