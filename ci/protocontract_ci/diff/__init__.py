"""What changed between two states of a contract, and in which direction."""
