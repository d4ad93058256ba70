"""Text and JSON without a process, a file or a network: strict JSON, redaction, names. Pure; imports no other room."""
