"""Research on the web for LLM agents: the tools `web_search` and `scrape_page`."""
