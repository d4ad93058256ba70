"""The marks that stand in collected text for what begins and ends there.

They are control characters, which no page can bring along, since those of a page are taken out first. With them a
paragraph is a string like any other until it is complete, and only then it is known what its white space and its
emphasis come to.
"""

from __future__ import annotations

import re

EMPHASIS, END_EMPHASIS = "\x01", "\x02"
STRONG, END_STRONG = "\x03", "\x04"
DELETED, END_DELETED = "\x05", "\x06"
CODE, END_CODE = "\x07", "\x08"
LINK, END_LINK = "\x0e", "\x0f"  # what it leads to stands in a list beside the text
ATOM = "\x10"  # markdown that is complete, such as an image; it stands in a list beside the text
BREAK = "\x11"
FIRST, LAST = EMPHASIS, BREAK  # what is between them and no mark is white space

SPLIT = re.compile("([\x01-\x08\x0e-\x11])")
CONTROLS = [chr(code) for code in (*range(9), 0x0B, *range(0x0E, 0x20))]  # the marks are some of them
PARAGRAPH_END = re.compile("[ \t\n\f\r]*\x11[ \t\n\f\r]*\x11[ \t\n\f\r\x11]*")

ENDS = {END_EMPHASIS: EMPHASIS, END_STRONG: STRONG, END_DELETED: DELETED}
