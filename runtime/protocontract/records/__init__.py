"""Where records come from, which of them keep their contract, and what became of them: without PyTorch or NumPy."""
