"""Commands of the core, and those that must not cost an import of their extra before they are run."""
