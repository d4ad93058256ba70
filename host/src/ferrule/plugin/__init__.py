"""What a plugin sees of the host, and a plugin as the host loads it: hookspecs, context, credentials, result policy."""
