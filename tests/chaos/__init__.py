"""The chaos run: guards on a real broker behind toxiproxy, and everything that goes wrong. ``make chaos``."""
