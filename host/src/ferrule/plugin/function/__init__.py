"""A function as a tool: `@tool` makes the hooks of one, and its schema comes from the signature.

`decorator`, `signature` and `conversion` are on the path of a call, so they import little. `schema` and `annotations`
use msgspec, and run when the schema is made. Nothing else in the host tells a function from another plugin's hooks, but
for the command that writes the files of a function.
"""
