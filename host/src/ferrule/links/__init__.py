"""Executables that are linked, and what they and the interpreter that they start tell each other.

`linked_executables` writes them: shell on one side, Python on the other. Everything else here is on the path of
`--schema` or of a call, so it imports next to nothing.
"""
