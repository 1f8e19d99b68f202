"""The gate: what it is asked on the command line, and what it answers."""
