"""Getting a page: requests, redirects, the policy towards servers, and what a refusal means."""
