"""The server screen: every server, and a tab for each side of the one that is picked."""
