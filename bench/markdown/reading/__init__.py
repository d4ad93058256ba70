"""What a page and its markdown say: their trees, their features, and how alike they are."""
