"""The process that supervises all calls of `ferrule serve`, and the processes below it.

`main` is the process and its end of the link; `call` is one call in it, `plugins` the tools that are loaded, `forks`
the processes that execute calls, and `poll_loop` waits for all of them. `child` is what runs beside a plugin's code.
"""
