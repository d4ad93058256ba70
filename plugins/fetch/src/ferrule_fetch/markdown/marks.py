"""Marks: noncharacters of Unicode that are put into a tree, pass through the writer, and are read in what it wrote.

Pages lose them before they are converted. Where one puts them together from pieces, it gets an empty line too many or
another number; no markup comes of it.
"""

from __future__ import annotations

LOOSE = "\ufdd0"  # at the end of a paragraph of a list item, and at the beginning of one that follows a block
TIGHT = "\ufdd6"  # at the end of an item that ends with a block, in a tight list
ALIGNED = "\ufdd1"  # in the first cell of a header, on both sides of a letter for each column
NUMBER = "\ufdd5"  # on both sides of the number of an item that its place in the list does not give
LESS_THAN = "\ufdd2"  # the sign with its backslash, where it begins no tag
TAG = "\ufdd4"  # a tag of emphasis that the writer has left, and behind it one letter
