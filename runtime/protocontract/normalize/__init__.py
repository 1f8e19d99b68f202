"""Normalizers: what a value becomes before it is validated. One module a word of the vocabulary."""
