"""Relations: what must hold between values. One module a word of the vocabulary."""
