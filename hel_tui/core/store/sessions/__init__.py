"""Sessions on disk: what was on the screen and what the model has, one JSON object a line.

`records` says what the lines mean, `journal` writes them, `reading` reads them, `folders` finds sessions.
Not here: what a conversation does with them (session).
"""
