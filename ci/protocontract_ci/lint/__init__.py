"""``protocontract lint``: mistakes of contracts, and what they leave out."""
