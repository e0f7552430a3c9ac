"""For people who write servers: the saved checks, and what came of a save."""
