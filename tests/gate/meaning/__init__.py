"""Rules compared by meaning."""
