"""What searches for news and for images have in common: who is asked, and the parts of an answer."""
