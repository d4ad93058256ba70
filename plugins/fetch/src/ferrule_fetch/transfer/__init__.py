"""Getting a page: requests, redirects, the manners of a guest, and what a refusal means."""
