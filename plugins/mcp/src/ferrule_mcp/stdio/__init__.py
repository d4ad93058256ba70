"""A server of the Model Context Protocol over stdio: its process, the messages to and from it, and its end.

`session` is a client for one call, on the path of every call: it imports what the host has loaded anyway, and neither
an SDK nor asyncio. `interview` asks a server what it offers, when it is added.
"""
