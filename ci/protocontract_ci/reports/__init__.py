"""Reports of the gate: one model of what there is to say, and one module for each format that says it."""
