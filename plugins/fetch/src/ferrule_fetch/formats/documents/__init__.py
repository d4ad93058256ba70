"""Documents that are no PDF: which ones there are, and a reader for each kind of them."""
