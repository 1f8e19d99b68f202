"""Where modules use contracts: one reader for each language, each returning ``model.Use``."""
