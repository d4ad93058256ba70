"""Every server of the Model Context Protocol as a set of tools of ferrule."""
