"""Servers of other agents' files in hel's keys: found, read, translated, judged. Writes nothing.

Not here: writing them (editing), showing and asking (cli).
"""
