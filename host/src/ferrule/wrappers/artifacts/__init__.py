"""Large results by handle: the wrapper that stores them, the stores, and the tool that reads them back."""
