"""The words of the Model Context Protocol, for all that speaks it, shows it or reads schemas for it."""
