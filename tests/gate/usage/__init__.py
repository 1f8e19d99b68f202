"""Where modules use contracts."""
