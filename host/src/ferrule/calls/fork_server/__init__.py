"""Calls of all tools, made by one process in forks of processes that have loaded the tools.

`server` is what a server stands on; `call` is one call, `plugins` the tools that are loaded, `forks` the processes that
execute calls, and `poll_loop` waits for all of them. `child` is what runs beside a plugin's code. `facts` is what a
server is told of all this. Servers import these names from `ferrule.calls.server_interface`.
"""
