"""Which addresses are fetched from: what a URL may be, and which networks it may lead into."""
