"""Patents for LLM agents: the tools `patent_search_epo` and `patent_search_uspto`."""
