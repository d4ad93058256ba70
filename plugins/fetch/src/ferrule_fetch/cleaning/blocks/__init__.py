"""Rules for what stands on lines of its own: code, lists of definitions, forms, panels, tables."""
