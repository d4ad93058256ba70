"""Finding notes without SQL: by text, by likeness, by conditions on their fields and links."""
