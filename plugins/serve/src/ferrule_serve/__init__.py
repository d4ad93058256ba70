"""`ferrule serve`: every installed tool over the Model Context Protocol.

`command` is the command, which the entry-point group `ferrule.commands` names. `mcp` speaks the protocol, `page` is for
browsers. `catalogue` knows which tools are served, `pool` which calls run and wait (`supervisor_link` leads to the
process that supervises them, `supervisor` is what runs there and below). All of it is internal: it
takes of the host what `ferrule.calls.server_interface` offers, and both are of one version.
"""
