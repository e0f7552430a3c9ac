"""Tool schemas as each family of providers takes them, and arguments as servers want them.

Pure functions over JSON, no network. Not here: who is asked (client), what becomes of a refused tool (agent).
"""
