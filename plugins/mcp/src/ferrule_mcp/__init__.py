"""Makes every server of the Model Context Protocol a set of ferrule tools."""
