"""An answer that fits: the text cut to what was asked for, and the document to what the client reads."""
