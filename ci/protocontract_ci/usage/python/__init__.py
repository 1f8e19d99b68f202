"""How Python modules use contracts: asked of a type checker that sees stubs of our own."""
