"""The process that supervises all calls of `ferrule serve`, and the processes below it.

`main` is the process and its end of the link; `call` is one call in it, `plugins` the tools that are loaded, `copies`
the processes that execute calls, and `poll_loop` waits for all of them. `plugin_process` runs beside a plugin's code,
with `state_check`, and `rehearsal` before that. Nothing but those two may be imported there.
"""
