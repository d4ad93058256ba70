"""SQL over a notebook's notes: what may be asked, and the database that answers."""
