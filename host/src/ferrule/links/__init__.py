"""What a linked executable and the interpreter that it starts tell each other: shell on one side, Python on the other.

Everything here is on the path of `--schema` or of a call, so it imports next to nothing.
"""
