"""Programs of others that tests start: a name server, Redis, those from npm, and the OpenNotes CLI."""
