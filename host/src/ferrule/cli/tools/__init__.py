"""Commands for one tool or all: list, show, run, validate, schema, schemas."""
