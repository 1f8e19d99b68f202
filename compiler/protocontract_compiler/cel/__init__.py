"""CEL front end: from an expression's text to a typed tree (``ir_cel``) with the contract's constants folded in."""
