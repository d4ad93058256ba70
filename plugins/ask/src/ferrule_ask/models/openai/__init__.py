"""The APIs of OpenAI, which others speak as well: Chat Completions and Responses, with their streams and batches."""
