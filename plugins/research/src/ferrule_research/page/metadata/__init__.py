"""What there is to judge a page by: who wrote it, when, what kind of source it is, and how it is cited."""
