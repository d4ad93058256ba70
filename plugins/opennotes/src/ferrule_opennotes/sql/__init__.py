"""SQL over a notebook's notes: what may be asked, and who answers."""
