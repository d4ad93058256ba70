"""Papers: their records and identifiers, and when two records are of one paper. No module here sends a request."""
