"""What a change of a contract means for a module: findings of changes and uses, with evidence."""
