"""Rules for what stands within a line: links, images, formulas, embedded content, emphasis."""
