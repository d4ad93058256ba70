"""What the admin decided, and where it is written: config.toml, the credentials file, the folders of the client."""
