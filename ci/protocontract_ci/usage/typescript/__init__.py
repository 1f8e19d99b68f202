"""How TypeScript modules use contracts: asked of the TypeScript compiler, which sees declarations of our own."""
