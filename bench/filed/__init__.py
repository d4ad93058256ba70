"""Documents that are made by well-known libraries, what is in them, and the programs that read them."""
