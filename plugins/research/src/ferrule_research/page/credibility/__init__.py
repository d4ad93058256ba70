"""What there is to judge a page by: what kind of source it is, its DOI and retractions, what readers made of it.

What the page says of itself is read in `metadata`; here it is weighed, with what others know of its host or article.
"""
