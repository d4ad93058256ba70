"""What a page says of itself, and the citation made of it: authors, dates, title, site, structured data."""
