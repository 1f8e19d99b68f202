"""Dead letters: what they look like, reading and judging them again, sending them again."""
