"""The checks, a module for each subject: the schema, calls, input, surroundings, credentials."""
