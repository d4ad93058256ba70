"""`ferrule serve`: every installed tool over the Model Context Protocol.

`command` is the command, which the entry-point group `ferrule.commands` names. `mcp` speaks the protocol, `page` is for
browsers. `catalogue` knows which tools are served, `pool` shares calls out among workers (`worker` is the server's view
of one, `worker_main` the process itself), and `plugin_process` is what has loaded a plugin. All of it is internal: it
takes of the host what `ferrule.calls.server_interface` offers, and both are of one version.
"""
