"""OAuth for MCP servers: finding out whom to ask, becoming known there, tokens, a login by a person.

Imported when a server is reached over HTTP; `settings` alone is light. Not here: the requests to the MCP
server itself (http), who shows a login (session, cli).
"""
