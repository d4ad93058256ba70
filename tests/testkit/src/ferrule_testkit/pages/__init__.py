"""Pages as a reader meets them: their blocks, what each page needs, and the script of its reader."""
