"""What stands between a call and the proxy of this machine, so that the call has neither its password nor its reach.

`Relay` is the supervising process's handle on a process of the host's own, `relay_process`, that listens on loopback.
The tool's environment names the relay as its proxy. `host_judge` decides by the tool's permissions what is passed on,
`exchange` speaks with the tool, `upstream` with the proxy, and `tunnel` carries bytes between the two. Nothing of this
is loaded for a call without a proxy.
"""
