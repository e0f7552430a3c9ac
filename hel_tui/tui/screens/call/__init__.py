"""A call by hand: a form made from the tool's schema, the call while it runs, its result, a comparison."""
