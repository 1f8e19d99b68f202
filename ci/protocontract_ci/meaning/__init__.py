"""What rules mean: which messages they accept, compared exactly, with a proof or a witness."""
