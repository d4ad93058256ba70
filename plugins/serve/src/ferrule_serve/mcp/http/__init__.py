"""The protocol over HTTP: the server, its connections and sessions, and streams of events."""
