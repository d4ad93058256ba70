"""What the markdown of web_fetch is worth beside that of other converters, and what it costs."""
