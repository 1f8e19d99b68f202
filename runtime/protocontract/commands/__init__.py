"""Commands of the core, which need no extra."""
